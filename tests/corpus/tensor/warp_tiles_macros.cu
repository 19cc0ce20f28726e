#include <cuda_fp16.h>

enum { BLK_M = 64, BLK_N = 64, BLK_K = 16, WARP_M = 32, WARP_N = 32, SKEW = 8 };
#define A_AT(r, c) sa[(r) * (BLK_K + SKEW) + (c)]
#define B_AT(r, c) sb[(r) * (BLK_N + SKEW) + (c)]

static __device__ __forceinline__ void ld_a(unsigned *f, const half *p) {
	unsigned s = (unsigned)__cvta_generic_to_shared(p);
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]) : "r"(s));
}
static __device__ __forceinline__ void ld_b(unsigned *f, const half *p) {
	unsigned s = (unsigned)__cvta_generic_to_shared(p);
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]) : "r"(s));
}
static __device__ __forceinline__ void fma16(float *d, const unsigned *a, const unsigned *b) {
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
	             : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
	             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void warp_tiled_mma(const half *A, const half *B, float *C, int M, int N, int K) {
	__shared__ half sa[BLK_M * (BLK_K + SKEW)], sb[BLK_K * (BLK_N + SKEW)];
	int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, i, j;
	int wy = (warp / (BLK_N / WARP_N)) * WARP_M, wx = (warp % (BLK_N / WARP_N)) * WARP_N;
	float d[WARP_M / 16][WARP_N / 8][4];
	for (i = 0; i < WARP_M / 16; i++) for (j = 0; j < WARP_N / 8; j++) d[i][j][0] = d[i][j][1] = d[i][j][2] = d[i][j][3] = 0.f;
	for (int k0 = 0; k0 < K; k0 += BLK_K) {
		int ar = tid / 2, ac = (tid & 1) * 8, br = tid / 8, bc = (tid & 7) * 8;
		*(uint4 *)&A_AT(ar, ac) = *(const uint4 *)&A[(blockIdx.y * BLK_M + ar) * K + k0 + ac];
		*(uint4 *)&B_AT(br, bc) = *(const uint4 *)&B[(k0 + br) * N + blockIdx.x * BLK_N + bc];
		__syncthreads();
		unsigned fa[WARP_M / 16][4], fb[WARP_N / 16][4];
		for (i = 0; i < WARP_M / 16; i++) ld_a(fa[i], &A_AT(wy + i * 16 + lane % 16, lane / 16 * 8));
		for (j = 0; j < WARP_N / 16; j++) ld_b(fb[j], &B_AT(lane % 16, wx + j * 16 + lane / 16 * 8));
		for (i = 0; i < WARP_M / 16; i++)
			for (j = 0; j < WARP_N / 8; j++)
				fma16(d[i][j], fa[i], fb[j / 2] + (j & 1) * 2);
		__syncthreads();
	}
	for (i = 0; i < WARP_M / 16; i++)
		for (j = 0; j < WARP_N / 8; j++) {
			int r = blockIdx.y * BLK_M + wy + i * 16 + lane / 4, c = blockIdx.x * BLK_N + wx + j * 8 + lane % 4 * 2;
			*(float2 *)&C[r * N + c] = make_float2(d[i][j][0], d[i][j][1]);
			*(float2 *)&C[(r + 8) * N + c] = make_float2(d[i][j][2], d[i][j][3]);
		}
}

void go(const half *A, const half *B, float *C, int M, int N, int K) {
	warp_tiled_mma<<<dim3(N / BLK_N, M / BLK_M), 128>>>(A, B, C, M, N, K);
}
