// Tiled matrix multiplication with a small matrix class
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                              \
    do {                                                                         \
        cudaError_t err_ = (call);                                               \
        if (err_ != cudaSuccess) {                                               \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(err_)); \
            exit(EXIT_FAILURE);                                                  \
        }                                                                        \
    } while (0)

constexpr int TILE = 16;

template <typename T>
class DeviceMatrix {
public:
    DeviceMatrix(int rows, int cols) : rows_(rows), cols_(cols) {
        CHECK(cudaMalloc(&data_, bytes()));
    }
    ~DeviceMatrix() { cudaFree(data_); }
    DeviceMatrix(const DeviceMatrix&) = delete;
    DeviceMatrix& operator=(const DeviceMatrix&) = delete;

    void upload(const std::vector<T>& host) {
        CHECK(cudaMemcpy(data_, host.data(), bytes(), cudaMemcpyHostToDevice));
    }
    std::vector<T> download() const {
        std::vector<T> host(rows_ * cols_);
        CHECK(cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost));
        return host;
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    int rows() const { return rows_; }
    int cols() const { return cols_; }
    size_t bytes() const { return sizeof(T) * rows_ * cols_; }

private:
    int rows_, cols_;
    T* data_ = nullptr;
};

template <typename T>
__global__ void matmul_tiled(const T* A, const T* B, T* C, int M, int N, int K) {
    __shared__ T As[TILE][TILE];
    __shared__ T Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    T acc = T(0);
    for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
        int a_col = t * TILE + threadIdx.x;
        int b_row = t * TILE + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = (row < M && a_col < K) ? A[row * K + a_col] : T(0);
        Bs[threadIdx.y][threadIdx.x] = (b_row < K && col < N) ? B[b_row * N + col] : T(0);
        __syncthreads();
        for (int k = 0; k < TILE; ++k) acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = acc;
}

template <typename T>
void matmul(const DeviceMatrix<T>& A, const DeviceMatrix<T>& B, DeviceMatrix<T>& C) {
    dim3 block(TILE, TILE);
    dim3 grid((C.cols() + block.x - 1) / block.x, (C.rows() + block.y - 1) / block.y);
    matmul_tiled<<<grid, block>>>(A.data(), B.data(), C.data(), C.rows(), C.cols(), A.cols());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

template <typename T>
void run(int m, int n, int k) {
    std::vector<T> a(m * k), b(k * n);
    for (auto& x : a) x = T(rand()) / T(RAND_MAX);
    for (auto& x : b) x = T(rand()) / T(RAND_MAX);
    DeviceMatrix<T> A(m, k), B(k, n), C(m, n);
    A.upload(a);
    B.upload(b);
    matmul(A, B, C);
    std::vector<T> c = C.download();
    double worst = 0;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int l = 0; l < k; ++l) sum += double(a[i * k + l]) * b[l * n + j];
            worst = std::fmax(worst, std::fabs(sum - c[i * n + j]));
        }
    printf("max error %g\n", worst);
}

int main() {
    run<float>(100, 70, 50);
    return 0;
}
