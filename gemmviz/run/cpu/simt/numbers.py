"""Floats that hold numbers and nothing of a matrix: sizes divided, rounded up, compared. What follows from them follows from
the sizes alone.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from gemmviz.source.nodes import (
    Assign,
    Barrier,
    Binary,
    Call,
    Component,
    Const,
    Convert,
    Declare,
    Deref,
    Expr,
    Extent,
    Index,
    Inline,
    Logic,
    Read,
    Return,
    Select,
    Sequence,
    Unary,
)
from gemmviz.source.program_parts import Program
from gemmviz.source.types import Scalar
from gemmviz.source.walk import parts


def is_float(ctype: Any) -> bool:
    """Whether a type is that of one floating-point number."""
    return isinstance(ctype, Scalar) and ctype.is_float


@lru_cache(maxsize=64)
def number_slots(program: Program, contents: frozenset[int]) -> frozenset[int]:
    """The float variables that never hold a value of a matrix. ``contents``: the integer variables that may."""
    given = list(_given(program))
    slots = {slot for slot, _ in given} | {each.slot for each in program.parameters if is_float(each.type)}
    while True:
        tainted = {slot for slot, value in given if slot in slots and not is_number(value, slots, contents)}
        if not tainted:
            return frozenset(slots)
        slots -= tainted


def _given(program: Program) -> Iterator[tuple[int, Expr]]:
    """Every float variable with everything that it is given."""
    for part in parts(program.body):
        match part:
            case Declare(slot=slot, value=value) | Return(slot=int(slot), value=value) if value is not None:
                if is_float(value.type):
                    yield slot, value
            case Assign(target=Read(slot=slot, type=ctype), value=value) if is_float(ctype):
                yield slot, value
            case Inline(bindings=bindings):
                yield from ((slot, value) for slot, value in bindings if is_float(value.type))


def is_number(node: Expr, slots: frozenset[int] | set[int], contents: frozenset[int]) -> bool:
    """Whether a value follows from numbers alone, where the float variables in ``slots`` and the integers not in ``contents``
    hold such.
    """
    match node:
        case Const() | Index() | Extent():
            return True
        case Read(slot=slot, type=Scalar() as ctype):
            return slot in slots if ctype.is_float else slot not in contents
        case Unary(operand=operand) | Convert(operand=operand):
            return is_number(operand, slots, contents)
        case Binary(left=left, right=right) | Logic(left=left, right=right):
            return is_number(left, slots, contents) and is_number(right, slots, contents)
        case Select(condition=condition, then=then, otherwise=otherwise):
            return all(is_number(each, slots, contents) for each in (condition, then, otherwise))
        case Assign(target=Read() as target, value=value):
            return is_number(target, slots, contents) and is_number(value, slots, contents)
        case Call(name=name, args=args):
            return not name.startswith("__shfl") and all(is_number(each, slots, contents) for each in args)
        case Sequence(parts=several):
            return all(is_number(each, slots, contents) for each in several)
        case Inline(bindings=bindings, body=body, result=result):
            reads_none = not any(isinstance(part, Deref | Component | Barrier) for part in parts(body))
            bound = [slot for slot, value in bindings if is_float(value.type)]
            own = bound + ([result] if result is not None and is_float(node.type) else [])
            return reads_none and slots.issuperset(own) and all(is_number(value, slots, contents) for _, value in bindings)
    return False
