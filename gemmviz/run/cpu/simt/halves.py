"""Arithmetic of half and bfloat16, alone and in pairs: each operation rounds once, as the device's does.

Arguments are float32 that hold the numbers; a pair is a list of two. Results are rounded by the caller to the type of the
function.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gemmviz.cuda.functions import NAMED_TYPES
from gemmviz.cuda.types import BFLOAT16, DOUBLE, FLOAT, HALF, Scalar
from gemmviz.run.cpu.simt import rounding
from gemmviz.run.cpu.simt.rounding import exact_product, exact_sum, fused, nearest


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

_Compute = Callable[..., Any]
_ERRORS: dict[str, tuple[_Compute, _Compute]] = {  # to nearest; a number of the sign of exact minus nearest, from float64
    "add": (np.add, _add_error),
    "sub": (np.subtract, lambda x, y, near: _add_error(x, -y, near)),
    "mul": (np.multiply, _product_error),
    "div": (np.divide, lambda x, y, near: -fused(near, y, -x) * np.sign(y)),
    "sqrt": (np.sqrt, lambda x, near: -fused(near, near, -x)),
    "rcp": (lambda x: 1 / x, lambda x, near: -fused(near, x, -np.ones_like(x)) * np.sign(x)),
    "fma": (fused, _fused_error),
}


def rounded_arithmetic(name: str, direction: str) -> _Compute:
    """The function of this name, such as "add", on arrays of float32 or float64, rounded in a direction: rn, rz, ru, rd."""
    to_nearest, error_of = _ERRORS[name]
    if direction == "rn":
        return to_nearest

    def compute(*values: Any) -> Any:
        near = np.asarray(to_nearest(*values))
        error = error_of(*(each.astype(np.float64) for each in values), near.astype(np.float64))
        return _moved(near, error, direction, values)

    return compute


def _moved(near: Any, error: Any, direction: str, values: tuple[Any, ...]) -> Any:
    """The neighbour of ``near`` in the direction of its error where the rounding asks for it."""
    overflows = np.isinf(near) & np.logical_and.reduce([np.isfinite(each) for each in values])
    overflows &= np.logical_and.reduce([each != 0 for each in values[1:]] or [True])
    error = np.where(overflows, -np.sign(near), error)
    wanted = {"ru": error > 0, "rd": error < 0, "rz": np.where(near > 0, error < 0, error > 0) & (near != 0)}[direction]
    wanted &= np.isfinite(near) | overflows
    towards = {"ru": np.inf, "rd": -np.inf, "rz": 0.0}[direction]
    return np.where(wanted, np.nextafter(near, near.dtype.type(towards)), near)


def narrowing(direction: str, name: str) -> _Compute:
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
    return nearest(rounding.in_double(exact), to) if to == BFLOAT16 else exact.astype(to.running)


def _neighbour(near: Any, upwards: Any, to: Scalar) -> Any:
    """The next number of a type above or below each of ``near``."""
    if to in (FLOAT, DOUBLE, HALF):
        return np.nextafter(near, np.where(upwards, near.dtype.type(np.inf), near.dtype.type(-np.inf)))
    bits = (near.view(np.uint32) >> 16).astype(np.int32)
    outwards = upwards == ~np.signbit(near)
    moved = np.where(near == 0, np.where(upwards, 1, 0x8001), np.where(outwards, bits + 1, bits - 1))
    return (moved.astype(np.uint32) << 16).view(np.float32)


def saturated(x: Any) -> Any:
    """CUDA's __saturatef: clipped to 0 and 1; NaN becomes 0."""
    return np.where(np.isnan(x), np.float32(0), np.clip(x, 0, 1))


def _relu(x: Any) -> Any:
    return np.where(np.isnan(x), x, np.maximum(x, 0))


def _nan_or(choose: _Compute) -> _Compute:
    return lambda x, y: np.where(np.isnan(x) | np.isnan(y), np.float32(np.nan), choose(x, y))


_OPERATORS: dict[str, _Compute] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative, "abs": np.abs,
    "fma": rounding.odd_sum, "max": rounding.larger, "min": rounding.smaller,
    "add_rn": np.add, "sub_rn": np.subtract, "mul_rn": np.multiply,
    "add_sat": lambda x, y: saturated(x + y), "sub_sat": lambda x, y: saturated(x - y),
    "mul_sat": lambda x, y: saturated(x * y), "fma_sat": lambda x, y, z: saturated(rounding.odd_sum(x, y, z)),
    "fma_relu": lambda x, y, z: _relu(rounding.odd_sum(x, y, z)),
    "max_nan": _nan_or(rounding.larger), "min_nan": _nan_or(rounding.smaller),
}  # fmt: skip
_MATH: dict[str, _Compute] = {
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "rcp": lambda x: 1 / x, "exp": np.exp, "exp2": np.exp2,
    "exp10": lambda x: np.power(10.0, x), "log": np.log, "log2": np.log2, "log10": np.log10, "sin": np.sin, "cos": np.cos,
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint, "tanh": np.tanh,
}  # fmt: skip
_COMPARES: dict[str, _Compute] = {
    "eq": np.equal, "ne": lambda x, y: (x < y) | (x > y), "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "equ": lambda x, y: ~((x < y) | (x > y)), "neu": np.not_equal, "ltu": lambda x, y: ~(x >= y),
    "leu": lambda x, y: ~(x > y), "gtu": lambda x, y: ~(x <= y), "geu": lambda x, y: ~(x < y),
}  # fmt: skip


def half_operator(name: str) -> _Compute:
    """An operator such as "add", "fma_relu" or "max_nan"."""
    return _OPERATORS[name]


def through_double(name: str) -> _Compute:
    """A function computed in float64, so that rounding it on to fewer bits rounds once but for rare ties."""
    apply = _MATH[name]
    return lambda x: apply(x.astype(np.float64))


def half_comparison(name: str) -> _Compute:
    """A comparison such as "lt", or "ltu", which is true of NaN."""
    return _COMPARES[name]


_OF_HALVES = {"half_operator": half_operator, "through_double": through_double, "half_comparison": half_comparison}


def of_pairs(kind: str, name: str) -> _Compute:
    """A function of halves, for each half of pairs."""
    apply = _OF_HALVES[kind](name)
    return lambda *pairs: [np.asarray(apply(*parts)) for parts in zip(*pairs, strict=True)]


def of_both(kind: str, name: str) -> _Compute:
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


_WHOLE: dict[str, _Compute] = {"rn": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}


def to_whole(direction: str, name: str) -> _Compute:
    """The conversion of a float to an integer, rounded in a direction; it saturates."""
    to = NAMED_TYPES[name]
    return lambda x: rounding.to_integer(_WHOLE[direction](x), to)


def bits_of_half(word: str, name: str) -> _Compute:
    """The bits of a half or bfloat16 as an integer of 16 bits."""
    to = NAMED_TYPES[name]

    def bits(x: Any) -> Any:
        stored = x.astype(np.float16).view(np.uint16) if word == "half" else (x.view(np.uint32) >> 16).astype(np.uint16)
        return np.asarray(stored).view(to.dtype)

    return bits


def half_of_bits(word: str) -> _Compute:
    """The half or bfloat16 of 16 bits."""
    if word == "half":
        return lambda x: x.view(np.float16)
    return lambda x: (x.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
