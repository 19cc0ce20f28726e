#include <cuda_runtime.h>
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define FLOAT4(p) (*reinterpret_cast<float4 *>(&(p)))
#define CFLOAT4(p) (*reinterpret_cast<const float4 *>(&(p)))

template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN))
sgemm_vectorised(int M, int N, int K, const float *A, const float *B, float *C) {
  __shared__ float As[BK * BM];
  __shared__ float Bs[BK * BN];
  const int tc = threadIdx.x % (BN / TN), tr = threadIdx.x / (BN / TN);
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;
  const int threads = (BM * BN) / (TM * TN);
  float acc[TM * TN] = {0.0f}, rm[TM], rn[TN];
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = threadIdx.x; i < BM * BK / 4; i += threads) {
      const int r = i / (BK / 4), c = i % (BK / 4);
      const float4 v = CFLOAT4(A[r * K + c * 4]);
      As[(c * 4 + 0) * BM + r] = v.x;
      As[(c * 4 + 1) * BM + r] = v.y;
      As[(c * 4 + 2) * BM + r] = v.z;
      As[(c * 4 + 3) * BM + r] = v.w;
    }
    for (int i = threadIdx.x; i < BK * BN / 4; i += threads) {
      const int r = i / (BN / 4), c = i % (BN / 4);
      FLOAT4(Bs[r * BN + c * 4]) = CFLOAT4(B[r * N + c * 4]);
    }
    __syncthreads();
    A += BK;
    B += BK * N;
    for (int k = 0; k < BK; ++k) {
      for (int i = 0; i < TM; ++i) rm[i] = As[k * BM + tr * TM + i];
      for (int i = 0; i < TN; ++i) rn[i] = Bs[k * BN + tc * TN + i];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) acc[i * TN + j] += rm[i] * rn[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; j += 4) {
      float4 v;
      v.x = acc[i * TN + j]; v.y = acc[i * TN + j + 1]; v.z = acc[i * TN + j + 2]; v.w = acc[i * TN + j + 3];
      FLOAT4(C[(tr * TM + i) * N + tc * TN + j]) = v;
    }
}

void run_vectorised(int M, int N, int K, float *A, float *B, float *C) {
  const uint BK = 8, TM = 4, TN = 4;
  const uint BM = 32, BN = 32;
  dim3 gridDim(CEIL_DIV(N, BN), CEIL_DIV(M, BM));
  dim3 blockDim((BM * BN) / (TM * TN));
  sgemm_vectorised<BM, BN, BK, TM, TN><<<gridDim, blockDim>>>(M, N, K, A, B, C);
}
