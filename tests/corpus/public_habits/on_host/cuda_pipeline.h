#pragma once
#include "cuda_runtime.h"
inline void __pipeline_memcpy_async(void* d, const void* s, size_t n) { memcpy(d, s, n); }
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(int) {}
