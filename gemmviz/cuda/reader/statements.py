"""Lowers C++'s statements: branches, loops, returns, expressions."""

from collections.abc import Iterator

from msgspec import Struct, field

from gemmviz.cuda.nodes import (
    Assign,
    Binary,
    Block,
    Break,
    Const,
    Continue,
    Declare,
    Deref,
    Evaluate,
    Expr,
    If,
    Loop,
    LoopPlace,
    Offset,
    Read,
    Return,
    Stmt,
)
from gemmviz.cuda.reader import cursors as k
from gemmviz.cuda.reader.assign import copied
from gemmviz.cuda.reader.cursors import Node, bare, closing, skipped
from gemmviz.cuda.reader.declarations import NOTHING, declaration, static_assert, variable
from gemmviz.cuda.reader.expressions import is_null
from gemmviz.cuda.reader.initialisers import stripped, values_of
from gemmviz.cuda.reader.intrinsics import STATEMENT_INTRINSICS
from gemmviz.cuda.reader.lowering import Lowering, decayed, local_array, space_of
from gemmviz.cuda.reader.lvalues import designated, member_of, struct_fields
from gemmviz.cuda.reader.symbols import Alias, ArrayVariable, Function, Thing
from gemmviz.cuda.types import BOOL, INT, VOID, ArrayType, PointerType, Scalar, StructType, VectorType, promoted, units_of
from gemmviz.cuda.walk import counted_loop
from gemmviz.model.messages import Place

# Lowers switch to a chain of ifs; what falls through into the next case is lowered again for each case before it.

_CASE_LABELS = (k.CASE_STMT, k.DEFAULT_STMT)
_WITH_OWN_BREAKS = (k.FOR_STMT, k.WHILE_STMT, k.DO_STMT, k.FOR_RANGE_STMT, k.SWITCH_STMT, k.LAMBDA_EXPR)


class _SwitchPart(Struct):
    """The statements behind some labels. ``values``: those of the cases; ``is_default``: default is among the labels."""

    values: list[Node] = field(default_factory=list)
    is_default: bool = False
    statements: list[Node] = field(default_factory=list)

    @property
    def leaves(self) -> bool:
        """Whether control never falls through to the next part."""
        return bool(self.statements) and self.statements[-1].kind in (k.BREAK_STMT, k.RETURN_STMT, k.CONTINUE_STMT)


def switch(low: Lowering, node: Node) -> Stmt:
    low.enter(node)
    tested, body = node.parts[-2:]
    parts = _switch_parts(low, body)
    value = low.scalar(tested)
    assert isinstance(value.type, Scalar)
    within = promoted(value.type)
    value = low.converted(value, within, tested)
    low.scope_ends.append(low.place(node).end_line)
    found = _known_case(low, parts, value) if isinstance(value, Const) else _chain(low, parts, value, within, node)
    low.scope_ends.pop()
    return found


def _switch_parts(low: Lowering, body: Node) -> list[_SwitchPart]:
    parts: list[_SwitchPart] = []
    for each in body.parts:
        statement, labels = each, list[Node]()
        while statement.kind in _CASE_LABELS:
            labels.append(statement)
            statement = statement.parts[-1]
        if labels:
            parts.append(_SwitchPart())
        for label in labels:
            if label.kind == k.CASE_STMT:
                parts[-1].values.append(label.parts[0])
            else:
                parts[-1].is_default = True
        if not parts:
            raise low.error("a declaration before the first case is not supported", each, id="unsupported")
        parts[-1].statements += _flat(statement)
    return parts


def _flat(statement: Node) -> Iterator[Node]:
    """The statements of a block that ends with break, so that the break is seen; others as they are."""
    inside = statement.parts if statement.kind == k.COMPOUND_STMT else []
    if inside and inside[-1].kind == k.BREAK_STMT:
        yield from inside
    else:
        yield statement


def _known_case(low: Lowering, parts: list[_SwitchPart], value: Const) -> Stmt:
    for number, part in enumerate(parts):
        if any(low.constant(each, "a case").value == value.value for each in part.values):
            return _run_from(low, parts, number)
    return _run_from(low, parts, next((n for n, part in enumerate(parts) if part.is_default), len(parts)))


def _chain(low: Lowering, parts: list[_SwitchPart], value: Expr, within: Scalar, node: Node) -> Stmt:
    slot, place = low.new_slot(), low.place(node)
    default = next((n for n, part in enumerate(parts) if part.is_default), len(parts))
    chosen = [number for number, part in enumerate(parts) if part.values and not part.is_default]
    branches = {number: low.add_statement_branch(node.parts[-2], node.parts[-1]) for number in chosen}
    lowered = {number: _run_from(low, parts, number) for number in [*chosen, default]}
    found = lowered[default]
    for number in reversed(chosen):
        tests = [
            Binary(
                BOOL,
                "==",
                Read(within, slot, "switch", False, place),
                low.converted_constant(low.constant(each, "a case"), within),
                place,
            )
            for each in parts[number].values
        ]
        condition: Expr = tests[0]
        for test in tests[1:]:
            condition = Binary(within, "|", low.converted(condition, within, node), low.converted(test, within, node), place)
        found = If(low.converted(condition, BOOL, node), lowered[number], found, branches[number])
    return Block((Declare(slot, value), found))


def _run_from(low: Lowering, parts: list[_SwitchPart], number: int) -> Stmt:
    """What runs from a part on, up to a break."""
    statements: list[Node] = []
    for part in parts[number:]:
        statements += part.statements
        if part.leaves:
            break
    if statements and statements[-1].kind == k.BREAK_STMT:
        statements.pop()
    lowered = Block(tuple(low.statement(each) for each in statements))
    return Block(_unbroken(lowered.statements)) if any(_breaks(each) for each in statements) else lowered


def _breaks(node: Node) -> bool:
    """Whether a statement breaks out of the switch around it."""
    return node.kind == k.BREAK_STMT or (node.kind not in _WITH_OWN_BREAKS and any(_breaks(each) for each in node.children))


def _unbroken(statements: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Statements without breaks: what stands behind a branch that may break goes into the branches that don't."""
    for number, each in enumerate(statements):
        before, rest = statements[:number], statements[number + 1 :]
        match each:
            case Break() | Return() | Continue():
                return before if isinstance(each, Break) else (*before, each)
            case Block(statements=inside) if _may_break(each):
                return (*before, *_unbroken((*inside, *rest)))
            case If(condition=condition, then=then, otherwise=otherwise, branch=branch) if _may_break(each):
                other = () if otherwise is None else (otherwise,)
                taken, passed = (Block(_unbroken((*arm, *rest))) for arm in ((then,), other))
                return (*before, If(condition, taken, passed, branch))
    return statements


def _may_break(statement: Stmt) -> bool:
    match statement:
        case Block(statements=inside):
            return any(_may_break(each) for each in inside)
        case If(then=then, otherwise=otherwise):
            return _may_break(then) or (otherwise is not None and _may_break(otherwise))
    return isinstance(statement, Break)


SWITCHES = {k.SWITCH_STMT: switch}


# Lowers range-based for loops over arrays to counted loops.


def range_for(low: Lowering, node: Node) -> Stmt:
    low.enter(node)
    place, number = low.place(node), len(low.loops)
    element = next(each for each in node.children if each.kind == k.VAR_DECL)
    around, body = node.parts
    low.scope_ends.append(place.end_line)
    before, array = _iterated_array(low, around, node)
    assert isinstance(array.type, ArrayType)
    counter = low.new_slot()
    low.loops.append(LoopPlace(number, low.loop_stack[-1] if low.loop_stack else -1, place, False))
    low.loop_stack.append(number)
    count = Read(INT, counter, "i", False, place)
    pointer = decayed(array.type)
    for key in _begins(low, element):
        low.symbols[key] = Alias(Offset(pointer, array, count, units_of(pointer.to)))
    inside = Block((variable(low, element), low.statement(body)))
    low.loop_stack.pop()
    low.scope_ends.pop()
    condition = Binary(BOOL, "<", count, Const(INT, array.type.dims[0]), place)
    step = Assign(INT, count, Const(INT, 1), "+", INT, None, False, place)
    block = Block((*before, Declare(counter, Const(INT, 0)), Loop(number, condition, step, inside, True, place)))
    return counted_loop(block) or block


def _iterated_array(low: Lowering, around: Node, node: Node) -> tuple[list[Stmt], Expr]:
    """The array that a range-based for runs over: an array, a list in braces, or the only member of a struct."""
    statements: list[Stmt] = []
    inner = stripped(around)
    while inner.kind == k.UNEXPOSED_EXPR and len(inner.parts) == 1:
        inner = inner.parts[0]
    if inner.kind == k.INIT_LIST_EXPR:
        array = low.type_of(inner)
        if isinstance(array, ArrayType) and isinstance(array.element, Scalar | VectorType):
            slot = local_array(low, array.element, array.dims[0], "list", statements, node, values_of(low, inner, array))
            return statements, low.expression_of(designated(low, ArrayVariable(slot, array), node), node)
    found = low.place_node(around)
    if isinstance(found.type, StructType) and not (isinstance(found, Thing) and isinstance(found.symbol, Function)):
        members = struct_fields(low, found.type)
        effects = found.effects if isinstance(found, Thing) else ()
        if len(members) == 1:
            statements += [Evaluate(each) for each in effects]
            found = member_of(low, found, members[0][0], node)
    if isinstance(found, Thing) or not isinstance(found.type, ArrayType):
        raise low.error("a range-based for over this is not supported", node, "loop over an array", id="unsupported")
    return statements, found


def _begins(low: Lowering, node: Node) -> Iterator[int]:
    """Keys of the iterators that the compiler declares."""
    given = low.cursors.initialiser(node.cursor)
    waiting = [] if given is None else [given]
    while waiting:
        each = waiting.pop()
        waiting += each.children
        declaration = low.cursors.referenced(each) if each.kind == k.DECL_REF_EXPR else None
        if declaration is not None and low.cursors.name(declaration).startswith("__begin"):
            yield declaration.first


RANGES = {k.FOR_RANGE_STMT: range_for}


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
    number = low.add_statement_branch(parts[0], parts[1], alternative)
    then = low.statement(parts[1])
    return If(condition, then, None if alternative is None else low.statement(alternative), number)


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
    branch = None if tested is None or condition is None else low.add_statement_branch(tested, inside)
    body = low.statement(inside)
    if declared is not None and condition is not None:
        body, condition = Block((*first, If(condition, NOTHING, Break(), branch), body)), None
    step = low.discarded(update) if update is not None else None
    low.loop_stack.pop()
    return Loop(number, condition, step, body, tests_first, place, branch)


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
