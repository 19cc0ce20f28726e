"""Right hand-ins as students of many courses write them, by the task that they belong to. Each must get full points.

A hand-in is the name of a task and its files. Most are a kernel, the host code of one of seven habits, and a launch. Words such
as ``SUM;`` stand for what many of them share.
"""

from collections.abc import Callable

Files = dict[str, str]
_SHARED = {
    "PLAIN;": "HEAD { INDEX; if (row < M && col < N) { SUM; C[row * N + col] = sum; } }\n",
    "LAUNCH;": "dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16); matmul<<<grid, block>>>ARGS;",
    "TILED;": "dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE); tiled<<<grid, block>>>ARGS;",
    "TILED_HEAD": "__global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K)",
    "HEAD": "__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K)",
    "INDEX;": "int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;",
    "SUM;": "float sum = 0; for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];",
    "WHERE;": "const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;",
    "STORE;": "if (row < M && col < N) C[row * N + col] = acc;",
    "ARGS;": "(da, db, dc, m, n, k);",
}
_C_STYLE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>
@top
@kernel
int main(void) {
  int m = 96, n = 80, k = 112, i;
  float *a = (float*)malloc(m * k * sizeof(float)), *b = (float*)malloc(k * n * sizeof(float));
  float *c = (float*)malloc(m * n * sizeof(float)), *da, *db, *dc;
  for (i = 0; i < m * k; i++) a[i] = (float)rand() / RAND_MAX;
  for (i = 0; i < k * n; i++) b[i] = (float)rand() / RAND_MAX;
  cudaMalloc((void**)&da, m * k * sizeof(float)); cudaMalloc((void**)&db, k * n * sizeof(float));
  cudaMalloc((void**)&dc, m * n * sizeof(float));
  cudaMemcpy(da, a, m * k * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, k * n * sizeof(float), cudaMemcpyHostToDevice);
  @launch
  cudaMemcpy(c, dc, m * n * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%f\n", c[0]);
  cudaFree(da); cudaFree(db); cudaFree(dc); free(a); free(b); free(c); return 0;
}
"""
_VECTORS = r"""
#include <cmath>
#include <iostream>
#include <random>
#include <vector>
@top
#define CUDA_CHECK(...) do { if (auto e = (__VA_ARGS__); e != cudaSuccess) { \
  std::cerr << cudaGetErrorName(e) << '\n'; std::exit(EXIT_FAILURE); } } while (false)
@kernel
static float at(const std::vector<float>& a, const std::vector<float>& b, int i, int j, int n, int k) {
  double s = 0; for (int l = 0; l < k; ++l) s += double(a[i * k + l]) * b[l * n + j]; return float(s); }
int main() {
  constexpr int m = 130, n = 70, k = 50;
  std::mt19937 rng{42}; std::uniform_real_distribution<float> dist(-1.f, 1.f);
  std::vector<float> a(m * k), b(k * n), c(m * n);
  for (auto& x : a) x = dist(rng);
  for (auto& x : b) x = dist(rng);
  float *da{}, *db{}, *dc{};
  CUDA_CHECK(cudaMalloc(&da, a.size() * sizeof(float))); CUDA_CHECK(cudaMalloc(&db, b.size() * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&dc, c.size() * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
  @launch
  CUDA_CHECK(cudaGetLastError()); CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  float worst = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) worst = std::max(worst, std::fabs(c[i * n + j] - at(a, b, i, j, n, k)));
  std::cout << (worst < 1e-3f ? "PASSED" : "FAILED") << std::endl; for (float* p : {da, db, dc}) cudaFree(p);
}
"""
_MANAGED = r"""
#include <cstdio>
@top
@kernel
int main(int argc, char* argv[]) {
  const int m = argc > 1 ? atoi(argv[1]) : 64, n = argc > 2 ? atoi(argv[2]) : m, k = argc > 3 ? atoi(argv[3]) : m;
  float *da, *db, *dc; int device = -1;
  cudaMallocManaged(&da, sizeof(float) * m * k); cudaMallocManaged(&db, sizeof(float) * k * n);
  cudaMallocManaged(&dc, sizeof(float) * m * n);
  for (int i = 0; i < m * k; i++) da[i] = i % 13;
  for (int i = 0; i < k * n; i++) db[i] = i % 11;
  cudaGetDevice(&device); printf("device %d\n", device);
  @launch
  cudaDeviceSynchronize(); printf("%g\n", dc[m * n - 1]); cudaFree(da); cudaFree(db); cudaFree(dc);
}
"""
_BUFFERS = r"""
#include <stdexcept>
#include <string>
#include <vector>
@top
namespace course {
inline void check(cudaError_t e) { if (e) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(e)); }
template <typename T> class Buffer {
 public:
  explicit Buffer(size_t n) : n_(n) { check(cudaMalloc(&p_, n * sizeof(T))); }
  ~Buffer() { cudaFree(p_); } Buffer(const Buffer&) = delete;
  void upload(const std::vector<T>& v) { check(cudaMemcpy(p_, v.data(), n_ * sizeof(T), cudaMemcpyHostToDevice)); }
  void download(std::vector<T>& v) const { check(cudaMemcpy(v.data(), p_, n_ * sizeof(T), cudaMemcpyDeviceToHost)); }
 T* get() { return p_; }
 private:
  T* p_ = nullptr; size_t n_; };
}  // namespace course
@kernel
void multiply(const std::vector<float>& x, const std::vector<float>& y, std::vector<float>& z, int m, int n, int k) {
  course::Buffer<float> bx(x.size()), by(y.size()), bz(z.size());
  bx.upload(x); by.upload(y); float *da = bx.get(), *db = by.get(), *dc = bz.get();
  @launch
  course::check(cudaPeekAtLastError()); bz.download(z);
}
int main() { std::vector<float> x(12, 1.f), y(20, 2.f), z(15); multiply(x, y, z, 3, 5, 4); return z[0] != 8.f; }
"""
_STREAMS = r"""
#include <cassert>
#include <chrono>
#include <cstdio>
@top
@kernel
int main() {
  const size_t m = 200, n = 300, k = 100; float *a, *b, *c, *da, *db, *dc; cudaStream_t stream; cudaStreamCreate(&stream);
  cudaMallocHost(&a, m * k * 4); cudaMallocHost(&b, k * n * 4); cudaMallocHost(&c, m * n * 4);
  cudaMallocAsync(&da, m * k * 4, stream); cudaMallocAsync(&db, k * n * 4, stream); cudaMallocAsync(&dc, m * n * 4, stream);
  cudaMemcpyAsync(da, a, m * k * 4, cudaMemcpyHostToDevice, stream);
  cudaMemcpyAsync(db, b, k * n * 4, cudaMemcpyHostToDevice, stream);
  auto t0 = std::chrono::high_resolution_clock::now();
  @launch
  cudaMemcpyAsync(c, dc, m * n * 4, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  std::chrono::duration<double, std::milli> ms = std::chrono::high_resolution_clock::now() - t0;
  printf("%.3f ms, %.1f GFLOP/s\n", ms.count(), 2.0 * m * n * k / ms.count() / 1e6); cudaFreeHost(c);
  cudaFreeAsync(da, stream); cudaFreeAsync(db, stream); cudaFreeAsync(dc, stream); cudaStreamDestroy(stream);
}
"""
_THRUST = r"""
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
@top
@kernel
int main() {
  int m = 33, n = 65, k = 17;
  thrust::host_vector<float> a(m * k), b(k * n, 0.5f);
  for (size_t i = 0; i < a.size(); ++i) a[i] = rand() / float(RAND_MAX);
  thrust::device_vector<float> va = a, vb = b, vc(m * n);
  float *da = thrust::raw_pointer_cast(va.data()), *db = thrust::raw_pointer_cast(vb.data());
  float* dc = thrust::raw_pointer_cast(&vc[0]);
  @launch
  thrust::host_vector<float> c = vc; return c[0] < 0;
}
"""
_SOLVE = r"""
#include <cuda_runtime.h>
@top
@kernel
extern "C" void solve(const float* da, const float* db, float* dc, int m, int n, int k) {
  @launch
  cudaDeviceSynchronize();
}
"""


def _filled(text: str) -> str:
    for name, meaning in _SHARED.items():
        text = text.replace(name, meaning)
    return text


def _of(task: str, kernel: str, host: str = _C_STYLE, launch: str = "LAUNCH;", head: str = "") -> tuple[str, Files]:
    return task, {"main.cu": _program(kernel, host, launch, head)}


def _files(files: Files) -> tuple[str, Files]:
    return "naive", {name: _filled(text) for name, text in files.items()}


def _program(kernel: str, host: str = _C_STYLE, launch: str = "LAUNCH;", head: str = "") -> str:
    return _filled(host.lstrip().replace("@top", head).replace("@kernel", kernel).replace("@launch", launch))


def _naive(body: str, host: str = _C_STYLE, launch: str = "LAUNCH;", head: str = "") -> tuple[str, Files]:
    return _of("naive", f"HEAD\n{{\n  {body}\n}}", host, launch, head)


def _tiled(body: str, host: str = _C_STYLE, launch: str = "TILED;", head: str = "#define TILE 16") -> tuple[str, Files]:
    return _of("tiled", f"TILED_HEAD\n{{\n  {body}\n}}", host, launch, head)


def _rewritten(change: Callable[[str], str], host: str = _C_STYLE) -> tuple[str, Files]:
    """The plain kernel in a text that is changed as a whole."""
    return "naive", {"main.cu": change(_program("PLAIN;", host))}


def _spliced(text: str) -> str:
    """Statements on one long line that goes on behind each line's end."""
    return "".join(each + ("\n" if each.startswith("#") else " \\\n") for each in text.splitlines() if each) + "\n"


HONEST: dict[str, tuple[str, Files]] = {
    # one element a thread
    "size_t indices": _naive("""\
size_t r = (size_t)blockIdx.y * blockDim.y + threadIdx.y, c = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= (size_t)M || c >= (size_t)N) return; float s = 0.f;
  for (size_t i = 0; i < (size_t)K; i++) s += A[r * K + i] * B[i * N + c]; C[r * N + c] = s;""", _VECTORS),
    "grid-stride loops": _naive("""\
for (int i = blockIdx.y * blockDim.y + threadIdx.y; i < M; i += gridDim.y * blockDim.y)
    for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < N; j += gridDim.x * blockDim.x) {
      float acc = 0; for (int l = 0; l < K; l++) acc += A[i * K + l] * B[l * N + j]; C[i * N + j] = acc; }""", _MANAGED,
        "matmul<<<dim3(4, 4), dim3(32, 8)>>>ARGS;"),
    "a flattened block": _naive(
        "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < M * N) { int row = i / N, col = i % N; SUM; C[i] = sum; }",
        _STREAMS, "matmul<<<(m * n + 255) / 256, 256, 0, stream>>>ARGS;"),
    "pointers that are moved": _naive("""\
INDEX; if (row >= M) return; if (col >= N) return; const float *a = A + row * K, *b = B + col, *end = a + K; float s = 0; do {
  s += *a++ * *b; b += N; } while (a != end); *(C + row * N + col) = s;"""),
    "a macro for indices": _naive("""\
INDEX; if (row < M && col < N) { float s = 0; for (int k = 0; k < K; ++k) s += A[IDX(row, k, K)] * B[IDX(k, col, N)];
  C[IDX(row, col, N)] = s; }""", _SOLVE,
        head="#define IDX(i, j, ld) (((i) * (ld)) + (j))\n#define CEIL(a, b) (((a) + (b) - 1) / (b))",
        launch="matmul<<<dim3(CEIL(n, 32), CEIL(m, 8)), dim3(32, 8)>>>ARGS;"),
    "a template of the type": _of("naive", """\
template <typename T>
__global__ void matmul(const T* __restrict__ A, const T* __restrict__ B, T* __restrict__ C, int M, int N, int K) { INDEX;
  if (row < M && col < N) { T sum{}; for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum; } }""", _VECTORS,
        "dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16); matmul<float><<<grid, block>>>ARGS;"),
    "device functions": _naive(
        "const int r = rowIndex(), c = colIndex(); if (inside(r, c, M, N)) C[r * N + c] = dot(&A[r * K], &B[c], K, N);",
        _BUFFERS, head="""\
__device__ __forceinline__ int rowIndex() { return blockIdx.y * blockDim.y + threadIdx.y; }
  __device__ __forceinline__ int colIndex() { return blockIdx.x * blockDim.x + threadIdx.x; }
  __host__ __device__ inline bool inside(int r, int c, int m, int n) { return r < m && c < n; }
  __device__ float dot(const float* __restrict__ a, const float* __restrict__ b, int n, int stride) { float s = 0;
  for (int i = 0; i < n; ++i) s = fmaf(a[i], b[i * stride], s); return s; }"""),
    "lambdas in the kernel": _naive("""\
const auto r = blockIdx.y * blockDim.y + threadIdx.y; const auto c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= M or c >= N) return; const auto at = [](const float* p, int i, int j, int ld) { return p[i * ld + j]; };
  auto s = 0.0f; for (auto k = 0; k < K; ++k) s += at(A, r, k, K) * at(B, k, c, N); C[r * N + c] = s;""", _THRUST),
    "unrolled by four": _naive("""\
INDEX; if (row >= M || col >= N) return; float s0 = 0, s1 = 0, s2 = 0, s3 = 0; int k = 0; for (; k <= K - 4; k += 4) {
  s0 += A[row * K + k] * B[k * N + col]; s1 += A[row * K + k + 1] * B[(k + 1) * N + col];
  s2 += A[row * K + k + 2] * B[(k + 2) * N + col]; s3 += A[row * K + k + 3] * B[(k + 3) * N + col]; }
  for (; k < K; k++) s0 += A[row * K + k] * B[k * N + col]; C[row * N + col] = (s0 + s1) + (s2 + s3);"""),
    "sums in double": _naive("""\
INDEX; if (row < M && col < N) { double acc = 0.0;
  for (int k = K - 1; k >= 0; --k) acc += (double)A[row * K + k] * (double)B[k * N + col]; C[row * N + col] = (float)acc; }""",
        _THRUST),
    "intrinsics of single precision": _naive("""\
unsigned r = __umul24(blockIdx.y, blockDim.y) + threadIdx.y, c = __umul24(blockIdx.x, blockDim.x) + threadIdx.x;
  if (r < M && c < N) { float s = 0;
  for (int k = 0; k < K; ++k) s = __fadd_rn(s, __fmul_rn(__ldg(A + r * K + k), __ldg(B + k * N + c))); C[r * N + c] = s; }"""),
    "parts of the sum with atomics": _naive("""\
INDEX; if (row < M && col < N) { float s = 0;
  for (int k = blockIdx.z; k < K; k += gridDim.z) s += A[row * K + k] * B[k * N + col]; atomicAdd(&C[row * N + col], s); }""",
        _C_STYLE, """\
cudaMemset(dc, 0, m * n * sizeof(float)); dim3 block(16, 16, 1), grid((n + 15) / 16, (m + 15) / 16, 4);
  matmul<<<grid, block>>>ARGS;"""),
    "adds to C, copied as zeros": _naive(
        "INDEX; if (row < M && col < N) for (int k = 0; k < K; k++) C[row * N + col] += A[row * K + k] * B[k * N + col];",
        _C_STYLE,
        "for (i = 0; i < m * n; i++) c[i] = 0; cudaMemcpy(dc, c, m * n * sizeof(float), cudaMemcpyHostToDevice); LAUNCH;"),
    "double guards": _naive("""\
INDEX; if (row < M) { if (col < N) { float sum = 0; for (int k = 0; k < K; ++k) {
  if (k < K) sum += A[row * K + k] * B[k * N + col]; } if (row * N + col < M * N) C[row * N + col] = sum; } }"""),
    "clamped loads": _naive("""\
INDEX; const int r = min(row, M - 1), c = min(col, N - 1); float s = 0;
  for (int k = 0; k < K; k++) s += A[r * K + k] * B[k * N + c]; if (row == r && col == c) C[row * N + col] = s;"""),
    "assertions and prints": _naive("""\
INDEX; assert(blockDim.z == 1 && "two dimensions");
  if (row == 0 && col == 0) printf("block %d x %d, grid %d x %d\\n", blockDim.x, blockDim.y, gridDim.x, gridDim.y);
  if (row < M && col < N) { SUM; C[row * N + col] = sum; }""", _STREAMS),
    "indices of cooperative groups": _naive("""\
auto block = cg::this_thread_block();
  const int row = block.group_index().y * block.group_dim().y + block.thread_index().y, col = block.group_index().x *
  block.group_dim().x + block.thread_index().x; if (row < M && col < N) { SUM; C[row * N + col] = sum; }""", _VECTORS,
        head="#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;"),
    "sizes in constant memory": _naive("""\
INDEX; if (row < dims[0] && col < dims[1]) { float sum = 0;
  for (int k = 0; k < dims[2]; ++k) sum += A[row * dims[2] + k] * B[k * dims[1] + col]; C[row * dims[1] + col] = sum; }""",
        head="__constant__ int dims[3];",
        launch="int h_dims[3] = {m, n, k}; cudaMemcpyToSymbol(dims, h_dims, sizeof(h_dims)); LAUNCH;"),
    "a constant struct of the device": _naive("""\
INDEX; if (row < M && col < N) { float s = options.zero;
  for (int k = 0; k < K; k += options.step) s += A[row * K + k] * B[k * N + col]; C[row * N + col] = s; }""",
        head="struct Options { int step; float zero; };\n__device__ const Options options = {1, 0.0f};"),
    "a counter for statistics": _naive(
        "INDEX; if (row < M && col < N) { SUM; C[row * N + col] = sum; atomicAdd(&finished, 1); }",
        head="__device__ int finished;"),
    "a guard that is expected": _naive(
        "INDEX; if (__builtin_expect(row >= M || col >= N, 0)) return; SUM; C[row * N + col] = sum;"),
    "a managed variable without __device__": _naive("""\
INDEX; if (row < M && col < N) { float sum = bias; for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum; }""", head="__managed__ float bias = 0.0f;"),
    "a struct that is value-initialised": _naive("""\
INDEX; if (row < M && col < N) { auto acc = Acc();
  for (int k = 0; k < K; ++k, ++acc.count) acc.sum += A[row * K + k] * B[k * N + col]; C[row * N + col] = acc.sum; }""",
        head="struct Acc { float sum; int count; };"),
    "a struct with default values": _naive("""\
INDEX; if (row < M && col < N) { Acc acc; for (int k = 0; k < K; ++k) acc.sum[k % 2] += A[row * K + k] * B[k * N + col];
  C[row * N + col] = acc.sum[0] + acc.sum[1]; }""", head="struct Acc { float sum[2] = {0.0f, 0.0f}; };"),
    # host code
    "a launch by cudaLaunchKernel": _of("naive", "PLAIN;", _C_STYLE, """\
dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16); void* args[] = {&da, &db, &dc, &m, &n, &k};
  cudaLaunchKernel((const void*)matmul, grid, block, args, 0, NULL);"""),
    "launched by a lambda": _of("naive", "PLAIN;", _VECTORS, """\
auto run = [&](dim3 block) { dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
  matmul<<<grid, block>>>(da, db, dc, m, n, k); }; run({32, 8, 1});"""),
    "warm-up, events and a loop": _of("naive", "PLAIN;", _C_STYLE, """\
LAUNCH; cudaEvent_t t0, t1; cudaEventCreate(&t0); cudaEventCreate(&t1); cudaEventRecord(t0, 0);
  for (int run = 0; run < 100; ++run) matmul<<<grid, block>>>ARGS; cudaEventRecord(t1, 0); cudaEventSynchronize(t1); float ms;
  cudaEventElapsedTime(&ms, t0, t1); printf("%f ms\\n", ms / 100); cudaEventDestroy(t0); cudaEventDestroy(t1);"""),
    "a grid by ceil": _of("naive", "PLAIN;", _MANAGED, """\
int T = 16; dim3 dimBlock(T, T, 1); dim3 dimGrid((int)ceil((float)n / dimBlock.x), (unsigned)std::ceil(m / (double)T), 1);
  matmul<<<dimGrid, dimBlock>>>ARGS;""", "#include <cmath>"),
    "a grid of dim3 members": _of("naive", "PLAIN;", _C_STYLE, """\
dim3 t, g; t.x = 32; t.y = 4; g.x = n / t.x + (n % t.x != 0); g.y = m / t.y; if (m % t.y) g.y++; matmul<<<g, t>>>ARGS;"""),
    "a constexpr function for the grid": _of("naive", "PLAIN;", _BUFFERS,
        "const dim3 block{8, 8}; const dim3 grid{div_up(n, block.x), div_up(m, block.y)}; matmul<<<grid, block>>>ARGS;",
        "constexpr unsigned div_up(unsigned a, unsigned b) { return a / b + (a % b ? 1 : 0); }"),
    "a kernel behind main": _files({"main.cu": _program("HEAD;") + "PLAIN;"}),
    "older versions beside it": _of("naive", """\
/* version 1
__global__ void matmul(float* a, int n) { a[0] = n; }
*/
#if 0
__global__ void matmul(float* a) {}
#endif
__global__ void matmul_old(const float* A, const float* B, float* C, int N) { int i = threadIdx.x;
  if (i < N) C[i] = A[i] * B[i]; } PLAIN;""", _C_STYLE, "// matmul_old<<<1, n>>>(da, db, dc, n);\n  LAUNCH;"),
    "a lambda that fills arrays": _of("naive", "PLAIN;", _C_STYLE, """\
std::generate(a, a + m * k, [] { return rand() / (float)RAND_MAX; });
  cudaMemcpy(da, a, m * k * sizeof(float), cudaMemcpyHostToDevice); LAUNCH;""", "#include <algorithm>"),
    "a timer that takes a lambda": _of("naive", "PLAIN;", _VECTORS, """\
dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
  const float ms = timed([&] { matmul<<<grid, block>>>(da, db, dc, m, n, k); }); std::cout << ms << " ms\\n";""", """\
template <typename F> float timed(F&& run) { cudaEvent_t t0, t1; cudaEventCreate(&t0); cudaEventCreate(&t1);
  cudaEventRecord(t0); run(); cudaEventRecord(t1); cudaEventSynchronize(t1); float ms = 0; cudaEventElapsedTime(&ms, t0, t1);
  return ms; }"""),
    "a list of sizes in a local struct": _of("naive", "PLAIN;", _VECTORS, """\
struct Size { int m, n, k; }; std::vector<Size> sizes = {{64, 64, 64}, {130, 70, 50}};
  for (const Size& each : sizes) std::cout << each.m << 'x' << each.n << 'x' << each.k << std::endl; LAUNCH;"""),
    "pinned memory by cudaHostAlloc": _of("naive", "PLAIN;", _C_STYLE, """\
float* pinned; cudaHostAlloc(&pinned, m * n * sizeof(float), cudaHostAllocDefault); LAUNCH;
  cudaMemcpy(pinned, dc, m * n * sizeof(float), cudaMemcpyDeviceToHost); cudaFreeHost(pinned);"""),
    "a tuple of sizes": _of("naive", "PLAIN;", _C_STYLE,
        'auto [rows, columns, inner] = std::make_tuple(m, n, k); printf("%d %d %d\\n", rows, columns, inner); LAUNCH;',
        "#include <tuple>"),
    # files
    "a header of its own": _files({"main.cu": _program('#include "matmul.cuh"'), "matmul.cuh": "#pragma once\nPLAIN;"}),
    "a kernel, its header and a program": _files({
        "main.cu": '#include "gpu/mm.h"\nint main() { float a[6] = {1}, b[6] = {2}, c[4]; gpuMatmul(a, b, c, 2, 2, 3); }\n',
        "gpu/mm.h": "#pragma once\nvoid gpuMatmul(const float* a, const float* b, float* c, int m, int n, int k);\n",
        "gpu/mm.cu": """\
#include "mm.h"
PLAIN;
void gpuMatmul(const float* a, const float* b, float* c, int m, int n, int k) { float *da, *db, *dc;
  cudaMalloc(&da, m * k * 4); cudaMalloc(&db, k * n * 4); cudaMalloc(&dc, m * n * 4);
  cudaMemcpy(da, a, m * k * 4, cudaMemcpyHostToDevice); cudaMemcpy(db, b, k * n * 4, cudaMemcpyHostToDevice); LAUNCH;
  cudaMemcpy(c, dc, m * n * 4, cudaMemcpyDeviceToHost); }
"""}),
    "an old file that is a comment": _files({
        "a_first_try.cu": "/*\n__global__ void matmul(float *A, int n) { }\nmatmul<<<1, 1>>>(a, n);\n*/\n",
        "matmul.cu": _program("PLAIN;")}),
    "a header for checks": _files({
        "matmul.cu": _program("PLAIN;", launch="gpuErrchk(cudaGetLastError()); LAUNCH;", head='#include "check.h"'),
        "check.h": """\
#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char *file, int line, bool abort = true) { if (code != cudaSuccess) {
  fprintf(stderr, "GPUassert: %s %s %d\\n", cudaGetErrorString(code), file, line); if (abort) exit(code); } }
"""}),
    # texts
    "windows lines, a byte order mark and tabs": _rewritten(
        lambda text: "\ufeff" + text.replace("  ", "\t").replace("\n", "\r\n")),
    "statements that are spliced": _rewritten(_spliced),
    "brackets of GNU and spaces": _rewritten(
        lambda text: text.replace("{", "\n    {\n").replace("(", " ( ").replace(")", " ) ").replace(";", " ;\n"), _SOLVE),
    "names and comments in German": _of("naive", """\
// Jeder Thread berechnet ein Element: größere Blöcke wären schneller (n² ≤ 1024)
__global__ void matmul(const float* Links, const float* Rechts, float* Ergebnis, int Höhe, int Breite, int Tiefe) {
  int zeile = blockIdx.y * blockDim.y + threadIdx.y, spalte = blockIdx.x * blockDim.x + threadIdx.x;
  if (zeile < Höhe && spalte < Breite) { float summe = 0;
  for (int i = 0; i < Tiefe; i++) summe += Links[zeile * Tiefe + i] * Rechts[i * Breite + spalte];
  Ergebnis[zeile * Breite + spalte] = summe; } }"""),
    "comments in Chinese, Arabic and emoji": _of("naive", """\
// 每个线程计算一个元素 🚀 كل خيط يحسب عنصرا
/* 行 = y、列 = x。第1版 \\ */
PLAIN;""", _MANAGED, "/* запуск ядра */ LAUNCH;"),
    # tiles in shared memory
    "a tile as in the textbook": _tiled("""\
__shared__ float Mds[TILE][TILE], Nds[TILE][TILE];
  int Row = blockIdx.y * TILE + threadIdx.y, Col = blockIdx.x * TILE + threadIdx.x; float P = 0;
  for (int ph = 0; ph < ceil(K / (float)TILE); ++ph) {
  Mds[threadIdx.y][threadIdx.x] = (Row < M && ph * TILE + threadIdx.x < K) ? A[Row * K + ph * TILE + threadIdx.x] : 0.0f;
  Nds[threadIdx.y][threadIdx.x] = (ph * TILE + threadIdx.y < K && Col < N) ? B[(ph * TILE + threadIdx.y) * N + Col] : 0.0f;
  __syncthreads(); for (int k = 0; k < TILE; ++k) P += Mds[threadIdx.y][k] * Nds[k][threadIdx.x]; __syncthreads(); }
  if (Row < M && Col < N) C[Row * N + Col] = P;""", _VECTORS),
    "a tile that ends with K": _tiled("""\
__shared__ float a[TILE * TILE], b[TILE * TILE]; WHERE; float acc = 0; for (int k0 = 0; k0 < K; k0 += TILE) {
  if (row < M && k0 + tx < K) a[ty * TILE + tx] = A[row * K + k0 + tx];
  if (col < N && k0 + ty < K) b[ty * TILE + tx] = B[(k0 + ty) * N + col]; __syncthreads(); const int last = min(TILE, K - k0);
  for (int k = 0; k < last; ++k) if (row < M && col < N) acc += a[ty * TILE + k] * b[k * TILE + tx]; __syncthreads(); }
  STORE;""", _MANAGED, head="#define TILE 32"),
    "a barrier in the head of a loop": _tiled("""\
__shared__ float a[TILE * TILE], b[TILE * TILE]; WHERE; float acc = 0; for (int k0 = 0; k0 < K; k0 += TILE, __syncthreads()) {
  if (row < M && k0 + tx < K) a[ty * TILE + tx] = A[row * K + k0 + tx];
  if (col < N && k0 + ty < K) b[ty * TILE + tx] = B[(k0 + ty) * N + col]; __syncthreads(); const int last = min(TILE, K - k0);
  if (row < M && col < N) for (int k = 0; k < last; ++k) acc += a[ty * TILE + k] * b[k * TILE + tx]; } STORE;""", _MANAGED,
        head="#define TILE 32"),
    "tiles in dynamic memory": _tiled("""\
extern __shared__ float s[]; float *a = s, *b = &s[TILE * TILE]; WHERE; float acc = 0; for (int k0 = 0; k0 < K; k0 += TILE) {
  a[ty * TILE + tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0;
  b[ty * TILE + tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0; __syncthreads();
  for (int k = 0; k < TILE; ++k) acc += a[ty * TILE + k] * b[k * TILE + tx]; __syncthreads(); } STORE;""", _STREAMS, """\
size_t bytes = 2 * TILE * TILE * sizeof(float);
  cudaFuncSetAttribute(tiled, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
  dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE); tiled<<<grid, block, bytes, stream>>>ARGS;""",
        "constexpr int TILE = 16;"),
    "two buffers of tiles": _tiled("""\
__shared__ float a[2][TILE][TILE], b[2][TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx, tiles =
  (K + TILE - 1) / TILE; float acc = 0; int now = 0; auto load = [&](int buffer, int k0) {
  a[buffer][ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.f;
  b[buffer][ty][tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0.f; }; load(0, 0); __syncthreads();
  for (int t = 0; t < tiles; ++t, now ^= 1) { if (t + 1 < tiles) load(now ^ 1, (t + 1) * TILE);
  for (int k = 0; k < TILE; ++k) acc += a[now][ty][k] * b[now][k][tx]; __syncthreads(); } STORE;""", _VECTORS),
    "asynchronous copies into tiles": _tiled("""\
__shared__ float a[TILE][TILE], b[TILE][TILE]; WHERE; float acc = 0; for (int k0 = 0; k0 < K; k0 += TILE) {
  if (row < M && k0 + tx < K) __pipeline_memcpy_async(&a[ty][tx], &A[row * K + k0 + tx], sizeof(float)); else a[ty][tx] = 0;
  if (col < N && k0 + ty < K) __pipeline_memcpy_async(&b[ty][tx], &B[(k0 + ty) * N + col], sizeof(float)); else b[ty][tx] = 0;
  __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads(); for (int k = 0; k < TILE; ++k) acc += a[ty][k] * b[k][tx];
  __syncthreads(); } STORE;""", head="#include <cuda_pipeline.h>\n#define TILE 16"),
    "a template of the tile": _of("tiled", """\
template <int T, typename F = float> struct Tile { F at[T][T]; };
template <int T>
TILED_HEAD { __shared__ Tile<T> a, b; const int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
  float acc = 0; for (int k0 = 0; k0 < K; k0 += T) {
  a.at[threadIdx.y][threadIdx.x] = row < M && k0 + (int)threadIdx.x < K ? A[row * K + k0 + threadIdx.x] : 0;
  b.at[threadIdx.y][threadIdx.x] = col < N && k0 + (int)threadIdx.y < K ? B[(k0 + threadIdx.y) * N + col] : 0; __syncthreads();
#pragma unroll
    for (int k = 0; k < T; ++k) acc += a.at[threadIdx.y][k] * b.at[k][threadIdx.x]; __syncthreads(); } STORE; }""", launch="""\
if (m >= 32) { dim3 b(32, 32), g((n + 31) / 32, (m + 31) / 32); tiled<32><<<g, b>>>(da, db, dc, m, n, k); } else {
  dim3 b(16, 16), g((n + 15) / 16, (m + 15) / 16); tiled<16><<<g, b>>>(da, db, dc, m, n, k); }"""),
    "a block of one dimension for a tile": _tiled("""\
__shared__ float a[TILE][TILE], b[TILE][TILE];
  const int tx = threadIdx.x % TILE, ty = threadIdx.x / TILE, row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float acc = 0; for (int k0 = 0; k0 < K; k0 += TILE) { a[ty][tx] = 0; b[ty][tx] = 0;
  if (row < M && k0 + tx < K) a[ty][tx] = A[row * K + k0 + tx];
  if (col < N && k0 + ty < K) b[ty][tx] = B[(k0 + ty) * N + col]; __syncthreads();
  for (int k = 0; k < TILE; ++k) acc = fma(a[ty][k], b[k][tx], acc); __syncthreads(); } STORE;""", _SOLVE,
        "tiled<<<dim3((n - 1) / TILE + 1, (m - 1) / TILE + 1), TILE * TILE>>>ARGS;"),
    "cooperative groups for barriers": _tiled("""\
auto cta = cg::this_thread_block(); __shared__ float a[TILE][TILE], b[TILE][TILE]; WHERE; float acc = 0;
  for (int k0 = 0; k0 < K; k0 += TILE) { a[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0;
  b[ty][tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0; cta.sync();
  for (int k = 0; k < TILE; ++k) acc += a[ty][k] * b[k][tx]; cta.sync(); } STORE;""", _VECTORS,
        head="#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n#define TILE 16"),
    # other tasks
    "a warp for each row": _of("flat", """\
__global__ void mm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, row = blockIdx.x * (blockDim.x >> 5) + warp;
  if (row >= m) return; for (int col = lane; col < n; col += 32) { float s = 0;
  for (int i = 0; i < k; ++i) s += a[row * k + i] * b[i * n + col]; c[row * n + col] = s; } }""", _VECTORS,
        "mm<<<(m + 3) / 4, 128>>>ARGS;"),
    "two dimensions in a wide block": _of("flat", """\
__global__ void wide(const float *A, const float *B, float *C, int M, int N, int K) { INDEX; if (row < M && col < N) { SUM;
  C[row * N + col] = sum; } }""", _MANAGED,
        "dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8); wide<<<grid, block>>>ARGS;"),
    "a padded tile of one element a thread": _of("padded", """\
#define DIM 32
__global__ void mult(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float at[DIM][DIM + 1], b[DIM][DIM];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * DIM + y, col = blockIdx.x * DIM + x; float acc = 0;
  for (int t = 0; t < K; t += DIM) { at[y][x] = row < M && t + x < K ? A[row * K + t + x] : 0;
  b[y][x] = t + y < K && col < N ? B[(t + y) * N + col] : 0; __syncthreads();
  for (int k = 0; k < DIM; ++k) acc += at[y][k] * b[k][x]; __syncthreads(); } STORE; }""", _THRUST,
        "mult<<<dim3((n + DIM - 1) / DIM, (m + DIM - 1) / DIM), dim3(DIM, DIM)>>>ARGS;"),
    "four results a thread, in a column": _of("register", """\
__global__ void four(int M, int N, int K, const float* A, const float* B, float* C) {
  const int col = blockIdx.x * 32 + threadIdx.x, first = (blockIdx.y * 8 + threadIdx.y) * 4; if (col >= N) return;
  float s[4] = {0, 0, 0, 0}; for (int k = 0; k < K; ++k) { const float b = B[k * N + col];
#pragma unroll
    for (int i = 0; i < 4; ++i) if (first + i < M) s[i] += A[(first + i) * K + k] * b; }
      for (int i = 0; i < 4; ++i) if (first + i < M) C[(first + i) * N + col] = s[i]; }""", _VECTORS,
        "four<<<dim3((n + 31) / 32, (m + 31) / 32), dim3(32, 8)>>>(m, n, k, da, db, dc);"),
    "four results through a template": _of("register", """\
template <int TM> struct Accumulator { float v[TM] = {}; __device__ void add(const float* a, int stride, float b) {
  for (int i = 0; i < TM; ++i) v[i] += a[i * stride] * b; } };
template <int BM, int BN, int BK, int TM>
__global__ void blocked(int M, int N, int K, const float* A, const float* B, float* C) {
  static_assert(BM * BK == BM / TM * BN && BK * BN == BM / TM * BN); __shared__ float a[BM * BK], b[BK * BN];
  const int t = threadIdx.x, col = t % BN, row = t / BN * TM; Accumulator<TM> acc; for (int k0 = 0; k0 < K; k0 += BK) {
  const int r = blockIdx.y * BM + t / BK, c = k0 + t % BK, br = k0 + t / BN, bc = blockIdx.x * BN + col;
  a[t] = r < M && c < K ? A[r * K + c] : 0; b[t] = br < K && bc < N ? B[br * N + bc] : 0; __syncthreads();
  for (int k = 0; k < BK; ++k) acc.add(a + row * BK + k, BK, b[k * BN + col]); __syncthreads(); }
  for (int i = 0; i < TM; ++i) { const int r = blockIdx.y * BM + row + i, c = blockIdx.x * BN + col;
  if (r < M && c < N) C[r * N + c] = acc.v[i]; } }""", _STREAMS,
        "blocked<32, 32, 8, 4><<<dim3((n + 31) / 32, (m + 31) / 32), 256, 0, stream>>>(m, n, k, da, db, dc);"),
}  # fmt: skip
