#include <cuda_runtime.h>
#define TPB 16
#define BLOCKS(n) (((n) + TPB - 1) / TPB)
#define LAUNCH(kernel, gx, gy, ...) kernel<<<dim3((gx), (gy)), dim3(TPB, TPB)>>>(__VA_ARGS__)

static __global__ void product(const float *p, const float *q, float *r, int h, int w, int d)
{
    int y = blockIdx.y * TPB + threadIdx.y, x = blockIdx.x * TPB + threadIdx.x, i;
    float s = 0;
    if (y >= h || x >= w) return;
    for (i = 0; i < d; i++) s += p[y * d + i] * q[i * w + x];
    r[y * w + x] = s;
}

void do_product(const float *p, const float *q, float *r, int h, int w, int d)
{
    LAUNCH(product, BLOCKS(w), BLOCKS(h), p, q, r, h, w, d);
}
