// gemmviz = 1
// title = "More work for each thread, with blanks to fill in"
// description = """
// The coalesced kernel as a worksheet: a thread computes PER_THREAD elements of a row of C, BLOCK columns apart, and reads an element
// of A once for all of them.
// """
// entry = "coarse_worksheet"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["BLOCK", "BLOCK"]
// grid  = ["ceil_div(N, BLOCK * PER_THREAD)", "ceil_div(M, BLOCK)"]
// problem = { M = 8, N = 16, K = 8 }
// [parameters.BLOCK]
// default = 4
// choices = [4, 8, 16]
// description = "rows and columns of threads of a block"
// [parameters.PER_THREAD]
// default = 2
// choices = [2, 4]
// description = "elements of C that a thread computes"

extern "C" __global__ void coarse_worksheet(
    const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int col = /*?*/;     // of this thread's first element; the others follow BLOCK columns apart
    if (row >= M)
        return;

    float sum[PER_THREAD] = {};
    for (int k = 0; k < K; ++k) {
        const float a = /*?*/; // read once for all elements of this thread
        for (int j = 0; j < PER_THREAD; ++j)
            if (col + j * BLOCK < N)
                sum[j] += /*?*/;
    }

    for (int j = 0; j < PER_THREAD; ++j)
        if (/*?*/)
            C[row * N + col + j * BLOCK] = sum[j];
}
