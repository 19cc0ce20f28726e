"""Lowers structured bindings: names for the elements of an array or for the members of a struct."""

from gemmviz.model.records import replace
from gemmviz.source.nodes import Block, Const, Evaluate, Expr, Stmt
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.copies import copied
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.expressions import indexed
from gemmviz.source.reader.local import local_array
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.objects import member_of, struct_fields
from gemmviz.source.reader.places import designated
from gemmviz.source.reader.records import object_copy
from gemmviz.source.reader.symbols import Alias, ArrayVariable, Thing
from gemmviz.source.types import INT, ArrayType, StructType


def bindings(low: Lowering, node: Node) -> Stmt:
    """The statement of ``auto [x, y] = value;``."""
    names = [each for each in node.children if each.kind == k.UNEXPOSED_DECL]
    given = node.parts[-1]
    while given.kind == k.UNEXPOSED_EXPR and given.parts:  # of an array, a loop that copies it
        given = given.parts[0]
    value = low.place_node(given)
    is_reference = "&" in low.types.spelling(low.cursors.type(node))
    statements: list[Stmt] = []
    if isinstance(value, Thing):
        statements += [Evaluate(each) for each in value.effects]
        value = replace(value, effects=())
    if not is_reference:
        value = _copy(low, value, statements, node)
    for each, place in zip(names, _parts(low, value, len(names), node), strict=True):
        low.declare(each.cursor, Alias(place))
    return Block(tuple(statements))


def _copy(low: Lowering, value: Expr | Thing, statements: list[Stmt], node: Node) -> Expr | Thing:
    if isinstance(value.type, StructType):
        made = object_copy(low, value, node)
        statements += [Evaluate(each) for each in made.effects]
        return replace(made, effects=())
    if not isinstance(value.type, ArrayType):
        raise low.error(f"a {value.type} has no parts", node)
    array = replace(value.type, space="local")
    slot = local_array(low, array.element, array.dims[0] * array.stride, "parts", statements, node)
    target = designated(low, ArrayVariable(slot, array), node)
    found = copied(low, target, value, node)
    assert not isinstance(found, Thing)
    statements.append(Evaluate(found))
    return target


def _parts(low: Lowering, value: Expr | Thing, count: int, node: Node) -> list[Expr | Thing]:
    if isinstance(value.type, StructType):
        members = struct_fields(low, value.type)
        if len(members) == count:
            return [member_of(low, value, key, node) for key, _ in members]
    elif isinstance(value.type, ArrayType) and not isinstance(value, Thing):
        return [indexed(low, value, Const(INT, at), node, node) for at in range(count)]
    raise low.error("structured bindings of this are not supported", node, "name the parts one by one", id="unsupported")
