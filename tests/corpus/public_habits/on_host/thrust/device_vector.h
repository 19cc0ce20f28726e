#pragma once
#include <vector>
namespace thrust {
template <class T> struct host_vector : std::vector<T> { using std::vector<T>::vector; template <class O> host_vector& operator=(const O& o) { this->assign(o.begin(), o.end()); return *this; } };
template <class T> struct device_vector : std::vector<T> { using std::vector<T>::vector; device_vector(const host_vector<T>& o) : std::vector<T>(o.begin(), o.end()) {} };
template <class T> T* raw_pointer_cast(T* p) { return p; }
}
