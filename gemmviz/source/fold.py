"""Constant folding by C's rules."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gemmviz.source import rounding
from gemmviz.source.nodes import Number
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
SHIFT_BITS = (1 << 32) - 1  # of a shift's amount: shl and shr take 32, and clamp what is larger than the width (PTX ISA)


def converted(value: Number, source: Scalar, to: Scalar) -> Number:
    """The value converted from ``source`` to ``to`` as nvcc does: integers wrap, floats round, and saturate as integers."""
    if to.kind == "b":
        return bool(value)
    if to.is_float:
        return _rounded(float(value), to) if source.is_float else rounding.integer_to_float(int(value), to)
    if source.is_float and not -1 < value < 2**31:
        return int(rounding.to_integer(np.array(value, source.dtype), to))
    return wrap(int(value), to)


def wrap(value: int, to: Scalar) -> int:
    """An integer reduced modulo 2**bits to the range of ``to``."""
    value &= (1 << to.bits) - 1
    return value - (1 << to.bits) if to.kind == "i" and value >> (to.bits - 1) else value


def _rounded(value: float, to: Scalar) -> float:
    with np.errstate(over="ignore"):
        return value if to.bits == 64 else float(to.dtype.type(value))


def truncated_quotient(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def apply_binary(op: str, a: Any, b: Any, within: Scalar) -> Number:
    """The result of ``a op b``, both of type ``within``. Raises ZeroDivisionError for an integer division by zero."""
    if op in COMPARISONS:
        return bool(_OPERATORS[op](a, b))
    if within.is_float:
        return _rounded(_quotient(a, b) if op == "/" else _OPERATORS[op](float(a), float(b)), within)
    match op:
        case "/":
            result = truncated_quotient(a, b)
        case "%":
            result = a - b * truncated_quotient(a, b)
        case "<<" | ">>":
            result = _shifted(op, a, b & SHIFT_BITS, within.bits)
        case _:
            result = _OPERATORS[op](a, b)
    return wrap(int(result), within)


def _quotient(a: float, b: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.divide(np.float64(a), np.float64(b)))


def _shifted(op: str, value: int, amount: int, bits: int) -> int:
    if op == "<<":
        return value << amount if amount < bits else 0
    return value >> min(amount, bits)


def apply_unary(op: str, a: Any, within: Scalar) -> Number:
    match op:
        case "!":
            return not a
        case "-" | "~" if not within.is_float:
            return wrap(-int(a) if op == "-" else ~int(a), within)
        case "-":
            return -float(a)
    return a  # type: ignore[no-any-return]
