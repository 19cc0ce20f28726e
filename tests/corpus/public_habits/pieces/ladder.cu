//// sgemm_naive  problem: gemm_ab  block: 32, 32  grid: CEIL($M, 32), CEIL($N, 32)  args: $M, $N, $K, $alpha, $A, $B, $beta, $C
__global__ void sgemm_naive(int M, int N, int K, float alpha, const float *A,
                            const float *B, float beta, float *C) {
  const uint x = blockIdx.x * blockDim.x + threadIdx.x;
  const uint y = blockIdx.y * blockDim.y + threadIdx.y;

  // if statement is necessary to make things work under tile quantization
  if (x < M && y < N) {
    float tmp = 0.0;
    for (int i = 0; i < K; ++i) {
      tmp += A[x * K + i] * B[i * N + y];
    }
    // C = α*(A@B)+β*C
    C[x * N + y] = alpha * tmp + beta * C[x * N + y];
  }
}
//// sgemm_coalesce  problem: gemm_ab  block: 32 * 32  grid: CEIL($M, 32), CEIL($N, 32)  args: $M, $N, $K, $alpha, $A, $B, $beta, $C  call: sgemm_coalesce<32>
template <const uint BLOCKSIZE>
__global__ void sgemm_coalesce(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  const int cRow = blockIdx.x * BLOCKSIZE + (threadIdx.x / BLOCKSIZE);
  const int cCol = blockIdx.y * BLOCKSIZE + (threadIdx.x % BLOCKSIZE);

  if (cRow < M && cCol < N) {
    float tmp = 0.0;
    for (int i = 0; i < K; ++i) {
      tmp += A[cRow * K + i] * B[i * N + cCol];
    }
    C[cRow * N + cCol] = alpha * tmp + beta * C[cRow * N + cCol];
  }
}
//// sgemm_smem  problem: gemm_ab  fits: 32=32  block: 32 * 32  grid: CEIL($M, 32), CEIL($N, 32)  args: $M, $N, $K, $alpha, $A, $B, $beta, $C  call: sgemm_smem<32>
template <const int BS>
__global__ void sgemm_smem(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  const uint cRow = blockIdx.x;
  const uint cCol = blockIdx.y;
  __shared__ float As[BS * BS];
  __shared__ float Bs[BS * BS];
  const uint threadCol = threadIdx.x % BS;
  const uint threadRow = threadIdx.x / BS;

  // advance pointers to the starting positions
  A += cRow * BS * K;
  B += cCol * BS;
  C += cRow * BS * N + cCol * BS;

  float tmp = 0.0;
  for (int bkIdx = 0; bkIdx < K; bkIdx += BS) {
    As[threadRow * BS + threadCol] = A[threadRow * K + threadCol];
    Bs[threadRow * BS + threadCol] = B[threadRow * N + threadCol];
    __syncthreads();
    A += BS;
    B += BS * N;
    for (int dotIdx = 0; dotIdx < BS; ++dotIdx) {
      tmp += As[threadRow * BS + dotIdx] * Bs[dotIdx * BS + threadCol];
    }
    __syncthreads();
  }
  C[threadRow * N + threadCol] = alpha * tmp + beta * C[threadRow * N + threadCol];
}
//// sgemm_1d_tiles  problem: gemm_ab  fits: 64=64  block: (64 * 64) / 8  grid: CEIL($N, 64), CEIL($M, 64)  args: $M, $N, $K, $alpha, $A, $B, $beta, $C  call: sgemm_1d_tiles<64, 64, 8, 8>
template <const int BM, const int BN, const int BK, const int TM>
__global__ void sgemm_1d_tiles(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  const uint cRow = blockIdx.y;
  const uint cCol = blockIdx.x;
  const int threadCol = threadIdx.x % BN;
  const int threadRow = threadIdx.x / BN;
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  A += cRow * BM * K;
  B += cCol * BN;
  C += cRow * BM * N + cCol * BN;
  assert(BM * BK == blockDim.x);
  assert(BN * BK == blockDim.x);
  const uint innerColA = threadIdx.x % BK;
  const uint innerRowA = threadIdx.x / BK;
  const uint innerColB = threadIdx.x % BN;
  const uint innerRowB = threadIdx.x / BN;
  float threadResults[TM] = {0.0};
  for (uint bkIdx = 0; bkIdx < K; bkIdx += BK) {
    As[innerRowA * BK + innerColA] = A[innerRowA * K + innerColA];
    Bs[innerRowB * BN + innerColB] = B[innerRowB * N + innerColB];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
      float tmpB = Bs[dotIdx * BN + threadCol];
      for (uint resIdx = 0; resIdx < TM; ++resIdx) {
        threadResults[resIdx] += As[(threadRow * TM + resIdx) * BK + dotIdx] * tmpB;
      }
    }
    __syncthreads();
  }
  for (uint resIdx = 0; resIdx < TM; ++resIdx) {
    C[(threadRow * TM + resIdx) * N + threadCol] =
        alpha * threadResults[resIdx] + beta * C[(threadRow * TM + resIdx) * N + threadCol];
  }
}
//// sgemm_2d_tiles  problem: gemm_ab  fits: 64=64  block: (64 * 64) / (8 * 8)  grid: CEIL($N, 64), CEIL($M, 64)  args: $M, $N, $K, $alpha, $A, $B, $beta, $C  call: sgemm_2d_tiles<64, 64, 8, 8, 8>
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1)
    sgemm_2d_tiles(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  const uint totalResultsBlocktile = BM * BN;
  const uint numThreadsBlocktile = totalResultsBlocktile / (TM * TN);
  const int threadCol = threadIdx.x % (BN / TN);
  const int threadRow = threadIdx.x / (BN / TN);
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;
  const uint innerRowA = threadIdx.x / BK;
  const uint innerColA = threadIdx.x % BK;
  const uint strideA = numThreadsBlocktile / BK;
  const uint innerRowB = threadIdx.x / BN;
  const uint innerColB = threadIdx.x % BN;
  const uint strideB = numThreadsBlocktile / BN;

  float threadResults[TM * TN] = {0.0};
  float regM[TM] = {0.0};
  float regN[TN] = {0.0};

  for (uint bkIdx = 0; bkIdx < K; bkIdx += BK) {
    for (uint loadOffset = 0; loadOffset < BM; loadOffset += strideA) {
      As[(innerRowA + loadOffset) * BK + innerColA] = A[(innerRowA + loadOffset) * K + innerColA];
    }
    for (uint loadOffset = 0; loadOffset < BK; loadOffset += strideB) {
      Bs[(innerRowB + loadOffset) * BN + innerColB] = B[(innerRowB + loadOffset) * N + innerColB];
    }
    __syncthreads();
    A += BK;
    B += BK * N;
    for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
      for (uint i = 0; i < TM; ++i) regM[i] = As[(threadRow * TM + i) * BK + dotIdx];
      for (uint i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
      for (uint resIdxM = 0; resIdxM < TM; ++resIdxM)
        for (uint resIdxN = 0; resIdxN < TN; ++resIdxN)
          threadResults[resIdxM * TN + resIdxN] += regM[resIdxM] * regN[resIdxN];
    }
    __syncthreads();
  }
  for (uint resIdxM = 0; resIdxM < TM; ++resIdxM) {
    for (uint resIdxN = 0; resIdxN < TN; ++resIdxN) {
      C[(threadRow * TM + resIdxM) * N + threadCol * TN + resIdxN] =
          alpha * threadResults[resIdxM * TN + resIdxN] + beta * C[(threadRow * TM + resIdxM) * N + threadCol * TN + resIdxN];
    }
  }
}
//// sgemm_vec4  problem: gemm_ab  fits: 128=128  block: (BM * BN) / (TM * TN)  grid: CEIL($N, BN), CEIL($M, BM)  args: $M, $N, $K, $alpha, $A, $B, $beta, $C
#define BM 128
#define BN 128
#define BK 8
#define TM 8
#define TN 8

__global__ void sgemm_vec4(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
  const uint cRow = blockIdx.y;
  const uint cCol = blockIdx.x;
  const int threadCol = threadIdx.x % (BN / TN);
  const int threadRow = threadIdx.x / (BN / TN);
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  A += cRow * BM * K;
  B += cCol * BN;
  C += cRow * BM * N + cCol * BN;
  const uint innerRowA = threadIdx.x / (BK / 4);
  const uint innerColA = threadIdx.x % (BK / 4);
  const uint innerRowB = threadIdx.x / (BN / 4);
  const uint innerColB = threadIdx.x % (BN / 4);
  float threadResults[TM * TN] = {0.0};
  float regM[TM] = {0.0};
  float regN[TN] = {0.0};
  for (uint bkIdx = 0; bkIdx < K; bkIdx += BK) {
    // transpose A while loading it
    float4 tmp = reinterpret_cast<float4 *>(&A[innerRowA * K + innerColA * 4])[0];
    As[(innerColA * 4 + 0) * BM + innerRowA] = tmp.x;
    As[(innerColA * 4 + 1) * BM + innerRowA] = tmp.y;
    As[(innerColA * 4 + 2) * BM + innerRowA] = tmp.z;
    As[(innerColA * 4 + 3) * BM + innerRowA] = tmp.w;
    reinterpret_cast<float4 *>(&Bs[innerRowB * BN + innerColB * 4])[0] =
        reinterpret_cast<float4 *>(&B[innerRowB * N + innerColB * 4])[0];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
      for (uint i = 0; i < TM; ++i) {
        regM[i] = As[dotIdx * BM + threadRow * TM + i];
      }
      for (uint i = 0; i < TN; ++i) {
        regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
      }
      for (uint m = 0; m < TM; ++m) {
        for (uint n = 0; n < TN; ++n) {
          threadResults[m * TN + n] += regM[m] * regN[n];
        }
      }
    }
    __syncthreads();
  }
  for (uint m = 0; m < TM; m += 1) {
    for (uint n = 0; n < TN; n += 4) {
      float4 out = reinterpret_cast<float4 *>(&C[(threadRow * TM + m) * N + threadCol * TN + n])[0];
      out.x = alpha * threadResults[m * TN + n] + beta * out.x;
      out.y = alpha * threadResults[m * TN + n + 1] + beta * out.y;
      out.z = alpha * threadResults[m * TN + n + 2] + beta * out.z;
      out.w = alpha * threadResults[m * TN + n + 3] + beta * out.w;
      reinterpret_cast<float4 *>(&C[(threadRow * TM + m) * N + threadCol * TN + n])[0] = out;
    }
  }
}
//// sgemm_warptile  problem: gemm_ab  fits: 64=64  block: 128  grid: CEIL($N, 64), CEIL($M, 64)  args: $M, $N, $K, $alpha, $A, $B, $beta, $C  call: sgemm_warptile<64, 64, 16, 32, 32, 4, 8>
template <int BM, int BN, int BK, int WM, int WN, int TM, int TN>
__global__ void sgemm_warptile(int M, int N, int K, float alpha, const float *__restrict__ A,
                               const float *__restrict__ B, float beta, float *__restrict__ C) {
  constexpr int NUM_THREADS = (BM / WM) * (BN / WN) * 32;
  const int warpIdx = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int warpRow = warpIdx / (BN / WN), warpCol = warpIdx % (BN / WN);
  const int laneRow = lane / (WN / TN), laneCol = lane % (WN / TN);
  __shared__ float As[BM][BK + 1];
  __shared__ float Bs[BK][BN];
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += (blockIdx.y * BM + warpRow * WM) * N + blockIdx.x * BN + warpCol * WN;
  float acc[TM][TN] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
#pragma unroll
    for (int i = threadIdx.x; i < BM * BK; i += NUM_THREADS) As[i / BK][i % BK] = A[(i / BK) * K + i % BK];
#pragma unroll
    for (int i = threadIdx.x; i < BK * BN; i += NUM_THREADS) Bs[i / BN][i % BN] = B[(i / BN) * N + i % BN];
    __syncthreads();
    A += BK;
    B += BK * N;
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) a[i] = As[warpRow * WM + laneRow * TM + i][k];
#pragma unroll
      for (int j = 0; j < TN; ++j) b[j] = Bs[k][warpCol * WN + laneCol * TN + j];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j) {
      float &c = C[(laneRow * TM + i) * N + laneCol * TN + j];
      c = alpha * acc[i][j] + beta * c;
    }
}
