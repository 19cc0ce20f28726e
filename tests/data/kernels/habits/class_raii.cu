#include <cuda_runtime.h>
#include <vector>
#include <stdexcept>

template <typename T>
class DeviceBuffer {
public:
    explicit DeviceBuffer(size_t count) : count_(count) {
        if (cudaMalloc(&data_, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("no memory");
    }
    ~DeviceBuffer() { cudaFree(data_); }
    void upload(const std::vector<T>& host) { cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice); }
    void download(std::vector<T>& host) const { cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost); }
    T* get() const { return data_; }

private:
    T* data_ = nullptr;
    size_t count_ = 0;
};

namespace linalg {
namespace detail {
template <typename T>
__global__ void multiply(T const* lhs, T const* rhs, T* out, int rows, int cols, int depth) {
    int const r = blockIdx.y * blockDim.y + threadIdx.y;
    int const c = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows || c >= cols) return;
    T sum{};
    for (int d = 0; d < depth; ++d) sum += lhs[r * depth + d] * rhs[d * cols + c];
    out[r * cols + c] = sum;
}
}  // namespace detail

class Multiplier {
public:
    Multiplier(int rows, int cols, int depth) : rows_(rows), cols_(cols), depth_(depth) {}
    void operator()(const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& c) const {
        DeviceBuffer<float> da(rows_ * depth_), db(depth_ * cols_), dc(rows_ * cols_);
        da.upload(a);
        db.upload(b);
        dim3 const block(kThreads, kThreads);
        dim3 const grid((cols_ + kThreads - 1) / kThreads, (rows_ + kThreads - 1) / kThreads);
        detail::multiply<float><<<grid, block>>>(da.get(), db.get(), dc.get(), rows_, cols_, depth_);
        dc.download(c);
    }

private:
    static constexpr int kThreads = 16;
    int rows_, cols_, depth_;
};
}  // namespace linalg

int main() {
    std::vector<float> a(96 * 64), b(64 * 80), c(96 * 80);
    linalg::Multiplier multiply(96, 80, 64);
    multiply(a, b, c);
}
