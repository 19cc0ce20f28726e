// CUDA's runtime API. Host code decides neither what a kernel does nor whether it is read, so its functions take any arguments.
#pragma once

enum cudaError_t : int {
  cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorInitializationError = 3,
  cudaErrorInvalidConfiguration = 9, cudaErrorInvalidDevice = 101, cudaErrorNoDevice = 100, cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700, cudaErrorLaunchOutOfResources = 701, cudaErrorNotSupported = 801, cudaErrorUnknown = 999,
};
typedef cudaError_t cudaError;
typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUstream_st* cudaStream_t;
typedef cudaStream_t CUstream;
typedef struct CUevent_st* cudaEvent_t;
typedef cudaEvent_t CUevent;
typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
typedef struct cudaArray* cudaArray_t;
struct CUtensorMap { alignas(64) unsigned long long opaque[16]; };
enum { CUDA_SUCCESS = 0 };

enum cudaMemcpyKind {
  cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault,
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 13,
};
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte,
};
enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxShared = 100, cudaSharedmemCarveoutMaxL1 = 0,
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxSharedMemoryPerBlock = 8, cudaDevAttrWarpSize = 10, cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16, cudaDevAttrMemoryClockRate = 36, cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38, cudaDevAttrMaxThreadsPerMultiProcessor = 39, cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrCooperativeLaunch = 95, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
};
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize, cudaLimitPersistingL2CacheSize = 6 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed };
enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat, cudaChannelFormatKindNone,
};
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
enum { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4 };
enum { cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2, cudaHostRegisterReadOnly = 8 };
enum { cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4 };
enum { cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2, cudaDeviceScheduleBlockingSync = 4 };
enum { cudaDeviceMapHost = 8 };
enum { cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D };
enum cudaLaunchAttributeID {
  cudaLaunchAttributeCooperative = 2, cudaLaunchAttributeClusterDimension = 4, cudaLaunchAttributeProgrammaticStreamSerialization = 6,
};
#define cudaCpuDeviceId (-1)
#define cudaStreamLegacy ((cudaStream_t)1)
#define cudaStreamPerThread ((cudaStream_t)2)

struct cudaChannelFormatDesc { int x, y, z, w; cudaChannelFormatKind f; };
struct cudaExtent { size_t width, height, depth; };
struct cudaPitchedPtr { void* ptr; size_t pitch, xsize, ysize; };
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, maxDynamicSharedSizeBytes;
};
union cudaLaunchAttributeValue { struct { unsigned int x, y, z; } clusterDim; int cooperative, programmaticStreamSerializationAllowed; };
struct cudaLaunchAttribute { cudaLaunchAttributeID id; cudaLaunchAttributeValue val; };
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned int numAttrs;
};
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, memPitch, totalConstMem, textureAlignment, sharedMemPerMultiprocessor;
  size_t sharedMemPerBlockOptin, reservedSharedMemPerBlock;
  int regsPerBlock, regsPerMultiprocessor, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor;
  int multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode, concurrentKernels, ECCEnabled;
  int pciBusID, pciDeviceID, asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor, managedMemory, cooperativeLaunch, deviceOverlap, concurrentManagedAccess;
};

extern "C" unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
extern "C" cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
const char* cudaGetErrorString(...);
const char* cudaGetErrorName(...);
cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth);
template <class T> cudaChannelFormatDesc cudaCreateChannelDesc();
cudaChannelFormatDesc cudaCreateChannelDesc(int, int, int, int, cudaChannelFormatKind);

__GEMMVIZ_ANY(cudaArrayGetInfo, cudaError_t)
__GEMMVIZ_ANY(cudaBindTexture, cudaError_t)
__GEMMVIZ_ANY(cudaBindTexture2D, cudaError_t)
__GEMMVIZ_ANY(cudaBindTextureToArray, cudaError_t)
__GEMMVIZ_ANY(cudaChooseDevice, cudaError_t)
__GEMMVIZ_ANY(cudaCreateTextureObject, cudaError_t)
__GEMMVIZ_ANY(cudaCreateSurfaceObject, cudaError_t)
__GEMMVIZ_ANY(cudaDestroyTextureObject, cudaError_t)
__GEMMVIZ_ANY(cudaDestroySurfaceObject, cudaError_t)
__GEMMVIZ_ANY(cudaDeviceCanAccessPeer, cudaError_t)
__GEMMVIZ_ANY(cudaDeviceEnablePeerAccess, cudaError_t)
__GEMMVIZ_ANY(cudaDeviceGetAttribute, cudaError_t)
__GEMMVIZ_ANY(cudaDeviceGetLimit, cudaError_t)
__GEMMVIZ_ANY(cudaDeviceGetStreamPriorityRange, cudaError_t)
__GEMMVIZ_ANY(cudaDeviceReset, cudaError_t)
__GEMMVIZ_ANY(cudaDeviceSetCacheConfig, cudaError_t)
__GEMMVIZ_ANY(cudaDeviceSetLimit, cudaError_t)
__GEMMVIZ_ANY(cudaDeviceSetSharedMemConfig, cudaError_t)
__GEMMVIZ_ANY(cudaDeviceSynchronize, cudaError_t)
__GEMMVIZ_ANY(cudaThreadSynchronize, cudaError_t)
__GEMMVIZ_ANY(cudaThreadExit, cudaError_t)
__GEMMVIZ_ANY(cudaDriverGetVersion, cudaError_t)
__GEMMVIZ_ANY(cudaRuntimeGetVersion, cudaError_t)
__GEMMVIZ_ANY(cudaEventCreate, cudaError_t)
__GEMMVIZ_ANY(cudaEventCreateWithFlags, cudaError_t)
__GEMMVIZ_ANY(cudaEventDestroy, cudaError_t)
__GEMMVIZ_ANY(cudaEventElapsedTime, cudaError_t)
__GEMMVIZ_ANY(cudaEventQuery, cudaError_t)
__GEMMVIZ_ANY(cudaEventRecord, cudaError_t)
__GEMMVIZ_ANY(cudaEventSynchronize, cudaError_t)
__GEMMVIZ_ANY(cudaFree, cudaError_t)
__GEMMVIZ_ANY(cudaFreeArray, cudaError_t)
__GEMMVIZ_ANY(cudaFreeAsync, cudaError_t)
__GEMMVIZ_ANY(cudaFreeHost, cudaError_t)
__GEMMVIZ_ANY(cudaFuncGetAttributes, cudaError_t)
__GEMMVIZ_ANY(cudaFuncSetAttribute, cudaError_t)
__GEMMVIZ_ANY(cudaFuncSetCacheConfig, cudaError_t)
__GEMMVIZ_ANY(cudaFuncSetSharedMemConfig, cudaError_t)
__GEMMVIZ_ANY(cudaGetDevice, cudaError_t)
__GEMMVIZ_ANY(cudaGetDeviceCount, cudaError_t)
__GEMMVIZ_ANY(cudaGetDeviceProperties, cudaError_t)
__GEMMVIZ_ANY(cudaGetLastError, cudaError_t)
__GEMMVIZ_ANY(cudaGetSymbolAddress, cudaError_t)
__GEMMVIZ_ANY(cudaGetSymbolSize, cudaError_t)
__GEMMVIZ_ANY(cudaGraphCreate, cudaError_t)
__GEMMVIZ_ANY(cudaGraphDestroy, cudaError_t)
__GEMMVIZ_ANY(cudaGraphExecDestroy, cudaError_t)
__GEMMVIZ_ANY(cudaGraphInstantiate, cudaError_t)
__GEMMVIZ_ANY(cudaGraphLaunch, cudaError_t)
__GEMMVIZ_ANY(cudaHostAlloc, cudaError_t)
__GEMMVIZ_ANY(cudaHostGetDevicePointer, cudaError_t)
__GEMMVIZ_ANY(cudaHostRegister, cudaError_t)
__GEMMVIZ_ANY(cudaHostUnregister, cudaError_t)
__GEMMVIZ_ANY(cudaInitDevice, cudaError_t)
__GEMMVIZ_ANY(cudaLaunchCooperativeKernel, cudaError_t)
__GEMMVIZ_ANY(cudaLaunchHostFunc, cudaError_t)
__GEMMVIZ_ANY(cudaLaunchKernel, cudaError_t)
__GEMMVIZ_ANY(cudaLaunchKernelEx, cudaError_t)
__GEMMVIZ_ANY(cudaLaunchKernelExC, cudaError_t)
template <class T> cudaError_t cudaMalloc(T** pointer, size_t bytes);
__GEMMVIZ_ANY(cudaMalloc3D, cudaError_t)
__GEMMVIZ_ANY(cudaMallocArray, cudaError_t)
__GEMMVIZ_ANY(cudaMallocAsync, cudaError_t)
__GEMMVIZ_ANY(cudaMallocHost, cudaError_t)
__GEMMVIZ_ANY(cudaMallocManaged, cudaError_t)
__GEMMVIZ_ANY(cudaMallocPitch, cudaError_t)
__GEMMVIZ_ANY(cudaMemAdvise, cudaError_t)
__GEMMVIZ_ANY(cudaMemGetInfo, cudaError_t)
__GEMMVIZ_ANY(cudaMemPrefetchAsync, cudaError_t)
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
__GEMMVIZ_ANY(cudaMemcpy2D, cudaError_t)
__GEMMVIZ_ANY(cudaMemcpy2DAsync, cudaError_t)
__GEMMVIZ_ANY(cudaMemcpy2DToArray, cudaError_t)
__GEMMVIZ_ANY(cudaMemcpy3D, cudaError_t)
__GEMMVIZ_ANY(cudaMemcpyAsync, cudaError_t)
__GEMMVIZ_ANY(cudaMemcpyFromSymbol, cudaError_t)
__GEMMVIZ_ANY(cudaMemcpyPeer, cudaError_t)
__GEMMVIZ_ANY(cudaMemcpyToArray, cudaError_t)
__GEMMVIZ_ANY(cudaMemcpyToSymbol, cudaError_t)
__GEMMVIZ_ANY(cudaMemcpyToSymbolAsync, cudaError_t)
cudaError_t cudaMemset(void* pointer, int value, size_t bytes);
__GEMMVIZ_ANY(cudaMemset2D, cudaError_t)
__GEMMVIZ_ANY(cudaMemsetAsync, cudaError_t)
__GEMMVIZ_ANY(cudaOccupancyMaxActiveBlocksPerMultiprocessor, cudaError_t)
__GEMMVIZ_ANY(cudaOccupancyMaxActiveClusters, cudaError_t)
__GEMMVIZ_ANY(cudaOccupancyMaxPotentialBlockSize, cudaError_t)
__GEMMVIZ_ANY(cudaOccupancyMaxPotentialBlockSizeVariableSMem, cudaError_t)
__GEMMVIZ_ANY(cudaOccupancyAvailableDynamicSMemPerBlock, cudaError_t)
__GEMMVIZ_ANY(cudaPeekAtLastError, cudaError_t)
__GEMMVIZ_ANY(cudaPointerGetAttributes, cudaError_t)
__GEMMVIZ_ANY(cudaSetDevice, cudaError_t)
__GEMMVIZ_ANY(cudaSetDeviceFlags, cudaError_t)
__GEMMVIZ_ANY(cudaStreamAddCallback, cudaError_t)
__GEMMVIZ_ANY(cudaStreamBeginCapture, cudaError_t)
__GEMMVIZ_ANY(cudaStreamCreate, cudaError_t)
__GEMMVIZ_ANY(cudaStreamCreateWithFlags, cudaError_t)
__GEMMVIZ_ANY(cudaStreamCreateWithPriority, cudaError_t)
__GEMMVIZ_ANY(cudaStreamDestroy, cudaError_t)
__GEMMVIZ_ANY(cudaStreamEndCapture, cudaError_t)
__GEMMVIZ_ANY(cudaStreamIsCapturing, cudaError_t)
__GEMMVIZ_ANY(cudaStreamQuery, cudaError_t)
__GEMMVIZ_ANY(cudaStreamSetAttribute, cudaError_t)
__GEMMVIZ_ANY(cudaStreamSynchronize, cudaError_t)
__GEMMVIZ_ANY(cudaStreamWaitEvent, cudaError_t)
__GEMMVIZ_ANY(cudaUnbindTexture, cudaError_t)
__GEMMVIZ_ANY(cudaCtxResetPersistingL2Cache, cudaError_t)
__GEMMVIZ_ANY(cuInit, CUresult)
__GEMMVIZ_ANY(cuDeviceGet, CUresult)
__GEMMVIZ_ANY(cuDeviceGetCount, CUresult)
__GEMMVIZ_ANY(cuDeviceGetAttribute, CUresult)
__GEMMVIZ_ANY(cuDeviceGetName, CUresult)
__GEMMVIZ_ANY(cuCtxCreate, CUresult)
__GEMMVIZ_ANY(cuCtxDestroy, CUresult)
__GEMMVIZ_ANY(cuCtxSetCurrent, CUresult)
__GEMMVIZ_ANY(cuCtxSynchronize, CUresult)
__GEMMVIZ_ANY(cuModuleLoad, CUresult)
__GEMMVIZ_ANY(cuModuleLoadData, CUresult)
__GEMMVIZ_ANY(cuModuleGetFunction, CUresult)
__GEMMVIZ_ANY(cuModuleUnload, CUresult)
__GEMMVIZ_ANY(cuLaunchKernel, CUresult)
__GEMMVIZ_ANY(cuMemAlloc, CUresult)
__GEMMVIZ_ANY(cuMemFree, CUresult)
__GEMMVIZ_ANY(cuMemcpyHtoD, CUresult)
__GEMMVIZ_ANY(cuMemcpyDtoH, CUresult)
__GEMMVIZ_ANY(cuGetErrorString, CUresult)
__GEMMVIZ_ANY(cuGetErrorName, CUresult)
__GEMMVIZ_ANY(cuTensorMapEncodeTiled, CUresult)
