"""Half, bfloat16 and packed integers: all bit patterns of one operand, random ones of several, against exact arithmetic."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gemmviz.cuda import walk as single
from gemmviz.cuda.functions import Signature, function_for
from gemmviz.cuda.types import BFLOAT16, DOUBLE, FLOAT, HALF, INT, LONG, SHORT, UINT, ULONG, USHORT, Scalar, VectorType
from gemmviz.run.cpu.simt.functions import code_for
from gemmviz.run.cpu.simt.values import conversion, nearest
from tests.conftest import kernel_from, outcome_of
from tests.run.test_memory import run

BITS = np.arange(1 << 16, dtype=np.uint16)
HALVES = BITS.view(np.float16)
BFLOATS = (BITS.astype(np.uint32) << 16).view(np.float32)
KINDS = {"half": HALF, "bfloat16": BFLOAT16}
ALL: dict[str, Any] = {"half": HALVES, "bfloat16": BFLOATS}


def call(name: str, *values: Any, types: Any = None) -> Any:
    signature = function_for(name, list(types))
    assert isinstance(signature, Signature)
    return code_for(signature)(*values)


def exact(value: float, kind: Scalar) -> float:
    """The nearest number of a type to an exact one: an independent implementation by fractions."""
    return single.rounded(value, kind)


def nearest_of(kind: Scalar, number: Fraction) -> float:
    """The nearest number of a type with ties to even, by its definition."""
    if not number:
        return 0.0
    significant, lowest = (11, -24) if kind == HALF else (8, -133)
    size = abs(number)
    exponent = math.floor(math.log2(size)) if size > Fraction(2) ** -1000 else -1000
    while Fraction(2) ** exponent > size:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    step = Fraction(2) ** max(exponent - significant + 1, lowest)
    found = float(round(size / step) * step)
    largest = 65504.0 if kind == HALF else float.fromhex("0x1.fep127")
    return math.copysign(math.inf if found > largest else found, number)


def drawn(name: str, count: int, seed: int) -> list[npt.NDArray[Any]]:
    """Three arrays of finite numbers of a type, of all sizes and of neighbouring ones."""
    draw = np.random.default_rng(seed)
    finite = ALL[name][np.isfinite(ALL[name])]
    near = finite[(np.abs(finite) > 0.01) & (np.abs(finite) < 100)]
    return [np.concatenate([draw.choice(finite, count), draw.choice(near, count)]) for _ in range(3)]


OPERATORS: dict[str, Any] = {
    "__hadd": lambda x, y: x + y,
    "__hsub": lambda x, y: x - y,
    "__hmul": lambda x, y: x * y,
    "__hdiv": lambda x, y: x / y if y else None,
    "__hfma": lambda x, y, z: x * y + z,
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("function", OPERATORS)
def test_arithmetic_rounds_once(name: str, function: str) -> None:
    arity = 3 if function == "__hfma" else 2
    values, kind = drawn(name, 500, 5)[:arity], KINDS[name]
    found = call(function, *values, types=[kind] * arity)
    for given, result in zip(zip(*values, strict=True), found.tolist(), strict=True):
        wanted = OPERATORS[function](*(Fraction(float(each)) for each in given))
        if wanted is not None and wanted:
            assert result == nearest_of(kind, wanted), (function, given)


@pytest.mark.parametrize("name", KINDS)
def test_operators_of_the_language_are_those_functions(name: str) -> None:
    if name == "bfloat16":
        return
    a, c = run("C[threadIdx.x] = A[threadIdx.x] * A[threadIdx.x + 4] + A[threadIdx.x + 8];", "half*")
    product = call("__hmul", a[:4], a[4:8], types=[HALF, HALF])
    assert c[:4].tolist() == call("__hadd", product, a[8:12], types=[HALF, HALF]).tolist()


@pytest.mark.parametrize("name", KINDS)
def test_every_bit_pattern_survives(name: str) -> None:
    """Through float and back, through the codec of memory, and through the bits."""
    kind, values = KINDS[name], ALL[name]
    wide = call(f"__{name}2float", values, types=[kind])
    assert wide.dtype == np.float32
    back = call(f"__float2{name}", wide, types=[FLOAT])
    same = (back == values) | (np.isnan(back) & np.isnan(values))
    assert same.all()
    assert (np.signbit(back) == np.signbit(values))[~np.isnan(values)].all()
    numbers = values[~np.isnan(values)]
    bits = call(f"__{name}_as_ushort", numbers, types=[kind])
    assert (bits == BITS[~np.isnan(values)]).all()
    again = call(f"__ushort_as_{name}", bits, types=[USHORT])
    assert (again == numbers).all()


@pytest.mark.parametrize("name", KINDS)
def test_conversions_from_float_round_to_even(name: str) -> None:
    kind, draw = KINDS[name], np.random.default_rng(9)
    values = draw.integers(0, 1 << 32, 3000, dtype=np.uint32).view(np.float32)
    values = np.concatenate([values[np.isfinite(values)], (ALL[name][:-1].astype(np.float32) + ALL[name][1:]) / 2])
    values = values[np.isfinite(values)][:: 1 if name == "half" else 3]
    found = conversion(FLOAT, kind)(values).astype(np.float64)
    some = slice(None, None, 17)
    assert found[some].tolist() == [nearest_of(kind, Fraction(float(each))) * 1.0 for each in values[some]]
    assert [single.rounded(float(each), kind) for each in values[some]] == found[some].tolist()


def test_double_becomes_bfloat16_in_one_step() -> None:
    tie = 1 + 2.0**-8
    values = np.array([tie, tie + 2.0**-40, tie - 2.0**-40, 3 + 2.0**-7 + 2.0**-45, -(tie + 2.0**-50)])
    found = nearest(values, BFLOAT16).tolist()
    assert found == [nearest_of(BFLOAT16, Fraction(float(each))) for each in values]
    assert found == [single.rounded(float(each), BFLOAT16) for each in values]


@pytest.mark.parametrize(("kind", "dtype"), [(LONG, np.int64), (ULONG, np.uint64)])
def test_whole_numbers_become_bfloat16_in_one_step(kind: Scalar, dtype: Any) -> None:
    """Ties and their neighbours, which float64 doesn't tell apart; the same from one number as from many."""
    tie = (1 << 62) + (1 << 54)
    some = [tie, tie + 1, tie - 1, tie + (1 << 55) - 1, (1 << 53) + 1, 257, 0, *([] if kind == ULONG else [-tie - 1, -tie + 1])]
    wanted = [nearest_of(BFLOAT16, Fraction(each)) for each in some]
    convert = conversion(kind, BFLOAT16)
    assert convert(np.array(some, dtype)).tolist() == wanted
    assert [float(convert(each)) for each in some] == wanted
    name = "ll" if kind == LONG else "ull"
    assert call(f"__{name}2bfloat16_rn", np.array(some, dtype), types=[kind]).tolist() == wanted


@pytest.mark.parametrize("direction", ["rz", "ru", "rd"])
@pytest.mark.parametrize("name", KINDS)
def test_directed_conversions_bracket(name: str, direction: str) -> None:
    kind = KINDS[name]
    draw = np.random.default_rng(4)
    values = (draw.random(2000, np.float32) - np.float32(0.5)) * np.float32(2) ** draw.integers(-30, 15, 2000).astype(
        np.float32
    )
    found = call(f"__float2{name}_{direction}", values, types=[FLOAT]).astype(np.float64)
    exactly = values.astype(np.float64)
    outside = {"rz": np.abs(found) <= np.abs(exactly), "ru": found >= exactly, "rd": found <= exactly}[direction]
    assert outside.all()
    near = np.asarray(nearest(values, kind)).astype(np.float64)
    step = np.abs(found - near)
    assert (step <= np.abs(near) * 2.0 ** -(7 if name == "bfloat16" else 10) + 2.0**-24).all()


@pytest.mark.parametrize("function", ["add", "mul", "sub", "div"])
@pytest.mark.parametrize("direction", ["rz", "ru", "rd"])
@pytest.mark.parametrize(("letter", "kind"), [("f", FLOAT), ("d", DOUBLE)])
def test_directed_arithmetic(function: str, direction: str, letter: str, kind: Scalar) -> None:
    draw = np.random.default_rng(6)
    x, y = ((draw.random(200) - 0.5).astype(kind.dtype) * draw.integers(1, 1000, 200).astype(kind.dtype) for _ in "xy")
    found = call(f"__{letter}{function}_{direction}", x, y, types=[kind, kind])
    apply: Any = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b}[
        function
    ]
    for a, b, result in zip(x.tolist(), y.tolist(), found, strict=True):
        wanted, got = apply(Fraction(a), Fraction(b)), Fraction(float(result))
        towards = {"rz": 0, "ru": np.inf, "rd": -np.inf}[direction]
        assert {"rz": abs(got) <= abs(wanted), "ru": got >= wanted, "rd": got <= wanted}[direction]
        if got != wanted:
            away = np.nextafter(
                result,
                kind.dtype.type(-np.inf if direction == "ru" else np.inf if direction == "rd" else np.copysign(np.inf, result)),
            )
            assert (Fraction(float(away)) - wanted) * (got - wanted) < 0, (a, b, towards)


def test_pairs_are_computed_by_component() -> None:
    pair, other = [np.float16(1.5), np.float16(-2)], [np.float16(0.25), np.float16(3)]
    two = VectorType(HALF, 2)
    assert call("__hadd2", pair, other, types=[two, two]) == [1.75, 1.0]
    assert call("__hfma2", pair, other, pair, types=[two] * 3) == [1.875, -8.0]
    assert call("__halves2half2", *pair, types=[HALF, HALF]) == [1.5, -2.0]
    assert call("__low2half", pair, types=[two]) == 1.5
    assert call("__high2float", pair, types=[two]) == -2.0
    assert call("__half22float2", pair, types=[two]) == [1.5, -2.0]
    assert call("__hlt2", pair, other, types=[two, two]) == [0.0, 1.0]
    assert call("__hbeq2", pair, pair, types=[two, two]) is True


@pytest.mark.parametrize(
    ("name", "values", "types", "wanted"),
    [
        ("__dp4a", (0x01020304, 0x01010101, 5), [INT, INT, INT], 15),
        ("__dp4a", (-1, 0x01020304, 0), [INT, INT, INT], -10),
        ("__dp4a", (0xFFFFFFFF, 0x01020304, 1), [UINT, UINT, UINT], 2551),
        ("__dp2a_lo", (0x00020003, 0x01010504, 1), [INT, INT, INT], 23),
        ("__dp2a_hi", (0x00020003, 0x07010504, 1), [INT, INT, INT], 18),
        ("__byte_perm", (0x33221100, 0x77665544, 0x7531), [UINT] * 3, 0x77553311),
        ("__byte_perm", (0x80, 0, 0x0008), [UINT] * 3, 0x808080FF),
        ("__funnelshift_l", (0x80000000, 1, 1), [UINT] * 3, 3),
        ("__funnelshift_r", (0x80000000, 1, 31), [UINT] * 3, 3),
        ("__funnelshift_lc", (7, 9, 40), [UINT] * 3, 7),
        ("__vadd4", (0xFF010203, 0x02010101), [UINT, UINT], 0x01020304),
        ("__vaddss4", (0x7F800102, 0x01FF0101), [UINT, UINT], 0x7F800203),
        ("__vsub2", (0x00010005, 0x00020003), [UINT, UINT], 0xFFFF0002),
        ("__vabsdiffu4", (0x01FF0300, 0x02010104), [UINT, UINT], 0x01FE0204),
        ("__vmaxs4", (0x01FF7F80, 0x02010000), [UINT, UINT], 0x02017F00),
        ("__vcmpgtu4", (0x01FF0300, 0x02010104), [UINT, UINT], 0x00FFFF00),
        ("__vsetles4", (0x01FF0300, 0x02010104), [UINT, UINT], 0x01010001),
        ("__vsadu4", (0x01FF0300, 0x02010104), [UINT, UINT], 0x105),
        ("__hadd", (5, 8), [INT, INT], 6),
        ("__urhadd", (5, 8), [UINT, UINT], 7),
        ("__umul64hi", (2**64 - 1, 2**64 - 1), [UINT, UINT], 2**64 - 2),
        ("__double2hiint", (1.0,), [DOUBLE], 0x3FF00000),
        ("__hiloint2double", (0x3FF00000, 0), [INT, INT], 1.0),
        ("__short_as_half", (0x3C00,), [SHORT], 1.0),
        ("__half2int_rn", (2.5,), [HALF], 2),
        ("__half2int_rz", (math.inf,), [HALF], 2**31 - 1),
        ("__int2half_rn", (2049,), [INT], 2048.0),
        ("__fdividef", (1.0, 2.0**127), [FLOAT, FLOAT], 0.0),
        ("__fmaf_rz", (1.0, 1.0, -(2.0**-40)), [FLOAT] * 3, 1 - 2.0**-24),
        ("__hmax", (math.nan, 2.0), [HALF, HALF], 2.0),
    ],
)
def test_single_values(name: str, values: tuple[Any, ...], types: list[Scalar], wanted: Any) -> None:
    assert call(name, *values, types=types) == wanted


def test_a_multiply_of_bytes_and_of_halves_is_right() -> None:
    """C is right by the tolerance of the kernel's own arithmetic: exact for integers, of half's roundoff for halves."""
    naive = """int row = threadIdx.x / 8, column = threadIdx.x % 8; {sum} sum = 0;
    for (int k = 0; k < K; ++k) sum += {of}(A[row * K + k]) * {of}(B[k * N + column]);
    C[row * N + column] = {back}(sum);"""
    kinds = [("half*", "half", "", ""), ("half*", "float", "__half2float", "__float2half"), ("char*", "int", "", "")]
    for pointer, sum, of, back in (*kinds, ("double*", "double", "", ""), ("short*", "int", "", "")):
        spec = kernel_from(naive.format(sum=sum, of=of, back=back), block='["64"]', pointer=pointer)
        assert outcome_of(spec, 8, 8, 8).whole.check.passed, (pointer, sum)
    wrong = naive.format(sum="float", of="__half2float", back="__float2half").replace("(sum)", "(sum * 1.05f)")
    assert not outcome_of(kernel_from(wrong, block='["64"]', pointer="half*"), 8, 8, 8).whole.check.passed
