// Atomic functions: the old value is the result. NAME_block and NAME_system differ in their scope.
#pragma once

#define __GEMMVIZ_ATOMIC(NAME, T, ...)    \
  T NAME(T* address, __VA_ARGS__);        \
  T NAME##_block(T* address, __VA_ARGS__); \
  T NAME##_system(T* address, __VA_ARGS__);
#define __GEMMVIZ_INTEGER_ATOMICS(T)    \
  __GEMMVIZ_ATOMIC(atomicAdd, T, T)     \
  __GEMMVIZ_ATOMIC(atomicExch, T, T)    \
  __GEMMVIZ_ATOMIC(atomicMin, T, T)     \
  __GEMMVIZ_ATOMIC(atomicMax, T, T)     \
  __GEMMVIZ_ATOMIC(atomicAnd, T, T)     \
  __GEMMVIZ_ATOMIC(atomicOr, T, T)      \
  __GEMMVIZ_ATOMIC(atomicXor, T, T)     \
  __GEMMVIZ_ATOMIC(atomicCAS, T, T, T)
__GEMMVIZ_INTEGER_ATOMICS(int)
__GEMMVIZ_INTEGER_ATOMICS(unsigned int)
__GEMMVIZ_INTEGER_ATOMICS(unsigned long long)
__GEMMVIZ_ATOMIC(atomicMin, long long, long long)
__GEMMVIZ_ATOMIC(atomicMax, long long, long long)
__GEMMVIZ_ATOMIC(atomicAnd, long long, long long)
__GEMMVIZ_ATOMIC(atomicOr, long long, long long)
__GEMMVIZ_ATOMIC(atomicXor, long long, long long)
__GEMMVIZ_ATOMIC(atomicSub, int, int)
__GEMMVIZ_ATOMIC(atomicSub, unsigned int, unsigned int)
__GEMMVIZ_ATOMIC(atomicInc, unsigned int, unsigned int)
__GEMMVIZ_ATOMIC(atomicDec, unsigned int, unsigned int)
__GEMMVIZ_ATOMIC(atomicCAS, unsigned short, unsigned short, unsigned short)
__GEMMVIZ_ATOMIC(atomicExch, float, float)
__GEMMVIZ_ATOMIC(atomicAdd, float, float)
__GEMMVIZ_ATOMIC(atomicAdd, float2, float2)
__GEMMVIZ_ATOMIC(atomicAdd, float4, float4)
__GEMMVIZ_ATOMIC(atomicAdd, double, double)
__GEMMVIZ_ATOMIC(atomicAdd, __half, __half)
__GEMMVIZ_ATOMIC(atomicAdd, __half2, __half2)
__GEMMVIZ_ATOMIC(atomicAdd, __nv_bfloat16, __nv_bfloat16)
__GEMMVIZ_ATOMIC(atomicAdd, __nv_bfloat162, __nv_bfloat162)
