#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

// One warp for each element of C; B is transposed so that both rows are read in order.
__global__ void warp_dot(const half2 *A, const half2 *Bt, float *C, int M, int N, int K)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    int index = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
    if (index >= M * N) return;
    int row = index / N, col = index % N;
    float sum = 0.f;
    for (int k = tile.thread_rank(); k < K / 2; k += tile.size()) {
        float2 a = __half22float2(A[row * (K / 2) + k]);
        float2 b = __half22float2(Bt[col * (K / 2) + k]);
        sum += a.x * b.x + a.y * b.y;
    }
    sum = cg::reduce(tile, sum, cg::plus<float>());
    if (tile.thread_rank() == 0) C[row * N + col] = sum;
}

void launch(const half *A, const half *Bt, float *C, int M, int N, int K)
{
    int warps = 4;
    warp_dot<<<(M * N + warps - 1) / warps, warps * 32>>>((const half2 *)A, (const half2 *)Bt, C, M, N, K);
}
