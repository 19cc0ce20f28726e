#include <cstdint>
// Single floats are copied asynchronously so that A lands transposed; B comes in float4. 8x8 sums per thread would be usual, 4x4 here.
#define ASYNC4(dst, src) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"((uint32_t)__cvta_generic_to_shared(dst)), "l"(src))
#define ASYNC16(dst, src) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((uint32_t)__cvta_generic_to_shared(dst)), "l"(src))
#define COMMIT asm volatile("cp.async.commit_group;")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" :: "n"(n))

__global__ void sgemm_async_T(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float At[2][8][36];
    __shared__ float Bs[2][8][32];
    int tid = threadIdx.x, ty = tid / 8 * 4, tx = tid % 8 * 4;
    float sum[4][4] = {{0}};
    const float *pa = A + blockIdx.y * 32 * K, *pb = B + blockIdx.x * 32;

    for (int i = tid; i < 256; i += 64) ASYNC4(&At[0][i % 8][i / 8], pa + i / 8 * K + i % 8);
    ASYNC16(&Bs[0][tid / 8][tx], pb + tid / 8 * N + tx);
    COMMIT;
    for (int k = 0, buf = 0; k < K; k += 8, buf = 1 - buf)
    {
        if (k + 8 < K)
        {
            for (int i = tid; i < 256; i += 64) ASYNC4(&At[1 - buf][i % 8][i / 8], pa + i / 8 * K + k + 8 + i % 8);
            ASYNC16(&Bs[1 - buf][tid / 8][tx], pb + (k + 8 + tid / 8) * N + tx);
            COMMIT;
            WAIT(1);
        }
        else
            WAIT(0);
        __syncthreads();
        for (int p = 0; p < 8; p++)
        {
            float4 a = *(float4 *)&At[buf][p][ty], b = *(float4 *)&Bs[buf][p][tx];
            float av[4] = {a.x, a.y, a.z, a.w}, bv[4] = {b.x, b.y, b.z, b.w};
            for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) sum[i][j] += av[i] * bv[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        *(float4 *)&C[(blockIdx.y * 32 + ty + i) * N + blockIdx.x * 32 + tx] = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

void sgemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    sgemm_async_T<<<dim3(N / 32, M / 32), 64>>>(A, B, C, M, N, K);
}
