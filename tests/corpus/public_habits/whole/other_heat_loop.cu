#include <stdio.h>
#include <stdlib.h>
#include <math.h>

__global__ void heat(const float *t_old, float *t_new, int width, int height, float alpha)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
        int c = x + y * width;
        t_new[c] = t_old[c] + alpha * (t_old[c - 1] + t_old[c + 1] + t_old[c - width] + t_old[c + width] - 4 * t_old[c]);
    }
}

int main()
{
    const int width = 70, height = 50, steps = 6;
    const float alpha = 0.2f;
    size_t bytes = width * height * sizeof(float);
    float *a = (float*)calloc(width * height, sizeof(float)), *b = (float*)malloc(bytes), *da, *db;
    for (int i = 0; i < width * height; i++) a[i] = b[i] = i % 11;
    cudaMalloc(&da, bytes); cudaMalloc(&db, bytes);
    cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(db, a, bytes, cudaMemcpyHostToDevice);
    dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
    for (int s = 0; s < steps; s++) {
        heat<<<grid, block>>>(da, db, width, height, alpha);
        float *t = da; da = db; db = t;
    }
    float *r = (float*)malloc(bytes);
    cudaMemcpy(r, da, bytes, cudaMemcpyDeviceToHost);
    for (int s = 0; s < steps; s++) {
        for (int y = 1; y < height - 1; y++)
            for (int x = 1; x < width - 1; x++) {
                int c = x + y * width;
                b[c] = a[c] + alpha * (a[c - 1] + a[c + 1] + a[c - width] + a[c + width] - 4 * a[c]);
            }
        float *t = a; a = b; b = t;
    }
    for (int i = 0; i < width * height; i++) if (fabs(r[i] - a[i]) > 1e-3) return 1;
    return 0;
}
