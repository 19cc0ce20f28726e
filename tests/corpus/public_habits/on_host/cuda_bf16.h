#pragma once
#include "cuda_runtime.h"
struct __nv_bfloat16 { uint16_t bits; };
inline __nv_bfloat16 __float2bfloat16(float f) { uint32_t i; memcpy(&i, &f, 4); return {uint16_t(i >> 16)}; }
inline float __bfloat162float(__nv_bfloat16 h) { uint32_t i = uint32_t(h.bits) << 16; float f; memcpy(&f, &i, 4); return f; }
