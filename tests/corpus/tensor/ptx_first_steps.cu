// My first mma.sync kernel: one warp per 16x8 tile, everything straight from global memory.
#include <cuda_fp16.h>
#include <stdint.h>

__device__ uint32_t pack(half lo, half hi) {
    half2 both = __halves2half2(lo, hi);
    return *(uint32_t *)&both;
}

__global__ void mma_naive(const half *A, const half *B, float *C, int M, int N, int K) {
    int lane = threadIdx.x;
    int group = lane / 4;      // "groupID" in the PTX manual
    int in_group = lane % 4;   // "threadID_in_group"
    int m = blockIdx.y * 16;
    int n = blockIdx.x * 8;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    for (int k = 0; k < K; k += 16) {
        const half *a = A + (m + group) * K + k + in_group * 2;
        uint32_t a0 = pack(a[0], a[1]);
        uint32_t a1 = pack(a[8 * K], a[8 * K + 1]);
        uint32_t a2 = pack(a[8], a[9]);
        uint32_t a3 = pack(a[8 * K + 8], a[8 * K + 9]);
        const half *b = B + (k + in_group * 2) * N + n + group;
        uint32_t b0 = pack(b[0], b[N]);
        uint32_t b1 = pack(b[8 * N], b[9 * N]);
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};\n"
                     : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "f"(d0), "f"(d1), "f"(d2), "f"(d3));
    }
    C[(m + group) * N + n + in_group * 2] = d0;
    C[(m + group) * N + n + in_group * 2 + 1] = d1;
    C[(m + group + 8) * N + n + in_group * 2] = d2;
    C[(m + group + 8) * N + n + in_group * 2 + 1] = d3;
}

int main() {
    const int M = 64, N = 64, K = 64;
    half *A, *B; float *C;
    cudaMalloc(&A, M * K * sizeof *A);
    cudaMalloc(&B, K * N * sizeof *B);
    cudaMalloc(&C, M * N * sizeof *C);
    mma_naive<<<dim3(N / 8, M / 16), 32>>>(A, B, C, M, N, K);
    return cudaDeviceSynchronize();
}
