#include <stdio.h>
#include <stdlib.h>
#include <math.h>

__global__ void matMul(float *a, float *b, float *c, int width)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= width || col >= width) return;
    float v = 0;
    for (int i = 0; i < width; i++) v += a[row * width + i] * b[i * width + col];
    c[row * width + col] = v;
}

int main(int argc, char *argv[])
{
    int width = 90;
    int blockSize = 32;
    if (argc >= 2) width = atoi(argv[1]);
    int dev = 0;
    cudaDeviceProp prop;
    cudaGetDeviceProperties(&prop, dev);
    printf("Device %d: %s with %d SMs\n", dev, prop.name, prop.multiProcessorCount);
    if (width < 32) blockSize = 16;
    const int bytes = width * width * sizeof(float);
    float *a = (float*)malloc(bytes), *b = (float*)malloc(bytes), *c = (float*)malloc(bytes);
    for (int i = 0; i < width * width; i++) { a[i] = i % 3; b[i] = i % 7; }
    float *d_a, *d_b, *d_c;
    cudaMalloc((void**)&d_a, bytes);
    cudaMalloc((void**)&d_b, bytes);
    cudaMalloc((void**)&d_c, bytes);
    cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b, bytes, cudaMemcpyHostToDevice);
    dim3 threadsPerBlock(blockSize, blockSize);
    dim3 blocksPerGrid(1, 1);
    blocksPerGrid.x = ceil(double(width) / double(threadsPerBlock.x));
    blocksPerGrid.y = ceil(double(width) / double(threadsPerBlock.y));
    matMul<<<blocksPerGrid, threadsPerBlock>>>(d_a, d_b, d_c, width);
    cudaMemcpy(c, d_c, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < width; i++)
        for (int j = 0; j < width; j++) {
            float s = 0;
            for (int k = 0; k < width; k++) s += a[i * width + k] * b[k * width + j];
            if (s != c[i * width + j]) return 1;
        }
    return 0;
}
