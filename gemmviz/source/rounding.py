"""Conversions of single numbers that round once, as the device rounds; NumPy isn't needed."""

import math
import struct
from decimal import Decimal
from fractions import Fraction

from gemmviz.source.types import Scalar

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
