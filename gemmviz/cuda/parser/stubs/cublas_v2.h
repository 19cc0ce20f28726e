// cuBLAS, which host code compares with.
#pragma once

typedef struct cublasContext* cublasHandle_t;
typedef struct cublasLtContext* cublasLtHandle_t;
enum cublasStatus_t : int {
  CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3, CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11, CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14, CUBLAS_STATUS_NOT_SUPPORTED = 15, CUBLAS_STATUS_LICENSE_ERROR = 16,
};
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cublasMath_t { CUBLAS_DEFAULT_MATH, CUBLAS_TENSOR_OP_MATH, CUBLAS_PEDANTIC_MATH, CUBLAS_TF32_TENSOR_OP_MATH };
enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_TF32 = 77, CUBLAS_COMPUTE_64F = 70, CUBLAS_COMPUTE_32I = 72,
};
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99, CUBLAS_GEMM_ALGO0_TENSOR_OP = 100 };
enum cudaDataType { CUDA_R_16F = 2, CUDA_R_16BF = 14, CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_8I = 3, CUDA_R_32I = 10 };
typedef cudaDataType cudaDataType_t;
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
__GEMMVIZ_ANY(cublasCreate, cublasStatus_t)
__GEMMVIZ_ANY(cublasDestroy, cublasStatus_t)
__GEMMVIZ_ANY(cublasSetStream, cublasStatus_t)
__GEMMVIZ_ANY(cublasSetMathMode, cublasStatus_t)
__GEMMVIZ_ANY(cublasSetPointerMode, cublasStatus_t)
__GEMMVIZ_ANY(cublasSetVector, cublasStatus_t)
__GEMMVIZ_ANY(cublasGetVector, cublasStatus_t)
__GEMMVIZ_ANY(cublasSetMatrix, cublasStatus_t)
__GEMMVIZ_ANY(cublasGetMatrix, cublasStatus_t)
__GEMMVIZ_ANY(cublasSgemm, cublasStatus_t)
__GEMMVIZ_ANY(cublasDgemm, cublasStatus_t)
__GEMMVIZ_ANY(cublasHgemm, cublasStatus_t)
__GEMMVIZ_ANY(cublasGemmEx, cublasStatus_t)
__GEMMVIZ_ANY(cublasSgemmEx, cublasStatus_t)
__GEMMVIZ_ANY(cublasSgemmBatched, cublasStatus_t)
__GEMMVIZ_ANY(cublasSgemmStridedBatched, cublasStatus_t)
__GEMMVIZ_ANY(cublasGemmStridedBatchedEx, cublasStatus_t)
__GEMMVIZ_ANY(cublasSgemv, cublasStatus_t)
__GEMMVIZ_ANY(cublasSaxpy, cublasStatus_t)
__GEMMVIZ_ANY(cublasSdot, cublasStatus_t)
__GEMMVIZ_ANY(cublasSnrm2, cublasStatus_t)
__GEMMVIZ_ANY(cublasInit, cublasStatus_t)
__GEMMVIZ_ANY(cublasShutdown, cublasStatus_t)
__GEMMVIZ_ANY(cublasLtCreate, cublasStatus_t)
__GEMMVIZ_ANY(cublasGetStatusString, const char*)
