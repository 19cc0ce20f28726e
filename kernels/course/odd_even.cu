// gemmviz = 1
// title = "Odd and even columns: a branch within each warp"
// description = """
// Threads of even columns multiply in one order, those of odd columns in the other. Neighbours in a warp go different ways, so that each
// warp executes both, one after the other. BY_WARP = 1 decides for 32 columns at once: whole warps go one way.
// """
// entry = "gemm_odd_even"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["64", "2"]
// grid  = ["ceil_div(N, 64)", "ceil_div(M, 2)"]
// problem = { M = 4, N = 64, K = 8 }
// [parameters.BY_WARP]
// default = 0
// choices = [0, 1]
// description = "1: 32 neighbouring columns go the same way"

#if BY_WARP
#define GROUP 32
#else
#define GROUP 1
#endif

extern "C" __global__ void gemm_odd_even(const float* A, const float* B, float* C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N)
        return;

    float sum = 0.0f;
    if (col / GROUP % 2 == 0)
        for (int k = 0; k < K; ++k)
            sum += A[row * K + k] * B[k * N + col];
    else
        for (int k = K - 1; k >= 0; --k)
            sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
