"""Memory and copies in the host code: which main() gets the point for them."""

import re

import pytest
from msgspec import structs

from tests.grading.honest import _C_STYLE, _VECTORS, _program
from tests.grading.judging import failed, judged_text, task_for

_TASK = structs.replace(  # what is said of the host code is the same at each size
    task_for("naive"),
    sizes=task_for("naive").sizes[:1],
    checks=tuple(each for each in task_for("naive").checks if each.id in ("parses", "host", "result")),
)
_COPY = r"(?:CUDA_CHECK\()?cudaMemcpy\([^;]*;"
_SIZES = "int m = 32, n = 32, k = 32;"


def _main(before: str, after: str = "cudaDeviceSynchronize();", top: str = "") -> str:
    return _program("PLAIN;", f"#include <stdlib.h>\n@kernel\n{top}\nint main() {{ {_SIZES} {before}\n@launch\n{after} }}")


def _without(text: str, *patterns: str) -> str:
    for each in patterns:
        text = re.sub(each, "", text)
    return text


_BASE, _CHECKED = _program("PLAIN;"), _program("PLAIN;", _VECTORS)
_HELPER = "void run(float* da, float* db, float* dc, int m, int n, int k) {\n@launch\ncudaDeviceSynchronize(); }\n"
_HOST = "(float*)malloc(4096)"
_FILLED = "for (int i = 0; i < 1024; i++) a[i] = b[i] = 1;"
WRONG = {
    "no copy": (_without(_BASE, _COPY), "da is never filled before the launch"),
    "no copy, with checks": (_without(_CHECKED, _COPY), "da is never filled before the launch"),
    "none to the GPU": (_without(_BASE, r"cudaMemcpy\(d[ab][^;]*;"), "da is never filled before the launch"),
    "none back": (_without(_BASE, r"cudaMemcpy\(c[^;]*;"), "the result is never copied back"),
    "copies as comments": (re.sub(_COPY, lambda copy: f"// {copy[0]}\n", _BASE), "da is never filled before the launch"),
    "copies in #if 0": (
        re.sub(_COPY, lambda copy: f"\n#if 0\n{copy[0]}\n#endif\n", _BASE), "da is never filled before the launch",
    ),
    "memory of the host": (
        _main(f"float *da = {_HOST}, *db = new float[1024], *dc = {_HOST};"), "da is memory of the host",
    ),
    "arrays of the host": (_main("float da[1024], db[1024], dc[1024];"), "da is memory of the host"),
    "vectors": (
        _main("std::vector<float> a(1024), b(1024), c(1024); float *da = a.data(), *db = b.data(), *dc = c.data();",
              top="#include <vector>"), "a is memory of the host",
    ),
    "memory of the host through a function": (
        _program("PLAIN;", f"#include <stdlib.h>\n@kernel\n{_HELPER}int main() {{ {_SIZES} float *a = {_HOST}, *b = {_HOST}, "
                 f"*c = {_HOST}; {_FILLED} run(a, b, c, m, n, k); }}"), "da is memory of the host",
    ),
    "nothing allocated": (_main("float *da, *db, *dc;"), "da is never allocated"),
}  # fmt: skip
_MAPPED = "cudaHostGetDevicePointer(&da, a, 0); cudaHostGetDevicePointer(&db, b, 0); cudaHostGetDevicePointer(&dc, c, 0);"
RIGHT = {
    "copies around a function": _program(
        "PLAIN;", f"#include <stdlib.h>\n@kernel\n{_HELPER}int main() {{ {_SIZES} float *a, *b, *c, *h = {_HOST}; "
        "cudaMalloc(&a, 4096); cudaMalloc(&b, 4096); cudaMalloc(&c, 4096); cudaMemcpy(a, h, 4096, cudaMemcpyHostToDevice); "
        "cudaMemcpy(b, h, 4096, cudaMemcpyHostToDevice); run(a, b, c, m, n, k); "
        "cudaMemcpy(h, c, 4096, cudaMemcpyDeviceToHost); }"),
    "unified memory": _main(
        "float *da, *db, *dc; cudaMallocManaged(&da, 4096); cudaMallocManaged(&db, 4096); cudaMallocManaged(&dc, 4096); "
        "for (int i = 0; i < 1024; i++) da[i] = db[i] = 1;"),
    "managed variables": _main("float *da = a, *db = b, *dc = c;", top="__managed__ float a[1024], b[1024], c[1024];"),
    "mapped memory": _main(
        "float *a, *b, *c, *da, *db, *dc; cudaHostAlloc(&a, 4096, cudaHostAllocMapped); cudaHostAlloc(&b, 4096, "
        f"cudaHostAllocMapped); cudaHostAlloc(&c, 4096, cudaHostAllocMapped); {_FILLED} {_MAPPED}"),
    "registered memory": _main(
        f"float *a = {_HOST}, *b = {_HOST}, *c = {_HOST}, *da, *db, *dc; cudaHostRegister(a, 4096, cudaHostRegisterMapped); "
        f"cudaHostRegister(b, 4096, cudaHostRegisterMapped); cudaHostRegister(c, 4096, cudaHostRegisterMapped); {_MAPPED}"),
    "registered memory under its own address": _main(
        f"float *da = {_HOST}, *db = {_HOST}, *dc = {_HOST}; cudaHostRegister(da, 4096, 0); cudaHostRegister(db, 4096, 0); "
        "cudaHostRegister(dc, 4096, 0);"),
    "pinned memory under its own address": _main(
        "float *da, *db, *dc; cudaMallocHost(&da, 4096); cudaMallocHost(&db, 4096); cudaMallocHost(&dc, 4096);"),
    "variables of the device": _main(
        "float h[1024], *da, *db, *dc; cudaGetSymbolAddress((void**)&da, a); cudaGetSymbolAddress((void**)&db, b); "
        "cudaGetSymbolAddress((void**)&dc, c); cudaMemcpyToSymbol(a, h, 4096); cudaMemcpyToSymbol(b, h, 4096);",
        "cudaMemcpyFromSymbol(h, c, 4096);", "__device__ float a[1024], b[1024], c[1024];"),
    "filled by another kernel": _main(
        "float *da, *db, *dc, h[1024]; cudaMalloc(&da, 4096); cudaMalloc(&db, 4096); cudaMalloc(&dc, 4096); "
        "fill<<<4, 256>>>(da); fill<<<4, 256>>>(db);", "cudaMemcpy(h, dc, 4096, cudaMemcpyDeviceToHost);",
        "__global__ void fill(float* p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }"),
    "members that a constructor allocates": _program("PLAIN;", """#include <vector>
@kernel
class Product { int m, n, k; float *da, *db, *dc;
 public: Product(int m, int n, int k) : m(m), n(n), k(k) {
    cudaMalloc(&da, m * k * 4); cudaMalloc(&db, k * n * 4); cudaMalloc(&dc, m * n * 4); }
  void run(const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& c) {
    cudaMemcpy(da, a.data(), a.size() * 4, cudaMemcpyHostToDevice); cudaMemcpy(db, b.data(), b.size() * 4,
    cudaMemcpyHostToDevice); @launch
    cudaMemcpy(c.data(), dc, c.size() * 4, cudaMemcpyDeviceToHost); } };
int main() { std::vector<float> a(6), b(6), c(4); Product product(2, 2, 3); product.run(a, b, c); }"""),
    "allocated by a function": _main(
        f"float *da = nullptr, *db = nullptr, *dc = nullptr, *h = {_HOST}; get(&da); get(&db); get(&dc); "
        "cudaMemcpy(da, h, 4096, cudaMemcpyHostToDevice); cudaMemcpy(db, h, 4096, cudaMemcpyHostToDevice);",
        "cudaMemcpy(h, dc, 4096, cudaMemcpyDeviceToHost);", "void get(float** p) { cudaMalloc((void**)p, 4096); }"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_without_real_copies_the_point_is_lost(name: str) -> None:
    text, said = WRONG[name]
    check = failed(judged_text(text, _TASK))["host"]
    assert check.finding == "host-copy"
    assert said in check.output


@pytest.mark.parametrize("name", RIGHT)
def test_memory_that_the_gpu_can_use_is_right(name: str) -> None:
    judged = judged_text(RIGHT[name], _TASK)
    assert {each.id: each.status for each in judged.grade.checks}["host"] == "passed", failed(judged)
    assert judged.grade.checks[0].status == "passed"


def test_the_usual_programs_are_right() -> None:
    for text in (_BASE, _CHECKED, _program("PLAIN;", _C_STYLE.replace("cudaMemcpyHostToDevice", "cudaMemcpyDefault"))):
        assert judged_text(text, task_for("naive")).grade.has_passed
