"""Lowers ``switch`` to a chain of ifs; what falls through into the next case is lowered again for each case before it."""

from collections.abc import Iterator

from msgspec import Struct, field

from gemmviz.source.nodes import (
    Binary,
    Block,
    Break,
    Const,
    Continue,
    Declare,
    Expr,
    If,
    Read,
    Return,
    Stmt,
)
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.types import BOOL, Scalar, promoted

_LABELS = (k.CASE_STMT, k.DEFAULT_STMT)
_LOOPS = (k.FOR_STMT, k.WHILE_STMT, k.DO_STMT, k.FOR_RANGE_STMT, k.SWITCH_STMT, k.LAMBDA_EXPR)


class _Part(Struct):
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
    parts = _parts(low, body)
    value = low.scalar(tested)
    assert isinstance(value.type, Scalar)
    within = promoted(value.type)
    value = low.converted(value, within, tested)
    low.scope_ends.append(low.place(node).end_line)
    found = _known(low, parts, value) if isinstance(value, Const) else _chain(low, parts, value, within, node)
    low.scope_ends.pop()
    return found


def _parts(low: Lowering, body: Node) -> list[_Part]:
    parts: list[_Part] = []
    for each in body.parts:
        statement, labels = each, list[Node]()
        while statement.kind in _LABELS:
            labels.append(statement)
            statement = statement.parts[-1]
        if labels:
            parts.append(_Part())
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


def _known(low: Lowering, parts: list[_Part], value: Const) -> Stmt:
    for number, part in enumerate(parts):
        if any(low.constant(each, "a case").value == value.value for each in part.values):
            return _run(low, parts, number)
    return _run(low, parts, next((n for n, part in enumerate(parts) if part.is_default), len(parts)))


def _chain(low: Lowering, parts: list[_Part], value: Expr, within: Scalar, node: Node) -> Stmt:
    slot, place = low.new_slot(), low.place(node)
    default = next((n for n, part in enumerate(parts) if part.is_default), len(parts))
    chosen = [number for number, part in enumerate(parts) if part.values and not part.is_default]
    lowered = {number: _run(low, parts, number) for number in [*chosen, default]}
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
        found = If(low.converted(condition, BOOL, node), lowered[number], found)
    return Block((Declare(slot, value), found))


def _run(low: Lowering, parts: list[_Part], number: int) -> Stmt:
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
    return node.kind == k.BREAK_STMT or (node.kind not in _LOOPS and any(_breaks(each) for each in node.children))


def _unbroken(statements: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Statements without breaks: what stands behind a branch that may break goes into the branches that don't."""
    for number, each in enumerate(statements):
        before, rest = statements[:number], statements[number + 1 :]
        match each:
            case Break() | Return() | Continue():
                return before if isinstance(each, Break) else (*before, each)
            case Block(statements=inside) if _may_break(each):
                return (*before, *_unbroken((*inside, *rest)))
            case If(condition=condition, then=then, otherwise=otherwise) if _may_break(each):
                other = () if otherwise is None else (otherwise,)
                branches = (Block(_unbroken((*branch, *rest))) for branch in ((then,), other))
                return (*before, If(condition, *branches))
    return statements


def _may_break(statement: Stmt) -> bool:
    match statement:
        case Block(statements=inside):
            return any(_may_break(each) for each in inside)
        case If(then=then, otherwise=otherwise):
            return _may_break(then) or (otherwise is not None and _may_break(otherwise))
    return isinstance(statement, Break)


SWITCHES = {k.SWITCH_STMT: switch}
