"""Operators and conversions of CUDA's own classes: half and bfloat16, alone and in pairs."""

from gemmviz.source.nodes import Call, Const, Expr, Unary
from gemmviz.source.reader.assign import assign
from gemmviz.source.reader.cursors import Node
from gemmviz.source.reader.expressions import combined
from gemmviz.source.reader.lowering import Lowering
from gemmviz.source.reader.symbols import Thing
from gemmviz.source.types import BOOL, INT, Scalar, VectorType

_OF_PAIRS = {
    "+": "__hadd2", "-": "__hsub2", "*": "__hmul2", "/": "__h2div",
    "==": "__hbeq2", "!=": "__hbne2", "<": "__hblt2", "<=": "__hble2", ">": "__hbgt2", ">=": "__hbge2",
}  # fmt: skip
_COMPARISONS = ("==", "!=", "<=", ">=")


def operated(low: Lowering, name: str, arguments: list[Node], node: Node, this: Expr | Thing | None) -> Expr:
    """The node of an operator's call. ``name``: the function, such as "operator+=" or "operator float"."""
    op = name.removeprefix("operator").strip()
    if this is not None and not arguments:
        return low.converted(low.loaded(_number(low, name, this, node), node), low.type_of(node), node)
    first, *others = [
        *([] if this is None else [_number(low, name, this, node)]),
        *(low.expression(each) for each in arguments),
    ]
    if op in ("++", "--"):
        return assign(low, first, op[0], Const(INT, 1), node, node.parts[0], bool(others))
    if op.endswith("=") and op not in _COMPARISONS:
        return _assigned(low, first, op[:-1], low.value(arguments[-1]), node)
    left = low.loaded(first, arguments[0])
    if not others:
        return _signed(low, op, left, node)
    right = low.loaded(others[0], arguments[-1])
    return _of_pairs(low, op, left, right, node) if isinstance(left.type, VectorType) else combined(low, op, left, right, node)


def _number(low: Lowering, name: str, this: Expr | Thing, node: Node) -> Expr:
    if isinstance(this, Thing):
        raise low.error(f"{name} is not supported here", node, id="unsupported")
    return this


def _assigned(low: Lowering, target: Expr, op: str, value: Expr, node: Node) -> Expr:
    left = node.parts[0]
    if not op or not isinstance(target.type, VectorType):
        return assign(low, target, op, value, node, left, False)
    return assign(low, target, "", _of_pairs(low, op, low.loaded(target, left), value, node), node, left, False)


def _of_pairs(low: Lowering, op: str, left: Expr, right: Expr, node: Node) -> Expr:
    if op not in _OF_PAIRS:
        raise low.error(f"{op} does not work on a {left.type}", node)
    result = BOOL if op in _COMPARISONS or op in "<>" else left.type
    return Call(result, _OF_PAIRS[op], (left, low.converted(right, left.type, node)), low.place(node))


def _signed(low: Lowering, op: str, value: Expr, node: Node) -> Expr:
    """A sign before a number or a pair; a sum with a zero would lose that of a zero."""
    if op == "+":
        return value
    if isinstance(value.type, VectorType):
        return Call(value.type, "__hneg2", (value,), low.place(node))
    if op != "-" or not isinstance(value.type, Scalar):
        raise low.error(f"{op} does not work on a {value.type}", node)
    return Unary(value.type, op, value)
