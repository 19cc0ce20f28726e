#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace tc {

template <int M_, int N_, int K_>
struct GemmShape {
  static constexpr int kM = M_;
  static constexpr int kN = N_;
  static constexpr int kK = K_;
  static constexpr int kMN = M_ * N_;
};

template <typename Element_, typename Accumulator_>
struct Traits {
  using Element = Element_;
  using Accumulator = Accumulator_;
  static constexpr int kAccess = 16 / sizeof(Element_);
};

template <typename ThreadblockShape_, typename WarpShape_, typename Traits_>
struct Policy {
  using ThreadblockShape = ThreadblockShape_;
  using WarpShape = WarpShape_;
  using Element = typename Traits_::Element;
  using Accumulator = typename Traits_::Accumulator;
  static constexpr int kAccess = Traits_::kAccess;
  static constexpr int kWarpsM = ThreadblockShape::kM / WarpShape::kM;
  static constexpr int kWarpsN = ThreadblockShape::kN / WarpShape::kN;
  static constexpr int kThreads = 32 * kWarpsM * kWarpsN;
  struct SharedStorage {
    Element a[ThreadblockShape::kM][ThreadblockShape::kK + 8];
    Element b[ThreadblockShape::kK][ThreadblockShape::kN + 8];
  };
};

struct Mma16816 {
  static __device__ __forceinline__ void fma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

template <typename P, typename Op>
__global__ void __launch_bounds__(P::kThreads) kernel(const typename P::Element* A, const typename P::Element* B,
                                                      typename P::Accumulator* C, int m, int n, int k) {
  using TB = typename P::ThreadblockShape;
  using W = typename P::WarpShape;
  __shared__ __align__(16) typename P::SharedStorage smem;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int warp_m = warp % P::kWarpsM * W::kM, warp_n = warp / P::kWarpsM * W::kN;
  typename P::Accumulator acc[W::kM / 16][W::kN / 8][4] = {};

  for (int k0 = 0; k0 < k; k0 += TB::kK) {
    for (int i = thread * P::kAccess; i < TB::kM * TB::kK; i += P::kThreads * P::kAccess) {
      const int r = i / TB::kK, c = i % TB::kK;
      *reinterpret_cast<uint4*>(&smem.a[r][c]) = *reinterpret_cast<const uint4*>(&A[(blockIdx.y * TB::kM + r) * k + k0 + c]);
    }
    for (int i = thread * P::kAccess; i < TB::kK * TB::kN; i += P::kThreads * P::kAccess) {
      const int r = i / TB::kN, c = i % TB::kN;
      *reinterpret_cast<uint4*>(&smem.b[r][c]) = *reinterpret_cast<const uint4*>(&B[(k0 + r) * n + blockIdx.x * TB::kN + c]);
    }
    __syncthreads();
    for (int kk = 0; kk < TB::kK; kk += 16) {
      unsigned b[W::kN / 8][2];
      for (int j = 0; j < W::kN / 8; ++j) {
        unsigned at = __cvta_generic_to_shared(&smem.b[kk + lane % 16][warp_n + j * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(b[j][0]), "=r"(b[j][1]) : "r"(at));
      }
      for (int i = 0; i < W::kM / 16; ++i) {
        unsigned a[4], at = __cvta_generic_to_shared(&smem.a[warp_m + i * 16 + lane % 16][kk + lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(at));
        for (int j = 0; j < W::kN / 8; ++j) Op::fma(acc[i][j], a, b[j]);
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < W::kM / 16; ++i)
    for (int j = 0; j < W::kN / 8; ++j)
      for (int e = 0; e < 4; ++e)
        C[(blockIdx.y * TB::kM + warp_m + i * 16 + lane / 4 + e / 2 * 8) * n + blockIdx.x * TB::kN + warp_n + j * 8 + lane % 4 * 2 + e % 2] = acc[i][j][e];
}

}  // namespace tc

void gemm(const half* A, const half* B, float* C, int m, int n, int k) {
  using P = tc::Policy<tc::GemmShape<32, 32, 32>, tc::GemmShape<16, 16, 32>, tc::Traits<half, float>>;
  dim3 grid(n / P::ThreadblockShape::kN, m / P::ThreadblockShape::kM);
  tc::kernel<P, tc::Mma16816><<<grid, P::kThreads>>>(A, B, C, m, n, k);
}
