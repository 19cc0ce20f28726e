// Kernel 3: cache blocking with shared memory. The pointers walk along the K dimension.
#include <cassert>
#include <cuda_runtime.h>
#include <stdio.h>
#include <vector>

template <int BLOCKSIZE>
__global__ void sgemm_shared_mem_block(int M, int N, int K, float alpha,
                                       const float *A, const float *B,
                                       float beta, float *C) {
  // the output block that we want to compute in this threadblock
  const uint cRow = blockIdx.x;
  const uint cCol = blockIdx.y;

  // allocate buffer for current block in fast shared mem
  // shared mem is shared between all threads in a block
  __shared__ float As[BLOCKSIZE * BLOCKSIZE];
  __shared__ float Bs[BLOCKSIZE * BLOCKSIZE];

  // the inner row & col that we're accessing in this thread
  const uint threadCol = threadIdx.x % BLOCKSIZE;
  const uint threadRow = threadIdx.x / BLOCKSIZE;

  // advance pointers to the starting positions
  A += cRow * BLOCKSIZE * K;                    // row=cRow, col=0
  B += cCol * BLOCKSIZE;                        // row=0, col=cCol
  C += cRow * BLOCKSIZE * N + cCol * BLOCKSIZE; // row=cRow, col=cCol

  float tmp = 0.0;
  for (int bkIdx = 0; bkIdx < K; bkIdx += BLOCKSIZE) {
    // Have each thread load one of the elements in A & B
    As[threadRow * BLOCKSIZE + threadCol] = A[threadRow * K + threadCol];
    Bs[threadRow * BLOCKSIZE + threadCol] = B[threadRow * N + threadCol];

    // block threads in this block until cache is fully populated
    __syncthreads();
    A += BLOCKSIZE;
    B += BLOCKSIZE * N;

    // execute the dotproduct on the currently cached block
    for (int dotIdx = 0; dotIdx < BLOCKSIZE; ++dotIdx) {
      tmp += As[threadRow * BLOCKSIZE + dotIdx] *
             Bs[dotIdx * BLOCKSIZE + threadCol];
    }
    // need to sync again at the end, to avoid faster threads
    // fetching the next block into the cache before slower threads are done
    __syncthreads();
  }
  C[threadRow * N + threadCol] =
      alpha * tmp + beta * C[threadRow * N + threadCol];
}

int main() {
  constexpr int BLOCK = 16;
  const int M = 128, N = 64, K = 96;
  static_assert(M % BLOCK == 0 && N % BLOCK == 0 && K % BLOCK == 0, "sizes must be multiples of the block");
  std::vector<float> hostA(M * K, 1.0f), hostB(K * N, 2.0f), hostC(M * N, 0.0f);
  float *dA = nullptr, *dB = nullptr, *dC = nullptr;
  cudaMalloc(&dA, hostA.size() * sizeof(float));
  cudaMalloc(&dB, hostB.size() * sizeof(float));
  cudaMalloc(&dC, hostC.size() * sizeof(float));
  cudaMemcpy(dA, hostA.data(), hostA.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dB, hostB.data(), hostB.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dC, hostC.data(), hostC.size() * sizeof(float), cudaMemcpyHostToDevice);

  dim3 grid(M / BLOCK, N / BLOCK);
  dim3 block(BLOCK * BLOCK);
  // carve out as much shared memory as possible
  cudaFuncSetAttribute(sgemm_shared_mem_block<BLOCK>, cudaFuncAttributePreferredSharedMemoryCarveout,
                       cudaSharedmemCarveoutMaxShared);
  sgemm_shared_mem_block<BLOCK><<<grid, block>>>(M, N, K, 1.0f, dA, dB, 0.0f, dC);
  cudaMemcpy(hostC.data(), dC, hostC.size() * sizeof(float), cudaMemcpyDeviceToHost);
  printf("C[0] = %f\n", hostC[0]);
  return 0;
}
