"""Arithmetic rounded towards zero, up, or down: CUDA's __fadd_rz and similar.

The result to nearest is moved to its neighbour where the sign of its error says so.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gemmviz.run.cpu.simt.rounding import exact_product, exact_sum, fused, in_double, nearest
from gemmviz.source.types import BFLOAT16, DOUBLE, FLOAT, HALF, Scalar

_Compute = Callable[..., Any]


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
