// 使用 m8n32k16 形状的 WMMA：适合行数很少的矩阵
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

static const int kM = 8;
static const int kN = 32;
static const int kK = 16;

__global__ void skinny_gemm(const half* mat_a, const half* mat_b, float* mat_c, int m, int n, int k)
{
    // 每个线程束负责一个 8x32 的输出块
    int block_row = blockIdx.y * kM;
    int block_col = (blockIdx.x * blockDim.y + threadIdx.y) * kN;
    if (block_col >= n)
        return;

    wmma::fragment<wmma::accumulator, kM, kN, kK, float> frag_c;
    wmma::fill_fragment(frag_c, 0.0f);

    for (int idx = 0; idx < k / kK; idx++)
    {
        wmma::fragment<wmma::matrix_a, kM, kN, kK, half, wmma::row_major> frag_a;
        wmma::fragment<wmma::matrix_b, kM, kN, kK, half, wmma::row_major> frag_b;
        // 读取 A 和 B 的片段
        wmma::load_matrix_sync(frag_a, &mat_a[block_row * k + idx * kK], k);
        wmma::load_matrix_sync(frag_b, &mat_b[idx * kK * n + block_col], n);
        wmma::mma_sync(frag_c, frag_a, frag_b, frag_c);
    }
    // 写回结果
    wmma::store_matrix_sync(&mat_c[block_row * n + block_col], frag_c, n, wmma::mem_row_major);
}

void launch_skinny(const half* mat_a, const half* mat_b, float* mat_c, int m, int n, int k)
{
    dim3 block(32, 2);
    dim3 grid((n + kN * 2 - 1) / (kN * 2), m / kM);
    skinny_gemm<<<grid, block>>>(mat_a, mat_b, mat_c, m, n, k);
}
