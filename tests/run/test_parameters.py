"""Kernels whose parameters are structs and vectors, and global variables that the host fills: all of it as flat parameters."""

import pytest

from gemmviz.cuda.nodes import KernelArgument
from gemmviz.cuda.program import program_for
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.problem import Problem
from tests.conftest import trace_of

MATRIX = """struct Matrix { int width, height; float* elements; };
__device__ float at(const Matrix m, int row, int column) { return m.elements[row * m.width + column]; }
__device__ void put(Matrix m, int row, int column, float value) { m.elements[row * m.width + column] = value; }
__device__ Matrix part(Matrix m, int row, int column) {
    Matrix found;
    found.width = m.width; found.height = 2;
    found.elements = &m.elements[m.width * 2 * row + 2 * column];
    return found;
}
__global__ void kernel(Matrix A, const Matrix B, Matrix C) {
    __shared__ float as[2][2], bs[2][2];
    Matrix mine = part(C, blockIdx.y, blockIdx.x);
    int row = threadIdx.y, column = threadIdx.x;
    float sum = 0;
    for (int m = 0; m < A.width / 2; ++m) {
        Matrix left = part(A, blockIdx.y, m), right = part(B, m, blockIdx.x);
        as[row][column] = at(left, row, column);
        bs[row][column] = at(right, row, column);
        __syncthreads();
        for (int e = 0; e < 2; ++e) sum += as[row][e] * bs[e][column];
        __syncthreads();
    }
    put(mine, row, column, sum);
}
"""
ONE_STRUCT = """struct Params {
    const float *a, *b; float* c; struct { int m, n, k; } size; float scale[2]; float2 origin; bool flag;
    __device__ int at(int row, int column, int width) const { return row * width + column; }
};
__global__ void kernel(Params p, dim3 offset) {
    int row = blockIdx.y * 2 + threadIdx.y + (int)p.origin.y + offset.z, column = blockIdx.x * 2 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < p.size.k; ++k) sum += p.a[p.at(row, k, p.size.k)] * p.b[p.at(k, column, p.size.n)];
    if (p.flag && row < p.size.m) p.c[p.at(row, column, p.size.n)] = sum * p.scale[0] * p.scale[1];
}
"""
CONSTANTS = """struct Size { int m, n, k; };
__constant__ float filter[36];
__constant__ int width;
__constant__ Size size;
__constant__ float factors[2] = {0.5f, 2.0f};
__constant__ int two = 2;
__device__ float result[4][6];
__global__ void kernel(const float* A) {
    int row = blockIdx.y * two + threadIdx.y, column = blockIdx.x * two + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < size.k; ++k) sum += A[row * size.k + k] * filter[k * width + column];
    result[row][column] = sum * factors[0] * factors[1];
}
"""


def spec_of(text: str, args: str) -> KernelSpec:
    header = f'// gemmviz = 1\n// entry = "kernel"\n// args = {args}\n// block = ["2", "2"]\n// grid = ["N / 2", "M / 2"]\n'
    return parse_kernel(header + text, "kernel.cu")


KERNELS = {
    "matrices": spec_of(MATRIX, '["K", "M", "A", "N", "K", "B", "N", "M", "C"]'),
    "one struct": spec_of(ONE_STRUCT, '["A", "B", "C", "M", "N", "K", "0.5", "2.0", "3", "0", "1", "1", "1", "0"]'),
    "constants": spec_of(CONSTANTS, '["A", "M", "N", "K", "B", "N", "C"]'),
}
BIAS = """struct Row { float v[2]; };
__global__ void kernel(const Row* A, const float (*B)[N], float* C, const float* bias, int K) {
    int row = blockIdx.y * 2 + threadIdx.y, column = blockIdx.x * 2 + threadIdx.x;
    float sum = bias ? bias[column] : 0.f;
    for (int k = 0; k < K; ++k) sum += A[(row * K + k) / 2].v[k % 2] * B[k][column];
    if (bias != nullptr) sum += bias[column];
    C[row * N + column] = sum;
}
"""
KERNELS["null"] = spec_of(BIAS.replace("N]", "6]").replace("* N", "* 6"), '["A", "B", "C", "nullptr", "K"]')
SIZE = Problem(4, 6, 6)


@pytest.mark.parametrize("name", KERNELS)
def test_results_are_right(name: str) -> None:
    trace = trace_of(KERNELS[name], *SIZE.sizes.values())
    assert trace.check.passed, str(trace.check)


def test_parameters_of_structs_say_where_they_lie() -> None:
    program = program_for(KERNELS["one struct"], {})
    assert program.arguments == (KernelArgument(64), KernelArgument(12))
    lie = {each.name: (str(each.type), each.argument, each.offset) for each in program.parameters}
    assert lie["p.c"] == ("float*", 0, 16)
    assert lie["p.size.k"] == ("int", 0, 32)
    assert lie["p.scale[1]"] == ("float", 0, 40)
    assert lie["p.origin.y"] == ("float", 0, 52)
    assert lie["p.flag"] == ("bool", 0, 56)
    assert lie["offset.z"] == ("unsigned int", 1, 8)


def test_global_variables_are_parameters_behind_the_others() -> None:
    program = program_for(KERNELS["constants"], {})
    assert [each.name for each in program.parameters] == ["A", "size.m", "size.n", "size.k", "filter", "width", "result"]
    assert program.arguments[1:] == (
        KernelArgument(12, "size"),
        KernelArgument(144, "filter", True),
        KernelArgument(4, "width"),
        KernelArgument(96, "result", True),
    )
