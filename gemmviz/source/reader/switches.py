"""Lowers ``switch`` to a chain of ifs; what falls through into the next case is lowered again for each case before it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gemmviz.source.nodes import (
    Binary,
    Block,
    Break,
    Const,
    Continue,
    Declare,
    Evaluate,
    Expr,
    If,
    Inline,
    Loop,
    Read,
    Return,
    Stmt,
)
from gemmviz.source.reader import kinds as k
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.types import BOOL, VOID, Scalar, promoted

_LABELS = (k.CASE_STMT, k.DEFAULT_STMT)
_LOOPS = (k.FOR_STMT, k.WHILE_STMT, k.DO_STMT, k.FOR_RANGE_STMT, k.SWITCH_STMT, k.LAMBDA_EXPR)


@dataclass(slots=True)
class _Part:
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
    if not any(_breaks(each) for each in statements):
        return lowered
    return _left_by_return(low, lowered, statements[0])


def _breaks(node: Node) -> bool:
    """Whether a statement breaks out of the switch around it."""
    return node.kind == k.BREAK_STMT or (node.kind not in _LOOPS and any(_breaks(each) for each in node.children))


def _left_by_return(low: Lowering, body: Block, node: Node) -> Stmt:
    """A body whose breaks are made returns from an inlined call around it."""
    return Evaluate(
        Inline(VOID, (), Block(tuple(_returning(low, each, node) for each in body.statements)), None, low.place(node))
    )


def _returning(low: Lowering, statement: Stmt, node: Node) -> Stmt:
    match statement:
        case Break():
            return Return(None, None)
        case Return() | Continue():
            raise low.error("a switch with break and return or continue in branches is not supported", node, id="unsupported")
        case Block(statements=inside):
            return Block(tuple(_returning(low, each, node) for each in inside))
        case If(condition=condition, then=then, otherwise=otherwise):
            other = None if otherwise is None else _returning(low, otherwise, node)
            return If(condition, _returning(low, then, node), other)
        case Loop():
            return statement
    return statement


SWITCHES = {k.SWITCH_STMT: switch}
