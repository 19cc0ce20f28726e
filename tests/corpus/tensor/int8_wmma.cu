#include <cstdint>
#include <mma.h>

// Quantised GEMM, int8 x int8 -> int32
#define TILE 16

__global__ void igemm(const int8_t* __restrict__ lhs, const int8_t* __restrict__ rhs, int32_t* __restrict__ out,
                      int rows, int cols, int depth)
{
	using namespace nvcuda::wmma;
	const int warps_per_block = blockDim.x >> 5;
	const int tile_row = blockIdx.y;
	const int tile_col = blockIdx.x * warps_per_block + (threadIdx.x >> 5);

	fragment<accumulator, TILE, TILE, TILE, int> sum;
	fill_fragment(sum, 0);
	const int8_t* l = lhs + tile_row * TILE * depth;
	const int8_t* r = rhs + tile_col * TILE;
	for (int d = 0; d < depth; d += TILE, l += TILE, r += TILE * cols)
	{
		fragment<matrix_a, TILE, TILE, TILE, signed char, row_major> fl;
		fragment<matrix_b, TILE, TILE, TILE, signed char, row_major> fr;
		load_matrix_sync(fl, l, depth);
		load_matrix_sync(fr, r, cols);
		mma_sync(sum, fl, fr, sum);
	}
	store_matrix_sync(out + tile_row * TILE * cols + tile_col * TILE, sum, cols, mem_row_major);
}

void igemm_launch(const int8_t* lhs, const int8_t* rhs, int32_t* out, int rows, int cols, int depth, cudaStream_t s)
{
	dim3 block(64);
	dim3 grid(cols / (2 * TILE), rows / TILE);
	igemm<<<grid, block, 0, s>>>(lhs, rhs, out, rows, cols, depth);
}
