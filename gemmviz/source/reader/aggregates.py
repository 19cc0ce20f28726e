"""Fills structs and arrays in place from lists in braces: one assignment for each number, vector or pointer."""

from gemmviz.source.nodes import Const, Evaluate, Expr, Stmt
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.assign import assign
from gemmviz.source.reader.copies import copied
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.expressions import indexed
from gemmviz.source.reader.initialisers import Items, initialised, stripped, vector_of, zero_of
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.objects import is_union, member_of, struct_fields
from gemmviz.source.reader.symbols import Thing
from gemmviz.source.types import INT, ArrayType, CType, Scalar, StructType, VectorType

_MOST = 4096  # elements of an array in a struct


def fill(low: Lowering, target: Expr | Thing, values: list[Node], statements: list[Stmt], node: Node) -> None:
    """Adds the statements that give ``target`` its value. What is missing is zero or has the value of its declaration."""
    _fill(low, target, Items(values), statements, node)


def _fill(low: Lowering, target: Expr | Thing, items: Items, statements: list[Stmt], node: Node) -> None:
    """Takes as many items as ``target`` needs: inner braces may be omitted."""
    value, ctype = items.next, target.type
    if isinstance(ctype, StructType | ArrayType):
        inner = None if value is None else stripped(value)
        if inner is not None and inner.kind == k.INIT_LIST_EXPR:
            items.used += 1
            parts = inner.parts
            if len(parts) == 1 and isinstance(ctype, StructType) and _is_whole(low, parts[0], ctype):
                return _fill(low, target, Items(parts), statements, node)
            items = Items(parts)
        elif value is not None and isinstance(ctype, StructType) and _is_whole(low, value, ctype):
            items.used += 1
            statements += _effects(copied(low, target, low.place_node(value), node))
            return None
        return _fill_parts(low, target, items, statements, node)
    assert not isinstance(target, Thing)
    statements.append(Evaluate(assign(low, target, "", _single(low, ctype, items, node), node, node, False)))
    return None


def _fill_parts(low: Lowering, target: Expr | Thing, items: Items, statements: list[Stmt], node: Node) -> None:
    if isinstance(target.type, StructType):
        return _fill_members(low, target, items, statements, node)
    assert isinstance(target.type, ArrayType)
    assert not isinstance(target, Thing)
    extent = target.type.dims[0]
    if extent * target.type.stride > _MOST:
        raise low.error(f"an array in a struct can have at most {_MOST:,} elements with values", node)
    for at in range(extent):
        _fill(low, indexed(low, target, Const(INT, at), node, node), items, statements, node)
    return None


def _fill_members(low: Lowering, target: Expr | Thing, items: Items, statements: list[Stmt], node: Node) -> None:
    assert isinstance(target.type, StructType)
    members = struct_fields(low, target.type)
    named = {key: each for each in items.nodes if (key := _designated(low, each)) is not None}
    if is_union(target.type):
        members = tuple(each for each in members if each[0] in named) or members[:1]
    for key, _ in members:
        place = member_of(low, target, key, node)
        given = named.get(key) if named else items.next
        default = low.types.defaults.get(key) if given is None else None
        if named or default is not None:
            chosen = default if given is None else given.parts[-1]
            _fill(low, place, Items([] if chosen is None else [chosen]), statements, node)
        else:
            _fill(low, place, items, statements, node)


def _designated(low: Lowering, node: Node) -> int | None:
    """The key of the member that ``.x = 1`` names."""
    if node.kind == k.UNEXPOSED_EXPR and node.children and node.children[0].kind == k.MEMBER_REF:
        declaration = low.cursors.referenced(node.children[0])
        return None if declaration is None else declaration.first
    return None


def _is_whole(low: Lowering, value: Node, ctype: CType) -> bool:
    return low.type_of(value) == ctype


def _single(low: Lowering, ctype: CType, items: Items, node: Node) -> Expr:
    """The value of a number, a vector or a pointer."""
    value = items.next
    if value is None:
        return zero_of(low, ctype, node)
    is_number = stripped(value).kind != k.INIT_LIST_EXPR and isinstance(low.type_of(value), Scalar)
    if isinstance(ctype, VectorType) and is_number:
        taken = items.nodes[items.used : items.used + ctype.count]
        items.used += len(taken)
        return vector_of(low, [low.value(each) for each in taken], ctype, node)
    items.used += 1
    return initialised(low, value, ctype)


def _effects(found: Expr | Thing) -> list[Stmt]:
    return [Evaluate(each) for each in (found.effects if isinstance(found, Thing) else (found,))]
