"""What would give a wrong result in silence is refused, in plain words."""

import pytest

from gemmviz.cuda.program import program_for
from gemmviz.model.messages import SourceError
from tests.conftest import kernel_from, left_in_c

VIRTUAL = """struct V { __device__ virtual float f() { return 1; } __device__ float g() { return f(); } };
struct W : V { __device__ float f() override { return 2; } };"""
SHARED = "__device__ float s[4] = {1, 2, 3, 4}; __device__ int n = 3; __device__ void set(float* p) { p[0] = 7; } __device__ float* first() { return s; }"
ONLY_READ = "shared by all threads and has a first value"


@pytest.mark.parametrize(
    ("before", "body", "message"),
    [
        (VIRTUAL, "W w; V* v = &w; C[0] = v->f();", "f is virtual: virtual functions are not supported .make"),
        (VIRTUAL, "W w; C[0] = w.g();", "virtual functions are not supported"),
        (SHARED, "s[threadIdx.x] += 1;", f"s is {ONLY_READ}"),
        (SHARED, "float* p = s; float* q; q = p + 1; q[0] = 1;", f"s is {ONLY_READ}"),
        (SHARED, "set(s); C[0] = s[0];", f"s is {ONLY_READ}"),
        (SHARED, "atomicAdd(&s[0], 1.0f);", f"s is {ONLY_READ}"),
        (SHARED, "memset(s, 0, sizeof(s));", f"s is {ONLY_READ}"),
        (SHARED, "first()[0] = 1;", f"s is {ONLY_READ}"),
        ("", "static int count = 0; count += 1;", "count is static: static variables of a kernel are not supported"),
        (SHARED, "n = 5;", f"n is {ONLY_READ}"),
        (SHARED, "atomicAdd(&n, 1);", f"n is {ONLY_READ}"),
        ("__device__ float at(float** p) { return p[0][1]; }", "C[0] = at((float**)C);", "pointers to pointers. are not"),
        ("", "float* p[2]; p[0] = C; C[0] = p[0][0];", "arrays of pointers, pointers to pointers. are not"),
        ("texture<float, 1> t;", "C[0] = tex1Dfetch(t, 1);", "tex1Dfetch is not supported"),
        ("", "float* p = new float[3];", "new is not supported .use an array"),
    ],
)
def test_refused_in_plain_words(before: str, body: str, message: str) -> None:
    with pytest.raises(SourceError, match=message) as caught:
        program_for(kernel_from(body, before=before), {})
    assert caught.value.place is not None


def test_first_values_of_the_gpu_can_be_read() -> None:
    spec = kernel_from(
        "const float* p = s; if (threadIdx.x == 0) { float t[2] = {}; t[0] = p[1]; C[0] = t[0] + s[2] * n; }", before=SHARED
    )
    assert left_in_c(spec)[0] == 2 + 3 * 3


def test_infinity_and_nan_are_constants() -> None:
    spec = kernel_from("C[0] = -INFINITY; C[1] = fmaxf(-INFINITY, 2.0f); C[2] = __builtin_huge_val(); C[3] = NAN;")
    assert [str(each) for each in left_in_c(spec)[:4]] == ["-inf", "2.0", "inf", "nan"]


def test_static_constants_of_a_kernel_can_be_read() -> None:
    spec = kernel_from("static const float q[2][2] = {{1, 2}, {3, 4}}; static constexpr int k = 2; C[0] = q[1][0] + k;")
    assert left_in_c(spec)[0] == 5
