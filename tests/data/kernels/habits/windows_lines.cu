#include <cuda_runtime.h>
#include <stdio.h>

#define BLOCK_DIM 16

__global__ void MatMulCRLF(const float* A, const float* B, float* C, int m, int n, int k)
{
	int row = blockIdx.y * BLOCK_DIM + threadIdx.y;
	int col = blockIdx.x * BLOCK_DIM + threadIdx.x;
	if (row < m && col < n)
	{
		float sum = 0.0f;
		for (int i = 0; i < k; ++i)
			sum += A[row * k + i] * \
			       B[i * n + col];
		C[row * n + col] = sum;
	}
}

int main()
{
	int m = 60, n = 40, k = 50;
	float *A, *B, *C;
	cudaMalloc((void**)&A, m * k * sizeof(float));
	cudaMalloc((void**)&B, k * n * sizeof(float));
	cudaMalloc((void**)&C, m * n * sizeof(float));
	dim3 dimBlock(BLOCK_DIM, BLOCK_DIM);
	dim3 dimGrid((unsigned int)ceil((float)n / BLOCK_DIM), (unsigned int)ceil((float)m / BLOCK_DIM));
	MatMulCRLF<<<dimGrid, dimBlock>>>(A, B, C, m, n, k);
	return 0;
}
