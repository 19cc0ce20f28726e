// The vectors of Thrust, by which host code passes a pointer to a kernel.
#pragma once

#pragma clang force_cuda_host_device begin
namespace thrust {
template <class T> struct device_ptr {
  device_ptr(T* = nullptr);
  T* get() const;
  T& operator[](size_t) const;
};
template <class T> class host_vector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  host_vector() = default;
  template <class V> host_vector(const V&);
  template <class V> host_vector& operator=(const V&);
};
template <class T> class device_vector {
 public:
  device_vector();
  explicit device_vector(size_t);
  device_vector(size_t, const T&);
  template <class V> device_vector(const V&);
  template <class I> device_vector(I, I);
  template <class V> device_vector& operator=(const V&);
  device_ptr<T> data() const;
  device_ptr<T> begin() const;
  device_ptr<T> end() const;
  size_t size() const;
  void resize(size_t);
  T& operator[](size_t);
};
template <class T> T* raw_pointer_cast(const device_ptr<T>&);
template <class T> T* raw_pointer_cast(T*);
template <class T> device_ptr<T> device_pointer_cast(T*);
template <class... Ts> void fill(const Ts&...);
template <class... Ts> void copy(const Ts&...);
template <class... Ts> void sequence(const Ts&...);
template <class... Ts> void generate(const Ts&...);
}
#pragma clang force_cuda_host_device end
