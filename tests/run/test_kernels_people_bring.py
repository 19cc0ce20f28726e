"""The constructs of public SGEMM kernels, in kernels of our own: right results and the expected wide accesses."""

import numpy as np
import pytest

from gemmviz.analysis.counts import count_steps, totals
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.messages import SourceError
from gemmviz.model.problem import Problem
from gemmviz.run.choosing import run
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.cuda.toolkit import without_includes
from tests.conftest import trace_of

VECTORISED = """// gemmviz = 1
// entry = "gemm<BM, BN, BK, TM, TN>"
// args = ["M", "N", "K", "1.0", "A", "B", "0.0", "C"]
// block = ["(BM / TM) * (BN / TN)"]
// grid = ["N / BN", "M / BM"]
// [parameters.BM]
// default = 32
// [parameters.BN]
// default = 32
// [parameters.BK]
// default = 8
// [parameters.TM]
// default = 4
// [parameters.TN]
// default = 4

#include <cuda_runtime.h>
#include "../include/host_utils.h"
#define AT(row, col, ld) ((row) * (ld) + (col))
#define VEC(x) (reinterpret_cast<float4*>(&(x))[0])
namespace part {
template <const int BM, const int BK>
__device__ void fetch(float* A, float* tile, int K, uint row, uint col) {
    float4 v = VEC(A[AT(row, col * 4, K)]);
    tile[AT(col * 4 + 0, row, BM)] = v.x; tile[AT(col * 4 + 1, row, BM)] = v.y;
    tile[AT(col * 4 + 2, row, BM)] = v.z; tile[AT(col * 4 + 3, row, BM)] = v.w;
}
}
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1)
gemm(int M, int N, int K, float alpha, float* A, float* B, float beta, float* C) {
    __shared__ float as[BM * BK];
    __shared__ __align__(16) float bs[BK * BN];
    const uint tx = threadIdx.x % (BN / TN), ty = threadIdx.x / (BN / TN);
    const uint arow = threadIdx.x / (BK / 4), acol = threadIdx.x % (BK / 4);
    const uint brow = threadIdx.x / (BN / 4), bcol = threadIdx.x % (BN / 4);
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * N + blockIdx.x * BN;
    float acc[TM * TN] = {0.0f}, ra[TM], rb[TN];
    for (uint k0 = 0; k0 < K; k0 += BK) {
        part::fetch<BM, BK>(A, as, K, arow, acol);
        VEC(bs[AT(brow, bcol * 4, BN)]) = VEC(B[AT(brow, bcol * 4, N)]);
        __syncthreads();
        A += BK;
        B += BK * N;
#pragma unroll
        for (uint k = 0; k < BK; ++k) {
            for (uint i = 0; i < TM; ++i) ra[i] = as[k * BM + ty * TM + i];
            VEC(rb[0]) = VEC(bs[k * BN + tx * TN]);
            for (uint i = 0; i < TM; ++i)
                for (uint j = 0; j < TN; ++j) acc[i * TN + j] += ra[i] * rb[j];
        }
        __syncthreads();
    }
    for (uint i = 0; i < TM; ++i) {
        float4 old = VEC(C[AT(ty * TM + i, tx * TN, N)]);
        old.x = alpha * acc[i * TN] + beta * old.x;
        old.y = alpha * acc[i * TN + 1] + beta * old.y;
        old.z = alpha * acc[i * TN + 2] + beta * old.z;
        old.w = alpha * acc[i * TN + 3] + beta * old.w;
        VEC(C[AT(ty * TM + i, tx * TN, N)]) = old;
    }
}
"""

COLUMN_MAJOR = """// gemmviz = 1
// entry = "gemm"
// args = ["M", "N", "K", "A", "B", "C"]
// column_major = ["A", "B", "C"]
// block = ["32"]
// grid = ["M / 8", "N / 4"]

#define A(i, j) A[(i) + (j) * lda]
#define B(i, j) B[(i) + (j) * ldb]
#define C(i, j) C[(i) + (j) * ldc]
__global__ void gemm(int M, int N, int K, const float* __restrict__ A, const float* __restrict__ B, float* C) {
    int lda = M, ldb = K, ldc = M, row = threadIdx.x & 7, col = threadIdx.x >> 3;
    A = &A((blockIdx.x << 3), 0);
    B = &B(0, (blockIdx.y << 2));
    C = &C((blockIdx.x << 3), (blockIdx.y << 2));
    float sum = 0.;
    for (int k = 0; k < K; k++) sum += A(row, k) * B(k, col);
    C(row, col) = sum;
}
"""

DYNAMIC_DOUBLE_BUFFERED = """// gemmviz = 1
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["T", "T"]
// grid = ["N / T", "M / T"]
// shared_bytes = "4 * T * T * 4"
// [parameters.T]
// default = 8

extern "C" __global__ void gemm(const double* A, const double* B, double* C, unsigned M, unsigned N, unsigned K) {
    extern __shared__ double buffer[];
    double* a[1];
}
"""

DOUBLE_BUFFERED = DYNAMIC_DOUBLE_BUFFERED.replace(
    "    double* a[1];\n",
    """    double *now = buffer, *next = buffer + 2 * T * T;
    const unsigned x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    double sum = 0;
    now[y * T + x] = __ldg(&A[row * K + x]);
    now[T * T + y * T + x] = __ldg(B + y * N + col);
    for (unsigned k0 = 0; k0 < K; k0 += T) {
        __syncthreads();
        if (k0 + T < K) {
            next[y * T + x] = A[row * K + k0 + T + x];
            next[T * T + y * T + x] = B[(k0 + T + y) * N + col];
        }
        for (int k = 0; k < T; ++k) sum = fma(now[y * T + k], now[T * T + k * T + x], sum);
        double* swap = now; now = next; next = swap;
    }
    C[row * N + col] = sum;
""",
).replace("4 * T * T * 4", "4 * T * T * 8")


BROUGHT = {
    "vectorised": (VECTORISED, (64, 32, 24)),
    "column-major": (COLUMN_MAJOR, (16, 8, 5)),
    "double-buffered": (DOUBLE_BUFFERED, (16, 16, 32)),
    "integers": (COLUMN_MAJOR.replace("float", "int").replace("sum = 0.", "sum = 0"), (16, 8, 5)),
}


def test_vectorised_templates_macros_and_device_functions() -> None:
    trace = trace_of(parse_kernel(VECTORISED, "vectorised.cu"), 64, 32, 24)
    assert trace.check.passed, str(trace.check)
    wide = {t.text: t.operands[0].width for t in trace.sites if t.operands and t.operands[0].width > 1}
    assert set(wide.values()) == {4}
    assert len(wide) == 5
    found = totals(count_steps(trace, range(trace.steps)))
    assert found["global_load_requests"] == 2 * 2 * 3 * 2 + 2 * 2 * 4  # 2 blocks, 2 warps: 3 phases of A and B, 4 rows of C
    assert found["global_store_bytes"] == 64 * 32 * 4
    (call,) = {site.calls for site in trace.sites if site.calls}
    assert len(call) == 1


def test_column_major_with_macros_named_like_the_matrices() -> None:
    trace = trace_of(parse_kernel(COLUMN_MAJOR, "column.cu"), 16, 8, 5)
    assert trace.check.passed, str(trace.check)
    assert all(array.column_major for array in trace.arrays)
    rows, columns = trace.arrays[0].row_column(np.arange(16 * 5))
    assert rows[:3].tolist() == [0, 1, 2]
    assert columns[16] == 1


def test_extern_shared_double_buffering_in_float64() -> None:
    text = DOUBLE_BUFFERED
    from gemmviz.analysis.launch_hazards import ordering_of

    trace = trace_of(parse_kernel(text, "dynamic.cu"), 16, 16, 32)
    assert trace.check.passed, str(trace.check)
    assert trace.arrays[3].size == 4 * 8 * 8
    assert trace.arrays[3].itemsize == 8
    assert ordering_of(trace).hazards == ()


@pytest.mark.parametrize("kind", ["int", "unsigned"])
def test_integer_matrices_are_exact(kind: str) -> None:
    text = COLUMN_MAJOR.replace("float", kind).replace("sum = 0.", "sum = 0")
    trace = trace_of(parse_kernel(text, "integers.cu"), 16, 8, 5)
    assert trace.check.passed
    assert trace.check.worst_error == 0


def test_a_header_of_the_project_is_left_out_and_it_is_said() -> None:
    text, size = BROUGHT["vectorised"]
    trace = trace_of(parse_kernel(text, "mine.cu"), *size)
    assert trace.check.passed
    assert trace.notes[0] == "#include of ../include/host_utils.h is ignored: it is not in the project's folder"
    needing = text.replace("AT(row, col * 4, K)", "HOST_AT(row, col * 4, K)")
    with pytest.raises(SourceError, match=r"host_utils\.h is not in the project.s folder"):
        trace_of(parse_kernel(needing, "mine.cu"), *size)
    assert without_includes(text, ["../include/host_utils.h"]).count("\n") == text.count("\n")
    assert "host_utils" not in without_includes(text, ["../include/host_utils.h"])


@pytest.mark.parametrize("name", ["column-major", "integers"])
def test_as_many_blocks_are_traced_as_are_quick_whatever_the_type(name: str) -> None:
    text, sizes = BROUGHT[name]
    trace = run(setup_for(parse_kernel(text, "brought.cu"), Problem(*sizes)), (0, 0, 0), Interpreter()).whole
    assert trace.is_whole
    assert trace.blocks.count == 4
