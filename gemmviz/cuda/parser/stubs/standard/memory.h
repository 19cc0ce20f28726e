// Smart pointers.
#pragma once

namespace std {
template <class T> struct default_delete { void operator()(T*) const; };
template <class T, class D = default_delete<remove_extent_t<T>>> class unique_ptr {
 public:
  using pointer = remove_extent_t<T>*;
  unique_ptr();
  unique_ptr(nullptr_t);
  template <class... A> explicit unique_ptr(pointer, A&&...);
  unique_ptr(unique_ptr&&);
  unique_ptr& operator=(unique_ptr&&);
  pointer get() const;
  pointer release();
  void reset(pointer = nullptr);
  pointer operator->() const;
  remove_extent_t<T>& operator*() const;
  remove_extent_t<T>& operator[](size_t) const;
  explicit operator bool() const;
};
template <class T> class shared_ptr {
 public:
  using pointer = remove_extent_t<T>*;
  shared_ptr();
  shared_ptr(nullptr_t);
  template <class... A> explicit shared_ptr(pointer, A&&...);
  pointer get() const;
  void reset(pointer = nullptr);
  pointer operator->() const;
  remove_extent_t<T>& operator*() const;
  remove_extent_t<T>& operator[](size_t) const;
  explicit operator bool() const;
};
template <class T, class... A> unique_ptr<T> make_unique(A&&...);
template <class T, class... A> shared_ptr<T> make_shared(A&&...);
}  // namespace std
