"""NumPy implementations of CUDA's math functions and intrinsics from values to a value.

They take arrays of any shape (0-d included) that broadcast, and lists of them for vectors. What IEEE 754 defines exactly is
exact; transcendental functions are NumPy's, which differ from a device's in the last bits.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct

from gemmviz.run.cpu.simt import bits, directed, halves, rounding
from gemmviz.source.functions import DIRECTIONS, FLOATING, FLOATS, INTEGERS, ROUNDED, VIDEO, VIDEO_LANES, Signature, Value
from gemmviz.source.types import BFLOAT16, HALF, LONG, Scalar, VectorType

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
_OF_INTEGERS: dict[str, _Compute] = {"__hadd": bits.average, "__rhadd": bits.rounded_average}


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
            table |= {f"__{letter}{name}_{direction}": directed.rounded_arithmetic(name, direction) for name in ROUNDED}
        table[f"__fmaf_{direction}"] = table[f"__fma_{direction}"] = directed.rounded_arithmetic("fma", direction)
    return table


def _conversions() -> dict[str, _Compute]:
    """The functions __float2int_rn and similar, and those that reinterpret bits."""
    table = {f"__double2float_{each}": directed.narrowing(each, FLOATS["float"]) for each in DIRECTIONS}
    for of, source in FLOATS.items():
        for to, target in INTEGERS.items():
            table |= {f"__{of}2{to}_{each}": halves.to_whole(each, target) for each in DIRECTIONS}
            table |= {f"__{to}2{of}_{each}": directed.narrowing(each, source) for each in DIRECTIONS}
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
    table: dict[str, _Compute] = {"labs": np.abs, "llabs": np.abs, "__byte_perm": bits.permuted_bytes}
    for size in ("", "ll"):
        table |= {f"__popc{size}": np.bitwise_count, f"__clz{size}": bits.leading_zeros, f"__ffs{size}": bits.first_set}
        table[f"__brev{size}"] = bits.reversed_bits
    for u in ("", "u"):
        table |= {f"__{u}mul24": bits.product24, f"__{u}mulhi": bits.upper_product, f"__{u}sad": bits.distance}
        table |= {f"__{u}mul64hi": bits.upper_product64}
    table |= {"__uhadd": bits.average, "__urhadd": bits.rounded_average, "__rhadd": bits.rounded_average}
    table |= {f"__funnelshift_{way}": bits.funnel_shift(way) for way in ("l", "lc", "r", "rc")}
    table |= {f"{prefix}min": np.minimum for prefix in ("u", "ll", "ull")}
    table |= {f"{prefix}max": np.maximum for prefix in ("u", "ll", "ull")}
    table |= {"__dp4a": bits.dot_of_bytes, "__dp2a_lo": bits.dot_of_shorts(0), "__dp2a_hi": bits.dot_of_shorts(2)}
    return table | {f"__v{name}{lanes}": bits.on_parts(name, count) for lanes, count in VIDEO_LANES.items() for name in VIDEO}


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
