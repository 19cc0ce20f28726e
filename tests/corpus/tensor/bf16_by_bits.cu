#include <stdint.h>

// Floats are cut to bfloat16 by their bits: the upper half of a word. Two of them make a register.
__device__ uint32_t two(float lo, float hi) { return (__float_as_uint(hi) & 0xffff0000u) | (__float_as_uint(lo) >> 16); }

__global__ void gemm_cut(const float *A, const float *B, float *C, int M, int N, int K)
{
	int lane = threadIdx.x, g = lane / 4, q = lane % 4 * 2;
	int row = blockIdx.y * 16 + g, col = blockIdx.x * 8;
	float c0 = 0, c1 = 0, c2 = 0, c3 = 0;
	for (int k = 0; k < K; k += 16) {
		const float *a = A + row * K + k + q;
		const float *b = B + (k + q) * N + col + g;
		uint32_t a0 = two(a[0], a[1]), a1 = two(a[8 * K], a[8 * K + 1]), a2 = two(a[8], a[9]), a3 = two(a[8 * K + 8], a[8 * K + 9]);
		uint32_t b0 = two(b[0], b[N]), b1 = two(b[8 * N], b[9 * N]);
		asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
			: "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
	}
	C[row * N + col + q] = c0;
	C[row * N + col + q + 1] = c1;
	C[(row + 8) * N + col + q] = c2;
	C[(row + 8) * N + col + q + 1] = c3;
}

void run(const float *A, const float *B, float *C, int M, int N, int K)
{
	gemm_cut<<<dim3(N / 8, M / 16), 32>>>(A, B, C, M, N, K);
}
