#pragma once
#include "cuda_runtime.h"
typedef _Float16 half;
typedef half __half;
inline half __float2half(float f) { return (half)f; }
inline float __half2float(half h) { return (float)h; }
