"""Constant folding by C's rules."""

import math
import operator
from collections.abc import Callable
from typing import Any

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
_CHOICES: dict[str, Callable[..., Any]] = {"min": min, "max": max, "abs": abs}
SHIFT_BITS = (1 << 32) - 1  # of a shift's amount: shl and shr take 32, and clamp what is larger than the width (PTX ISA)


def converted(value: Number, source: Scalar, to: Scalar) -> Number:
    """The value converted from ``source`` to ``to`` as nvcc does: integers wrap, floats round, and saturate as integers."""
    if to.kind == "b":
        return bool(value)
    if to.is_float:
        return rounding.rounded(float(value), to) if source.is_float else rounding.integer_to_float(int(value), to)
    if source.is_float and not -1 < value < 2**31:
        return rounding.truncated(float(value), source, to)
    return wrap(int(value), to)


def wrap(value: int, to: Scalar) -> int:
    """An integer reduced modulo 2**bits to the range of ``to``."""
    value &= (1 << to.bits) - 1
    return value - (1 << to.bits) if to.kind == "i" and value >> (to.bits - 1) else value


def truncated_quotient(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def apply_binary(op: str, a: Any, b: Any, within: Scalar) -> Number:
    """The result of ``a op b``, both of type ``within``. Raises ZeroDivisionError for an integer division by zero."""
    if op in COMPARISONS:
        return bool(_OPERATORS[op](a, b))
    if within.is_float:
        return rounding.rounded(_quotient(float(a), float(b)) if op == "/" else _OPERATORS[op](float(a), float(b)), within)
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
    """The quotient by IEEE 754, which Python raises an error for."""
    if b == 0 or not (math.isfinite(a) and math.isfinite(b)):
        if math.isnan(a) or math.isnan(b) or (a == 0 and b == 0) or (math.isinf(a) and math.isinf(b)):
            return math.nan
        sign = math.copysign(1.0, a) * math.copysign(1.0, b)
        return math.copysign(0.0 if math.isinf(b) else math.inf, sign)
    return a / b


def _shifted(op: str, value: int, amount: int, bits: int) -> int:
    if op == "<<":
        return value << amount if amount < bits else 0
    return value >> min(amount, bits)


def common_choice(name: str, values: list[Any]) -> int | None:
    """The value of min, max or abs of integer constants; None for other functions and for floats."""
    if name not in _CHOICES or not values or any(isinstance(value, float) for value in values):
        return None
    return int(_CHOICES[name](*values))


def apply_unary(op: str, a: Any, within: Scalar) -> Number:
    match op:
        case "!":
            return not a
        case "-" | "~" if not within.is_float:
            return wrap(-int(a) if op == "-" else ~int(a), within)
        case "-":
            return -float(a)
    return a  # type: ignore[no-any-return]
