// gemmviz = 1
// title = "Reduction, with blanks to fill in"
// description = """
// A tree of sums as a worksheet: each block adds BLOCK elements in log2(BLOCK) rounds, in an order that lets whole warps go one way.
// """
// entry = "reduction_worksheet"
// args  = ["in", "out", "n"]
// block = ["BLOCK"]
// grid  = ["ceil_div(n, BLOCK)"]
// problem = { kind = "reduction", n = 500, arrays = { out = "ceil_div(n, BLOCK)" } }
// [parameters.BLOCK]
// default = 128
// choices = [64, 128, 256, 512]
// description = "threads of a block, and elements that it adds"

extern "C" __global__ void reduction_worksheet(const float* in, float* out, int n)
{
    __shared__ float sums[BLOCK];

    const int x = threadIdx.x;
    const int i = blockIdx.x * BLOCK + x;

    sums[x] = i < n ? in[i] : 0.0f;
    __syncthreads();

    // In each round, the threads that add are neighbours
    for (int apart = /*?*/; apart > 0; apart /= 2) {
        if (/*?*/)
            sums[x] += /*?*/;
        /*?*/
    }

    if (x == 0)
        out[blockIdx.x] = sums[0];
}
