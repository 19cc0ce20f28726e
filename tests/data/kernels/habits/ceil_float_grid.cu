#include <math.h>
#include <stdio.h>

__global__ void mulKernel(float *X, float *Y, float *Z, int n)
{
	int j = threadIdx.x + blockIdx.x * blockDim.x;
	int i = threadIdx.y + blockIdx.y * blockDim.y;
	if ((i < n) && (j < n)) {
		float v = 0;
		for (int p = 0; p < n; ++p)
			v += X[i*n + p] * Y[p*n + j];
		Z[i*n + j] = v;
	}
}

void multiply(float *hX, float *hY, float *hZ, int n)
{
	int bytes = n * n * sizeof(float);
	float *dX, *dY, *dZ;
	cudaMalloc(&dX, bytes);
	cudaMalloc(&dY, bytes);
	cudaMalloc(&dZ, bytes);
	cudaMemcpy(dX, hX, bytes, cudaMemcpyHostToDevice);
	cudaMemcpy(dY, hY, bytes, cudaMemcpyHostToDevice);
	dim3 grid(ceil(n / 32.0), ceil(n / 32.0), 1);
	dim3 block(32, 32, 1);
	mulKernel<<<grid, block>>>(dX, dY, dZ, n);
	cudaMemcpy(hZ, dZ, bytes, cudaMemcpyDeviceToHost);
}

int main(void)
{
	static float x[100 * 100], y[100 * 100], z[100 * 100];
	multiply(x, y, z, 100);
	return 0;
}
