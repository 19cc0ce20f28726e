// HIP's names for CUDA's.
#pragma once

#define __HIPCC__ 1
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)
#define hipLaunchKernel(kernel, grid, block, shared, stream, ...) kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_SYMBOL(name) name
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z
#define hipSuccess cudaSuccess
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define hipMemcpyDefault cudaMemcpyDefault
#define hipStreamNonBlocking cudaStreamNonBlocking
#define hipFuncAttributeMaxDynamicSharedMemorySize cudaFuncAttributeMaxDynamicSharedMemorySize
#define hipHostMallocDefault 0
typedef cudaError_t hipError_t;
typedef cudaStream_t hipStream_t;
typedef cudaEvent_t hipEvent_t;
typedef cudaDeviceProp hipDeviceProp_t;
__GEMMVIZ_ANY(hipMalloc, cudaError_t)
__GEMMVIZ_ANY(hipMallocManaged, cudaError_t)
__GEMMVIZ_ANY(hipHostMalloc, cudaError_t)
__GEMMVIZ_ANY(hipFree, cudaError_t)
__GEMMVIZ_ANY(hipHostFree, cudaError_t)
__GEMMVIZ_ANY(hipMemcpy, cudaError_t)
__GEMMVIZ_ANY(hipMemcpyAsync, cudaError_t)
__GEMMVIZ_ANY(hipMemcpyToSymbol, cudaError_t)
__GEMMVIZ_ANY(hipMemset, cudaError_t)
__GEMMVIZ_ANY(hipMemsetAsync, cudaError_t)
__GEMMVIZ_ANY(hipDeviceSynchronize, cudaError_t)
__GEMMVIZ_ANY(hipDeviceReset, cudaError_t)
__GEMMVIZ_ANY(hipStreamCreate, cudaError_t)
__GEMMVIZ_ANY(hipStreamDestroy, cudaError_t)
__GEMMVIZ_ANY(hipStreamSynchronize, cudaError_t)
__GEMMVIZ_ANY(hipEventCreate, cudaError_t)
__GEMMVIZ_ANY(hipEventDestroy, cudaError_t)
__GEMMVIZ_ANY(hipEventRecord, cudaError_t)
__GEMMVIZ_ANY(hipEventSynchronize, cudaError_t)
__GEMMVIZ_ANY(hipEventElapsedTime, cudaError_t)
__GEMMVIZ_ANY(hipGetLastError, cudaError_t)
__GEMMVIZ_ANY(hipPeekAtLastError, cudaError_t)
__GEMMVIZ_ANY(hipGetDevice, cudaError_t)
__GEMMVIZ_ANY(hipSetDevice, cudaError_t)
__GEMMVIZ_ANY(hipGetDeviceCount, cudaError_t)
__GEMMVIZ_ANY(hipGetDeviceProperties, cudaError_t)
__GEMMVIZ_ANY(hipFuncSetAttribute, cudaError_t)
__GEMMVIZ_ANY(hipMemGetInfo, cudaError_t)
const char* hipGetErrorString(...);
const char* hipGetErrorName(...);
