#include <stdio.h>
#include <stdlib.h>
#define BLOCK_SIZE 8

struct Matrix {
    int width, height, stride;
    float* elements;
};

__device__ float GetElement(const Matrix A, int row, int col) { return A.elements[row * A.stride + col]; }

__device__ void SetElement(Matrix A, int row, int col, float value) { A.elements[row * A.stride + col] = value; }

// Get the BLOCK_SIZE x BLOCK_SIZE sub-matrix of A that is col sub-matrices to the right and row down
__device__ Matrix GetSubMatrix(Matrix A, int row, int col)
{
    Matrix Asub;
    Asub.width = BLOCK_SIZE;
    Asub.height = BLOCK_SIZE;
    Asub.stride = A.stride;
    Asub.elements = &A.elements[A.stride * BLOCK_SIZE * row + BLOCK_SIZE * col];
    return Asub;
}

__global__ void MatMulKernel(Matrix A, Matrix B, Matrix C)
{
    int blockRow = blockIdx.y;
    int blockCol = blockIdx.x;
    Matrix Csub = GetSubMatrix(C, blockRow, blockCol);
    float Cvalue = 0;
    int row = threadIdx.y;
    int col = threadIdx.x;
    for (int m = 0; m < (A.width / BLOCK_SIZE); ++m) {
        Matrix Asub = GetSubMatrix(A, blockRow, m);
        Matrix Bsub = GetSubMatrix(B, m, blockCol);
        __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
        As[row][col] = GetElement(Asub, row, col);
        Bs[row][col] = GetElement(Bsub, row, col);
        __syncthreads();
        for (int e = 0; e < BLOCK_SIZE; ++e) Cvalue += As[row][e] * Bs[e][col];
        __syncthreads();
    }
    SetElement(Csub, row, col, Cvalue);
}

Matrix onDevice(const Matrix& h, bool copy)
{
    Matrix d = h;
    size_t bytes = h.width * h.height * sizeof(float);
    cudaMalloc(&d.elements, bytes);
    if (copy) cudaMemcpy(d.elements, h.elements, bytes, cudaMemcpyHostToDevice);
    return d;
}

Matrix create(int height, int width)
{
    Matrix m;
    m.height = height;
    m.width = m.stride = width;
    m.elements = new float[height * width];
    for (int i = 0; i < height * width; ++i) m.elements[i] = (i * 7) % 5;
    return m;
}

int main()
{
    Matrix A = create(40, 24), B = create(24, 32), C = create(40, 32);
    Matrix dA = onDevice(A, true), dB = onDevice(B, true), dC = onDevice(C, false);
    dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE);
    dim3 dimGrid(B.width / dimBlock.x, A.height / dimBlock.y);
    MatMulKernel<<<dimGrid, dimBlock>>>(dA, dB, dC);
    cudaMemcpy(C.elements, dC.elements, C.width * C.height * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 32; j++) {
            float s = 0;
            for (int k = 0; k < 24; k++) s += A.elements[i * 24 + k] * B.elements[k * 32 + j];
            if (s != C.elements[i * 32 + j]) return 1;
        }
    puts("equal");
    return 0;
}
