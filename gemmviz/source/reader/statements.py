"""Lowers C++'s statements: branches, loops, returns, expressions."""

from gemmviz.model.errors import Place
from gemmviz.source.counted import counted_loop
from gemmviz.source.nodes import Block, Break, Const, Continue, Deref, Evaluate, Expr, If, Loop, Return, Stmt
from gemmviz.source.program_parts import LoopPlace
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.copies import copied
from gemmviz.source.reader.cursors import Node, closing, skipped
from gemmviz.source.reader.declarations import NOTHING, declaration, static_assert, variable
from gemmviz.source.reader.expressions import is_null
from gemmviz.source.reader.intrinsics import STATEMENT_INTRINSICS
from gemmviz.source.reader.lowering import Lowering, space_of
from gemmviz.source.reader.ranges import RANGES
from gemmviz.source.reader.switches import SWITCHES
from gemmviz.source.reader.symbols import Thing
from gemmviz.source.reader.syntax import bare
from gemmviz.source.types import VOID, PointerType, StructType


def compound(low: Lowering, node: Node) -> Stmt:
    low.enter(node)
    low.scope_ends.append(low.place(node).end_line)
    found = Block(tuple(low.statement(each) for each in node.parts))
    low.scope_ends.pop()
    return found


def _enter_with_semicolon(low: Lowering, node: Node) -> Place:
    """Notes the statement that is read, with the semicolon behind it, and returns its place."""
    span = low.cursors.span(node)
    if span is None:
        return low.place(node)
    text, end = low.cursors.text, span[1]
    while end < len(text) and (text[end].isspace() or text.startswith(("//", "/*"), end)):
        end = skipped(text, end) if not text[end].isspace() else end + 1
    place = low.cursors.place_of((span[0], end + 1 if text[end : end + 1] == ";" else span[1]))
    low.statement_place = place
    return place


def _enter_around(low: Lowering, node: Node, last: Node) -> Place:
    """Notes a statement that ends with the statement ``last``, and returns its place."""
    if last.kind == k.COMPOUND_STMT:
        low.enter(node)
        return low.place(node)
    return _enter_with_semicolon(low, node)


def expression_statement(low: Lowering, node: Node) -> Stmt:
    _enter_with_semicolon(low, node)
    inner = bare(node)
    if inner.kind == k.CALL_EXPR:
        callee = low.cursors.referenced(inner)
        name = None if callee is None else low.cursors.name(callee)
        if callee is not None and name in STATEMENT_INTRINSICS and low.cursors.definition(callee) is None:
            return STATEMENT_INTRINSICS[name](low, name, low.cursors.arguments(inner), inner)
    return Evaluate(low.discarded(node))


def declared(low: Lowering, node: Node) -> Stmt:
    low.enter(node)
    return declaration(low, node)


def if_statement(low: Lowering, node: Node) -> Stmt:
    parts, first = node.parts, list[Stmt]()
    _enter_around(low, node, parts[-1])
    low.scope_ends.append(low.place(node).end_line)
    for each in node.children:
        if each.kind == k.VAR_DECL:
            first.append(variable(low, each))
    if parts[0].kind == k.DECL_STMT:
        first.append(low.statement(parts.pop(0)))
    found = _branches(low, node, parts)
    low.scope_ends.pop()
    return Block((*first, found)) if first else found


def _branches(low: Lowering, node: Node, parts: list[Node]) -> Stmt:
    condition = low.condition(parts[0])
    alternative = parts[2] if len(parts) > 2 else None
    if isinstance(condition, Const):
        chosen = parts[1] if condition.value else alternative
        return NOTHING if chosen is None else low.statement(chosen)
    then = low.statement(parts[1])
    return If(condition, then, None if alternative is None else low.statement(alternative))


def for_statement(low: Lowering, node: Node) -> Stmt:
    start, condition, step, body = _for_parts(low, node)
    place = _enter_around(low, node, body)
    low.scope_ends.append(place.end_line)
    first: Stmt = NOTHING
    if start is not None:
        first = low.statement(start) if start.kind == k.DECL_STMT else Evaluate(low.discarded(start))
    loop = _loop(low, place, condition, step, body, tests_first=True, declared=_declared_in(node))
    low.scope_ends.pop()
    block = Block((first, loop))
    return counted_loop(block) or block


def _for_parts(low: Lowering, node: Node) -> tuple[Node | None, Node | None, Node | None, Node]:
    """Initialisation, condition, step and body. libclang leaves out what is empty: positions of the semicolons say what."""
    parts = node.parts
    body = parts[-1]
    if len(parts) == 4:
        return parts[0], parts[1], parts[2], body
    span = low.cursors.span(node)
    if span is None:
        return _for_parts_by_kind(parts, body)
    first, second = _semicolons(low.cursors.text, span[0])
    found: list[Node | None] = [None, None, None]
    for each in parts[:-1]:
        at = (low.cursors.span(each) or (0, 0))[0]
        found[0 if at < first else 1 if at < second else 2] = each
    return found[0], found[1], found[2], body


def _for_parts_by_kind(parts: list[Node], body: Node) -> tuple[Node | None, Node | None, Node | None, Node]:
    rest = parts[:-1]
    start = rest.pop(0) if rest and rest[0].kind == k.DECL_STMT else None
    step = rest.pop() if rest and rest[-1].kind in (k.UNARY_OPERATOR, k.COMPOUND_ASSIGNMENT_OPERATOR) else None
    return start, rest[0] if rest else None, step, body


def _semicolons(text: str, start: int) -> tuple[int, int]:
    """Indices of the two semicolons of the ``for`` that begins at ``start``."""
    at, found = text.find("(", start) + 1, list[int]()
    while at < len(text) and len(found) < 2:
        at = skipped(text, at)
        if text[at : at + 1] in ("(", "[", "{"):
            at = closing(text, at)
        elif text[at : at + 1] == ";":
            found.append(at)
        at += 1
    return (*found, len(text), len(text))[:2]  # type: ignore[return-value]


def while_statement(low: Lowering, node: Node) -> Stmt:
    condition, body = node.parts
    place = _enter_around(low, node, body)
    return _loop(low, place, condition, None, body, tests_first=True, declared=_declared_in(node))


def do_statement(low: Lowering, node: Node) -> Stmt:
    place = _enter_with_semicolon(low, node)
    body, condition = node.parts
    return _loop(low, place, condition, None, body, tests_first=False)


def _declared_in(node: Node) -> Node | None:
    """The variable that a loop's condition declares."""
    return next((each for each in node.children if each.kind == k.VAR_DECL), None)


def _loop(
    low: Lowering,
    place: Place,
    tested: Node | None,
    update: Node | None,
    inside: Node,
    *,
    tests_first: bool,
    declared: Node | None = None,
) -> Stmt:
    number = len(low.loops)
    outer = low.loop_stack[-1] if low.loop_stack else -1
    low.loops.append(LoopPlace(number, outer, place, False, tests_first))
    low.loop_stack.append(number)
    first = [] if declared is None else [variable(low, declared)]
    condition = low.condition(tested) if tested is not None else None
    if isinstance(condition, Const) and condition.value:
        condition = None
    body = low.statement(inside)
    if declared is not None and condition is not None:
        body, condition = Block((*first, If(condition, NOTHING, Break()), body)), None
    step = low.discarded(update) if update is not None else None
    low.loop_stack.pop()
    return Loop(number, condition, step, body, tests_first, place)


def break_statement(low: Lowering, node: Node) -> Stmt:
    _enter_with_semicolon(low, node)
    return Break()


def continue_statement(low: Lowering, node: Node) -> Stmt:
    _enter_with_semicolon(low, node)
    return Continue()


def return_statement(low: Lowering, node: Node) -> Stmt:
    _enter_with_semicolon(low, node)
    parts, activation = node.parts, low.activation
    if not parts:
        return Return(None, None)
    if activation is None or activation.result is None:
        if low.type_of(bare(parts[0])) != VOID:
            raise low.error("a void function returns no value", node, remedy="write return;")
        return Block((Evaluate(low.discarded(parts[0])), Return(None, None)))
    given = low.place_node(parts[0])
    if activation.returns_reference:
        return _return_reference(low, given, node)
    if isinstance(activation.result, Thing):
        filled = copied(low, activation.result, given, node)
        effects = filled.effects if isinstance(filled, Thing) else (filled,)
        return Block((*(Evaluate(each) for each in effects), Return(None, None)))
    if isinstance(given, Thing):
        raise low.error(f"a {given.type} can't be returned here", node, id="unsupported")
    value = low.converted(low.loaded(given, bare(parts[0])), activation.result_type, node)
    if isinstance(activation.result_type, PointerType) and isinstance(value.type, PointerType):
        activation.result_type = _joint(activation.result_type, value)
    return Return(activation.result, value)


def _joint(ctype: PointerType, value: Expr) -> PointerType:
    """The type of a function's result that may be ``value`` too."""
    space = space_of(value)
    if is_null(value) or ctype.space == space:
        return ctype
    return PointerType(ctype.to, space if ctype.space is None else None, ctype.is_const)


def _return_reference(low: Lowering, given: "Thing | object", node: Node) -> Stmt:
    activation = low.activation
    assert activation is not None
    if isinstance(given, Deref) and not isinstance(given.type, StructType):
        pointer = given.pointer
        assert isinstance(pointer.type, PointerType)
        assert not isinstance(activation.result, Thing)
        activation.result_type = PointerType(given.type, pointer.type.space, pointer.type.is_const)
        return Return(activation.result, pointer)
    if activation.reference is not None:
        raise low.error("a function that returns one of several references is not supported", node, id="unsupported")
    activation.reference = given  # type: ignore[assignment]
    return NOTHING


def attributed(low: Lowering, node: Node) -> Stmt:
    """A statement behind ``#pragma unroll`` or an attribute such as ``[[likely]]``."""
    return low.statement(node.parts[-1])


def nothing(low: Lowering, node: Node) -> Stmt:
    return NOTHING


STATEMENTS = {
    **SWITCHES,
    **RANGES,
    k.COMPOUND_STMT: compound,
    k.DECL_STMT: declared,
    k.VAR_DECL: variable,
    k.IF_STMT: if_statement,
    k.FOR_STMT: for_statement,
    k.WHILE_STMT: while_statement,
    k.DO_STMT: do_statement,
    k.BREAK_STMT: break_statement,
    k.CONTINUE_STMT: continue_statement,
    k.RETURN_STMT: return_statement,
    k.UNEXPOSED_STMT: attributed,
    k.NULL_STMT: nothing,
    k.STATIC_ASSERT: static_assert,
    k.UNEXPOSED_EXPR: expression_statement,
}
