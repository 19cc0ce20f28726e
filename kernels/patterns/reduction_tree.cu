// gemmviz = 1
// title = "Reduction: a tree of sums in shared memory"
// description = """
// Each block adds BLOCK elements in log2(BLOCK) rounds: in each round, half of the threads add the other half's sums to their own. The
// rounds need a barrier each. The sums of the blocks are the parts of the result, which a second launch with one block adds up.
// INTERLEAVED = 1 is the obvious order, with neighbours added first: its threads spread over all warps, and their elements over few banks.
// """
// entry = "reduction_tree"
// args  = ["in", "out", "n"]
// block = ["BLOCK"]
// grid  = ["ceil_div(n, BLOCK)"]
// problem = { kind = "reduction", n = 500, arrays = { out = "ceil_div(n, BLOCK)" } }
// [parameters.BLOCK]
// default = 128
// choices = [32, 64, 128, 256, 512, 1024]
// description = "threads of a block, and elements that it adds"
// [parameters.INTERLEAVED]
// default = 0
// choices = [0, 1]
// description = "1: neighbours are added first"

extern "C" __global__ void reduction_tree(const float* in, float* out, int n)
{
    __shared__ float sums[BLOCK];

    const int x = threadIdx.x;
    const int i = blockIdx.x * BLOCK + x;

    sums[x] = i < n ? in[i] : 0.0f;
    __syncthreads();   // all elements are loaded

#if INTERLEAVED
    for (int apart = 1; apart < BLOCK; apart *= 2) {
        const int own = 2 * apart * x;
        if (own < BLOCK)
            sums[own] += sums[own + apart];
        __syncthreads();   // all sums of this round are stored
    }
#else
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (x < half)
            sums[x] += sums[x + half];
        __syncthreads();   // all sums of this round are stored
    }
#endif

    if (x == 0)
        out[blockIdx.x] = sums[0];
}
