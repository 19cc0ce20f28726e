#include <stdio.h>
#define N 512
#define TILE 32
__global__ void mul(int *A, int *B, int *C) {
  int i = blockIdx.y*TILE + threadIdx.y, j = blockIdx.x*TILE+threadIdx.x;
  if (i < N && j < N) { int s = 0; for (int k = 0; k < N; ++k) s += A[i*N+k]*B[k*N+j]; C[i*N+j] = s; }
}
int main() { int *a,*b,*c; cudaMalloc((void**)&a, N*N*sizeof(int)); cudaMalloc((void**)&b, N*N*sizeof(int)); cudaMalloc((void**)&c, N*N*sizeof(int));
  dim3 th(TILE,TILE); dim3 bl(ceil(N/(float)TILE), ceil(N/(float)TILE)); mul<<<bl,th>>>(a,b,c); }
