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
from gemmviz.cuda.types import BFLOAT16, HALF, LONG, VectorType
from gemmviz.run.cpu.simt import halves, rounding

# CUDA's bit functions for arrays of int32, uint32, int64 or uint64 of any shape.

Integers = npt.NDArray[np.integer[Any]]

_LOWER = np.uint64((1 << 32) - 1)


def _unsigned(x: Integers) -> Integers:
    return x.view(f"u{x.itemsize}")


def _length(x: Integers) -> Integers:
    """Position of the highest set bit, counted from 1; 0 if none is set."""
    wide = x.astype(np.uint64)
    upper, lower = (np.frexp(part.astype(np.float64))[1] for part in (wide >> np.uint64(32), wide & _LOWER))
    return np.where(upper > 0, upper + 32, lower)


def leading_zeros(x: Integers) -> Integers:
    """CUDA's __clz: the number of leading zero bits."""
    return 8 * x.itemsize - _length(_unsigned(x))


def first_set(x: Integers) -> Integers:
    """CUDA's __ffs: the position of the lowest set bit, counted from 1; 0 if none is set."""
    unsigned = _unsigned(x)
    return _length(unsigned & (~unsigned + unsigned.dtype.type(1)))


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
    total = _parts(x, 4) * _parts(y, 4)
    return np.asarray(total.sum(axis=-1) + addend.astype(np.int64))


def dot2a_lo(x: Integers, y: Integers, addend: Integers) -> Integers:
    """CUDA's __dp2a_lo: the dot product of two shorts and the two lower of four bytes, plus ``addend``."""
    total = _parts(x, 2) * _parts(y, 4)[..., :2]
    return np.asarray(total.sum(axis=-1) + addend.astype(np.int64))


def dot2a_hi(x: Integers, y: Integers, addend: Integers) -> Integers:
    """CUDA's __dp2a_hi: the dot product of two shorts and the two upper of four bytes, plus ``addend``."""
    total = _parts(x, 2) * _parts(y, 4)[..., 2:]
    return np.asarray(total.sum(axis=-1) + addend.astype(np.int64))


def _parts(words: Integers, count: int) -> npt.NDArray[np.int64]:
    """The parts of 32-bit words, lowest first, as int64 (..., count), signed as the words are."""
    whole = np.asarray(words, order="C")
    kind = f"{whole.dtype.kind}{4 // count}"
    return whole.reshape((*whole.shape, 1)).view(kind).astype(np.int64)


def _joined(parts: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
    """Words of parts (..., count), each modulo its size."""
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
        whole = apply(*(_parts(each.view(f"{kind}4"), count) for each in words))
        if sums:
            return np.asarray(whole.sum(axis=-1))
        if compares:
            whole = np.where(whole, (1 << bits) - 1 if compares == "cmp" else 1, 0)
        if saturates:
            low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind == "i" else (0, (1 << bits) - 1)
            whole = np.clip(whole, low, high)
        return _joined(whole)

    return compute


_Compute = Callable[..., Any]


class FunctionCode(Struct, frozen=True):
    """A function's signature and implementation."""

    signature: Signature
    compute: _Compute

    def __call__(self, *arguments: Any) -> Any:
        """The result: an array of the result's type, or a Python number if no argument is an array; a list for a vector."""
        typed = [_typed(each, kind) for each, kind in zip(arguments, self.signature.parameters, strict=True)]
        with np.errstate(all="ignore"):
            return _finished(self.compute(*typed), self.signature.result)


def _typed(value: Any, kind: Value) -> Any:
    """An argument as an array of its type, a half or bfloat16 as float32."""
    if isinstance(kind, VectorType):
        return [_typed(each, kind.scalar) for each in value]
    return np.asarray(value, np.float32 if kind in (HALF, BFLOAT16) else kind.dtype)


def _finished(result: Any, kind: Value) -> Any:
    if isinstance(kind, VectorType):
        return [_finished(each, kind.scalar) for each in result]
    array = np.asarray(result)
    if kind in (HALF, BFLOAT16):
        array = rounding.nearest(array.astype(np.float32, copy=False) if array.dtype.itemsize < 4 else array, kind)
    return array.astype(kind.running, copy=False) if array.ndim else array.astype(kind.running).item()


@cache
def implementation(code: str) -> _Compute:
    """What a code of the table of functions stands for: the name of a function of this module, of ``halves``, ``rounding`` or
    NumPy, in this order; before further words, of one that makes a function from them.
    """
    name, _, words = code.partition(" ")
    known = next(vars(module)[name] for module in (sys.modules[__name__], halves, rounding, np) if name in vars(module))
    found: _Compute = known(*words.split()) if words else known
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


def reciprocal(name: str) -> _Compute:
    """One through a function of NumPy, as in rsqrt, rcbrt and rhypot."""
    compute = getattr(np, name)
    return lambda *values: 1 / compute(*values)


def is_normal(x: Any) -> Any:
    """CUDA's isnormal: finite, and neither zero nor denormal."""
    return np.isfinite(x) & (np.abs(x) >= np.finfo(x.dtype).tiny)


def fast_quotient(x: Any, y: Any) -> Any:
    """CUDA's __fdividef: 0 if the divisor's size is above 2**126 (NaN for infinity by it)."""
    beyond = (np.abs(y) > 2.0**126) & np.isfinite(y)
    return np.where(beyond, np.where(np.isinf(x), np.float32(np.nan), np.float32(0)), x / y)


def to_long(rounding_name: str) -> _Compute:
    """The conversion to 64 bits after a rounding, as in lrint and lround."""
    rounded = implementation(rounding_name)
    return lambda x: rounding.to_integer(rounded(x), LONG)


def bits_as(name: str) -> _Compute:
    """The same bits as another type."""
    kind = NAMED_TYPES[name].dtype
    return lambda x: x.view(kind)


def double_of_words(high: Any, low: Any) -> Any:
    """CUDA's __hiloint2double: the double of an upper and a lower word."""
    whole = (high.astype(np.int64) << 32) | low.view(np.uint32).astype(np.int64)
    return np.asarray(whole).view(np.float64)


def word_of_double(part: str) -> _Compute:
    """CUDA's __double2hiint and __double2loint: one word of a double."""
    shift = 32 if part == "hi" else 0
    return lambda x: (x.view(np.int64) >> shift).astype(np.int32)
