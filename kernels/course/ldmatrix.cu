// gemmviz = 1
// title = "One warp that loads by ldmatrix"
// description = """
// A warp computes 16 x 8 elements of C by mma.sync. A row of its tile of A is 128 bytes long, all 32 banks. XORED is combined with the
// number of a row: 0 leaves its chunks of 16 bytes where they are, 7 gives each of eight rows other banks. PAD = 8 does so by an unused
// chunk at the end of each row.
// """
// entry = "ldmatrix"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["32"]
// grid  = ["N / 8", "M / 16"]
// [parameters.XORED]
// default = 7
// choices = [0, 1, 3, 7]
// description = "bits of the number of a row that move its chunks"
// [parameters.PAD]
// default = 0
// choices = [0, 8, 16, 24]
// description = "unused elements at the end of a row"
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

extern "C" __global__ void ldmatrix(const half* A, const half* B, float* C, int M, int N, int K)
{
    __shared__ __align__(128) half tileA[16][64 + PAD];
    __shared__ __align__(128) half tileB[64][8];

    const int lane = threadIdx.x;
    const int row0 = blockIdx.y * 16, col0 = blockIdx.x * 8;
    float sum[4] = {};
    for (int k0 = 0; k0 < K; k0 += 64) {
        for (int i = lane; i < 16 * 8; i += 32) {
            const int row = i / 8, chunk = i % 8;
            const uint4 eight = *reinterpret_cast<const uint4*>(&A[(row0 + row) * K + k0 + chunk * 8]);
            *reinterpret_cast<uint4*>(&tileA[row][(chunk ^ (row & XORED)) * 8]) = eight;
        }
        for (int i = lane; i < 64; i += 32)
            *reinterpret_cast<uint4*>(&tileB[i][0]) = *reinterpret_cast<const uint4*>(&B[(k0 + i) * N + col0]);
        __syncthreads();

        for (int k = 0; k < 64; k += 16) {
            // Lanes 0 to 15 give the addresses of 16 rows, lanes 16 to 31 those of the same rows eight columns further.
            const int row = lane % 16, chunk = k / 8 + lane / 16;
            unsigned a[4], b[2];
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                         : "r"(in_shared(&tileA[row][(chunk ^ (row & XORED)) * 8])) : "memory");
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
