// gemmviz = 1
// title = "One warp that loads by ldmatrix, without its swizzle"
// description = """
// A row of the tile of A is eight chunks of 16 bytes, all 32 banks. Two blanks say in which chunk of its row a chunk is stored, and where
// it is found again.
// """
// entry = "blank_swizzle"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["32"]
// grid  = ["N / 8", "M / 16"]
// [problem]
// M = 16
// N = 8
// K = 64
// [[require]]
// that = "M % 16 == 0 and N % 8 == 0 and K % 64 == 0"
// else = "M, N and K ({M}, {N}, {K}) must be multiples of 16, 8 and 64"

#include <cuda_fp16.h>

__device__ unsigned in_shared(const void* pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

extern "C" __global__ void blank_swizzle(const half* A, const half* B, float* C, int M, int N, int K)
{
    __shared__ __align__(128) half tileA[16][64];
    __shared__ __align__(128) half tileB[64][8];

    const int lane = threadIdx.x;
    const int row0 = blockIdx.y * 16, col0 = blockIdx.x * 8;
    float sum[4] = {};
    for (int k0 = 0; k0 < K; k0 += 64) {
        for (int i = lane; i < 16 * 8; i += 32) {
            const int row = i / 8, chunk = i % 8;
            const uint4 eight = *reinterpret_cast<const uint4*>(&A[(row0 + row) * K + k0 + chunk * 8]);
            // The chunk of this row in which these eight elements are stored
            *reinterpret_cast<uint4*>(&tileA[row][(/*?*/) * 8]) = eight;
        }
        for (int i = lane; i < 64; i += 32)
            *reinterpret_cast<uint4*>(&tileB[i][0]) = *reinterpret_cast<const uint4*>(&B[(k0 + i) * N + col0]);
        __syncthreads();

        for (int k = 0; k < 64; k += 16) {
            // Lanes 0 to 15 give the addresses of 16 rows, lanes 16 to 31 those of the same rows eight columns further.
            const int row = lane % 16, chunk = k / 8 + lane / 16;
            unsigned a[4], b[2];
            // The chunk of this row in which this lane finds them again
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                         : "r"(in_shared(&tileA[row][(/*?*/) * 8])) : "memory");
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                         : "=r"(b[0]), "=r"(b[1]) : "r"(in_shared(&tileB[k + row][0])) : "memory");
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                         "{%0, %1, %2, %3};"
                         : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        }
        __syncthreads();
    }

    float* c = &C[(row0 + lane / 4) * N + col0 + lane % 4 * 2];
    c[0] = sum[0], c[1] = sum[1];
    c[8 * N] = sum[2], c[8 * N + 1] = sum[3];
}
