"""Arithmetic of half and bfloat16, alone and in pairs: each operation rounds once, as the device's does.

Arguments are float32 that hold the numbers; a pair is a list of two. Results are rounded by the caller to the type of the
function.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gemmviz.run.cpu.simt import rounding
from gemmviz.run.cpu.simt.rounding import exact_product, exact_sum, fused, in_double, nearest
from gemmviz.source.functions import (
    DIRECTIONS,
    HALF_COMPARISONS,
    HALF_FUNCTIONS,
    HALF_OPERATORS,
    HALF_VARIANTS,
    INTEGERS,
    SHORTS,
)
from gemmviz.source.types import BFLOAT16, DOUBLE, FLOAT, HALF, Scalar


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


def narrowing(direction: str, to: Scalar) -> _Compute:
    """The conversion of integers or wider floats to a floating-point type, rounded in a direction."""

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
    return nearest(in_double(exact), to) if to == BFLOAT16 else exact.astype(to.running)


def _neighbour(near: Any, upwards: Any, to: Scalar) -> Any:
    """The next number of a type above or below each of ``near``."""
    if to in (FLOAT, DOUBLE, HALF):
        return np.nextafter(near, np.where(upwards, near.dtype.type(np.inf), near.dtype.type(-np.inf)))
    bits = (near.view(np.uint32) >> 16).astype(np.int32)
    outwards = upwards == ~np.signbit(near)
    moved = np.where(near == 0, np.where(upwards, 1, 0x8001), np.where(outwards, bits + 1, bits - 1))
    return (moved.astype(np.uint32) << 16).view(np.float32)


def _saturated(x: Any) -> Any:
    return np.where(np.isnan(x), np.float32(0), np.clip(x, 0, 1))


def _relu(x: Any) -> Any:
    return np.where(np.isnan(x), x, np.maximum(x, 0))


def _nan_or(choose: _Compute) -> _Compute:
    return lambda x, y: np.where(np.isnan(x) | np.isnan(y), np.float32(np.nan), choose(x, y))


_OPERATORS: dict[str, _Compute] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative, "abs": np.abs,
    "fma": rounding.odd_sum, "max": rounding.larger, "min": rounding.smaller,
    "add_rn": np.add, "sub_rn": np.subtract, "mul_rn": np.multiply,
    "add_sat": lambda x, y: _saturated(x + y), "sub_sat": lambda x, y: _saturated(x - y),
    "mul_sat": lambda x, y: _saturated(x * y), "fma_sat": lambda x, y, z: _saturated(rounding.odd_sum(x, y, z)),
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


def _by_component(apply: _Compute) -> _Compute:
    return lambda *pairs: [np.asarray(apply(*parts)) for parts in zip(*pairs, strict=True)]


def _in_double(apply: _Compute) -> _Compute:
    """A function computed in float64, so that rounding it on to 16 bits rounds once but for rare ties."""
    return lambda x: apply(x.astype(np.float64))


def half_arithmetic() -> dict[str, _Compute]:
    """Implementations of the operators, functions and comparisons, by name."""
    table: dict[str, _Compute] = {}
    for name in (*HALF_OPERATORS, *HALF_VARIANTS):
        stem, _, how = name.partition("_")
        table[f"__h{name}"] = _OPERATORS[name]
        pair = "__h2div" if name == "div" else f"__h{stem}2_{how}" if how else f"__h{name}2"
        table[pair] = _by_component(_OPERATORS[name])
    for name in HALF_FUNCTIONS:
        table[f"h{name}"] = _in_double(_MATH[name])
        table[f"h2{name}"] = _by_component(_in_double(_MATH[name]))
    for name in HALF_COMPARISONS:
        table[f"__h{name}"] = _COMPARES[name]
        table[f"__h{name}2"] = _by_component(_COMPARES[name])
        table[f"__hb{name}2"] = _in_both(_COMPARES[name])
    return table | {"__hisnan": np.isnan, "__hisinf": lambda x: np.where(np.isinf(x), np.sign(x), 0)}


def _in_both(compare: _Compute) -> _Compute:
    return lambda x, y: np.asarray(compare(x[0], y[0])) & np.asarray(compare(x[1], y[1]))


def half_conversions(word: str, half: Scalar) -> dict[str, _Compute]:
    """Implementations of the conversions whose names contain ``word``: "half" or "bfloat16"."""
    two = "half2" if half == HALF else "bfloat162"
    table: dict[str, _Compute] = {f"__{word}2float": _same, f"__float2{word}": _same, f"__double2{word}": _same}
    for direction in DIRECTIONS:
        table[f"__float2{word}_{direction}"] = narrowing(direction, half)
        for name, kind in {**INTEGERS, **SHORTS}.items():
            table[f"__{word}2{name}_{direction}"] = to_whole(direction, kind)
            table[f"__{name}2{word}_{direction}"] = narrowing(direction, half)
    for name, kind in SHORTS.items():
        table[f"__{word}_as_{name}"] = _bits_of(half, kind)
        table[f"__{name}_as_{word}"] = _of_bits(half)
    table[f"__floats2{two}_rn"] = table[f"__halves2{two}"] = table[f"make_{two}"] = lambda x, y: [x, y]
    table[f"__float2{two}_rn"] = table[f"__{word}2{two}"] = lambda x: [x, x]
    table[f"__float22{two}_rn"] = table["__half22float2" if half == HALF else f"__{two}2float2"] = list
    for at, part in enumerate(("low", "high")):
        table[f"__{part}2{word}"] = _part(at)
        table[f"__{part}2{two}"] = _both(at)
        table[f"__{part}s2{two}"] = _parts_of(at)
    return table


def _part(at: int) -> _Compute:
    return lambda pair: pair[at]


def _both(at: int) -> _Compute:
    return lambda pair: [pair[at], pair[at]]


def _parts_of(at: int) -> _Compute:
    return lambda x, y: [x[at], y[at]]


def common_to_halves() -> dict[str, _Compute]:
    """Implementations of functions that have one name for both types."""
    return {"__low2float": _part(0), "__high2float": _part(1), "__lowhigh2highlow": lambda pair: [pair[1], pair[0]]}


_WHOLE: dict[str, _Compute] = {"rn": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}


def to_whole(direction: str, to: Scalar) -> _Compute:
    """The conversion of a float to an integer, rounded in a direction; it saturates."""
    return lambda x: rounding.to_integer(_WHOLE[direction](x), to)


def _bits_of(half: Scalar, to: Scalar) -> _Compute:
    def bits(x: Any) -> Any:
        stored = (x.view(np.uint32) >> 16).astype(np.uint16) if half == BFLOAT16 else x.astype(np.float16).view(np.uint16)
        return np.asarray(stored).view(to.dtype)

    return bits


def _of_bits(half: Scalar) -> _Compute:
    def numbers(x: Any) -> Any:
        if half == BFLOAT16:
            return (x.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        return x.view(np.float16)

    return numbers


def _same(x: Any) -> Any:
    return x
