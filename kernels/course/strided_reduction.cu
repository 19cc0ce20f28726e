// gemmviz = 1
// title = "Reduction: every second thread, then every fourth, adds"
// description = """
// Each block adds BLOCK elements in log2(BLOCK) rounds. The thread whose number is a multiple of twice the distance adds its
// neighbour's sum, so that in each round every warp has active threads, but fewer: in the last rounds one of 32.
// """
// entry = "strided_reduction"
// args  = ["in", "out", "n"]
// block = ["BLOCK"]
// grid  = ["ceil_div(n, BLOCK)"]
// problem = { kind = "reduction", n = 500, arrays = { out = "ceil_div(n, BLOCK)" } }
// [parameters.BLOCK]
// default = 128
// choices = [32, 64, 128, 256, 512, 1024]
// description = "threads of a block, and elements that it adds"

extern "C" __global__ void strided_reduction(const float* in, float* out, int n)
{
    __shared__ float sums[BLOCK];

    const int x = threadIdx.x;
    const int i = blockIdx.x * BLOCK + x;

    sums[x] = i < n ? in[i] : 0.0f;
    __syncthreads();   // all elements are loaded

    for (int apart = 1; apart < BLOCK; apart *= 2) {
        if (x % (2 * apart) == 0)
            sums[x] += sums[x + apart];
        __syncthreads();   // all sums of this round are stored
    }

    if (x == 0)
        out[blockIdx.x] = sums[0];
}
