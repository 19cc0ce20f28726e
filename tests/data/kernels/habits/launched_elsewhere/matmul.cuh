#pragma once
#include "config.h"

__global__ void block_mul(const real_t *A, const real_t *B, real_t *C, int n);
