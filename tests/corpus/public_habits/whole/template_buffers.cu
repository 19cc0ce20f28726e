#include <cuda_runtime.h>
#include <cstdio>
#include <memory>
#include <vector>

struct CudaDeleter {
    void operator()(void* p) const { cudaFree(p); }
};

template <typename T>
using device_ptr = std::unique_ptr<T[], CudaDeleter>;

template <typename T>
device_ptr<T> make_device(size_t count) {
    T* p = nullptr;
    cudaMalloc(reinterpret_cast<void**>(&p), count * sizeof(T));
    return device_ptr<T>(p);
}

template <typename T>
struct Tensor2D {
    int height;
    int width;
    device_ptr<T> storage;

    Tensor2D(int h, int w) : height{h}, width{w}, storage{make_device<T>(size_t(h) * w)} {}
    T* get() const { return storage.get(); }
    size_t size() const { return size_t(height) * width; }
};

template <typename T>
__global__ void multiply(T* __restrict__ out, const T* __restrict__ lhs, const T* __restrict__ rhs, int rows, int inner, int cols) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= cols || y >= rows) return;
    T value = 0;
    for (int i = 0; i < inner; ++i) value += lhs[y * inner + i] * rhs[i * cols + x];
    out[y * cols + x] = value;
}

template <typename T>
Tensor2D<T> operator_matmul(const Tensor2D<T>& lhs, const Tensor2D<T>& rhs) {
    Tensor2D<T> out{lhs.height, rhs.width};
    const dim3 threads{32, 8};
    const dim3 blocks{(out.width + threads.x - 1) / threads.x, (out.height + threads.y - 1) / threads.y};
    multiply<T><<<blocks, threads>>>(out.get(), lhs.get(), rhs.get(), lhs.height, lhs.width, rhs.width);
    return out;
}

template <typename T>
void demo() {
    constexpr int rows = 60, inner = 44, cols = 90;
    std::vector<T> a(rows * inner, T(1)), b(inner * cols, T(2)), c(rows * cols);
    Tensor2D<T> lhs{rows, inner}, rhs{inner, cols};
    cudaMemcpy(lhs.get(), a.data(), a.size() * sizeof(T), cudaMemcpyHostToDevice);
    cudaMemcpy(rhs.get(), b.data(), b.size() * sizeof(T), cudaMemcpyHostToDevice);
    auto out = operator_matmul(lhs, rhs);
    cudaMemcpy(c.data(), out.get(), c.size() * sizeof(T), cudaMemcpyDeviceToHost);
    printf("%f (expected %d)\n", double(c[0]), 2 * inner);
}

int main() {
    demo<float>();
}
