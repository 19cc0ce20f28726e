"""Lowers constructors: of vectors, copies, and of the kernel's own structs."""

from collections.abc import Iterator

from gemmviz.source.nodes import Block, Call, Evaluate, Expr, Inline, Sequence, Stmt
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.assign import assign
from gemmviz.source.reader.copies import copied, member_of
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.initialisers import initialised, stripped, vector_of, zero_of
from gemmviz.source.reader.inlining import inlined
from gemmviz.source.reader.library import RawCursor
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.objects import struct_fields
from gemmviz.source.reader.places import designated
from gemmviz.source.reader.records import new_object
from gemmviz.source.reader.symbols import Object, Thing
from gemmviz.source.reader.syntax import bare
from gemmviz.source.types import HALF, USHORT, VOID, ArrayType, Scalar, StructType, VectorType


def braces(low: Lowering, node: Node) -> Expr | Thing:
    """The node of ``float4{1, 2, 3, 4}``, of a struct in braces, or of a value's ``T()``."""
    ctype = low.type_of(node)
    if isinstance(ctype, StructType):
        return aggregate(low, ctype, node, node)
    return initialised(low, node, ctype) if node.kind == k.INIT_LIST_EXPR else zero_of(low, ctype, node)


def constructed(low: Lowering, declaration: RawCursor, arguments: list[Node], node: Node) -> Expr | Thing:
    """The node of a constructor's call: a copy is its argument, which whoever uses it copies."""
    ctype = low.type_of(node)
    if isinstance(ctype, Scalar | VectorType):
        return _made(low, ctype, arguments, node)
    if isinstance(ctype, ArrayType) or not isinstance(ctype, StructType):
        raise low.unsupported(node)
    if _is_copy(low, declaration, arguments, ctype):
        return low.place_node(arguments[0])
    statements: list[Stmt] = []
    target = new_object(low, ctype, statements, node)
    run_constructor(low, target, declaration, arguments, statements, node)
    return Thing(ctype, target.symbol, (Inline(VOID, (), Block(tuple(statements)), None, low.place(node)),))


def _is_copy(low: Lowering, declaration: RawCursor, arguments: list[Node], ctype: StructType) -> bool:
    if len(arguments) != 1 or low.type_of(arguments[0]) != ctype:
        return False
    definition = low.cursors.definition(declaration)
    return definition is None or not low.cursors.is_written(definition)


def _made(low: Lowering, ctype: Scalar | VectorType, arguments: list[Node], node: Node) -> Expr | Thing:
    if len(arguments) == 1:
        found = low.place_node(arguments[0])
        if isinstance(found.type, StructType):
            return _of_bits(low, found, found.type, ctype, node)
        if isinstance(found, Thing) or found.type == ctype:
            return found
        return low.converted(low.loaded(found, bare(arguments[0])), ctype, node)
    if not arguments:
        return zero_of(low, ctype, node)
    assert isinstance(ctype, VectorType)
    return vector_of(low, [low.value(each) for each in arguments], ctype, node)


def _of_bits(low: Lowering, raw: Expr | Thing, struct: StructType, ctype: Scalar | VectorType, node: Node) -> Expr:
    """A number given as CUDA's struct of its bits, such as __half_raw."""
    if not isinstance(ctype, Scalar) or len(struct.fields) != 1:
        raise low.error(f"a {struct} can't become a {ctype}", node, id="unsupported")
    bits = low.loaded(low.expression_of(member_of(low, raw, struct_fields(low, struct)[0][0], node), node), node)
    word = "half" if ctype == HALF else ctype.element.name
    found = Call(ctype, f"__ushort_as_{word}", (low.converted(bits, USHORT, node),), low.place(node))
    effects = raw.effects if isinstance(raw, Thing) else ()
    return Sequence(ctype, (*effects, found)) if effects else found


def run_constructor(
    low: Lowering, target: Thing, declaration: RawCursor, arguments: list[Node], statements: list[Stmt], node: Node
) -> None:
    """Adds the statements of a constructor that fills ``target``."""
    definition = low.cursors.definition(declaration)
    default_members(low, target, statements, node)
    if definition is None or not low.cursors.is_written(definition):
        return
    found = inlined(low, definition, arguments, node, target, before=lambda tree: _member_initialisers(low, target, tree, node))
    if isinstance(found, Thing):
        statements += [Evaluate(each) for each in found.effects]
    else:
        statements.append(Evaluate(found))


def _member_initialisers(low: Lowering, target: Thing, function: Node, node: Node) -> list[Stmt]:
    """The statements of what stands between a constructor's parameters and its body."""
    assert isinstance(target.symbol, Object)
    found: list[Stmt] = []
    member: int | None = None
    for each in function.children:
        if each.kind == k.MEMBER_REF:
            declaration = low.cursors.referenced(each)
            member = None if declaration is None else declaration.first
        elif member is not None and k.FIRST_EXPRESSION <= each.kind <= k.LAST_EXPRESSION:
            place = designated(low, target.symbol.members[member], node)
            found.append(Evaluate(filled(low, place, each, node)))
            member = None
    return found


def default_members(low: Lowering, target: Thing, statements: list[Stmt], node: Node) -> None:
    """Adds the statements that give members the values of their own declarations."""
    assert isinstance(target.symbol, Object)
    for key, value in _member_values(low, target):
        symbol = target.symbol.members[key]
        statements.append(Evaluate(filled(low, designated(low, symbol, node), value, node)))


def _member_values(low: Lowering, target: Thing) -> Iterator[tuple[int, Node]]:
    assert isinstance(target.type, StructType)
    for key, _ in struct_fields(low, target.type):
        value = low.types.defaults.get(key)
        if value is not None:
            yield key, value


def filled(low: Lowering, target: Expr | Thing, value: Node, node: Node) -> Expr:
    """The node that gives a member its value."""
    if isinstance(target, Thing) or isinstance(target.type, StructType):
        inner = stripped(value)
        given = aggregate(low, target.type, inner, node) if inner.kind == k.INIT_LIST_EXPR else low.place_node(value)
        found = copied(low, target, given, node)
        return (
            found
            if not isinstance(found, Thing)
            else Inline(VOID, (), Block(tuple(Evaluate(each) for each in found.effects)), None, low.place(node))
        )
    return assign(low, target, "", initialised(low, value, target.type), node, node, False)


def aggregate(low: Lowering, ctype: object, braces: Node, node: Node) -> Thing:
    """A new object whose members are given in braces, in order; the rest have their own values or zero."""
    assert isinstance(ctype, StructType)
    statements: list[Stmt] = []
    target = new_object(low, ctype, statements, node)
    assert isinstance(target.symbol, Object)
    given = iter(braces.parts)
    for key, field in struct_fields(low, ctype):
        place = designated(low, target.symbol.members[key], node)
        value = next(given, None) or low.types.defaults.get(key)
        if value is not None:
            statements.append(Evaluate(filled(low, place, value, node)))
        elif isinstance(field.type, Scalar | VectorType):
            assert not isinstance(place, Thing)
            statements.append(Evaluate(assign(low, place, "", zero_of(low, field.type, node), node, node, False)))
    return Thing(ctype, target.symbol, (Inline(VOID, (), Block(tuple(statements)), None, low.place(node)),))


INITIALISERS = {k.INIT_LIST_EXPR: braces}
