"""Copies of structs, one assignment for each number, vector or pointer in them."""

from collections.abc import Iterator

from gemmviz.source.nodes import Const, Deref, Expr, Offset, Read, Sequence
from gemmviz.source.reader.assign import assign
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.objects import is_union, member_of, struct_fields
from gemmviz.source.reader.symbols import Thing
from gemmviz.source.types import INT, VOID, ArrayType, PointerType, StructType, size_bytes, units_of


def copied(low: Lowering, target: Expr | Thing, value: Expr | Thing, node: Node) -> Thing | Expr:
    """The node of ``target = value`` for structs."""
    effects = (value.effects if isinstance(value, Thing) else ()) + (target.effects if isinstance(target, Thing) else ())
    pairs = [(to, of) for to, of in _pairs(low, target, value, node) if not _is_unset(low, of)]
    parts = (*effects, *(_assigned(low, to, of, node) for to, of in pairs))
    if isinstance(target, Thing):
        return Thing(target.type, target.symbol, parts)
    return Sequence(VOID, parts)


def _is_unset(low: Lowering, value: Expr) -> bool:
    """Whether a member has no value for sure: a copy leaves it so."""
    return isinstance(value, Read) and low.unset.get(value.slot) == len(low.loop_stack)


def _assigned(low: Lowering, target: Expr, value: Expr, node: Node) -> Expr:
    return assign(low, target, "", low.loaded(value, node), node, node, False)


def _pairs(low: Lowering, target: Expr | Thing, value: Expr | Thing, node: Node) -> Iterator[tuple[Expr, Expr]]:
    """The leaves of two structs of one type."""
    struct = target.type
    if isinstance(struct, StructType):
        members = struct_fields(low, struct)
        if is_union(struct):  # the largest member has all bytes
            members = (max(members, key=lambda each: size_bytes(each[1].type)),)
        for key, _ in members:
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
