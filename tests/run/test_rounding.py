"""Operations that are rounded once, against exact arithmetic and against what an H100 computes."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from gemmviz.cuda import walk as single
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.cuda.types import DOUBLE, FLOAT, INT, LONG, ULONG, Scalar, named_type
from gemmviz.run.cpu.executor import bound
from gemmviz.run.cpu.simt import values
from gemmviz.run.data import rounding_of
from tests.conftest import kernel_from

VALUES = [math.nan, math.inf, -math.inf, 3e9, -3e9, 5e9, 1e19, 2e19, -1e19, -1.5, 300.7, -200.2, 70000.0, 9.3e18]
# (type)x on an H100, compiled by nvcc 13.0 for sm_90: of float, of double.
ON_H100 = {
    "signed char": ("0 ff 0 ff 0 ff ff ff 0 ff 2c 38 70 ff", "0 ff 0 ff 0 ff ff ff 0 ff 2c 38 70 ff"),
    "unsigned char": ("0 ff 0 0 0 ff ff ff 0 0 2c 0 70 ff", "0 ff 0 0 0 ff ff ff 0 0 2c 0 70 ff"),
    "short": ("0 ffff 0 ffff 0 ffff ffff ffff 0 ffff 12c ff38 1170 ffff",) * 2,
    "unsigned short": ("0 ffff 0 5e00 0 ffff ffff ffff 0 0 12c 0 1170 ffff",) * 2,
    "int": (
        "0 7fffffff 80000000 7fffffff 80000000 7fffffff 7fffffff 7fffffff 80000000 ffffffff 12c ffffff38 11170 7fffffff",
        "80000000 7fffffff 80000000 7fffffff 80000000 7fffffff 7fffffff 7fffffff 80000000 ffffffff 12c ffffff38 11170 7fffffff",
    ),
    "unsigned": (
        "0 ffffffff 0 b2d05e00 0 ffffffff ffffffff ffffffff 0 0 12c 0 11170 ffffffff",
        "80000000 ffffffff 0 b2d05e00 0 ffffffff ffffffff ffffffff 0 0 12c 0 11170 ffffffff",
    ),
    "long long": (
        "8000000000000000 7fffffffffffffff 8000000000000000 b2d05e00 ffffffff4d2fa200 12a05f200 7fffffffffffffff 7fffffffffffffff "
        "8000000000000000 ffffffffffffffff 12c ffffffffffffff38 11170 7fffffffffffffff",
    ) * 2,
    "unsigned long long": (
        "8000000000000000 ffffffffffffffff 0 b2d05e00 0 12a05f200 8ac7230000000000 ffffffffffffffff 0 0 12c 0 11170 81103d0000000000",
        "8000000000000000 ffffffffffffffff 0 b2d05e00 0 12a05f200 8ac7230489e80000 ffffffffffffffff 0 0 12c 0 11170 81103cb9fb220000",
    ),
}  # fmt: skip


def singles(values: list[float]) -> npt.NDArray[np.float32]:
    return np.array(values, np.float32)


def scalar(name: str) -> Scalar:
    found = named_type(name)
    assert isinstance(found, Scalar)
    return found


def random_floats(dtype: str, count: int, seed: int) -> list[npt.NDArray[np.floating]]:  # type: ignore[type-arg]
    """Three arrays: any bits; few significant bits, so that ties occur; and sums that nearly cancel."""
    draw, kind = np.random.default_rng(seed), np.dtype(dtype)
    bits = draw.integers(0, 2 ** (8 * kind.itemsize), (3, count), dtype=np.uint64, endpoint=False).astype(f"u{kind.itemsize}")
    small = np.ldexp(draw.integers(-(2**13), 2**13, (3, count)), draw.integers(-40, 40, (3, count))).astype(kind)
    near = np.ldexp(draw.integers(2**23, 2**24, (3, count)), draw.integers(-20, 20, (3, count))).astype(kind)
    near[2] = -near[0] * near[1] * (1 + np.ldexp(draw.integers(-3, 4, count), draw.integers(-60, 1, count)))
    return [np.concatenate(each) for each in zip(bits.view(kind), small, near, strict=True)]


@pytest.mark.parametrize("name", ON_H100)
def test_floats_become_integers_as_on_a_gpu(name: str) -> None:
    to = scalar(name)
    for dtype, wanted in zip(("float32", "float64"), ON_H100[name], strict=True):
        with np.errstate(all="ignore"):
            found = values.to_integer(np.array(VALUES, dtype), to)
        assert [f"{each & (2**to.bits - 1):x}" for each in found.tolist()] == wanted.split()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fused_multiply_add_is_rounded_once(dtype: str) -> None:
    a, b, c = random_floats(dtype, 1000, 1)
    with np.errstate(all="ignore"):
        found, plain = values.fused(a, b, c), a * b + c
    for x, y, z, got, otherwise in zip(*(each.tolist() for each in (a, b, c, found, plain)), strict=True):
        if not all(map(math.isfinite, (x, y, z))):
            assert got == otherwise or (math.isnan(got) and math.isnan(otherwise))
            continue
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        wanted = single.literal_to_float(exact, FLOAT if dtype == "float32" else DOUBLE)
        assert got == wanted, (x.hex(), y.hex(), z.hex())
        assert exact or math.copysign(1, got) == math.copysign(1, x * y + z)


def test_a_fused_sum_just_below_the_middle_of_two_floats() -> None:
    """float64 rounds 1 + 2**-23 + 2**-24 - 2**-54 to the middle of two float32, which rounds on to the even one."""
    a, b, c = singles([2**-12 * (1 + 2**-15)]), singles([2**-12 * (1 - 2**-15)]), singles([1 + 2**-23])
    assert values.fused(a, b, c).tolist() == [1 + 2.0**-23]
    assert (a.astype(float) * b + c).astype(np.float32).tolist() == [1 + 2.0**-22]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_remainder_is_exact(dtype: str) -> None:
    x, y, _ = random_floats(dtype, 4000, 2)
    with np.errstate(all="ignore"):
        found = values.remainder(x, y).tolist()
    for a, b, got in zip(x.tolist(), y.tolist(), found, strict=True):
        try:
            wanted = math.remainder(a, b)
        except ValueError:
            wanted = math.nan
        assert got == wanted or (math.isnan(got) and math.isnan(wanted)), (a.hex(), b.hex())
        assert math.isnan(got) or math.copysign(1, got) == math.copysign(1, wanted)


@pytest.mark.parametrize(("value", "wanted"), [(0.5, 1), (-0.5, -1), (2.5, 3), (0.49999997, 0), (-0.49999997, -0.0),
                                               (8388609.0, 8388609), (4194303.5, 4194304), (-math.inf, -math.inf)])  # fmt: skip
def test_halves_are_rounded_away_from_zero(value: float, wanted: float) -> None:
    with np.errstate(invalid="ignore"):
        found = values.half_away(singles([value]))
    assert found.tolist() == [wanted]
    assert np.signbit(found[0]) == np.signbit(value)


def test_of_two_zeros_one_is_smaller() -> None:
    zeros = singles([0.0, -0.0, 0.0, -0.0]), singles([-0.0, 0.0, 0.0, -0.0])
    assert np.signbit(values.smaller(*zeros)).tolist() == [True, True, False, True]
    assert np.signbit(values.larger(*zeros)).tolist() == [False, False, False, True]
    some = singles([np.nan, 1, 0, -0.0]), singles([2, np.nan, -3, 5])
    assert values.smaller(*some).tolist() == [2, 1, -3, 0]
    assert values.larger(*some).tolist() == [2, 1, 0, 5]


@pytest.mark.parametrize(
    "value", [2**60 + 2**36 + 1, -(2**60) - 2**36 - 1, 2**63 + 2**39 + 1, 2**64 - 1, 2**63 - 1, -(2**63), 7]
)
def test_large_integers_become_floats_without_a_stop_at_double(value: int) -> None:
    assert single.integer_to_float(value, FLOAT) == single.literal_to_float(Fraction(value), FLOAT)
    assert single.integer_to_float(value, DOUBLE) == float(value)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1.00000005960464477540", 1 + 2.0**-23),  # just above the middle of two float32; as float64 it is the middle
        ("1.00000005960464477539", 1.0),
        ("1e-46", 0.0),
        ("7.006492321624085355e-46", 2.0**-149),
        ("7.006492321624085354e-46", 0.0),
        ("1e400", math.inf),
        ("3.40282356779733662e38", math.inf),
        ("3.40282356779733661e38", float(np.finfo(np.float32).max)),
    ],
)
def test_literals_are_rounded_once(text: str, wanted: float) -> None:
    assert single.literal_to_float(Decimal(text), FLOAT) == wanted


@pytest.mark.parametrize("to", [INT, LONG, ULONG])
def test_numbers_convert_as_arrays_do(to: Scalar) -> None:
    from gemmviz.cuda import walk
    from gemmviz.run.cpu.simt.values import conversion

    for source in (FLOAT, DOUBLE):
        with np.errstate(all="ignore"):
            values = np.concatenate([VALUES, *random_floats("float32", 300, 3)]).astype(source.dtype)
            as_array = conversion(source, to)(values).tolist()
        assert as_array == [walk.converted(each, source, to) for each in values.tolist()]


def test_a_shift_by_the_width_of_a_number_leaves_nothing() -> None:
    assert [single.apply_binary("<<", 1, by, INT) for by in (1, 30, 32, 40)] == [2, 1 << 30, 0, 0]


def test_ties_of_the_remainder_go_to_the_even_multiple() -> None:
    x, y = (each.ravel() for each in np.meshgrid(np.arange(-12.0, 13.0), [2.0, 4.0, 6.0]))
    expected = [math.remainder(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    assert values.remainder(x, y).tolist() == expected


SUMS_IN_HALF = (
    "half s = 0.0f; for (int k = 0; k < 8; ++k) s = __float2half(__half2float(s) + A[k] * B[k]); C[t] = s;",
    "half s[2] = {}; for (int k = 0; k < 8; ++k) s[k % 2] = (half)((float)s[k % 2] + A[k] * B[k]); C[t] = s[0];",
    "half s = 0.0f; half* p = &s; for (int k = 0; k < 8; ++k) *p = __float2half(__half2float(*p) + A[k]); C[t] = s;",
    "__shared__ half s[8]; s[t] = 0.0f; for (int k = 0; k < 8; ++k) s[t] = __float2half(__half2float(s[t]) + A[k]); C[t] = s[t];",
    "half s = 0.0f; for (int k = 0; k < 8; ++k) { float x = s; x += A[k]; half y = x; s = y; } C[t] = s;",
)
ROUNDED_ONCE = (
    "__shared__ half a[8]; float s = 0; for (int k = 0; k < 8; ++k) { a[t] = __float2half(A[k]); s += (float)a[t] * B[k]; } C[t] = s;",
    "float s = 0; for (int k = 0; k < 8; ++k) s += (float)(half)A[k] * (float)(half)B[k]; C[t] = s;",
    "float s[2] = {}; for (int k = 0; k < 8; ++k) s[k % 2] += A[k]; for (int i = 0; i < 2; ++i) C[t + i] = (float)(half)s[i];",
)


@pytest.mark.parametrize("body", [*SUMS_IN_HALF, *ROUNDED_ONCE])
def test_a_conversion_of_a_sum_counts_for_each_term_and_others_once(body: str) -> None:
    kernel = kernel_from(f"int t = threadIdx.x; {body}", before="#include <cuda_fp16.h>")
    found = rounding_of(bound(setup_for(kernel)).program)
    assert (found.each >= 2.0**-11) == (body in SUMS_IN_HALF)
    assert (found.once >= 2.0**-11) == (body in ROUNDED_ONCE)
