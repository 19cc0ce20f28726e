"""Values over lanes: conversion, arithmetic and merging by C's rules. Integers are Python ints if all lanes agree."""

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.cuda import walk
from gemmviz.cuda.types import Scalar
from gemmviz.cuda.walk import rounded
from gemmviz.model.arrays import LANES, AnyArray, Bools
from gemmviz.model.messages import Place, tr
from gemmviz.model.threads import ThreadSpace
from gemmviz.run.cpu.simt.machine import Closure, Machine
from gemmviz.run.cpu.simt.memory import joined

# Values of threads by warps and lanes, and back.


def outer_of(space: ThreadSpace, *values: Any) -> tuple[int, ...]:
    """The block axes of all values together."""
    blocks = len(space.block_shape)
    shapes = [np.shape(each)[:blocks] for each in values if each is not None and np.ndim(each)]
    return np.broadcast_shapes((1,) * blocks, *shapes)


def over_warps(value: Any, outer: tuple[int, ...], space: ThreadSpace) -> AnyArray:
    """A value as (blocks, warps, lanes), zero in lanes that don't exist."""
    rows = np.broadcast_to(np.asarray(value), outer + space.thread_shape).reshape(-1, space.threads_per_block)
    missing = -space.threads_per_block % LANES
    if missing:
        rows = np.pad(rows, ((0, 0), (0, missing)))
    return np.asarray(rows.reshape(len(rows), -1, LANES))


def over_threads(found: AnyArray, outer: tuple[int, ...], space: ThreadSpace) -> AnyArray:
    """Values (blocks, warps, lanes) over the axes of the threads."""
    rows = found.reshape(len(found), -1)[:, : space.threads_per_block]
    return np.asarray(rows.reshape(outer + space.thread_shape))


# Floating-point operations that round once: conversions, fused multiply-add, remainder, rounding to integers.

AnyFloats = npt.NDArray[np.floating[Any]]
Doubles = AnyFloats  # float64 throughout

_LARGEST_EXACT, _LOST_BITS = 2.0**53, 11  # integers that float64 holds, and what it lacks of 64 bits
_LAST_BITS = (1 << 29) - 1  # of a float64 significand: those that float32 doesn't have
_MIDPOINT = 1 << 28  # what they are halfway between two float32
_SMALLEST_NORMAL32 = float(np.finfo(np.float32).tiny)
_SPLITTER = float((1 << 27) + 1)  # Veltkamp's: halves the significand of a float64
_SMALLEST_SAFE, _LARGEST_SAFE = 2.0**-900, 2.0**900  # no product of these, and no rounding error of one, leaves float64


def to_integer(value: AnyFloats, to: Scalar) -> AnyArray:
    """The value truncated towards zero, as an array of the integer type ``to``; values out of range saturate.

    nvcc converts by ``cvt.rzi`` to 32 or 64 bits and cuts the result to narrower types. PTX ISA 9.0, cvt: values out of range
    are clamped; NaN becomes 0 if the source is not .f64 and the destination has 32 bits, else ``1 << (bits - 1)``.
    """
    if value.dtype.itemsize == 2:
        value = value.astype(np.float32)  # float16 doesn't reach the limits of the integers
    bits = max(32, to.bits)
    wide = np.dtype(f"{to.kind}{bits // 8}")
    low, high = int(np.iinfo(wide).min), int(np.iinfo(wide).max)
    whole = np.trunc(value)
    above, below = whole >= float(high + 1), whole < float(low)
    not_a_number = 0 if value.dtype.itemsize < 8 and bits == 32 else low if to.kind == "i" else 1 << (bits - 1)
    inside = np.where(above | below | np.isnan(whole), 0, whole).astype(wide)
    clamped = np.where(above, wide.type(high), np.where(below, wide.type(low), inside))
    return np.asarray(np.where(np.isnan(whole), wide.type(not_a_number), clamped).astype(to.dtype))


def _is_odd_significand(value: Any) -> Any:
    """Whether the last bit of a float64's significand is set.

    What is rounded to odd is rounded on to float32 as the exact number would be (Boldo and Melquiond, Emulation of FMA and
    correctly rounded sums, 2008).
    """
    return (np.asarray(value, np.float64).view(np.int64) & 1).astype(bool)


def in_double(value: Any) -> Any:
    """Numbers as floats that round on to a shorter type as they themselves do: integers beyond 2**53 go to odd neighbours."""
    if value.dtype.kind == "f" or value.dtype.itemsize < 8:
        return value if value.dtype in (np.float32, np.float64) else value.astype(np.float64)
    kind = value.dtype.type
    odd = (value >> kind(_LOST_BITS)) | ((value & kind((1 << _LOST_BITS) - 1)) != 0)
    near = value.astype(np.float64)
    return np.where(np.abs(near) < _LARGEST_EXACT, near, odd.astype(np.float64) * (1 << _LOST_BITS))


def nearest(value: AnyFloats, to: Scalar) -> AnyFloats:
    """The nearest numbers of a floating-point type, ties to even, as values of a run."""
    if to.element.decode is None:
        return value.astype(to.dtype)
    return _bfloat16_of(value)


def _bfloat16_of(value: AnyFloats) -> AnyFloats:
    """The nearest bfloat16 numbers, as float32. A float64 that isn't a float32 is first moved off the tie that it may make."""
    single = np.asarray(value, np.float32)
    bits = single.view(np.uint32)
    if value.dtype == np.float64:
        tie = (bits & 0xFFFF) == 0x8000
        size, exact = np.abs(single.astype(np.float64)), np.abs(value)
        bits = np.where(tie & (exact > size), bits + 1, np.where(tie & (exact < size), bits - 1, bits)).astype(np.uint32)
    even = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return np.asarray(np.where(np.isnan(single), np.float32(np.nan), even.view(np.float32)))


def odd_sum(a: AnyFloats, b: AnyFloats, c: AnyFloats) -> Doubles:
    """The product of a and b plus c, for numbers of at most 24 bits, as float64 rounded to odd: rounding it on is exact."""
    return np.asarray(_sum_to_odd(a.astype(np.float64) * b, c.astype(np.float64)))


def exact_sum(x: Doubles, y: Doubles) -> tuple[Doubles, Doubles]:
    """The rounded sum of two float64, and its rounding error."""
    return _exact_sum(x, y)


def exact_product(x: Doubles, y: Doubles) -> tuple[Doubles, Doubles]:
    """The rounded product of two float64, and its rounding error, which is exact unless it underflows."""
    return _exact_product(x, y)


def half_away(value: AnyFloats) -> AnyFloats:
    """The nearest integer, halves away from zero: C's round."""
    size = np.abs(value)
    whole = np.trunc(size)
    return np.asarray(np.copysign(whole + (size - whole >= 0.5), value))


def positive_difference(x: AnyFloats, y: AnyFloats) -> AnyFloats:
    """The positive difference: C's fdim."""
    return np.where(x <= y, x.dtype.type(0), x - y)


def smaller(x: AnyFloats, y: AnyFloats) -> AnyFloats:
    """The smaller number: C's fmin. Of two zeros, the negative one is smaller (PTX ISA, min)."""
    return np.where((x == 0) & (y == 0), -(-x - y), np.fmin(x, y))


def larger(x: AnyFloats, y: AnyFloats) -> AnyFloats:
    """The larger number: C's fmax. Of two zeros, the positive one is larger (PTX ISA, max)."""
    return np.where((x == 0) & (y == 0), x + y, np.fmax(x, y))


def remainder(x: AnyFloats, y: AnyFloats) -> AnyFloats:
    """The IEEE 754 remainder: x minus the multiple of y nearest to x, exact."""
    size, by = np.abs(x).astype(np.float64), np.abs(y).astype(np.float64)
    fits = by <= np.finfo(np.float64).max / 2
    rest = np.where(fits, np.fmod(size, np.where(fits, 2 * by, 1)), size)
    half = by / 2
    is_tiny = by < 2 * np.finfo(np.float64).tiny  # where half of it may be inexact
    is_beyond = np.where(is_tiny, rest + rest > by, rest > half)
    rest = np.where(is_beyond, rest - by, rest)
    is_beyond &= np.where(is_tiny, rest + rest >= by, rest >= half)
    rest = np.where(is_beyond, rest - by, rest)
    rest = np.where(np.isinf(by) & np.isfinite(size), size, rest)
    rest = np.where((by == 0) | np.isnan(by) | ~np.isfinite(size), np.nan, rest)
    return np.where(np.signbit(x), -rest, rest).astype(x.dtype)


def fused(a: AnyFloats, b: AnyFloats, c: AnyFloats) -> AnyFloats:
    """The product of a and b plus c, rounded once."""
    return _fused32(a, b, c) if a.dtype == np.float32 else _fused64(a, b, c)


def _fused32(a: AnyFloats, b: AnyFloats, c: AnyFloats) -> AnyFloats:
    """The product of two float32 is exact in float64; their sum is rounded to odd where rounding it twice might go wrong."""
    product, addend = a.astype(np.float64) * b, c.astype(np.float64)
    total = np.asarray(product + addend)
    may_be_halfway = (total.view(np.int64) & _LAST_BITS) == _MIDPOINT
    may_be_halfway |= np.abs(total) < _SMALLEST_NORMAL32
    if may_be_halfway.any():
        total = np.where(may_be_halfway & np.isfinite(total), _sum_to_odd(product, addend), total)
    return np.asarray(total.astype(np.float32))


def _fused64(a: AnyFloats, b: AnyFloats, c: AnyFloats) -> AnyFloats:
    """Error-free transformations where they work, else exact arithmetic lane by lane."""
    a, b, c = np.broadcast_arrays(a, b, c)
    size = np.abs(a * b)
    safe = (np.abs(a) < _LARGEST_SAFE) & (np.abs(b) < _LARGEST_SAFE) & (np.abs(c) < _LARGEST_SAFE)
    safe &= (size > _SMALLEST_SAFE) & (size < _LARGEST_SAFE)
    plain = (a == 0) | (b == 0) | ~(np.isfinite(a) & np.isfinite(b) & np.isfinite(c))
    result = np.array(np.where(plain, a * b + c, _emulated(a, b, c)))
    for lane in np.argwhere(~(safe | plain)):
        at = tuple(lane)
        result[at] = _exactly(float(a[at]), float(b[at]), float(c[at]))
    return result


def _emulated(a: Doubles, b: Doubles, c: Doubles) -> Doubles:
    """Boldo and Melquiond's algorithm for a * b + c."""
    high, low = _exact_product(a, b)
    upper, rest = _exact_sum(c, low)
    total, error = _exact_sum(high, upper)
    return np.asarray(total + _sum_to_odd(rest, error))


def _exact_sum(x: Doubles, y: Doubles) -> tuple[Doubles, Doubles]:
    """The rounded sum, and its rounding error (Knuth)."""
    total = x + y
    of_y = total - x
    return total, (x - (total - of_y)) + (y - of_y)


def _exact_product(x: Doubles, y: Doubles) -> tuple[Doubles, Doubles]:
    """The rounded product, and its rounding error (Dekker)."""
    product = x * y
    (x1, x2), (y1, y2) = _split_double(x), _split_double(y)
    return product, ((x1 * y1 - product) + x1 * y2 + x2 * y1) + x2 * y2


def _split_double(x: Doubles) -> tuple[Doubles, Doubles]:
    scaled = _SPLITTER * x
    high = scaled - (scaled - x)
    return high, x - high


def _sum_to_odd(x: Doubles, y: Doubles) -> Doubles:
    """The sum rounded to odd: of the two neighbours of an inexact sum that with an odd significand."""
    total, error = _exact_sum(x, y)
    total = np.asarray(total)
    outwards = np.where((error > 0) == (total > 0), 1, -1)
    moved = (total.view(np.int64) + outwards).view(np.float64)
    return np.where((error == 0) | np.isnan(error) | _is_odd_significand(total), total, moved)


def _exactly(a: float, b: float, c: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not exact:
        return a * b + c if c == 0 else 0.0
    try:
        return float(exact)
    except OverflowError:
        return np.inf if exact > 0 else -np.inf


PointerClosure = Callable[[Machine], tuple[Any, Any]]
Finish = Callable[[Machine, Any, Any], Any]  # the new value of an assignment, from the old one and its right side
ArrayValue = np.ndarray


class Partial:
    """A value that only some lanes have written."""

    __slots__ = ("value", "written")

    def __init__(self, value: Any, written: Bools) -> None:
        self.value = value
        self.written = written


def merged(mask: Any, new: Any, old: Any, scalar: Scalar | None) -> Any:
    """The values of ``new`` for the lanes in ``mask``, of ``old`` for the others. Vectors merge by component, pointers by
    offset.
    """
    assert mask is not None
    if old is None:
        return [Partial(each, mask) for each in new] if isinstance(new, list) else Partial(new, mask)
    if isinstance(old, Partial):
        written = old.written | mask
        value = merged(mask, new, old.value, scalar)
        return value if written.all() else Partial(value, written)
    if isinstance(new, list):
        return [merged(mask, n, o, scalar) for n, o in zip(new, old, strict=True)]
    if isinstance(new, tuple):
        return joined(mask, new, old)
    dtype = np.dtype(np.int64) if scalar is None else scalar.running
    return np.where(mask, _typed_lanes(new, dtype), _typed_lanes(old, dtype))


def _typed_lanes(value: Any, dtype: np.dtype) -> Any:  # type: ignore[type-arg]
    return value if isinstance(value, ArrayValue) else dtype.type(value)


def read(machine: Machine, value: Any, name: str, place: Place) -> Any:
    """The value, after a check that all active lanes have written it."""
    if value is None:
        raise machine.fault(tr("{name} is read before it is written", name=name), place, id="uninitialised-read")
    if isinstance(value, Partial):
        missing = ~value.written if machine.mask is None else machine.mask & ~value.written
        if missing.any():
            raise machine.fault(tr("{name} is read before it is written", name=name), place, missing, id="uninitialised-read")
        return value.value
    return value


def conversion(source: Scalar, to: Scalar) -> Callable[[Any], Any]:
    """The function that converts a value between two types as nvcc does."""
    dtype = to.dtype
    if to.kind == "b":
        return lambda v: v != 0 if isinstance(v, ArrayValue) else bool(v)
    if to.element.decode is not None:
        return lambda v: nearest(in_double(v), to) if isinstance(v, ArrayValue) else _lone(v, source, to)
    if source.is_float and to.is_float:
        return lambda v: v.astype(dtype) if isinstance(v, ArrayValue) else constant(float(v), to)
    if source.is_float:
        return lambda v: to_integer(v, to) if isinstance(v, ArrayValue) else walk.converted(float(v), source, to)
    return lambda v: v.astype(dtype) if isinstance(v, ArrayValue) else constant(walk.converted(v, source, to), to)


def _lone(value: Any, source: Scalar, to: Scalar) -> Any:
    return constant(float(value) if source.is_float else walk.converted(value, source, to), to)


def constant(value: Any, scalar: Scalar) -> Any:
    """A folded number as a runtime value of its type."""
    if not scalar.is_float or scalar.bits == 64:
        return value
    return scalar.running.type(rounded(value, scalar) if scalar.element.decode is not None else value)


def binary(op: str, within: Scalar, a: Closure, b: Closure, place: Place) -> Closure:
    """The closure of ``a op b`` in the type ``within``."""
    if op in walk.COMPARISONS:
        return _comparison_closure(walk.OPERATORS[op], a, b)
    if within.is_float:
        return _float_closure(op, within, a, b)
    if op in ("/", "%"):
        return _division(op, within, a, b, place)
    if op in ("<<", ">>"):
        return _shift_closure(op, within, a, b)
    return _integer_closure(walk.OPERATORS[op], within, a, b)


def _comparison_closure(apply: Callable[[Any, Any], Any], a: Closure, b: Closure) -> Closure:
    def run(machine: Machine) -> Any:
        result = apply(a(machine), b(machine))
        return result if isinstance(result, ArrayValue) else bool(result)

    return run


def _float_closure(op: str, within: Scalar, a: Closure, b: Closure) -> Closure:
    apply = np.divide if op == "/" else walk.OPERATORS[op]
    if within.element.decode is not None:
        return lambda machine: nearest(apply(a(machine), b(machine)), within)
    return lambda machine: apply(a(machine), b(machine))


def _integer_closure(apply: Callable[[Any, Any], Any], within: Scalar, a: Closure, b: Closure) -> Closure:
    low, high = (-(2 ** (within.bits - 1)), 2 ** (within.bits - 1) - 1) if within.kind == "i" else (0, 2**within.bits - 1)

    def run(machine: Machine) -> Any:
        result = apply(a(machine), b(machine))
        if result.__class__ is int and not low <= result <= high:
            return walk.wrap(result, within)
        return result

    return run


def _shift_closure(op: str, within: Scalar, a: Closure, b: Closure) -> Closure:
    """The closure of a shift. NumPy takes the amount as unsigned and clamps it, as PTX does; PTX uses 32 bits of a 64-bit
    amount.
    """
    apply, bits = (np.left_shift if op == "<<" else np.right_shift), walk.SHIFT_BITS if within.bits == 64 else -1

    def run(machine: Machine) -> Any:
        x, y = a(machine), b(machine)
        if isinstance(x, ArrayValue) or isinstance(y, ArrayValue):
            return apply(_typed_lanes(x, within.dtype), y if bits < 0 else y & bits)
        return walk.apply_binary(op, x, y, within)

    return run


def _division(op: str, within: Scalar, a: Closure, b: Closure, place: Place) -> Closure:
    def run(machine: Machine) -> Any:
        x, y = a(machine), b(machine)
        zero = y == 0
        if zero is True or (isinstance(y, ArrayValue) and (zero if machine.mask is None else zero & machine.mask).any()):
            raise machine.fault(tr("integer division by zero"), place, zero, id="division-by-zero")
        if not isinstance(x, ArrayValue) and not isinstance(y, ArrayValue):
            return walk.apply_binary(op, x, y, within)
        if isinstance(y, ArrayValue):
            y = np.where(zero, within.dtype.type(1), y)
        return _truncating(op, x, y, within)

    return run


def _truncating(op: str, x: Any, y: Any, within: Scalar) -> Any:
    """The quotient or remainder rounded towards zero, as in C; NumPy rounds down, which differs if the signs do."""
    if within.kind == "u" or (_least_lane(x) >= 0 and _least_lane(y) > 0):
        return x // y if op == "/" else x % y
    rest = np.fmod(_typed_lanes(x, within.dtype), y)
    return rest if op == "%" else (x - rest) // y


def _least_lane(value: Any) -> Any:
    return value.min() if isinstance(value, ArrayValue) else value


def unary(op: str, within: Scalar, a: Closure) -> Closure:
    if op == "!":
        return lambda machine: np.logical_not(v) if isinstance(v := a(machine), ArrayValue) else not v
    apply = operator.neg if op == "-" else operator.invert

    def run(machine: Machine) -> Any:
        result = apply(a(machine))
        return walk.wrap(result, within) if result.__class__ is int else result

    return run
