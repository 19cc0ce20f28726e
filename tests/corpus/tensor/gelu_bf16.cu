#include <cuda_bf16.h>
#include <mma.h>
#include <math.h>

#define GELU_SCALING_FACTOR sqrtf(2.0f / M_PI)

using namespace nvcuda;

__device__ float gelu(float x) {
    float cube = 0.044715f * x * x * x;
    return 0.5f * x * (1.0f + tanhf(GELU_SCALING_FACTOR * (x + cube)));
}

// out (B*T, OC) = gelu(inp (B*T, C) @ weight (OC, C).T + bias (OC))
__global__ void matmul_gelu_forward(__nv_bfloat16* out, const __nv_bfloat16* inp, const __nv_bfloat16* weight,
                                    const __nv_bfloat16* bias, int BT, int C, int OC) {
    __shared__ float buf[16][20];
    int r = blockIdx.x * 16, c = blockIdx.y * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int k = 0; k < C; k += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b;
        wmma::load_matrix_sync(a, inp + r * C + k, C);
        wmma::load_matrix_sync(b, weight + c * C + k, C);
        wmma::mma_sync(acc, a, b, acc);
    }
    wmma::store_matrix_sync(&buf[0][0], acc, 20, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        float v = buf[i / 16][i % 16] + __bfloat162float(bias[c + i % 16]);
        out[(r + i / 16) * OC + c + i % 16] = __float2bfloat16(gelu(v));
    }
}

void matmul_gelu(__nv_bfloat16* out, const __nv_bfloat16* inp, const __nv_bfloat16* weight, const __nv_bfloat16* bias,
                 int B, int T, int C, int OC) {
    dim3 grid(B * T / 16, OC / 16);
    matmul_gelu_forward<<<grid, 32>>>(out, inp, weight, bias, B * T, C, OC);
}
