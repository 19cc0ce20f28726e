// Loads and stores with a cache hint, address spaces, and asynchronous copies of the driver's intrinsics.
#pragma once

template <class T> T __ldg(const T*);
template <class T> T __ldca(const T*);
template <class T> T __ldcg(const T*);
template <class T> T __ldcs(const T*);
template <class T> T __ldcv(const T*);
template <class T> T __ldlu(const T*);
template <class T> void __stwb(T*, std::type_identity_t<T>);
template <class T> void __stcg(T*, std::type_identity_t<T>);
template <class T> void __stcs(T*, std::type_identity_t<T>);
template <class T> void __stwt(T*, std::type_identity_t<T>);
extern "C" {
size_t __cvta_generic_to_shared(const void*);
size_t __cvta_generic_to_global(const void*);
size_t __cvta_generic_to_local(const void*);
size_t __cvta_generic_to_constant(const void*);
void* __cvta_shared_to_generic(size_t);
void* __cvta_global_to_generic(size_t);
unsigned int __isShared(const void*);
unsigned int __isGlobal(const void*);
unsigned int __isConstant(const void*);
unsigned int __isLocal(const void*);
unsigned int __nvvm_get_smem_pointer(void*);
void* alloca(size_t);
}
