// What every warp pays for every step of an aligned record, summed up. See gemmviz.analysis.costs for the rules.

struct step {
    int bucket;      // where its sums go
    int itemsize;    // bytes of an element
    int width;       // elements of one access: 1, 2, 4, 8 or 16
    int kind;        // 1: shared memory, 2: a load, 4: a branch, whose elements are 1 where its condition holds and else 0
};
enum { REQUESTS, LANES, BYTES_ASKED, BYTES_USED, SECTORS, NEEDED_SECTORS, IDEAL_SECTORS, LINES, WAVEFRONTS, IDEAL_WAVEFRONTS, COLUMNS };

__device__ unsigned int lanes_alike(bool active, unsigned int value)
{
    unsigned int mask = __ballot_sync(~0u, active), found = 0;
    if (active) found = __match_any_sync(mask, value);
    return found;
}

__device__ bool is_first(unsigned int alike) { return alike && __ffs(alike) - 1 == (threadIdx.x & 31); }

__device__ int distinct(bool active, unsigned int value)
{
    return __popc(__ballot_sync(~0u, is_first(lanes_alike(active, value))));
}

__device__ int largest(int value)
{
    for (int step = 16; step; step /= 2) value = max(value, __shfl_xor_sync(~0u, value, step));
    return value;
}

// Wavefronts of a 32-, 64- or 128-bit access: the most distinct words of one bank, summed over the groups that are served together.
__device__ int served(bool active, unsigned int word, int words, bool is_load)
{
    int lane = threadIdx.x & 31, groups = words;
    if (is_load && groups > 1) {
        bool merges = false;
        for (int step = 1; step <= 2; ++step) {
            unsigned int other = __shfl_xor_sync(~0u, word, step);
            bool also = __shfl_xor_sync(~0u, active, step);
            merges |= __all_sync(~0u, !active || !also || word == other) != 0;
        }
        if (merges) groups /= 2;
    }
    int size = 32 / groups, total = 0;
    for (int start = 0; start < 32; start += size) {
        bool here = active && lane >= start && lane < start + size;
        bool first = is_first(lanes_alike(here, word));
        total += largest(__popc(lanes_alike(first, word / words % (32 / words))));
    }
    return total;
}

extern "C" __global__ void count_steps(const int* element, const step* steps, unsigned long long* sums, int all_threads, int threads, int warps)
{
    __shared__ unsigned long long found[COLUMNS];
    if (threadIdx.x < COLUMNS) found[threadIdx.x] = 0;
    __syncthreads();
    step s = steps[blockIdx.y];
    if (!s.width) return; // a barrier
    const int* row = element + (unsigned long long)blockIdx.y * all_threads;
    int all = all_threads / threads * warps, lane = threadIdx.x & 31;
    unsigned long long mine[COLUMNS] = {};
    for (int warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; warp < all; warp += gridDim.x * (blockDim.x / 32)) {
        int thread = warp % warps * 32 + lane;
        int e = thread < threads ? row[warp / warps * threads + thread] : -1;
        bool active = e >= 0;
        int count = __popc(__ballot_sync(~0u, active));
        if (!count) continue;
        long long asked = (long long)count * s.itemsize * s.width, address = (long long)e * s.itemsize;
        mine[REQUESTS] += 1;
        mine[LANES] += count;
        mine[BYTES_ASKED] += asked;
        if (s.kind & 4) {
            mine[WAVEFRONTS] += distinct(active, e);
            mine[IDEAL_WAVEFRONTS] += 1;
        } else if (s.kind & 1) {
            int words = max(1, s.itemsize * s.width / 4);
            int took = served(active, (unsigned int)(address >> 2), words, s.kind & 2);
            mine[WAVEFRONTS] += took;
            mine[IDEAL_WAVEFRONTS] += min(took, (count * words + 31) / 32);
        } else {
            int sectors = distinct(active, (unsigned int)(address >> 5));
            mine[SECTORS] += sectors;
            mine[IDEAL_SECTORS] += min((long long)sectors, (asked + 31) / 32);
            mine[LINES] += distinct(active, (unsigned int)(address >> 7));
            long long used = (long long)distinct(active, e) * s.itemsize * s.width;
            mine[BYTES_USED] += used;
            mine[NEEDED_SECTORS] += min((long long)sectors, (used + 31) / 32);
        }
    }
    if (lane == 0)
        for (int column = 0; column < COLUMNS; ++column) atomicAdd(&found[column], mine[column]);
    __syncthreads();
    if (threadIdx.x < COLUMNS && found[threadIdx.x]) atomicAdd(&sums[(unsigned long long)s.bucket * COLUMNS + threadIdx.x], found[threadIdx.x]);
}
