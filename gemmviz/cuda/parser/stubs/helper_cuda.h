// Error checks and device choice of NVIDIA's samples.
#pragma once

#define checkCudaErrors(result) static_cast<void>(result)
#define getLastCudaError(message) static_cast<void>(message)
#define printLastCudaError(message) static_cast<void>(message)
__GEMMVIZ_ANY(findCudaDevice, int)
__GEMMVIZ_ANY(gpuGetMaxGflopsDeviceId, int)
__GEMMVIZ_ANY(gpuDeviceInit, int)
__GEMMVIZ_ANY(checkCudaCapabilities, bool)
__GEMMVIZ_ANY(_ConvertSMVer2Cores, int)
template <class T> const char* _cudaGetErrorEnum(T);
