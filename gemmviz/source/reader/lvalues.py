"""Lowers lvalues: what an assignment writes, or a reference names, also where C++ chooses it or computes something before it.

An lvalue is a variable, a component of one, memory, a ``Select`` of lvalues, or a ``Sequence`` that ends with one.
"""

from gemmviz.model.records import replace
from gemmviz.source.nodes import Assign, Component, Const, Deref, Expr, Inline, Read, Select, Sequence
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.library import RawType
from gemmviz.source.reader.lowering import Lowering, component_of, space_of
from gemmviz.source.reader.symbols import Thing
from gemmviz.source.reader.syntax import bare, binary_symbol
from gemmviz.source.types import BOOL, INT
from gemmviz.source.walk import parts


def takes_lvalue(low: Lowering, raw: RawType) -> bool:
    """Whether a canonical type is a reference that binds to lvalues only."""
    return bool(raw.kind == k.T_LVALUE_REFERENCE) and not low.types.is_const(low.cursors.lib.getPointeeType(raw))


def lvalue(low: Lowering, node: Node) -> Expr | Thing:
    """What an expression designates, where C++ requires that it designates something."""
    node = bare(node)
    if node.kind == k.CONDITIONAL_OPERATOR and len(node.parts) == 3:
        return _chosen(low, *node.parts)
    if node.kind == k.BINARY_OPERATOR and binary_symbol(low.cursors, node) == ",":
        return _behind(low.discarded(node.parts[0]), lvalue(low, node.parts[1]))
    match low.place_node(node):
        case Component(of=Deref() as of) as component:
            return component_of(of, component)
        case Assign(target=target, gives_old=False) as assigned if not any(
            isinstance(each, Assign | Inline) for each in parts(target)
        ):
            return _behind(assigned, replace(target, access=None) if isinstance(target, Deref) else target)
        case found:
            return found


def _chosen(low: Lowering, condition: Node, then: Node, otherwise: Node) -> Expr | Thing:
    chosen = low.condition(condition)
    if isinstance(chosen, Const):
        return lvalue(low, then if chosen.value else otherwise)
    first, second = (low.expression_of(lvalue(low, each), each) for each in (then, otherwise))
    if isinstance(first, Deref) and isinstance(second, Deref) and space_of(first.pointer) == space_of(second.pointer):
        return replace(first, pointer=Select(first.pointer.type, chosen, first.pointer, second.pointer))
    return Select(first.type, chosen, first, second)


def _behind(first: Expr, place: Expr | Thing) -> Expr | Thing:
    """The lvalue ``place``, before which ``first`` is evaluated."""
    match place:
        case Thing(effects=effects):
            return replace(place, effects=(first, *effects))
        case Deref(pointer=pointer):
            return replace(place, pointer=Sequence(pointer.type, (first, pointer)))
    return Sequence(place.type, (first, place))


def held(low: Lowering, place: Expr | Thing, bindings: list[tuple[int, Expr]], node: Node) -> Expr | Thing:
    """The lvalue that a reference names; ``bindings`` gets what is evaluated once, where the reference is declared."""
    match place:
        case Sequence(parts=(*before, last)):
            bindings.append((low.new_slot(), Sequence(INT, (*before, Const(INT, 0)))))
            return held(low, last, bindings, node)
        case Select(condition=condition, then=then, otherwise=otherwise):
            slot = low.new_slot()
            bindings.append((slot, condition))
            first, second = (low.expression_of(held(low, each, bindings, node), node) for each in (then, otherwise))
            return Select(place.type, Read(BOOL, slot, "", False, low.place(node)), first, second)
    return place
