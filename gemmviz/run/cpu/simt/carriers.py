"""Finds the variables whose values can reach shared memory, which alone determine the contents of its tiles."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from gemmviz.run.cpu.simt.contents import contents
from gemmviz.source.nodes import (
    Assign,
    Atomic,
    Base,
    Call,
    Component,
    Copy,
    Declare,
    DeclareArray,
    Deref,
    Inline,
    Offset,
    Read,
    Reinterpret,
    Return,
    Wait,
)
from gemmviz.source.program_parts import Program
from gemmviz.source.types import PointerType, Scalar
from gemmviz.source.walk import parts

_Given = tuple[set[int], set[int]]  # variables, and those that they are given something of


@lru_cache(maxsize=64)
def carriers(program: Program) -> frozenset[int]:
    """Slots whose values may be stored into shared memory, directly or through other variables and pointers to them.

    Integers that follow from the sizes and the thread's indices are not included.
    """
    held = contents(program).slots
    given = [*_given(program.body, held)]
    found = {slot for node in parts(program.body) for value in _stored(node) for slot in _slots(value, held)}
    while True:
        more = {slot for to, of in given if to & found for slot in of} - found
        if not more:
            return frozenset(found)
        found |= more


def brings_nothing(node: Any, carriers: frozenset[int], held: frozenset[int]) -> bool:
    """Whether a part of a kernel neither stores into shared memory nor changes a variable that may reach it.

    ``held``: the integer variables that hold something of a memory.
    """
    for part in parts(node):
        stores = isinstance(part, Copy | Wait) or next(_stored(part), None) is not None
        passes_pointer = isinstance(part, Call) and any(isinstance(arg.type, PointerType) for arg in part.args)
        if stores or passes_pointer:
            return False
    return not any(to & carriers for to, _ in _given(node, held))


def _stored(node: Any) -> Iterator[Any]:
    """What an assignment or an atomic operation on shared memory stores there."""
    match node:
        case Assign(target=target, value=value) if _is_shared(target):
            yield value
        case Atomic(target=target, args=args) if _is_shared(target):
            yield from args


def _given(node: Any, held: frozenset[int]) -> Iterator[_Given]:
    for part in parts(node):
        match part:
            case Declare(slot=slot, value=value) | Return(slot=int(slot), value=value) if value is not None:
                yield from _both_ways({slot}, value, held)
            case DeclareArray(slot=slot, values=tuple(values)):
                yield from (({slot}, _slots(value, held)) for value in values)
            case Assign(target=target, value=value):
                yield from _both_ways(_changed(target, held), value, held)
            case Inline(bindings=bindings):
                for slot, value in bindings:
                    yield from _both_ways({slot}, value, held)


def _both_ways(to: set[int], value: Any, held: frozenset[int]) -> Iterator[_Given]:
    """The slots that a value goes to and comes from; for a pointer also reversed, as a write through it changes its target."""
    yield to, _slots(value, held)
    if isinstance(value.type, PointerType):
        yield _slots(value, held), to


def _slots(node: Any, held: frozenset[int]) -> set[int]:
    """The variables in a node, without integers that hold nothing of a memory."""
    read = (part for part in parts(node) if isinstance(part, Base | Read))
    return {part.slot for part in read if isinstance(part, Base) or part.slot in held or not _is_integer(part)}


def _is_integer(node: Read) -> bool:
    return isinstance(node.type, Scalar) and not node.type.is_float


def _changed(target: Any, held: frozenset[int]) -> set[int]:
    """The variable or array that an assignment changes or through which it reaches memory."""
    while isinstance(target, Deref | Offset | Reinterpret | Component):
        target = target.of if isinstance(target, Component) else target.pointer
    return {target.slot} if isinstance(target, Read | Base) else _slots(target, held)


def _is_shared(target: Any) -> bool:
    while isinstance(target, Component):
        target = target.of
    return isinstance(target, Deref) and getattr(target.pointer.type, "space", None) not in ("global", "local")
