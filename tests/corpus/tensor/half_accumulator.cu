#include <mma.h>
using namespace nvcuda;
#define WARPS 4
/* all half: A, B, C and the sums */
__global__ void hhgemm(half *A, half *B, half *C, int M, int N, int K) {
	int warp = threadIdx.x / 32;
	int i = blockIdx.y * 16, j = (blockIdx.x * WARPS + warp) * 16;
	wmma::fragment<wmma::matrix_a,16,16,16,half,wmma::row_major> a;
	wmma::fragment<wmma::matrix_b,16,16,16,half,wmma::row_major> b;
	wmma::fragment<wmma::accumulator,16,16,16,half> c;
	wmma::fill_fragment(c, __float2half(0.0f));
	for(int k=0;k<K;k+=16){
		wmma::load_matrix_sync(a,A+i*K+k,K);
		wmma::load_matrix_sync(b,B+k*N+j,N);
		wmma::mma_sync(c,a,b,c);
	}
	wmma::store_matrix_sync(C+i*N+j,c,N,wmma::mem_row_major);
}
int main(){
	int M=128,N=128,K=128;
	half *A,*B,*C;
	cudaMalloc(&A,M*K*2); cudaMalloc(&B,K*N*2); cudaMalloc(&C,M*N*2);
	hhgemm<<<dim3(N/(16*WARPS),M/16),32*WARPS>>>(A,B,C,M,N,K);
	cudaDeviceSynchronize();
	return 0;
}
