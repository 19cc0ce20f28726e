// gemmviz = 1
// title = "Early return: who has no element leaves"
// description = """
// The guard turned round: a thread that lies outside of C returns at once, and all others go on without a thought for it. That
// works as long as nobody waits for them: a barrier behind such a return would wait for threads that are gone.
// """
// entry = "gemm_early_return"
// args  = ["A", "B", "C", "N"]
// block = ["BLOCK", "BLOCK"]
// grid  = ["ceil_div(N, BLOCK)", "ceil_div(N, BLOCK)"]
// problem = { M = 4, N = 4, K = 4 }
// [parameters.BLOCK]
// default = 2
// choices = [2, 4, 8, 16, 32]
// description = "threads of a block along each axis"
// [[require]]
// that = "BLOCK * BLOCK <= max_threads_per_block"
// else = "a tile {BLOCK} wide needs {BLOCK * BLOCK} threads; a block of this device holds at most {max_threads_per_block}"
// [[require]]
// that = "M == N and N == K"
// else = "this kernel multiplies square matrices alone: M, N and K ({M}, {N}, {K}) must be the same"

extern "C" __global__ void gemm_early_return(float* Md, float* Nd, float* Pd, int width)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (width <= row || width <= col)
        return;

    float dot = 0;
    for (int k = 0; k < width; k++)
        dot += Md[row * width + k] * Nd[k * width + col];
    Pd[row * width + col] = dot;
}
