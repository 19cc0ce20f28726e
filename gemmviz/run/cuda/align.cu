// Words that the twin's threads wrote, each in its own order, become the elements of a dense matrix: see gemmviz.run.align.

struct slot {
    unsigned int step;      // the row that it belongs to
    unsigned int base;      // the word where its array begins
    unsigned int unit;      // words of an element
    unsigned int last;      // the last element that the access may begin at
};

extern "C" __global__ void align(
    const unsigned int* words, int* element, const slot* slots, const unsigned int* lanes, unsigned long long* bad, const float* values,
    float* value, unsigned int slot_count, unsigned int lane_count, unsigned int all_lanes)
{
    unsigned int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= lane_count) return;
    unsigned int lane = lanes[at];
    for (unsigned int number = blockIdx.y; number < slot_count; number += gridDim.y) {
        slot s = slots[number];
        unsigned long long from = (unsigned long long)number * all_lanes + lane, to = (unsigned long long)s.step * all_lanes + lane;
        unsigned int distance = words[from] - s.base, found = s.unit == 1 ? distance : distance / s.unit;
        if (found > s.last) atomicMin(bad, (unsigned long long)number << 32 | lane);
        element[to] = (int)found;
        if (value) value[to] = values[from];
    }
}
