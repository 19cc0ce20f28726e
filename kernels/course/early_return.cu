// gemmviz = 1
// title = "Early return: threads without an element exit"
// description = """
// The inverted guard: a thread outside C returns at once, and the other threads continue. This works as long as no thread waits for
// the returned ones: a barrier after such a return would wait for threads that have exited.
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
// else = "a block {BLOCK} wide needs {BLOCK * BLOCK} threads; a block of this device holds at most {max_threads_per_block}"
// [[require]]
// that = "M == N and N == K"
// else = "this kernel multiplies only square matrices: M, N and K ({M}, {N}, {K}) must be the same"

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
