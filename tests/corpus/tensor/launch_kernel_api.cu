#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <vector>
#include <stdexcept>

#define CUDA_CHECK(expr)                                                       \
  do {                                                                         \
    cudaError_t status = (expr);                                               \
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status)); \
  } while (false)

using namespace nvcuda;

__global__ void gemmKernel(const half* pA, const half* pB, float* pC, int nM, int nN, int nK)
{
    const int nRow = blockIdx.y * 16;
    const int nCol = blockIdx.x * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fragC;
    wmma::fill_fragment(fragC, 0.0f);
    for (int nStep = 0; nStep < nK; nStep += 16)
    {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fragA;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fragB;
        wmma::load_matrix_sync(fragA, pA + nRow * nK + nStep, nK);
        wmma::load_matrix_sync(fragB, pB + nStep * nN + nCol, nN);
        wmma::mma_sync(fragC, fragA, fragB, fragC);
    }
    wmma::store_matrix_sync(pC + nRow * nN + nCol, fragC, nN, wmma::mem_row_major);
}

class DeviceBuffer
{
public:
    explicit DeviceBuffer(size_t bytes) { CUDA_CHECK(cudaMalloc(&m_ptr, bytes)); }
    ~DeviceBuffer() { cudaFree(m_ptr); }
    template <typename T> T* as() { return static_cast<T*>(m_ptr); }
private:
    void* m_ptr = nullptr;
};

int main()
{
    int nM = 128, nN = 128, nK = 64;
    DeviceBuffer bufA(nM * nK * sizeof(half)), bufB(nK * nN * sizeof(half)), bufC(nM * nN * sizeof(float));
    const half* pA = bufA.as<half>();
    const half* pB = bufB.as<half>();
    float* pC = bufC.as<float>();
    void* args[] = {&pA, &pB, &pC, &nM, &nN, &nK};
    dim3 grid(nN / 16, nM / 16), block(32);
    CUDA_CHECK(cudaLaunchKernel((const void*)gemmKernel, grid, block, args, 0, nullptr));
    CUDA_CHECK(cudaDeviceSynchronize());
    return 0;
}
