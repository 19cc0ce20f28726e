"""Lowers assignments (plain, compound, ++ and --) to variables, components, pointers and memory."""

from dataclasses import replace

from tree_sitter import Node

from gemmviz.source.expressions import combined
from gemmviz.source.lowering import Lowering, component_of
from gemmviz.source.nodes import Assign, Binary, Component, Const, Deref, Expr, Read
from gemmviz.source.scope import Variable
from gemmviz.source.syntax import child
from gemmviz.source.types import INT, PointerType, Scalar


def assignment_expression(low: Lowering, node: Node) -> Expr:
    op = low.tree.text(child(node, "operator")).removesuffix("=")
    value = low.value(child(node, "right"))
    return assign(low, low.expression(child(node, "left")), op, value, node, gives_old=False)


def update(low: Lowering, node: Node) -> Expr:
    argument, operator = child(node, "argument"), child(node, "operator")
    target = low.expression(argument)
    postfix = operator.start_byte > argument.start_byte
    return assign(low, target, low.tree.text(operator)[0], Const(INT, 1), node, gives_old=postfix)


def assign(low: Lowering, target: Expr, op: str, value: Expr, node: Node, *, gives_old: bool) -> Expr:
    """The node of ``target op= value``. The read of a compound assignment comes before its write; each is an access."""
    place = low.tree.place(node)
    left = _target_node(node)
    match target:
        case Component(of=Deref() as of):
            target = component_of(of, target)
        case Read(type=PointerType() as have, slot=slot):
            return _assign_pointer(low, target, op, value, slot, have, node, gives_old)
    if not _is_place(target) or _is_const(low, target):
        raise low.tree.error("this can't be assigned to", left)
    if isinstance(target, Deref) and isinstance(target.pointer.type, PointerType) and target.pointer.type.is_const:
        raise low.tree.error("this points to const elements: they can't be assigned to", left)
    within: Scalar | None = None
    if op:
        target = low.loaded(target, left)
        combined_value = combined(low, op, _as_value(target), value, node)
        if isinstance(combined_value, Binary) and isinstance(combined_value.left.type, Scalar):
            within, value = combined_value.left.type, combined_value.right
        else:
            raise low.tree.error(f"{op}= does not work on a {target.type}", node)
    else:
        value = low.converted(value, target.type, node)
    store = None
    if isinstance(target, Deref) and isinstance(target.pointer.type, PointerType) and target.pointer.type.space != "local":
        store = low.access("store", target, left, node)
    return Assign(target.type, target, value, op or None, within, store, gives_old, place)


def _target_node(node: Node) -> Node:
    return node.child_by_field_name("left") or node.child_by_field_name("argument") or node


def _as_value(target: Expr) -> Expr:
    """A stand-in for the target's value that can't fold, so that the types of a compound assignment come out right."""
    return replace(target) if not isinstance(target, Const) else target


def _is_place(target: Expr) -> bool:
    match target:
        case Read() | Deref():
            return True
        case Component(of=of):
            return _is_place(of)
    return False


def _is_const(low: Lowering, target: Expr) -> bool:
    match target:
        case Read(name=name):
            symbol = low.scope.find(name)
            return isinstance(symbol, Variable) and symbol.is_const
        case Component(of=of):
            return _is_const(low, of)
    return False


def _assign_pointer(
    low: Lowering, target: Expr, op: str, value: Expr, slot: int, have: PointerType, node: Node, gives_old: bool
) -> Expr:
    moved = combined(low, op, target, value, node) if op else value
    want = moved.type
    if not isinstance(want, PointerType) or want.to != have.to:
        raise low.tree.error(f"a {want} can't become a {have}", node)
    if have.space is None:
        _settle_space(low, slot, have.into(want.space))
    elif want.space != have.space:
        raise low.tree.error(f"this pointer points into {have.space} memory; it can't point into {want.space} memory too", node)
    return Assign(have.into(want.space), target, moved, None, None, None, gives_old, low.tree.place(node))


def _settle_space(low: Lowering, slot: int, ctype: PointerType) -> None:
    scope = low.scope
    while scope is not None:
        for symbol in scope.names.values():
            if isinstance(symbol, Variable) and symbol.slot == slot:
                symbol.type = ctype
        if scope.outer is None:
            return
        scope = scope.outer


ASSIGNMENTS = {"assignment_expression": assignment_expression, "update_expression": update}
