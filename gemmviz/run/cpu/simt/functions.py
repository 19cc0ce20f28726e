"""NumPy implementations of CUDA's math functions and intrinsics from values to a value.

They take arrays of any shape (0-d included) that broadcast, and lists of them for vectors. What IEEE 754 defines exactly is
exact; transcendental functions are NumPy's, which differ from a device's in the last bits.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.run.cpu.simt import halves, rounding
from gemmviz.source.functions import DIRECTIONS, FLOATING, FLOATS, INTEGERS, ROUNDED, VIDEO, VIDEO_LANES, Signature, Value
from gemmviz.source.types import BFLOAT16, HALF, LONG, Scalar, VectorType

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


def dot_of_bytes(x: Integers, y: Integers, addend: Integers) -> Integers:
    """CUDA's __dp4a: the dot product of four bytes, signed as the words are, plus ``addend``, modulo 2**32."""
    total = _parts(x, 4) * _parts(y, 4)
    return np.asarray(total.sum(axis=-1) + addend.astype(np.int64))


def dot_of_shorts(first: int) -> "Callable[[Integers, Integers, Integers], Integers]":
    """CUDA's __dp2a_lo (``first`` 0) and __dp2a_hi (2): the dot product of two shorts and two of four bytes, plus an addend."""

    def dot(x: Integers, y: Integers, addend: Integers) -> Integers:
        total = _parts(x, 2) * _parts(y, 4)[..., first : first + 2]
        return np.asarray(total.sum(axis=-1) + addend.astype(np.int64))

    return dot


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


def on_parts(name: str, count: int) -> "Callable[..., Integers]":
    """CUDA's SIMD video functions: ``name`` as between __v and the number of parts, such as addss, absdiffu or cmpgts."""
    saturates = name in _SATURATING
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


def code_for(name: str, signature: Signature) -> FunctionCode:
    """The implementation of a function for one overload of it."""
    if name in _OF_COMMON_TYPE:
        of_floats, of_integers = _OF_COMMON_TYPE[name]
        return FunctionCode(signature, of_floats if signature.result.is_float else of_integers)  # type: ignore[union-attr]
    if name in _OF_INTEGERS and signature.result.kind == "i":  # type: ignore[union-attr]
        return FunctionCode(signature, _OF_INTEGERS[name])
    return FunctionCode(signature, COMPUTE[name])


def _in_parts(of_double: Callable[[float], float]) -> _Compute:
    """An element-wise NumPy version of a Python function."""
    return np.vectorize(of_double, otypes=[np.float64])


def _sine_of_pi(x: Any) -> Any:
    return np.sin(np.pi * np.fmod(x, 2))


def _cosine_of_pi(x: Any) -> Any:
    return np.cos(np.pi * np.fmod(x, 2))


def _saturated(x: Any) -> Any:
    return np.where(np.isnan(x), np.float32(0), np.clip(x, 0, 1))


def _fast_quotient(x: Any, y: Any) -> Any:
    """CUDA's __fdividef: 0 if the divisor's size is above 2**126 (NaN for infinity by it)."""
    beyond = (np.abs(y) > 2.0**126) & np.isfinite(y)
    return np.where(beyond, np.where(np.isinf(x), np.float32(np.nan), np.float32(0)), x / y)


def _bits_as(scalar: Scalar) -> _Compute:
    return lambda x: x.view(scalar.dtype)


_FLOATING: dict[str, _Compute] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "copysign": np.copysign,
    "cos": np.cos,
    "cosh": np.cosh,
    "cospi": _cosine_of_pi,
    "erf": _in_parts(math.erf),
    "erfc": _in_parts(math.erfc),
    "exp": np.exp,
    "exp10": lambda x: np.power(x.dtype.type(10), x),
    "exp2": np.exp2,
    "expm1": np.expm1,
    "fabs": np.abs,
    "fdim": rounding.positive_difference,
    "floor": np.floor,
    "fma": rounding.fused,
    "fmax": rounding.larger,
    "fmin": rounding.smaller,
    "fmod": np.fmod,
    "hypot": np.hypot,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "nearbyint": np.rint,
    "nextafter": np.nextafter,
    "normcdf": _in_parts(lambda x: 0.5 * math.erfc(-x / math.sqrt(2))),
    "pow": np.power,
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "remainder": rounding.remainder,
    "rhypot": lambda x, y: 1 / np.hypot(x, y),
    "rint": np.rint,
    "round": rounding.half_away,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "sinh": np.sinh,
    "sinpi": _sine_of_pi,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
}
_TO_LONG: dict[str, _Compute] = {
    "lrint": np.rint,
    "llrint": np.rint,
    "lround": rounding.half_away,
    "llround": rounding.half_away,
}
_PREDICATES: dict[str, _Compute] = {
    "isfinite": np.isfinite,
    "isinf": np.isinf,
    "isnan": np.isnan,
    "isnormal": lambda x: np.isfinite(x) & (np.abs(x) >= np.finfo(x.dtype).tiny),
    "signbit": np.signbit,
}
_FAST: dict[str, _Compute] = {  # of float, by the hardware's own approximation
    "__cosf": np.cos,
    "__exp10f": lambda x: np.power(np.float32(10), x),
    "__exp2f": np.exp2,
    "__expf": np.exp,
    "__fdividef": _fast_quotient,
    "__frsqrt_rn": lambda x: 1 / np.sqrt(x.astype(np.float64)),
    "__log10f": np.log10,
    "__log2f": np.log2,
    "__logf": np.log,
    "__powf": np.power,
    "__saturatef": _saturated,
    "__sinf": np.sin,
    "__tanf": np.tan,
}
_OF_COMMON_TYPE: dict[str, tuple[_Compute, _Compute]] = {  # of floats; of integers
    "min": (rounding.smaller, np.minimum),
    "max": (rounding.larger, np.maximum),
    "abs": (np.abs, np.abs),
}
_OF_INTEGERS: dict[str, _Compute] = {"__hadd": average, "__rhadd": rounded_average}


def _to_long(rounded: _Compute) -> _Compute:
    return lambda x: rounding.to_integer(rounded(x), LONG)


def _same(x: Any) -> Any:
    return x


def _floating() -> dict[str, _Compute]:
    table = {f"{name}{letter}": _FLOATING[name] for name in FLOATING for letter in ("", "f")}
    table |= {f"{name}{letter}": np.ldexp for name in ("ldexp", "scalbn") for letter in ("", "f")}
    table |= {f"{name}{letter}": _to_long(compute) for name, compute in _TO_LONG.items() for letter in ("", "f")}
    return table | _PREDICATES


def _rounded() -> dict[str, _Compute]:
    """The functions __fadd_rn and similar."""
    table: dict[str, _Compute] = {}
    for direction in DIRECTIONS:
        for letter in "fd":
            table |= {f"__{letter}{name}_{direction}": halves.rounded_arithmetic(name, direction) for name in ROUNDED}
        table[f"__fmaf_{direction}"] = table[f"__fma_{direction}"] = halves.rounded_arithmetic("fma", direction)
    return table


def _conversions() -> dict[str, _Compute]:
    """The functions __float2int_rn and similar, and those that reinterpret bits."""
    table = {f"__double2float_{each}": halves.narrowing(each, FLOATS["float"]) for each in DIRECTIONS}
    for of, source in FLOATS.items():
        for to, target in INTEGERS.items():
            table |= {f"__{of}2{to}_{each}": halves.to_whole(each, target) for each in DIRECTIONS}
            table |= {f"__{to}2{of}_{each}": halves.narrowing(each, source) for each in DIRECTIONS}
    for a, b in (("int", "float"), ("uint", "float"), ("longlong", "double")):
        table[f"__{a}_as_{b}"] = _bits_as(FLOATS[b])
        table[f"__{b}_as_{a}"] = _bits_as(INTEGERS.get(a, LONG))
    table |= {"__int2double": _same, "__uint2double": _same, "__hiloint2double": _double_of_words}
    return table | {"__double2hiint": _word(32), "__double2loint": _word(0)}


def _double_of_words(high: Any, low: Any) -> Any:
    whole = (high.astype(np.int64) << 32) | low.view(np.uint32).astype(np.int64)
    return np.asarray(whole).view(np.float64)


def _word(shift: int) -> _Compute:
    return lambda x: (x.view(np.int64) >> shift).astype(np.int32)


def _integer() -> dict[str, _Compute]:
    table: dict[str, _Compute] = {"labs": np.abs, "llabs": np.abs, "__byte_perm": permuted_bytes}
    for size in ("", "ll"):
        table |= {f"__popc{size}": np.bitwise_count, f"__clz{size}": leading_zeros, f"__ffs{size}": first_set}
        table[f"__brev{size}"] = reversed_bits
    for u in ("", "u"):
        table |= {f"__{u}mul24": product24, f"__{u}mulhi": upper_product, f"__{u}sad": distance}
        table |= {f"__{u}mul64hi": upper_product64}
    table |= {"__uhadd": average, "__urhadd": rounded_average, "__rhadd": rounded_average}
    table |= {f"__funnelshift_{way}": funnel_shift(way) for way in ("l", "lc", "r", "rc")}
    table |= {f"{prefix}min": np.minimum for prefix in ("u", "ll", "ull")}
    table |= {f"{prefix}max": np.maximum for prefix in ("u", "ll", "ull")}
    table |= {"__dp4a": dot_of_bytes, "__dp2a_lo": dot_of_shorts(0), "__dp2a_hi": dot_of_shorts(2)}
    return table | {f"__v{name}{lanes}": on_parts(name, count) for lanes, count in VIDEO_LANES.items() for name in VIDEO}


COMPUTE: dict[str, _Compute] = {
    **_floating(),
    **_rounded(),
    **_FAST,
    **_conversions(),
    **halves.half_arithmetic(),
    **halves.half_conversions("half", HALF),
    **halves.half_conversions(BFLOAT16.element.name, BFLOAT16),
    **halves.common_to_halves(),
    **_integer(),
}
