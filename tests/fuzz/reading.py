"""C++ of every kind, spoiled: the reader process may crash, its parent never; each text has an answer."""

from pathlib import Path

from hypothesis import strategies as st

from gemmviz.cuda.parser.source_text import SourceText
from gemmviz.cuda.program import reader
from gemmviz.files.kernel_file import decoded
from gemmviz.model.messages import GemmvizError
from tests.fuzz.campaign import Campaign
from tests.fuzz.kernels import encoded, kernels
from tests.fuzz.mutators import WORDS, spoiled_bytes, spoiled_text

_MORE = """#include "util.cuh"
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <vector>
namespace cg = cooperative_groups;
template <int BM, class T = float> struct Tile { T x[BM][BM + 1]; __device__ T& at(int i, int j) { return x[i][j]; } };
template <int BM, int TM> __global__ void k(const float* __restrict__ A, float* C, half* H, int N) {
  __shared__ Tile<BM> tile; extern __shared__ char pool[]; auto block = cg::this_thread_block();
  float r[TM] = {}; int4 v = *reinterpret_cast<const int4*>(&A[4 * threadIdx.x]); union { float f; unsigned u; } bits;
  #pragma unroll
  for (int i = 0; i < TM; ++i) { if constexpr (BM > 8) r[i] += tile.at(i, threadIdx.x % BM); else r[i] = __half2float(H[i]); }
  block.sync(); r[0] = __shfl_down_sync(0xffffffff, r[0], 16); atomicAdd(&C[0], r[0]); bits.f = v.x; C[bits.u & 7] = MUL(2, 3);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(pool)), "l"(A));
  switch (N) { case 1: C[1] = 1; break; default: [&] { C[2] = N; }(); }
}
int main(int argc, char** argv) { int N = argc > 1 ? atoi(argv[1]) : 64; std::vector<float> h(N * N); float *a, *c; half* b;
  cudaMalloc(&a, N * sizeof(float)); dim3 grid((N + 15) / 16, N / 16); k<16, 4><<<grid, dim3(16, 16), 1024>>>(a, c, b, N); }
"""
_FILES = {"util.cuh": "#pragma once\n#define MUL(a, b) ((a) * (b))\n", "sub/k.cu": _MORE}
_CPP = (
    *WORDS, "template <int N> struct R { R<N + 1> r; };", "constexpr int f() { for (;;); }", "#include \"k.cu\"", "#define M M M",
    "asm(\"\" : \"=r\"(x))", "<<<1, 1>>>", "decltype(auto)", "operator()", "[=](auto... x) { return (x + ...); }", "requires",
    "alignas(float4)", "nvcuda::wmma::fragment<", "half2", "__nv_bfloat16", "#include \"/dev/zero\"", "((((((((", "* * * *",
)  # fmt: skip


def _texts() -> st.SearchStrategy[bytes]:
    text = st.one_of(spoiled_text([_MORE], _CPP), spoiled_text(kernels(), _CPP)).map(encoded)
    return st.one_of(text, text, spoiled_bytes([_MORE.encode()]))


def _read(path: Path) -> None:
    source = SourceText("sub/k.cu", {**_FILES, "sub/k.cu": decoded(path.read_bytes())}, macros={"TILE_WIDTH": "16"})
    for name, arguments in (("refusal", ()), ("outline", ()), ("program", ("k<16, 4>",))):
        answer = None
        try:
            reader().run(name, source, *arguments)
        except GemmvizError as error:
            answer = error
        assert answer is None or answer.id not in ("error", "installation"), f"{name}: {answer}"


CAMPAIGNS = {"reading": Campaign(".cu", _texts, _read, ready=lambda: reader().run("refusal", SourceText("a.cu", {"a.cu": ""})))}
