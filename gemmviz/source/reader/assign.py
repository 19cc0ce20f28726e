"""One assignment: its conversion, its operator, its accesses."""

from gemmviz.source.nodes import (
    Assign,
    Binary,
    Block,
    Component,
    Const,
    Declare,
    Deref,
    Expr,
    Inline,
    Read,
    Select,
    Sequence,
)  # fmt: skip
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.errors import MixedSpaces
from gemmviz.source.reader.expressions import combined
from gemmviz.source.reader.lowering import Lowering, component_of
from gemmviz.source.types import VOID, PointerType, Scalar


def assign(low: Lowering, target: Expr, op: str, value: Expr, node: Node, left: Node, gives_old: bool) -> Expr:
    """The node of ``target op= value``. The read of a compound assignment comes before its write; each is an access."""
    low.unset.pop(_slot(target), None)
    match target:
        case Sequence(parts=(*before, last)):
            kept, value = _kept(low, value, node)
            return Sequence(last.type, (*kept, *before, assign(low, last, op, value, node, left, gives_old)))
        case Select(type=ctype, condition=condition, then=then, otherwise=otherwise):
            kept, value = _kept(low, value, node)
            arms = [assign(low, each, op, value, node, left, gives_old) for each in (then, otherwise)]
            return Sequence(ctype, (*kept, Select(ctype, condition, *arms)))
        case Component(of=Deref() as of):
            target = component_of(of, target)
        case Read(type=PointerType() as have):
            return _assign_pointer(low, target, op, value, have, node, gives_old)
    if not _is_place(target):
        raise low.error("this can't be assigned to", left)
    within: Scalar | None = None
    if op:
        target = low.loaded(target, left)
        combined_value = combined(low, op, target, value, node)
        if not isinstance(combined_value, Binary) or not isinstance(combined_value.left.type, Scalar):
            raise low.error(f"{op}= does not work on a {target.type}", node)
        within, value = combined_value.left.type, combined_value.right
    else:
        value = low.converted(value, target.type, node)
    store = None
    if isinstance(target, Deref) and isinstance(target.pointer.type, PointerType) and target.pointer.type.space != "local":
        store = low.access("store", target, left)
    return Assign(target.type, target, value, op or None, within, store, gives_old, low.place(node))


def _kept(low: Lowering, value: Expr, node: Node) -> tuple[tuple[Expr, ...], Expr]:
    """What evaluates a value now, and the value for later: C++17 evaluates the right side of an assignment first."""
    if isinstance(value, Const):
        return (), value
    slot, place = low.new_slot(), low.place(node)
    return (Inline(VOID, (), Block((Declare(slot, value),)), None, place),), Read(value.type, slot, "", False, place)


def _slot(target: Expr) -> int:
    while isinstance(target, Component):
        target = target.of
    return target.slot if isinstance(target, Read) else -1


def _is_place(target: Expr) -> bool:
    match target:
        case Read() | Deref():
            return True
        case Component(of=of):
            return _is_place(of)
    return False


def _assign_pointer(low: Lowering, target: Read, op: str, value: Expr, have: PointerType, node: Node, gives_old: bool) -> Expr:
    moved = combined(low, op, target, value, node) if op else low.converted(value, have, node)
    want = moved.type
    assert isinstance(want, PointerType)
    key = low.pointers.get(target.slot, 0)
    if key in low.mixed:
        return Assign(have, target, moved, None, None, None, gives_old, low.place(node))
    if have.space is None:
        low.spaces[target.slot] = want.space
    elif want.space is not None and want.space != have.space:
        if key and "local" not in (have.space, want.space):
            raise MixedSpaces(key)
        raise low.error(f"this pointer points into {have.space} memory; it can't point into {want.space} memory too", node)
    return Assign(have.into(want.space or have.space), target, moved, None, None, None, gives_old, low.place(node))
