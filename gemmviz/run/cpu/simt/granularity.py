"""Finds the scalar types by which a kernel accesses each of its memories, and so the unit in which accesses are recorded.

The offsets of a record count elements of an array. An array that is read in parts, such as an int matrix as bytes, is recorded
in those parts; a shared array that is accessed by wider types alone, such as a pool of bytes cut into tiles of floats, in the
wider ones. So every access covers whole elements, and its bytes are exact.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from gemmviz.source.nodes import (
    Assign,
    Atomic,
    Base,
    Copy,
    Declare,
    Deref,
    Expr,
    Inline,
    Offset,
    Read,
    Reinterpret,
    Return,
    Select,
    Sequence,
)
from gemmviz.source.program_parts import Program
from gemmviz.source.types import UCHAR, PointerType, Scalar, VectorType, scalar_of
from gemmviz.source.walk import parts

AccessScalars = dict[int, Scalar]
_Targets = dict[int, set[int]]
_BYTE = UCHAR


@lru_cache(maxsize=64)
def types_of_accesses(program: Program) -> AccessScalars:
    """The scalar type that each access of a program reads or writes, by its number."""
    types: AccessScalars = {}
    for part in parts(program.body):
        match part:
            case Deref(type=ctype, access=int(access)):
                types[access] = scalar_of(ctype)
            case Assign(target=Deref(type=ctype), store=int(store)):
                types[store] = scalar_of(ctype)
            case Atomic(type=ctype, access=access):
                types[access] = scalar_of(ctype)
    return types


@lru_cache(maxsize=64)
def types_of_memories(program: Program) -> dict[int, frozenset[Scalar]]:
    """The scalar types by which each parameter and each shared array may be accessed, by slot."""
    memories = {each.slot for each in program.parameters if isinstance(each.type, PointerType)}
    memories |= {each.slot for each in program.shared}
    targets: _Targets = {slot: {slot} for slot in memories}
    flows = [*_pointer_flows(program.body)]
    changed = True
    while changed:
        changed = False
        for slot, value in flows:
            known = targets.setdefault(slot, set())
            more = _roots(value, targets) - known
            known |= more
            changed |= bool(more)
    types: dict[int, set[Scalar]] = {slot: set() for slot in memories}
    copied = {id(each) for part in parts(program.body) if isinstance(part, Copy) for each in (part.target, part.source)}
    for part in parts(program.body):
        if isinstance(part, Deref) and id(part) not in copied:  # a copy moves elements of any type
            for slot in _roots(part.pointer, targets) & memories:
                types[slot].add(scalar_of(part.type))
    return {slot: frozenset(scalars) for slot, scalars in types.items()}


def _pointer_flows(node: Any) -> Iterator[tuple[int, Expr]]:
    """Every pointer variable with everything that it is given."""
    for part in parts(node):
        match part:
            case Declare(slot=slot, value=value) | Return(slot=int(slot), value=value) if value is not None:
                if isinstance(value.type, PointerType):
                    yield slot, value
            case Assign(target=Read(slot=slot, type=PointerType()), value=value):
                if isinstance(value.type, PointerType):
                    yield slot, value
            case Inline(bindings=bindings):
                yield from ((slot, value) for slot, value in bindings if isinstance(value.type, PointerType))


def _roots(node: Expr, targets: _Targets) -> set[int]:
    """The slots of the memories into which a pointer may point; all of them if that isn't known."""
    match node:
        case Base(slot=slot) | Read(slot=slot):
            return targets.get(slot, set())
        case Offset(pointer=pointer) | Reinterpret(pointer=pointer):
            return _roots(pointer, targets)
        case Select(then=then, otherwise=otherwise):
            return _roots(then, targets) | _roots(otherwise, targets)
        case Assign(target=target):
            return _roots(target, targets)
        case Inline(result=int(result)):
            return targets.get(result, set())
        case Sequence(parts=several) if several:
            return _roots(several[-1], targets)
    return {slot for several in targets.values() for slot in several}


def recorded_scalar(declared: Scalar | None, used: frozenset[Scalar], may_widen: bool) -> Scalar:
    """The type of the elements in which accesses to a memory are recorded: the narrowest by which it is accessed.

    A memory that isn't accessed by narrower types than it is declared with keeps its own, unless it ``may_widen``. ``declared``
    is None for structs.
    """
    least = min((scalar.bytes for scalar in used), default=0)
    if declared is not None and (not used or least == declared.bytes or (least > declared.bytes and not may_widen)):
        return declared
    narrowest = [scalar for scalar in used if scalar.bytes == least]
    return min(narrowest, key=lambda scalar: (not scalar.is_float, scalar.name)) if narrowest else _BYTE


def declared_scalar(element: Any) -> Scalar | None:
    """The scalar of a declared element type; None for a struct."""
    return scalar_of(element) if isinstance(element, Scalar | VectorType) else None
