"""Refuses writes to variables of the GPU that have first values: each thread has a copy of its own here, for reading."""

from collections.abc import Iterable, Iterator
from typing import Any

from gemmviz.model.errors import Place, SourceError
from gemmviz.source.nodes import (
    Assign,
    Base,
    Component,
    Declare,
    Deref,
    Expr,
    Inline,
    Offset,
    Read,
    Reinterpret,
    Select,
    Sequence,
)
from gemmviz.source.walk import parts


def written_copy(name: str, place: Place) -> SourceError:
    """The error of a write to a copy."""
    message = f"{name} is shared by all threads and has a first value: a kernel can only read it here"
    return SourceError(message, place, remedy="pass a pointer to it as a parameter of the kernel", id="unsupported")


def check_copies(copies: dict[int, str], statements: Iterable[Any]) -> None:
    """Looks for writes through pointers to ``copies``, which are names by slots. Raises SourceError for the first."""
    if not copies:
        return
    nodes, names = [part for each in statements for part in parts(each)], dict(copies)
    while True:  # until no further variable gets a pointer to a copy
        before = len(names)
        for slot, value in _values(nodes):
            name = copy_behind(value, names)
            if name is not None:
                names.setdefault(slot, name)
        if len(names) == before:
            break
    for node in nodes:
        if isinstance(node, Assign) and (name := copy_behind(_place_of(node.target), names)) is not None:
            raise written_copy(name, node.place)


def _values(nodes: list[Any]) -> Iterator[tuple[int, Expr]]:
    """Slots and what they get."""
    for node in nodes:
        match node:
            case Declare(slot=slot, value=value) if value is not None:
                yield slot, value
            case Assign(target=Read(slot=slot), value=value):
                yield slot, value
            case Inline(bindings=bindings):
                yield from bindings


def _place_of(target: Expr) -> Expr | None:
    """The pointer through which an assignment writes."""
    while isinstance(target, Component):
        target = target.of
    return target.pointer if isinstance(target, Deref) else None


def copy_behind(value: Expr | None, names: dict[int, str]) -> str | None:
    """The name of the copy to which a pointer points; None if there is none."""
    match value:
        case Base(slot=slot) | Read(slot=slot):
            return names.get(slot)
        case Offset(pointer=pointer) | Reinterpret(pointer=pointer):
            return copy_behind(pointer, names)
        case Select(then=then, otherwise=otherwise):
            return copy_behind(then, names) or copy_behind(otherwise, names)
        case Sequence(parts=inner) if inner:
            return copy_behind(inner[-1], names)
    return None
