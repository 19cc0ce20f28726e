"""CUDA's math functions and intrinsics from numbers to a number: their types and their NumPy implementations.

They take arrays of any shape (0-d included) that broadcast. What IEEE 754 defines exactly is exact; transcendental functions
are NumPy's, which differ from a device's in the last bits.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from gemmviz.source import bits, rounding
from gemmviz.source.types import BOOL, DOUBLE, FLOAT, INT, LONG, UINT, ULONG, Scalar, common, promoted

Compute = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class FunctionCode:
    """A function's implementation with the types of its ``parameters`` and ``result``. With ``is_overloaded``, all types are
    float if all arguments are.
    """

    parameters: tuple[Scalar, ...]
    result: Scalar
    compute: Compute
    is_overloaded: bool = False

    def for_arguments(self, types: list[Scalar]) -> "FunctionCode":
        """The overload that C++ selects for arguments of these types."""
        floating = [kind for kind, parameter in zip(types, self.parameters, strict=False) if parameter.is_float]
        if not self.is_overloaded or any(kind != FLOAT for kind in floating):
            return self
        return FunctionCode(tuple(_single(each) for each in self.parameters), _single(self.result), self.compute)

    def __call__(self, *arguments: Any) -> Any:
        """The result: an array of the result's type, or a Python number if no argument is an array."""
        typed = [np.asarray(each, kind.dtype) for each, kind in zip(arguments, self.parameters, strict=True)]
        with np.errstate(all="ignore"):
            found = np.asarray(self.compute(*typed))
        return found.astype(self.result.dtype, copy=False) if found.ndim else self.result.dtype.type(found).item()


def _single(scalar: Scalar) -> Scalar:
    return FLOAT if scalar.is_float else scalar


def of_common_type(name: str, kind: Scalar) -> FunctionCode:
    """The function min, max or abs for one arithmetic type."""
    arity, of_floats, of_integers = _OF_COMMON_TYPE[name]
    return FunctionCode((kind,) * arity, kind, of_floats if kind.is_float else of_integers)


def _in_parts(of_double: Callable[[float], float]) -> Compute:
    """An element-wise NumPy version of a Python function."""
    return np.vectorize(of_double, otypes=[np.float64])


def _sine_of_pi(x: Any) -> Any:
    return np.sin(np.pi * np.fmod(x, 2))


def _cosine_of_pi(x: Any) -> Any:
    return np.cos(np.pi * np.fmod(x, 2))


def _saturated(x: Any) -> Any:
    return np.where(np.isnan(x), np.float32(0), np.clip(x, 0, 1))


def _bits_as(scalar: Scalar) -> Compute:
    return lambda x: x.view(scalar.dtype)


_FLOATING: dict[str, tuple[int, Compute]] = {  # name of the double version; that of float has an f behind it
    "acos": (1, np.arccos),
    "acosh": (1, np.arccosh),
    "asin": (1, np.arcsin),
    "asinh": (1, np.arcsinh),
    "atan": (1, np.arctan),
    "atan2": (2, np.arctan2),
    "atanh": (1, np.arctanh),
    "cbrt": (1, np.cbrt),
    "ceil": (1, np.ceil),
    "copysign": (2, np.copysign),
    "cos": (1, np.cos),
    "cosh": (1, np.cosh),
    "cospi": (1, _cosine_of_pi),
    "erf": (1, _in_parts(math.erf)),
    "erfc": (1, _in_parts(math.erfc)),
    "exp": (1, np.exp),
    "exp10": (1, lambda x: np.power(x.dtype.type(10), x)),
    "exp2": (1, np.exp2),
    "expm1": (1, np.expm1),
    "fabs": (1, np.abs),
    "fdim": (2, rounding.positive_difference),
    "floor": (1, np.floor),
    "fma": (3, rounding.fused),
    "fmax": (2, rounding.larger),
    "fmin": (2, rounding.smaller),
    "fmod": (2, np.fmod),
    "hypot": (2, np.hypot),
    "log": (1, np.log),
    "log10": (1, np.log10),
    "log1p": (1, np.log1p),
    "log2": (1, np.log2),
    "nearbyint": (1, np.rint),
    "nextafter": (2, np.nextafter),
    "pow": (2, np.power),
    "rcbrt": (1, lambda x: 1 / np.cbrt(x)),
    "remainder": (2, rounding.remainder),
    "rint": (1, np.rint),
    "round": (1, rounding.half_away),
    "rsqrt": (1, lambda x: 1 / np.sqrt(x)),
    "sin": (1, np.sin),
    "sinh": (1, np.sinh),
    "sinpi": (1, _sine_of_pi),
    "sqrt": (1, np.sqrt),
    "tan": (1, np.tan),
    "tanh": (1, np.tanh),
    "trunc": (1, np.trunc),
}
_TO_LONG: dict[str, Compute] = {
    "lrint": np.rint,
    "llrint": np.rint,
    "lround": rounding.half_away,
    "llround": rounding.half_away,
}
_PREDICATES: dict[str, Compute] = {
    "isfinite": np.isfinite,
    "isinf": np.isinf,
    "isnan": np.isnan,
    "isnormal": lambda x: np.isfinite(x) & (np.abs(x) >= np.finfo(x.dtype).tiny),
    "signbit": np.signbit,
}
_ROUNDED: dict[str, tuple[int, Compute]] = {  # to nearest, of a letter for the type and _rn behind it
    "add": (2, np.add),
    "sub": (2, np.subtract),
    "mul": (2, np.multiply),
    "div": (2, np.divide),
    "sqrt": (1, np.sqrt),
    "rcp": (1, lambda x: 1 / x),
}
_FAST: dict[str, tuple[int, Compute]] = {  # of float, by the hardware's own approximation
    "__cosf": (1, np.cos),
    "__exp10f": (1, lambda x: np.power(np.float32(10), x)),
    "__expf": (1, np.exp),
    "__fdividef": (2, np.divide),
    "__frsqrt_rn": (1, lambda x: 1 / np.sqrt(x)),
    "__log10f": (1, np.log10),
    "__log2f": (1, np.log2),
    "__logf": (1, np.log),
    "__powf": (2, np.power),
    "__saturatef": (1, _saturated),
    "__sinf": (1, np.sin),
    "__tanf": (1, np.tan),
}
_FLOATS = {"float": FLOAT, "double": DOUBLE}
_INTEGERS = {"int": INT, "uint": UINT, "ll": LONG, "ull": ULONG}
_DIRECTIONS: dict[str, Compute] = {"rn": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}
_OF_COMMON_TYPE: dict[str, tuple[int, Compute, Compute]] = {  # arity; of floats; of integers
    "min": (2, rounding.smaller, np.minimum),
    "max": (2, rounding.larger, np.maximum),
    "abs": (1, np.abs, np.abs),
}


def _to_whole(rounded: Compute, to: Scalar) -> Compute:
    return lambda x: rounding.to_integer(rounded(x), to)


def _same(x: Any) -> Any:
    return x


def _floating() -> dict[str, FunctionCode]:
    found: dict[str, FunctionCode] = {}
    for name, (arity, compute) in _FLOATING.items():
        found[name] = FunctionCode((DOUBLE,) * arity, DOUBLE, compute, is_overloaded=True)
        found[f"{name}f"] = FunctionCode((FLOAT,) * arity, FLOAT, compute)
    for name in ("ldexp", "scalbn"):
        found[name] = FunctionCode((DOUBLE, INT), DOUBLE, np.ldexp, is_overloaded=True)
        found[f"{name}f"] = FunctionCode((FLOAT, INT), FLOAT, np.ldexp)
    for name, compute in _PREDICATES.items():
        found[name] = FunctionCode((DOUBLE,), BOOL, compute, is_overloaded=True)
    for name, compute in _TO_LONG.items():
        found[name] = FunctionCode((DOUBLE,), LONG, _to_whole(compute, LONG), is_overloaded=True)
        found[f"{name}f"] = FunctionCode((FLOAT,), LONG, _to_whole(compute, LONG))
    return found


def _rounded() -> dict[str, FunctionCode]:
    """The functions __fadd_rn and similar, by name."""
    found: dict[str, FunctionCode] = {}
    for name, (arity, compute) in _ROUNDED.items():
        for letter, kind in (("f", FLOAT), ("d", DOUBLE)):
            found[f"__{letter}{name}_rn"] = FunctionCode((kind,) * arity, kind, compute)
    for name, kind in (("__fmaf_rn", FLOAT), ("__fma_rn", DOUBLE)):
        found[name] = FunctionCode((kind,) * 3, kind, rounding.fused)
    return found


def _fast() -> dict[str, FunctionCode]:
    return {name: FunctionCode((FLOAT,) * arity, FLOAT, compute) for name, (arity, compute) in _FAST.items()}


def _conversions() -> dict[str, FunctionCode]:
    """The functions __float2int_rn and similar, and those that reinterpret bits, by name."""
    found = {"__double2float_rn": FunctionCode((DOUBLE,), FLOAT, _same)}
    for of, source in _FLOATS.items():
        for to, target in _INTEGERS.items():
            for direction, rounded in _DIRECTIONS.items():
                found[f"__{of}2{to}_{direction}"] = FunctionCode((source,), target, _to_whole(rounded, target))
            found[f"__{to}2{of}_rn"] = FunctionCode((target,), source, _same)
    for a, b in (("int", "float"), ("uint", "float"), ("longlong", "double")):
        whole, floating = _INTEGERS.get(a, LONG), _FLOATS[b]
        found[f"__{a}_as_{b}"] = FunctionCode((whole,), floating, _bits_as(floating))
        found[f"__{b}_as_{a}"] = FunctionCode((floating,), whole, _bits_as(whole))
    return found


def _integer() -> dict[str, FunctionCode]:
    found = {"labs": of_common_type("abs", LONG), "llabs": of_common_type("abs", LONG)}
    for size, signed, unsigned in (("", INT, UINT), ("ll", LONG, ULONG)):
        found[f"__popc{size}"] = FunctionCode((unsigned,), INT, np.bitwise_count)
        found[f"__clz{size}"] = FunctionCode((signed,), INT, bits.leading_zeros)
        found[f"__ffs{size}"] = FunctionCode((signed,), INT, bits.first_set)
        found[f"__brev{size}"] = FunctionCode((unsigned,), unsigned, bits.reversed_bits)
    for u, kind in (("", INT), ("u", UINT)):
        found[f"__{u}mul24"] = FunctionCode((kind, kind), kind, bits.product24)
        found[f"__{u}mulhi"] = FunctionCode((kind, kind), kind, bits.upper_product)
        found[f"__{u}sad"] = FunctionCode((kind, kind, UINT), UINT, bits.distance)
    for prefix, kind in (("u", UINT), ("ll", LONG), ("ull", ULONG)):
        found |= {f"{prefix}{name}": of_common_type(name, kind) for name in ("min", "max")}
    return found


FUNCTIONS: dict[str, FunctionCode] = {**_floating(), **_rounded(), **_fast(), **_conversions(), **_integer()}


def function_for(name: str, types: list[Scalar]) -> FunctionCode | None:
    """The overload of this name that C++ selects for arguments of these types; None if there is no such function."""
    if name in _OF_COMMON_TYPE:
        return of_common_type(name, reduce(common, types, promoted(types[0]))) if types else None
    return FUNCTIONS[name].for_arguments(types) if name in FUNCTIONS else None
