// gemmviz = 1
// title = "One fragment of C on tensor cores, with blanks"
// description = """
// A warp computes 16 x 16 elements of C from fragments of A and B that it loads from global memory. Three blanks: how far apart the rows
// of A and of B are, and the product itself.
// """
// entry = "blank_wmma"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["32"]
// grid  = ["N / 16", "M / 16"]
// [problem]
// M = 32
// N = 16
// K = 48
// [[require]]
// that = "M % 16 == 0 and N % 16 == 0 and K % 16 == 0"
// else = "M, N and K ({M}, {N}, {K}) must be multiples of 16"

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void blank_wmma(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.y * 16, col = blockIdx.x * 16;   // the fragment of C that this warp computes

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        // From one row of A to the next
        wmma::load_matrix_sync(a, &A[row * K + k], /*?*/);
        // From one row of B to the next
        wmma::load_matrix_sync(b, &B[k * N + col], /*?*/);
        // Multiply and add
        wmma::mma_sync(/*?*/);
    }
    wmma::store_matrix_sync(&C[row * N + col], sum, N, wmma::mem_row_major);
}
