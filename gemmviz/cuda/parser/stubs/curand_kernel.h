// cuRAND, which host code fills matrices with.
#pragma once

typedef struct curandGenerator_st* curandGenerator_t;
enum curandStatus_t : int { CURAND_STATUS_SUCCESS = 0 };
enum { CURAND_RNG_PSEUDO_DEFAULT = 100, CURAND_RNG_PSEUDO_XORWOW = 101, CURAND_RNG_PSEUDO_MTGP32 = 141 };
__GEMMVIZ_ANY(curandCreateGenerator, curandStatus_t)
__GEMMVIZ_ANY(curandCreateGeneratorHost, curandStatus_t)
__GEMMVIZ_ANY(curandDestroyGenerator, curandStatus_t)
__GEMMVIZ_ANY(curandSetPseudoRandomGeneratorSeed, curandStatus_t)
__GEMMVIZ_ANY(curandGenerateUniform, curandStatus_t)
__GEMMVIZ_ANY(curandGenerateUniformDouble, curandStatus_t)
__GEMMVIZ_ANY(curandGenerateNormal, curandStatus_t)
struct curandStateXORWOW { unsigned int d, v[5]; };
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;
void curand_init(unsigned long long, unsigned long long, unsigned long long, curandState*);
unsigned int curand(curandState*);
float curand_uniform(curandState*);
float curand_normal(curandState*);
