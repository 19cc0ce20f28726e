#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void gemm_forward_cuda(const half *__restrict__ input, const half *__restrict__ weight, half *__restrict__ output,
                                  const int64_t M, const int64_t N, const int64_t K) {
  const int64_t m = blockIdx.x * 16, n = blockIdx.y * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, half> acc;
  wmma::fill_fragment(acc, __float2half_rn(0.f));
  for (int64_t k = 0; k < K; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    wmma::load_matrix_sync(a, input + m * K + k, K);
    wmma::load_matrix_sync(b, weight + n * K + k, K);
    wmma::mma_sync(acc, a, b, acc);
  }
  wmma::store_matrix_sync(output + m * N + n, acc, N, wmma::mem_row_major);
}

torch::Tensor gemm_forward(torch::Tensor input, torch::Tensor weight) {
  TORCH_CHECK(input.is_cuda(), "input must be a CUDA tensor");
  const int64_t M = input.size(0), K = input.size(1), N = weight.size(0);
  auto output = torch::empty({M, N}, input.options());
  const dim3 blocks(M / 16, N / 16);
  const dim3 threads(32);
  auto stream = at::cuda::getCurrentCUDAStream();
  gemm_forward_cuda<<<blocks, threads, 0, stream>>>(
      reinterpret_cast<half *>(input.data_ptr<at::Half>()), reinterpret_cast<half *>(weight.data_ptr<at::Half>()),
      reinterpret_cast<half *>(output.data_ptr<at::Half>()), M, N, K);
  return output;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("gemm_forward", &gemm_forward, "tensor core GEMM"); }
