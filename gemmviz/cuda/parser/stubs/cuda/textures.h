// Texture references, texture objects and surfaces.
#pragma once

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum { cudaTextureType1D = 1, cudaTextureType2D = 2, cudaTextureType3D = 3 };
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int normalizedCoords;
};
struct cudaResourceDesc {
  int resType;
  union {
    struct { cudaArray_t array; } array;
    struct { void* devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
    struct { void* devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
  } res;
};
template <class T, int dimensions = 1, int mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture {
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
};

template <class T, int d, int m> T tex1Dfetch(texture<T, d, m>, int);
template <class T, int d, int m> T tex1D(texture<T, d, m>, float);
template <class T, int d, int m> T tex2D(texture<T, d, m>, float, float);
template <class T, int d, int m> T tex3D(texture<T, d, m>, float, float, float);
template <class T> T tex1Dfetch(cudaTextureObject_t, int);
template <class T> T tex1D(cudaTextureObject_t, float);
template <class T> T tex2D(cudaTextureObject_t, float, float);
template <class T> T tex3D(cudaTextureObject_t, float, float, float);
template <class T> void tex1Dfetch(T*, cudaTextureObject_t, int);
template <class T> void tex2D(T*, cudaTextureObject_t, float, float);
template <class T> T surf2Dread(cudaSurfaceObject_t, int, int);
template <class T> void surf2Dread(T*, cudaSurfaceObject_t, int, int);
template <class T> void surf2Dwrite(T, cudaSurfaceObject_t, int, int);
