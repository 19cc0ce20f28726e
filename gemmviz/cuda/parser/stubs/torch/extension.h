// What PyTorch's extensions use in the functions that launch a kernel.
#pragma once

#pragma clang force_cuda_host_device begin
namespace c10 {
using ScalarType = int;
struct Half { unsigned short x; };
struct BFloat16 { unsigned short x; };
struct Device {
  int type() const;
  int index() const;
  bool is_cuda() const;
};
struct TensorOptions {
  template <class T> TensorOptions dtype(const T&) const;
  template <class T> TensorOptions device(const T&) const;
  template <class T> TensorOptions layout(const T&) const;
  TensorOptions requires_grad(bool) const;
};
namespace cuda {
struct CUDAStream { operator cudaStream_t() const; cudaStream_t stream() const; };
struct CUDAGuard { template <class T> CUDAGuard(const T&); };
struct OptionalCUDAGuard { template <class T> OptionalCUDAGuard(const T&); };
CUDAStream getCurrentCUDAStream(int = 0);
}
}

namespace at {
using namespace c10;
using IntArrayRef = std::initializer_list<long>;
struct Sizes { long operator[](size_t) const; size_t size() const; };
class Tensor {
 public:
  long size(long) const;
  Sizes sizes() const;
  long stride(long) const;
  long numel() const;
  long dim() const;
  TensorOptions options() const;
  Device device() const;
  ScalarType scalar_type() const;
  ScalarType type() const;
  ScalarType dtype() const;
  bool is_cuda() const;
  bool is_contiguous() const;
  Tensor contiguous() const;
  Tensor cuda() const;
  Tensor cpu() const;
  Tensor t() const;
  Tensor transpose(long, long) const;
  Tensor zero_();
  template <class... Ts> Tensor to(const Ts&...) const;
  template <class... Ts> Tensor view(const Ts&...) const;
  template <class... Ts> Tensor reshape(const Ts&...) const;
  template <class T> T* data_ptr() const;
  template <class T> const T* const_data_ptr() const;
  template <class T> T* mutable_data_ptr() const;
  template <class T> T* data() const;
  void* data_ptr() const;
};
#define __GEMMVIZ_TENSOR(name) \
  Tensor name(IntArrayRef, const TensorOptions& = {}); \
  template <class T> Tensor name(const T&, const TensorOptions& = {});
__GEMMVIZ_TENSOR(zeros)
__GEMMVIZ_TENSOR(empty)
__GEMMVIZ_TENSOR(ones)
__GEMMVIZ_TENSOR(randn)
__GEMMVIZ_TENSOR(rand)
Tensor zeros_like(const Tensor&);
Tensor empty_like(const Tensor&);
Tensor matmul(const Tensor&, const Tensor&);
constexpr int kCUDA = 1, kCPU = 0, kFloat = 6, kFloat32 = 6, kFloat64 = 7, kDouble = 7, kHalf = 5, kFloat16 = 5, kBFloat16 = 15;
constexpr int kInt = 3, kInt32 = 3, kLong = 4, kInt64 = 4, kInt8 = 1, kBool = 11;
namespace cuda {
using namespace c10::cuda;
}
}

namespace torch {
using namespace at;
}
#pragma clang force_cuda_host_device end

#define TORCH_CHECK(...)
#define AT_ASSERTM(...)
#define AT_ASSERT(...)
#define TORCH_INTERNAL_ASSERT(...)
#define C10_CUDA_CHECK(result) static_cast<void>(result)
#define AT_CUDA_CHECK(result) static_cast<void>(result)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() static_cast<void>(0)
#define __GEMMVIZ_DISPATCH(TYPE, NAME, ...) [&] { using scalar_t = float; return __VA_ARGS__(); }()
#define AT_DISPATCH_FLOATING_TYPES __GEMMVIZ_DISPATCH
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF __GEMMVIZ_DISPATCH
#define AT_DISPATCH_ALL_TYPES __GEMMVIZ_DISPATCH
#define AT_DISPATCH_FLOATING_TYPES_AND(EXTRA, ...) __GEMMVIZ_DISPATCH(__VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(EXTRA, OTHER, ...) __GEMMVIZ_DISPATCH(__VA_ARGS__)
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)
namespace pybind11 {
struct module_ { template <class... Ts> module_& def(const char*, const Ts&...); };
template <class... Ts> struct init {};
struct arg { arg(const char*); };
}
namespace py = pybind11;
#define TORCH_EXTENSION_NAME gemmviz_extension
#define PYBIND11_MODULE(name, module) void gemmviz_bind(pybind11::module_& module)
#define TORCH_LIBRARY(name, module) void gemmviz_bind(pybind11::module_& module)
