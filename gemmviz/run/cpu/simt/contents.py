"""Integers that hold something of a memory's contents, such as elements of an int8 matrix or four floats copied as an int4.

Everything else about integers follows from the sizes and the thread's indices. A run by tags replaces the contents by tags,
floats and integers alike; where control flow or an address depends on them, it needs values.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct

from gemmviz.model.records import replace
from gemmviz.run.cpu.simt.numbers import is_float, is_number, number_slots
from gemmviz.source.nodes import (
    Assign,
    Atomic,
    Base,
    Binary,
    Call,
    Component,
    Convert,
    Declare,
    DeclareArray,
    Deref,
    Expr,
    Inline,
    Logic,
    MakeVector,
    Offset,
    Read,
    Reinterpret,
    Return,
    Select,
    Sequence,
    Unary,
)  # fmt: skip
from gemmviz.source.program_parts import Program
from gemmviz.source.types import PointerType, Scalar, VectorType
from gemmviz.source.walk import parts

_Targets = dict[int, set[int]]
_Slots = frozenset[int]


class SlotContents(Struct, frozen=True):
    """``numbers``: float variables that hold nothing of a memory; ``slots``: integer variables and local arrays that do;
    ``targets``: the local arrays to which each pointer variable may point; ``is_empty``: no integer or vector of the program
    holds something of a memory.
    """

    numbers: _Slots
    slots: _Slots
    targets: dict[int, _Slots]
    is_empty: bool = False

    def has(self, node: Expr) -> bool:
        """Whether the value of an integer or vector expression holds something of a memory, or follows from such."""
        if self.is_empty:
            return False
        match node:
            case Read(slot=slot):
                return slot in self.slots
            case Deref(access=None, pointer=pointer):
                return not self.slots.isdisjoint(self.roots(pointer))
            case Deref():
                return True
            case Component(of=of):
                return self.has(of)
            case MakeVector(parts=several) | Call(args=several):
                return any(self._reaches(each) for each in several)
            case Unary(operand=operand) | Convert(operand=operand):
                return self._reaches(operand)
            case Binary(left=left, right=right) | Logic(left=left, right=right):
                return self._reaches(left) or self._reaches(right)
            case Select(condition=condition, then=then, otherwise=otherwise):
                return any(self._reaches(each) for each in (condition, then, otherwise))
            case Assign(target=target, value=value, store=store):
                return store is not None or self._reaches(target) or self._reaches(value)
            case Inline(result=int(result)):
                return result in self.slots
            case Sequence(parts=several) if several:
                return self._reaches(several[-1])
        return isinstance(node, Atomic)

    def _reaches(self, node: Expr) -> bool:
        """Whether an operand of any type holds something of a memory."""
        if isinstance(node.type, PointerType):
            return False
        return not is_number(node, self.numbers, self.slots) if is_float(node.type) else self.has(node)

    def roots(self, pointer: Expr) -> _Slots:
        """The local arrays into which a pointer may point."""
        while isinstance(pointer, Offset | Reinterpret):
            pointer = pointer.pointer
        match pointer:
            case Base(slot=slot):
                return frozenset((slot,))
            case Read(slot=slot):
                return self.targets.get(slot, frozenset())
            case Select(then=then, otherwise=otherwise):
                return self.roots(then) | self.roots(otherwise)
            case Sequence(parts=(*_, last)):
                return self.roots(last)
        return frozenset(slot for several in self.targets.values() for slot in several)


@lru_cache(maxsize=64)
def contents(program: Program) -> SlotContents:
    """What a program's variables hold of its memories."""
    given = list(_given(program))
    targets = _targets(given)
    known = SlotContents(number_slots(program, frozenset()), frozenset(), targets)
    while True:
        more = set(known.slots)
        for to, value in given:
            if not isinstance(value.type, PointerType) and known._reaches(value):
                more |= known.roots(to.pointer) if isinstance(to, Deref) else {to}
        for several in targets.values():  # what one pointer reaches holds contents alike
            if not several.isdisjoint(more):
                more |= several
        if more == known.slots:
            return replace(known, is_empty=not any(map(known.has, _integers(program))))
        slots = frozenset(more)
        known = SlotContents(number_slots(program, slots), slots, targets)


def _integers(program: Program) -> Iterator[Expr]:
    """All integers and vectors that are computed."""
    for part in parts(program.body):
        ctype = getattr(part, "type", None)
        if isinstance(ctype, VectorType) or (isinstance(ctype, Scalar) and not ctype.is_float):
            yield part


def _given(program: Program) -> Iterator[tuple[Any, Expr]]:
    """Every variable, and every place in local memory, with everything that it is given. Floats other than in arrays are left
    out.
    """
    for part in parts(program.body):
        match part:
            case Declare(slot=slot, value=value) | Return(slot=int(slot), value=value) if value is not None:
                if not is_float(value.type):
                    yield slot, value
            case DeclareArray(slot=slot, values=tuple(values)):
                yield from ((slot, value) for value in values if not is_float(value.type))
            case Assign(target=Deref(access=None) as target, store=None, value=value):
                yield target, value
            case Assign(target=Read(slot=slot) | Component(of=Read(slot=slot)), value=value):
                if not is_float(part.target.type):
                    yield slot, value
            case Inline(bindings=bindings):
                yield from ((slot, value) for slot, value in bindings if not is_float(value.type))


def _targets(given: list[tuple[Any, Expr]]) -> dict[int, _Slots]:
    """The local arrays to which each pointer variable may point."""
    targets: _Targets = {}
    changed = True
    while changed:
        changed = False
        for slot, value in given:
            if isinstance(slot, int) and isinstance(value.type, PointerType):
                known = targets.setdefault(slot, set())
                more = _pointed(value, targets) - known
                known |= more
                changed |= bool(more)
    return {slot: frozenset(several) for slot, several in targets.items()}


def _pointed(node: Expr, targets: _Targets) -> set[int]:
    match node:
        case Base(slot=slot):
            return {slot}
        case Read(slot=slot) | Inline(result=int(slot)):
            return targets.get(slot, set())
        case Offset(pointer=pointer) | Reinterpret(pointer=pointer):
            return _pointed(pointer, targets)
        case Select(then=then, otherwise=otherwise):
            return _pointed(then, targets) | _pointed(otherwise, targets)
        case Assign(value=value):
            return _pointed(value, targets)
        case Sequence(parts=several) if several:
            return _pointed(several[-1], targets)
    return set()
