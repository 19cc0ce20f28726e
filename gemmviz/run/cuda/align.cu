// Words that the twin's threads wrote, each in its own order, become the elements of a dense matrix: see gemmviz.run.align.

struct slot {
    unsigned int row;       // the row that it belongs to
    unsigned int base;      // the word where its array begins
    unsigned int unit;      // words of an element
    unsigned int last;      // the last element that the access may begin at
};

extern "C" __global__ void align(
    const unsigned int* words, int* element, const slot* slots, const unsigned int* threads, unsigned long long* bad, const float* values,
    float* value, unsigned int slot_count, unsigned int thread_count, unsigned int all_threads)
{
    unsigned int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= thread_count) return;
    unsigned int thread = threads[at];
    for (unsigned int number = blockIdx.y; number < slot_count; number += gridDim.y) {
        slot s = slots[number];
        unsigned long long from = (unsigned long long)number * all_threads + thread, to = (unsigned long long)s.row * all_threads + thread;
        unsigned int distance = words[from] - s.base, found = s.unit == 1 ? distance : distance / s.unit;
        bool is_active = words[from] != 0xffffffffu;
        if (is_active && found > s.last) atomicMin(bad, (unsigned long long)number << 32 | thread);
        element[to] = is_active ? (int)found : -1;
        if (value) value[to] = values[from];
    }
}
