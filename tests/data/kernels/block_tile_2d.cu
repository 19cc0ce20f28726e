// gemmviz = 1
// title = "Measured on an H200: block_tile_2d"
// entry = "block_tile_2d"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["(BM / TM) * (BN / TN)"]
// grid = ["N / BN", "M / BM"]
// [parameters.BM]
// default = 64
// [parameters.BN]
// default = 64
// [parameters.BK]
// default = 8
// [parameters.TM]
// default = 8
// [parameters.TN]
// default = 8

// A block computes BM x BN of C, a thread TM x TN of that in registers; BK is the depth of the shared tiles.
// M, N, K must be multiples of BM, BN, BK.
extern "C" __global__ void block_tile_2d(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tileA[BM * BK];
    __shared__ float tileB[BK * BN];
    const int threads = (BM / TM) * (BN / TN);
    int t = threadIdx.x;
    int i0 = blockIdx.y * BM, j0 = blockIdx.x * BN;
    int ti = t / (BN / TN) * TM, tj = t % (BN / TN) * TN;
    float a[TM], b[TN], sum[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int e = t; e < BM * BK; e += threads)
            tileA[e] = A[(i0 + e / BK) * K + k0 + e % BK];
        for (int e = t; e < BK * BN; e += threads)
            tileB[e] = B[(k0 + e / BN) * N + j0 + e % BN];
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            for (int i = 0; i < TM; ++i)
                a[i] = tileA[(ti + i) * BK + k];
            for (int j = 0; j < TN; ++j)
                b[j] = tileB[k * BN + tj + j];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j)
                    sum[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j)
            C[(i0 + ti + i) * N + j0 + tj + j] = sum[i][j];
}
