"""NumPy implementations of CUDA's math functions and intrinsics from values to a value: what the codes of their table name.

They take arrays of any shape (0-d included) that broadcast, and lists of them for vectors. What IEEE 754 defines exactly is
exact; transcendental functions are NumPy's, which differ from a device's in the last bits.
"""

import math
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.cuda.functions import NAMED_TYPES, Signature, Value
from gemmviz.cuda.types import BFLOAT16, DOUBLE, FLOAT, HALF, LONG, Scalar, VectorType
from gemmviz.model.arrays import Longs, Unsigned
from gemmviz.run.cpu.simt import values
from gemmviz.run.cpu.simt.values import exact_product, exact_sum, fused, nearest

_OnArrays = Callable[..., Any]


def _add_error(x: Any, y: Any, near: Any) -> Any:
    total, rest = exact_sum(x, y)
    return (total - near) + rest


def _product_error(x: Any, y: Any, near: Any) -> Any:
    product, rest = exact_product(x, y)
    return (product - near) + rest


def _fused_error(x: Any, y: Any, z: Any, near: Any) -> Any:
    product, rest = exact_product(x, y)
    total, more = exact_sum(product, z)
    return (total - near) + (more + rest)


# Arithmetic rounded towards zero, up, or down: CUDA's __fadd_rz and similar.

_ERRORS: dict[str, tuple[_OnArrays, _OnArrays]] = {  # to nearest; a number of the sign of exact minus nearest, from float64
    "add": (np.add, _add_error),
    "sub": (np.subtract, lambda x, y, near: _add_error(x, -y, near)),
    "mul": (np.multiply, _product_error),
    "div": (np.divide, lambda x, y, near: -fused(near, y, -x) * np.sign(y)),
    "sqrt": (np.sqrt, lambda x, near: -fused(near, near, -x)),
    "rcp": (lambda x: 1 / x, lambda x, near: -fused(near, x, -np.ones_like(x)) * np.sign(x)),
    "fma": (fused, _fused_error),
}


def rounded_arithmetic(name: str, direction: str) -> _OnArrays:
    """The function of this name, such as "add", on arrays of float32 or float64, rounded in a direction: rn, rz, ru, rd."""
    to_nearest, error_of = _ERRORS[name]
    if direction == "rn":
        return to_nearest

    def compute(*operands: Any) -> Any:
        near = np.asarray(to_nearest(*operands))
        error = error_of(*(each.astype(np.float64) for each in operands), near.astype(np.float64))
        return _towards(near, error, direction, operands)

    return compute


def _towards(near: Any, error: Any, direction: str, operands: tuple[Any, ...]) -> Any:
    """The neighbour of ``near`` in the direction of its error where the rounding asks for it."""
    overflows = np.isinf(near) & np.logical_and.reduce([np.isfinite(each) for each in operands])
    overflows &= np.logical_and.reduce([each != 0 for each in operands[1:]] or [True])
    error = np.where(overflows, -np.sign(near), error)
    wanted = {"ru": error > 0, "rd": error < 0, "rz": np.where(near > 0, error < 0, error > 0) & (near != 0)}[direction]
    wanted &= np.isfinite(near) | overflows
    towards = {"ru": np.inf, "rd": -np.inf, "rz": 0.0}[direction]
    return np.where(wanted, np.nextafter(near, near.dtype.type(towards)), near)


def narrowing(direction: str, name: str) -> _OnArrays:
    """The conversion of integers or wider floats to a floating-point type, rounded in a direction."""
    to = NAMED_TYPES[name]

    def compute(value: Any) -> Any:
        if direction == "rn":
            return _narrow(value, to)
        exact: Any = np.asarray(value, np.longdouble if value.dtype.kind in "iu" else np.float64)
        near = _narrow(exact, to)
        error = np.sign(exact - near.astype(exact.dtype))
        overflows = np.isinf(near) & np.isfinite(exact)
        error = np.where(overflows, -np.sign(near), error)
        wanted = {"ru": error > 0, "rd": error < 0, "rz": np.where(exact > 0, error < 0, error > 0)}[direction]
        upwards = np.where(wanted, error > 0, False)
        return np.where(wanted, _neighbour(near, upwards, to), near)

    return compute


def _narrow(exact: Any, to: Scalar) -> Any:
    return nearest(values.in_double(exact), to) if to == BFLOAT16 else exact.astype(to.running)


def _neighbour(near: Any, upwards: Any, to: Scalar) -> Any:
    """The next number of a type above or below each of ``near``."""
    if to in (FLOAT, DOUBLE, HALF):
        return np.nextafter(near, np.where(upwards, near.dtype.type(np.inf), near.dtype.type(-np.inf)))
    bits = (near.view(np.uint32) >> 16).astype(np.int32)
    outwards = upwards == ~np.signbit(near)
    moved = np.where(near == 0, np.where(upwards, 1, 0x8001), np.where(outwards, bits + 1, bits - 1))
    return (moved.astype(np.uint32) << 16).view(np.float32)


# Halves and bfloat16, alone and in pairs: arguments are float32 that hold the numbers, and each operation rounds once.


def saturated(x: Any) -> Any:
    """CUDA's __saturatef: clipped to 0 and 1; NaN becomes 0."""
    return np.where(np.isnan(x), np.float32(0), np.clip(x, 0, 1))


def _relu(x: Any) -> Any:
    return np.where(np.isnan(x), x, np.maximum(x, 0))


def _nan_or(choose: _OnArrays) -> _OnArrays:
    return lambda x, y: np.where(np.isnan(x) | np.isnan(y), np.float32(np.nan), choose(x, y))


_HALF_OPERATORS: dict[str, _OnArrays] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative, "abs": np.abs,
    "fma": values.odd_sum, "max": values.larger, "min": values.smaller,
    "add_rn": np.add, "sub_rn": np.subtract, "mul_rn": np.multiply,
    "add_sat": lambda x, y: saturated(x + y), "sub_sat": lambda x, y: saturated(x - y),
    "mul_sat": lambda x, y: saturated(x * y), "fma_sat": lambda x, y, z: saturated(values.odd_sum(x, y, z)),
    "fma_relu": lambda x, y, z: _relu(values.odd_sum(x, y, z)),
    "max_nan": _nan_or(values.larger), "min_nan": _nan_or(values.smaller),
}  # fmt: skip
_MATH_OF_HALVES: dict[str, _OnArrays] = {
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "rcp": lambda x: 1 / x, "exp": np.exp, "exp2": np.exp2,
    "exp10": lambda x: np.power(10.0, x), "log": np.log, "log2": np.log2, "log10": np.log10, "sin": np.sin, "cos": np.cos,
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint, "tanh": np.tanh,
}  # fmt: skip
_COMPARES: dict[str, _OnArrays] = {
    "eq": np.equal, "ne": lambda x, y: (x < y) | (x > y), "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "equ": lambda x, y: ~((x < y) | (x > y)), "neu": np.not_equal, "ltu": lambda x, y: ~(x >= y),
    "leu": lambda x, y: ~(x > y), "gtu": lambda x, y: ~(x <= y), "geu": lambda x, y: ~(x < y),
}  # fmt: skip


def half_operator(name: str) -> _OnArrays:
    """An operator such as "add", "fma_relu" or "max_nan"."""
    return _HALF_OPERATORS[name]


def through_double(name: str) -> _OnArrays:
    """A function computed in float64, so that rounding it on to fewer bits rounds once but for rare ties."""
    apply = _MATH_OF_HALVES[name]
    return lambda x: apply(x.astype(np.float64))


def half_comparison(name: str) -> _OnArrays:
    """A comparison such as "lt", or "ltu", which is true of NaN."""
    return _COMPARES[name]


_OF_HALVES = {"half_operator": half_operator, "through_double": through_double, "half_comparison": half_comparison}


def of_pairs(kind: str, name: str) -> _OnArrays:
    """A function of halves, for each half of pairs."""
    apply = _OF_HALVES[kind](name)
    return lambda *pairs: [np.asarray(apply(*parts)) for parts in zip(*pairs, strict=True)]


def of_both(kind: str, name: str) -> _OnArrays:
    """Whether a comparison is true of both halves of two pairs."""
    compare = _OF_HALVES[kind](name)
    return lambda x, y: np.asarray(compare(x[0], y[0])) & np.asarray(compare(x[1], y[1]))


def sign_of_infinity(x: Any) -> Any:
    """CUDA's __hisinf: 1 or -1 for an infinity, 0 for other numbers."""
    return np.where(np.isinf(x), np.sign(x), 0)


def same(x: Any) -> Any:
    """The value itself, or the parts of a pair."""
    return x


def pair(x: Any, y: Any) -> Any:
    """A pair of two numbers."""
    return [x, y]


def twice(x: Any) -> Any:
    """A pair of one number."""
    return [x, x]


def low_part(x: Any) -> Any:
    """The lower half of a pair."""
    return x[0]


def high_part(x: Any) -> Any:
    """The upper half of a pair."""
    return x[1]


def low_parts(x: Any, y: Any = None) -> Any:
    """A pair of the lower halves of two pairs, by default of one."""
    return [x[0], (x if y is None else y)[0]]


def high_parts(x: Any, y: Any = None) -> Any:
    """A pair of the upper halves of two pairs, by default of one."""
    return [x[1], (x if y is None else y)[1]]


def swapped(x: Any) -> Any:
    """A pair with its halves exchanged."""
    return [x[1], x[0]]


_WHOLE: dict[str, _OnArrays] = {"rn": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}


def to_whole(direction: str, name: str) -> _OnArrays:
    """The conversion of a float to an integer, rounded in a direction; it saturates."""
    to = NAMED_TYPES[name]
    return lambda x: values.to_integer(_WHOLE[direction](x), to)


def bits_of_half(word: str, name: str) -> _OnArrays:
    """The bits of a half or bfloat16 as an integer of 16 bits."""
    to = NAMED_TYPES[name]

    def bits(x: Any) -> Any:
        stored = x.astype(np.float16).view(np.uint16) if word == "half" else (x.view(np.uint32) >> 16).astype(np.uint16)
        return np.asarray(stored).view(to.dtype)

    return bits


def half_of_bits(word: str) -> _OnArrays:
    """The half or bfloat16 of 16 bits."""
    if word == "half":
        return lambda x: x.view(np.float16)
    return lambda x: (x.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


# CUDA's bit functions for arrays of int32, uint32, int64 or uint64 of any shape.

Integers = npt.NDArray[np.integer[Any]]

_LOWER = np.uint64((1 << 32) - 1)


def _unsigned_bits(x: Integers) -> Integers:
    return x.view(f"u{x.itemsize}")


def _bit_length(x: Integers) -> Integers:
    """Position of the highest set bit, counted from 1; 0 if none is set."""
    wide = x.astype(np.uint64)
    upper, lower = (np.frexp(part.astype(np.float64))[1] for part in (wide >> np.uint64(32), wide & _LOWER))
    return np.where(upper > 0, upper + 32, lower)


def leading_zeros(x: Integers) -> Integers:
    """CUDA's __clz: the number of leading zero bits."""
    return 8 * x.itemsize - _bit_length(_unsigned_bits(x))


def first_set(x: Integers) -> Integers:
    """CUDA's __ffs: the position of the lowest set bit, counted from 1; 0 if none is set."""
    unsigned = _unsigned_bits(x)
    return _bit_length(unsigned & (~unsigned + unsigned.dtype.type(1)))


def reversed_bits(x: Integers) -> Integers:
    """CUDA's __brev for unsigned integers: the bits in reverse order."""
    kind, found = x.dtype.type, x.byteswap()
    for by, mask in ((4, 0x0F), (2, 0x33), (1, 0x55)):
        every = kind(int.from_bytes([mask] * x.itemsize, "little"))
        found = ((found >> kind(by)) & every) | ((found & every) << kind(by))
    return found


def upper_product(x: Integers, y: Integers) -> Integers:
    """CUDA's __mulhi and __umulhi: the upper 32 bits of a 64-bit product."""
    wide = np.dtype(f"{x.dtype.kind}8").type
    return np.asarray((x.astype(wide) * y.astype(wide)) >> wide(32))


def product24(x: Integers, y: Integers) -> Integers:
    """CUDA's __mul24 and __umul24: the product of the lower 24 bits."""
    return _lower24(x) * _lower24(y)


def _lower24(x: Integers) -> Integers:
    eight = x.dtype.type(8)
    return (x << eight) >> eight


def distance(x: Integers, y: Integers, addend: Integers) -> Integers:
    """CUDA's __sad and __usad: ``addend`` plus the absolute difference."""
    return np.abs(x.astype(np.int64) - y.astype(np.int64)) + addend


def upper_product64(x: Integers, y: Integers) -> Integers:
    """CUDA's __mul64hi and __umul64hi: the upper 64 bits of a 128-bit product."""
    a, b = x.astype(object), y.astype(object)
    return np.asarray((a * b) >> 64).astype(x.dtype)


def average(x: Integers, y: Integers) -> Integers:
    """CUDA's __hadd and __uhadd of integers: half the sum, rounded down."""
    return np.asarray((x.astype(np.int64) + y.astype(np.int64)) >> 1)


def rounded_average(x: Integers, y: Integers) -> Integers:
    """CUDA's __rhadd and __urhadd: half the sum, rounded up."""
    return np.asarray((x.astype(np.int64) + y.astype(np.int64) + 1) >> 1)


def permuted_bytes(x: Integers, y: Integers, selector: Integers) -> Integers:
    """CUDA's __byte_perm: four bytes of x (0 to 3) and y (4 to 7), each chosen by three bits of a nibble of ``selector``; the
    fourth bit copies its sign (PTX ISA, prmt).
    """
    both = x.astype(np.uint64) | (y.astype(np.uint64) << np.uint64(32))
    result = np.zeros(np.broadcast(both, selector).shape, np.uint64)
    for place in range(4):
        nibble = (selector.astype(np.uint64) >> np.uint64(4 * place)) & np.uint64(15)
        byte = (both >> ((nibble & np.uint64(7)) * np.uint64(8))) & np.uint64(255)
        byte = np.where(nibble & np.uint64(8), np.where(byte & np.uint64(128), np.uint64(255), np.uint64(0)), byte)
        result = result | (byte << np.uint64(8 * place))
    return result


def funnel_shift(way: str) -> "Callable[[Integers, Integers, Integers], Integers]":
    """CUDA's __funnelshift_l, _lc, _r and _rc: a shift of the 64 bits of two words, of which one word is kept."""

    def shift(low: Integers, high: Integers, amount: Integers) -> Integers:
        both = low.astype(np.uint64) | (high.astype(np.uint64) << np.uint64(32))
        by = amount.astype(np.uint64)
        by = np.minimum(by, np.uint64(32)) if way.endswith("c") else by & np.uint64(31)
        return np.asarray(((both << by) >> np.uint64(32)) if way.startswith("l") else (both >> by)) & _LOWER

    return shift


def dot4a(x: Integers, y: Integers, addend: Integers) -> Integers:
    """CUDA's __dp4a: the dot product of four bytes, signed as the words are, plus ``addend``, modulo 2**32."""
    total = _word_parts(x, 4) * _word_parts(y, 4)
    return np.asarray(total.sum(axis=-1) + addend.astype(np.int64))


def dot2a_lo(x: Integers, y: Integers, addend: Integers) -> Integers:
    """CUDA's __dp2a_lo: the dot product of two shorts and the two lower of four bytes, plus ``addend``."""
    total = _word_parts(x, 2) * _word_parts(y, 4)[..., :2]
    return np.asarray(total.sum(axis=-1) + addend.astype(np.int64))


def dot2a_hi(x: Integers, y: Integers, addend: Integers) -> Integers:
    """CUDA's __dp2a_hi: the dot product of two shorts and the two upper of four bytes, plus ``addend``."""
    total = _word_parts(x, 2) * _word_parts(y, 4)[..., 2:]
    return np.asarray(total.sum(axis=-1) + addend.astype(np.int64))


def _word_parts(words: Integers, count: int) -> Longs:
    """The parts of 32-bit words, lowest first, as int64 (..., count), signed as the words are."""
    whole = np.asarray(words, order="C")
    kind = f"{whole.dtype.kind}{4 // count}"
    return whole.reshape((*whole.shape, 1)).view(kind).astype(np.int64)


def _joined_parts(parts: Longs) -> Unsigned:
    """Unsigned of parts (..., count), each modulo its size."""
    count = parts.shape[-1]
    return np.asarray(parts.astype(f"u{4 // count}"), order="C").view(np.uint32)[..., 0]


_ON_PARTS: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "neg": np.negative, "abs": np.abs, "absdiff": lambda x, y: np.abs(x - y),
    
    "avg": lambda x, y: (x + y + 1) >> 1, "hadd": lambda x, y: (x + y) >> 1, "max": np.maximum, "min": np.minimum,
    "sad": lambda x, y: np.abs(x - y),
    "eq": np.equal, "ne": np.not_equal, "ge": np.greater_equal, "gt": np.greater, "le": np.less_equal, "lt": np.less,
}  # fmt: skip


_SATURATING = {"addss": ("add", "i"), "addus": ("add", "u"), "subss": ("sub", "i"), "subus": ("sub", "u"), "abss": ("abs", "i")}


def on_parts(name: str, lanes: str) -> "Callable[..., Integers]":
    """CUDA's SIMD video functions: ``name`` is what stands between __v and ``lanes``, the number of parts."""
    count, saturates = int(lanes), name in _SATURATING
    stem, kind = _SATURATING.get(name) or ((name, "i") if name in ("neg", "abs") else (name, "u"))
    if not saturates and stem[-1] in "su" and stem != "abs":
        stem, kind = stem[:-1], "i" if stem[-1] == "s" else "u"
    compares = next((each for each in ("cmp", "set") if stem.startswith(each)), "")
    sums = stem == "sad"
    apply = _ON_PARTS[stem.removeprefix(compares)]
    bits = 32 // count

    def compute(*words: Integers) -> Integers:
        whole = apply(*(_word_parts(each.view(f"{kind}4"), count) for each in words))
        if sums:
            return np.asarray(whole.sum(axis=-1))
        if compares:
            whole = np.where(whole, (1 << bits) - 1 if compares == "cmp" else 1, 0)
        if saturates:
            low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind == "i" else (0, (1 << bits) - 1)
            whole = np.clip(whole, low, high)
        return _joined_parts(whole)

    return compute


# The table of codes.


class FunctionCode(Struct, frozen=True):
    """A function's signature and implementation."""

    signature: Signature
    compute: _OnArrays

    def __call__(self, *arguments: Any) -> Any:
        """The result: an array of the result's type, or a Python number if no argument is an array; a list for a vector."""
        typed = [_typed_argument(each, kind) for each, kind in zip(arguments, self.signature.parameters, strict=True)]
        with np.errstate(all="ignore"):
            return _finished(self.compute(*typed), self.signature.result)


def _typed_argument(value: Any, kind: Value) -> Any:
    """An argument as an array of its type, a half or bfloat16 as float32."""
    if isinstance(kind, VectorType):
        return [_typed_argument(each, kind.scalar) for each in value]
    return np.asarray(value, np.float32 if kind in (HALF, BFLOAT16) else kind.dtype)


def _finished(result: Any, kind: Value) -> Any:
    if isinstance(kind, VectorType):
        return [_finished(each, kind.scalar) for each in result]
    array = np.asarray(result)
    if kind in (HALF, BFLOAT16):
        array = values.nearest(array.astype(np.float32, copy=False) if array.dtype.itemsize < 4 else array, kind)
    return array.astype(kind.running, copy=False) if array.ndim else array.astype(kind.running).item()


@cache
def implementation(code: str) -> _OnArrays:
    """What a code of the table of functions stands for: the name of a function of this module, of ``values`` or
    NumPy, in this order; before further words, of one that makes a function from them.
    """
    name, _, words = code.partition(" ")
    known = next(vars(module)[name] for module in (sys.modules[__name__], values, np) if name in vars(module))
    found: _OnArrays = known(*words.split()) if words else known
    return found


def code_for(signature: Signature) -> FunctionCode:
    """The implementation of one overload of a function."""
    return FunctionCode(signature, implementation(signature.code))


error_function = np.vectorize(math.erf, otypes=[np.float64])
rest_of_error_function = np.vectorize(math.erfc, otypes=[np.float64])
normal_distribution = np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)), otypes=[np.float64])


def sine_of_pi(x: Any) -> Any:
    """CUDA's sinpi: the sine of π x."""
    return np.sin(np.pi * np.fmod(x, 2))


def cosine_of_pi(x: Any) -> Any:
    """CUDA's cospi: the cosine of π x."""
    return np.cos(np.pi * np.fmod(x, 2))


def power_of_ten(x: Any) -> Any:
    """CUDA's exp10."""
    return np.power(x.dtype.type(10), x)


def reciprocal(name: str) -> _OnArrays:
    """One through a function of NumPy, as in rsqrt, rcbrt and rhypot."""
    compute = getattr(np, name)
    return lambda *operands: 1 / compute(*operands)


def is_normal(x: Any) -> Any:
    """CUDA's isnormal: finite, and neither zero nor denormal."""
    return np.isfinite(x) & (np.abs(x) >= np.finfo(x.dtype).tiny)


def fast_quotient(x: Any, y: Any) -> Any:
    """CUDA's __fdividef: 0 if the divisor's size is above 2**126 (NaN for infinity by it)."""
    beyond = (np.abs(y) > 2.0**126) & np.isfinite(y)
    return np.where(beyond, np.where(np.isinf(x), np.float32(np.nan), np.float32(0)), x / y)


def to_long(rounding_name: str) -> _OnArrays:
    """The conversion to 64 bits after a rounding, as in lrint and lround."""
    rounded = implementation(rounding_name)
    return lambda x: values.to_integer(rounded(x), LONG)


def bits_as(name: str) -> _OnArrays:
    """The same bits as another type."""
    kind = NAMED_TYPES[name].dtype
    return lambda x: x.view(kind)


def double_of_words(high: Any, low: Any) -> Any:
    """CUDA's __hiloint2double: the double of an upper and a lower word."""
    whole = (high.astype(np.int64) << 32) | low.view(np.uint32).astype(np.int64)
    return np.asarray(whole).view(np.float64)


def word_of_double(part: str) -> _OnArrays:
    """CUDA's __double2hiint and __double2loint: one word of a double."""
    shift = 32 if part == "hi" else 0
    return lambda x: (x.view(np.int64) >> shift).astype(np.int32)
