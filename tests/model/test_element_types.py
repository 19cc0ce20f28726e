"""The table of element types, and half through the whole of the interpreter."""

from pathlib import Path

import numpy as np
import pytest

from gemmviz.cuda.types import Scalar, named_type
from gemmviz.files.trace_file import read_trace, write_trace
from gemmviz.model.element_types import ELEMENT_TYPES, element_type
from gemmviz.model.messages import UsageError
from gemmviz.model.records import fields
from gemmviz.model.trace import Trace
from tests.conftest import kernel_from, left_in_c, sure, trace_of

_MULTIPLIED = """
int row = threadIdx.y, col = threadIdx.x;
__shared__ half tile[8][8];
float sum = 0.0f;
for (int k = 0; k < K; ++k) {
    tile[row][col] = A[row * K + k];
    __syncthreads();
    sum += (float)tile[row][col] * (float)B[k * N + col];
    __syncthreads();
}
C[row * N + col] = (half)sum;
"""


def half_kernel(body: str, block: str = '["8"]') -> Trace:
    return trace_of(kernel_from(body, pointer="half*", before="#include <cuda_fp16.h>", block=block), 8, 8, 8, values=True)


@pytest.mark.parametrize(
    ("name", "size", "roundoff"),
    [("float64", 8, 2.0**-53), ("float32", 4, 2.0**-24), ("float16", 2, 2.0**-11), ("bfloat16", 2, 2.0**-8), ("int8", 1, 0.0)],
)
def test_sizes_and_roundoff(name: str, size: int, roundoff: float) -> None:
    found = element_type(name)
    assert (found.bytes, found.roundoff) == (size, roundoff)
    if found.is_float and found.decode is None:
        assert found.roundoff == np.finfo(found.stored).eps / 2


def test_an_unknown_name_has_a_remedy() -> None:
    with pytest.raises(UsageError, match="did you mean float16"):
        element_type("flaot16")


def test_bfloat16_is_rounded_to_nearest_even() -> None:
    found = element_type("bfloat16")
    numbers = np.array([1.0, 1.00390625, 1.01171875, -2.5, 0.1, np.inf, np.nan, 3.4e38])
    back = found.numbers(found.elements(numbers))
    want = [1.0, 1.0, 1.015625, -2.5, 0.10009765625, np.inf, np.nan, np.inf]  # 1 + 2^-8 and 1 + 3 * 2^-8 lie halfway
    np.testing.assert_array_equal(back, want)
    assert found.elements(numbers).dtype == np.uint16


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_what_is_stored_is_read(name: str) -> None:
    found = element_type(name)
    numbers = np.array([0.0, 1.0, 1.0, 0.0])
    assert found.numbers(found.elements(numbers)).tolist() == numbers.tolist()


def test_texts_have_no_more_digits_than_the_type() -> None:
    assert [element_type(name).text(2 / 3, 6) for name in ("float32", "float16", "bfloat16")] == ["0.666667", "0.6667", "0.667"]
    assert element_type("int32").text(1234567.0, 3) == "1234567"
    assert element_type("int32").text(float("nan"), 3) == "nan"


def test_what_c_spells() -> None:
    for spelling, name in (("half", "float16"), ("__half", "float16"), ("unsigned", "uint32"), ("long long", "int64")):
        found = named_type(spelling)
        assert isinstance(found, Scalar)
        assert found.element.name == name
    assert named_type("bfloat16") is None


def test_a_half_kernel_is_traced_saved_and_read(tmp_path: Path) -> None:
    trace = half_kernel(_MULTIPLIED, '["8", "8"]')
    assert trace.check.passed
    assert 2.0**-13 < sure(trace.check.worst_error) < trace.check.worst_allowed
    assert {array.element_type for array in trace.arrays} == {"float16"}
    write_trace(trace, tmp_path / "half.gvt")
    back = read_trace(tmp_path / "half.gvt")
    for each in fields(Trace):
        if each.name != "stored":
            a, b = getattr(trace, each.name), getattr(back, each.name)
            assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b, each.name


def test_a_wrong_half_kernel_is_found() -> None:
    assert not half_kernel(_MULTIPLIED.replace("(half)sum", "(half)(sum * 1.02f)"), '["8", "8"]').check.passed


def test_halves_are_rounded_once() -> None:
    kernel = kernel_from("half x = 0.1f; half y = x * x; C[threadIdx.x] = y + x;", pointer="half*")
    x = np.float16(0.1)
    assert left_in_c(kernel)[0] == np.float16(x * x) + x
