// gemmviz = 1
// title = "One block: a thread for each element of P"
// description = """
// The lecture's first kernel: a single block of WIDTH × WIDTH threads. The index of a thread alone selects its row and column.
// """
// entry = "one_block"
// args  = ["A", "B", "C", "N"]
// block = ["N", "N"]
// grid  = ["1", "1"]
// problem = { M = 4, N = 4, K = 4 }
// [[require]]
// that = "N * N <= max_threads_per_block"
// else = "C has {N * N} elements, one thread each; a block of this device holds at most {max_threads_per_block} threads"
// [[require]]
// that = "M == N and N == K"
// else = "this kernel multiplies only square matrices: M, N and K ({M}, {N}, {K}) must be the same"

extern "C" __global__ void one_block(
    const float* Md, const float* Nd, float* Pd, int Width)
{
    int Row = threadIdx.y;   // of Pd and Md
    int Col = threadIdx.x;   // of Pd and Nd

    float Pvalue = 0.0f;
    for (int k = 0; k < Width; ++k)
        Pvalue += Md[Row * Width + k] * Nd[k * Width + Col];
    Pd[Row * Width + Col] = Pvalue;
}
