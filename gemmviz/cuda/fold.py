"""Constant folding by C's rules."""

import math
import operator
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from gemmviz.cuda.nodes import Binary, Const, Convert, Expr, Number, Read
from gemmviz.cuda.types import Scalar

# Conversions of single numbers that round once, as the device rounds; NumPy isn't needed.

_PACKED = {16: "<e", 32: "<f"}
_BFLOAT16_SIGNIFICANT = 8
_FLOAT_EXPONENT = 126  # of the smallest normal float32 and bfloat16: 2 ** -126


def rounded(value: float, to: Scalar) -> float:
    """The number of the floating-point type ``to`` that is nearest to a double; ties go to even."""
    if to.bits == 64 or not math.isfinite(value):
        return value
    if to.element.encode is not None:
        return _nearest_bfloat16(Fraction(value), value)
    return _packed(value, _PACKED[to.bits])


def _packed(value: float, form: str) -> float:
    try:
        return float(struct.unpack(form, struct.pack(form, value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _nearest_bfloat16(exact: Fraction, near: float) -> float:
    """The bfloat16 nearest to a finite exact number; ``near`` is a double close to it."""
    if not exact:
        return near
    exponent = max(math.frexp(near)[1], 1 - _FLOAT_EXPONENT)
    step = Fraction(2) ** (exponent - _BFLOAT16_SIGNIFICANT)
    return _packed(float(round(exact / step) * step), "<f")


def integer_to_float(value: int, to: Scalar) -> float:
    """The floating-point number nearest to an integer of at most 64 bits."""
    return literal_to_float(Fraction(value), to)


def literal_to_float(exact: Decimal | Fraction, to: Scalar) -> float:
    """The floating-point number nearest to a literal; infinity if it is too large."""
    try:
        double = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
    if to.bits == 64 or not math.isfinite(double):
        return double
    if exact != double and not _is_odd(double):
        double = math.nextafter(double, math.inf if exact > double else -math.inf)
    return rounded(double, to)


def _is_odd(double: float) -> bool:
    """Whether the last bit of the significand is set: what is rounded to odd is rounded on as the exact number would be."""
    return bool(struct.unpack("<q", struct.pack("<d", double))[0] & 1)


def truncated(value: float, source: Scalar, to: Scalar) -> int:
    """The value truncated towards zero, as an integer of the type ``to``; values out of range saturate.

    nvcc converts by ``cvt.rzi`` to 32 or 64 bits and cuts the result to narrower types. PTX ISA 9.0, cvt: values out of range
    are clamped; NaN becomes 0 if the source is not .f64 and the destination has 32 bits, else ``1 << (bits - 1)``.
    """
    bits = max(32, to.bits)
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if to.kind == "i" else (0, (1 << bits) - 1)
    if math.isnan(value):
        whole = 0 if source.bits < 64 and bits == 32 else 1 << (bits - 1)
    elif math.isinf(value):
        whole = high if value > 0 else low
    else:
        whole = max(low, min(math.trunc(value), high))
    whole &= (1 << to.bits) - 1
    return whole - (1 << to.bits) if to.kind == "i" and whole >> (to.bits - 1) else whole


COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
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
        return rounded(float(value), to) if source.is_float else integer_to_float(int(value), to)
    if source.is_float and not -1 < value < 2**31:
        return truncated(float(value), source, to)
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
        return bool(OPERATORS[op](a, b))
    if within.is_float:
        return rounded(_quotient(float(a), float(b)) if op == "/" else OPERATORS[op](float(a), float(b)), within)
    match op:
        case "/":
            result = truncated_quotient(a, b)
        case "%":
            result = a - b * truncated_quotient(a, b)
        case "<<" | ">>":
            result = _shifted(op, a, b & SHIFT_BITS, within.bits)
        case _:
            result = OPERATORS[op](a, b)
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


def known_trips(node: Expr, constants: dict[int, int]) -> int | None:
    """The integer value of ``node`` when these slots hold these values, or None if it isn't known."""
    match node:
        case Const(value=bool() | float()):
            return None
        case Const(value=value):
            return int(value)
        case Read(slot=slot):
            return constants.get(slot)
        case Convert(type=Scalar(kind="i" | "u") as to, operand=operand):
            inner = known_trips(operand, constants)
            return None if inner is None else wrap(inner, to)
        case Binary(type=Scalar(kind="i" | "u") as within, op=op, left=left, right=right) if op not in ("/", "%"):
            a, b = known_trips(left, constants), known_trips(right, constants)
            return None if a is None or b is None else int(apply_binary(op, a, b, within))
    return None
