#include <cuda_runtime.h>
#include <mma.h>
#include <stdio.h>

#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); return 1; } } while (0)

using namespace nvcuda::wmma;

__global__ void tf32gemm( const float* A, const float* B, float* C, int M, int N, int K )
{
  int tile_m = blockIdx.y * blockDim.y + threadIdx.y;
  int tile_n = blockIdx.x;

  fragment< matrix_a, 16, 16, 8, precision::tf32, row_major > a;
  fragment< matrix_b, 16, 16, 8, precision::tf32, row_major > b;
  fragment< accumulator, 16, 16, 8, float > acc;
  fill_fragment( acc, 0.0f );

  for( int k = 0; k < K; k += 8 )
  {
    load_matrix_sync( a, A + tile_m * 16 * K + k, K );
    load_matrix_sync( b, B + k * N + tile_n * 16, N );
    for( int t = 0; t < a.num_elements; t++ ) a.x[ t ] = __float_to_tf32( a.x[ t ] );
    for( int t = 0; t < b.num_elements; t++ ) b.x[ t ] = __float_to_tf32( b.x[ t ] );
    mma_sync( acc, a, b, acc );
  }
  store_matrix_sync( C + tile_m * 16 * N + tile_n * 16, acc, N, mem_row_major );
}

int main( int argc, char** argv )
{
  int M = 256, N = 128, K = 64;
  float *A, *B, *C;
  CHECK( cudaMalloc( &A, M * K * sizeof( float ) ) );
  CHECK( cudaMalloc( &B, K * N * sizeof( float ) ) );
  CHECK( cudaMalloc( &C, M * N * sizeof( float ) ) );
  dim3 threads( 32, 2 );
  dim3 blocks( N / 16, M / 32 );
  tf32gemm<<< blocks, threads >>>( A, B, C, M, N, K );
  CHECK( cudaDeviceSynchronize() );
  return 0;
}
