"""Arithmetic on numbers that are known before the kernel runs, by C's rules."""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gemmviz.source.types import Scalar

COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def convert(value: int | float | bool, to: Scalar) -> int | float | bool:
    """``value`` as C converts it: integers wrap, float32 rounds, floats lose their fraction."""
    if to.kind == "b":
        return bool(value)
    if to.is_float:
        return float(np.float32(value)) if to.bits == 32 else float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return 0
    return wrapped(int(value), to)


def wrapped(value: int, to: Scalar) -> int:
    """An integer cut to the bits of ``to``."""
    value &= (1 << to.bits) - 1
    return value - (1 << to.bits) if to.kind == "i" and value >> (to.bits - 1) else value


def truncated_quotient(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def binary(op: str, a: Any, b: Any, within: Scalar) -> int | float | bool:
    """``a op b``, both of type ``within``. Raises ZeroDivisionError for an integer division by zero."""
    if op in COMPARISONS:
        return bool(_OPERATORS[op](a, b))
    if op == "/" and within.is_float:
        return convert(float(np.divide(np.float64(a), np.float64(b))), within)
    if op == "/":
        return convert(truncated_quotient(a, b), within)
    if op == "%":
        return convert(a - b * truncated_quotient(a, b), within)
    if op == "<<":
        return convert(a << (b & (within.bits - 1)), within)
    if op == ">>":
        return convert(a >> (b & (within.bits - 1)), within)
    return convert(_OPERATORS[op](a, b), within)


def unary(op: str, a: Any, within: Scalar) -> int | float | bool:
    match op:
        case "-":
            return convert(-a, within)
        case "~":
            return convert(~int(a), within)
        case "!":
            return not a
    return convert(a, within)
