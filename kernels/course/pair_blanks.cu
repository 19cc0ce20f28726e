// gemmviz = 1
// title = "Reduction of pairs, with blanks to fill in"
// description = """
// A tree of sums as a worksheet. Each thread adds two elements while it loads them, so that all threads add.
// """
// entry = "pair_worksheet"
// args  = ["in", "out", "n"]
// block = ["BLOCK"]
// grid  = ["ceil_div(n, 2 * BLOCK)"]
// problem = { kind = "reduction", n = 500, arrays = { out = "ceil_div(n, 2 * BLOCK)" } }
// [parameters.BLOCK]
// default = 64
// choices = [32, 64, 128, 256, 512]
// description = "threads of a block"

extern "C" __global__ void pair_worksheet(
    const float* in, float* out, int n)
{
    __shared__ float sums[BLOCK];

    // The two elements of a thread are BLOCK apart
    const int x = threadIdx.x;
    const int i = /*?*/;
    float sum = i < n ? in[i] : 0.0f;
    if (/*?*/)
        sum += in[i + BLOCK];
    sums[x] = sum;
    /*?*/

    // In each round, fewer threads add sums that are closer together
    for (int apart = /*?*/; /*?*/; apart /= 2) {
        if (x < apart)
            sums[x] += sums[x + apart];
        /*?*/
    }

    if (x == 0)
        out[blockIdx.x] = sums[0];
}
