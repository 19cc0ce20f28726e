"""Values over lanes: conversion, arithmetic and merging by C's rules. Integers are Python ints if all lanes agree."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.cuda import fold
from gemmviz.cuda.fold import rounded
from gemmviz.cuda.types import Scalar
from gemmviz.model.errors import Place
from gemmviz.model.translation import tr
from gemmviz.run.cpu.simt import rounding
from gemmviz.run.cpu.simt.machine import Closure, Machine
from gemmviz.run.cpu.simt.memory import joined

PointerClosure = Callable[[Machine], tuple[Any, Any]]
Finish = Callable[[Machine, Any, Any], Any]  # the new value of an assignment, from the old one and its right side
ArrayValue = np.ndarray


class Partial:
    """A value that only some lanes have written."""

    __slots__ = ("value", "written")

    def __init__(self, value: Any, written: npt.NDArray[np.bool_]) -> None:
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
        return lambda v: rounding.nearest(rounding.in_double(v), to) if isinstance(v, ArrayValue) else _lone(v, source, to)
    if source.is_float and to.is_float:
        return lambda v: v.astype(dtype) if isinstance(v, ArrayValue) else constant(float(v), to)
    if source.is_float:
        return lambda v: rounding.to_integer(v, to) if isinstance(v, ArrayValue) else fold.converted(float(v), source, to)
    return lambda v: v.astype(dtype) if isinstance(v, ArrayValue) else constant(fold.converted(v, source, to), to)


def _lone(value: Any, source: Scalar, to: Scalar) -> Any:
    return constant(float(value) if source.is_float else fold.converted(value, source, to), to)


def constant(value: Any, scalar: Scalar) -> Any:
    """A folded number as a runtime value of its type."""
    if not scalar.is_float or scalar.bits == 64:
        return value
    return scalar.running.type(rounded(value, scalar) if scalar.element.decode is not None else value)


def binary(op: str, within: Scalar, a: Closure, b: Closure, place: Place) -> Closure:
    """The closure of ``a op b`` in the type ``within``."""
    if op in fold.COMPARISONS:
        return _comparison_closure(fold.OPERATORS[op], a, b)
    if within.is_float:
        return _float_closure(op, within, a, b)
    if op in ("/", "%"):
        return _division(op, within, a, b, place)
    if op in ("<<", ">>"):
        return _shift_closure(op, within, a, b)
    return _integer_closure(fold.OPERATORS[op], within, a, b)


def _comparison_closure(apply: Callable[[Any, Any], Any], a: Closure, b: Closure) -> Closure:
    def run(machine: Machine) -> Any:
        result = apply(a(machine), b(machine))
        return result if isinstance(result, ArrayValue) else bool(result)

    return run


def _float_closure(op: str, within: Scalar, a: Closure, b: Closure) -> Closure:
    apply = np.divide if op == "/" else fold.OPERATORS[op]
    if within.element.decode is not None:
        return lambda machine: rounding.nearest(apply(a(machine), b(machine)), within)
    return lambda machine: apply(a(machine), b(machine))


def _integer_closure(apply: Callable[[Any, Any], Any], within: Scalar, a: Closure, b: Closure) -> Closure:
    low, high = (-(2 ** (within.bits - 1)), 2 ** (within.bits - 1) - 1) if within.kind == "i" else (0, 2**within.bits - 1)

    def run(machine: Machine) -> Any:
        result = apply(a(machine), b(machine))
        if result.__class__ is int and not low <= result <= high:
            return fold.wrap(result, within)
        return result

    return run


def _shift_closure(op: str, within: Scalar, a: Closure, b: Closure) -> Closure:
    """The closure of a shift. NumPy takes the amount as unsigned and clamps it, as PTX does; PTX uses 32 bits of a 64-bit
    amount.
    """
    apply, bits = (np.left_shift if op == "<<" else np.right_shift), fold.SHIFT_BITS if within.bits == 64 else -1

    def run(machine: Machine) -> Any:
        x, y = a(machine), b(machine)
        if isinstance(x, ArrayValue) or isinstance(y, ArrayValue):
            return apply(_typed_lanes(x, within.dtype), y if bits < 0 else y & bits)
        return fold.apply_binary(op, x, y, within)

    return run


def _division(op: str, within: Scalar, a: Closure, b: Closure, place: Place) -> Closure:
    def run(machine: Machine) -> Any:
        x, y = a(machine), b(machine)
        zero = y == 0
        if zero is True or (isinstance(y, ArrayValue) and (zero if machine.mask is None else zero & machine.mask).any()):
            raise machine.fault(tr("integer division by zero"), place, zero, id="division-by-zero")
        if not isinstance(x, ArrayValue) and not isinstance(y, ArrayValue):
            return fold.apply_binary(op, x, y, within)
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
        return fold.wrap(result, within) if result.__class__ is int else result

    return run
