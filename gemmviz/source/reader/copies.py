"""Copies of structs, one assignment for each number, vector or pointer in them."""

from collections.abc import Iterator

from gemmviz.source.nodes import Const, Deref, Expr, Offset, Sequence
from gemmviz.source.reader.assign import assign
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.objects import member_at, struct_fields
from gemmviz.source.reader.places import designated
from gemmviz.source.reader.symbols import Object, Thing
from gemmviz.source.types import INT, VOID, ArrayType, PointerType, StructType, units_of


def copied(low: Lowering, target: Expr | Thing, value: Expr | Thing, node: Node) -> Thing | Expr:
    """The node of ``target = value`` for structs."""
    effects = (value.effects if isinstance(value, Thing) else ()) + (target.effects if isinstance(target, Thing) else ())
    parts = (*effects, *(_assigned(low, to, of, node) for to, of in _pairs(low, target, value, node)))
    if isinstance(target, Thing):
        return Thing(target.type, target.symbol, parts)
    return Sequence(VOID, parts)


def _assigned(low: Lowering, target: Expr, value: Expr, node: Node) -> Expr:
    return assign(low, target, "", low.loaded(value, node), node, node, False)


def _pairs(low: Lowering, target: Expr | Thing, value: Expr | Thing, node: Node) -> Iterator[tuple[Expr, Expr]]:
    """The leaves of two structs of one type."""
    struct = target.type
    if isinstance(struct, StructType):
        for key, _ in struct_fields(low, struct):
            yield from _pairs(low, member_of(low, target, key, node), member_of(low, value, key, node), node)
    elif isinstance(struct, ArrayType):
        assert not isinstance(target, Thing)
        assert not isinstance(value, Thing)
        count = struct.dims[0] * struct.stride
        for at in range(count):
            yield from _pairs(low, _element(low, target, at, node), _element(low, value, at, node), node)
    else:
        assert not isinstance(target, Thing)
        assert not isinstance(value, Thing)
        yield target, value


def _element(low: Lowering, array: Expr, at: int, node: Node) -> Expr:
    assert isinstance(array.type, ArrayType)
    element, space = array.type.element, array.type.space
    pointer = PointerType(element, space)
    return Deref(element, Offset(pointer, array, Const(INT, at), units_of(element)), low.place(node))


def member_of(low: Lowering, of: Expr | Thing, key: int, node: Node) -> Expr | Thing:
    """The member of a struct whose declaration has this key."""
    if isinstance(of, Thing):
        assert isinstance(of.symbol, Object)
        return designated(low, of.symbol.members[key], node)
    assert isinstance(of, Deref)
    return member_at(low, of, low.types.fields[key], node)
