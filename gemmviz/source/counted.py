"""Finds short counted loops around a thread's arrays, whose trips are compiled one by one.

With the counter a constant, ``sum[i][j] += a[i] * b[j]`` becomes an operation on three known registers, as a compiler would
make it.
"""

from collections.abc import Iterator

from msgspec import Struct

from gemmviz.source import fold
from gemmviz.source.nodes import (
    Assign,
    Barrier,
    Binary,
    Block,
    Break,
    Const,
    Continue,
    Convert,
    Declare,
    Deref,
    Evaluate,
    Expr,
    If,
    Loop,
    Read,
    Return,
    Stmt,
    Unrolled,
)  # fmt: skip
from gemmviz.source.types import Scalar

_MOST_TRIPS = 16
_MOST_STATEMENTS = 128


def counted_loop(node: Block) -> Unrolled | None:
    """The counted loop in ``node``, a declaration and a loop; None if compiling each trip separately doesn't pay off."""
    match node.statements:
        case (
            Declare(slot=slot, value=Const(value=int() as start)),
            Loop(condition=Binary() as condition, step=Assign() as step, tests_first=True, body=body) as loop,
        ):
            values = _trips(slot, start, condition, step)
            if values and _uses_local_arrays(body) and not _has_exits(body) and not _assigns(body, slot):
                return Unrolled(slot, values, loop) if _size(loop.body) * len(values) <= _MOST_STATEMENTS else None
    return None


def _trips(slot: int, start: int, condition: Binary, step: Assign) -> tuple[int, ...] | None:
    match condition.left, condition.right, step:
        case (
            Read(slot=tested) | Convert(operand=Read(slot=tested)),
            Const(value=int() as limit),
            Assign(target=Read(slot=stepped), value=Const(value=int() as by), op="+" | "-" as op),
        ) if tested == stepped == slot and by > 0 and isinstance(condition.right.type, Scalar):
            values, at = [], start
            while fold.apply_binary(condition.op, at, limit, condition.right.type):
                values.append(at)
                at += by if op == "+" else -by
                if len(values) > _MOST_TRIPS or at < 0:
                    return None
            return tuple(values)
    return None


def _nodes(node: object) -> Iterator[object]:
    """A node and everything below it."""
    yield node
    if isinstance(node, tuple):
        for each in node:
            yield from _nodes(each)
    elif isinstance(node, Struct):
        for name in node.__struct_fields__:
            if name not in ("type", "place", "within"):
                yield from _nodes(getattr(node, name))


def _uses_local_arrays(body: Stmt) -> bool:
    return any(isinstance(node, Deref) and node.access is None for node in _nodes(body))


def _has_exits(body: Stmt) -> bool:
    return any(isinstance(node, Break | Continue | Return | Barrier) for node in _nodes(body))


def _assigns(body: Stmt, slot: int) -> bool:
    return any(isinstance(node, Assign) and isinstance(node.target, Read) and node.target.slot == slot for node in _nodes(body))


def _size(node: Stmt) -> int:
    """Statements that ``node`` becomes once its own counted loops are unrolled."""
    match node:
        case Block(statements=statements):
            return sum(_size(each) for each in statements)
        case Unrolled(values=values, loop=loop):
            return _size(loop.body) * len(values)
        case If(then=then, otherwise=otherwise):
            return 1 + _size(then) + (_size(otherwise) if otherwise else 0)
        case Loop(body=body):
            return 1 + _size(body)
        case Evaluate() | Declare():
            return 1
    return 1


def known_trips(node: Expr, constants: dict[int, int]) -> int | None:
    """The integer value of ``node`` when these slots hold these values, or None if it isn't known."""
    match node:
        case Const(value=bool() | float()):
            return None
        case Const(value=value):
            return int(value)
        case Read(slot=slot):
            return constants.get(slot)
        case Convert(type=Scalar(kind="i" | "u") as to, operand=operand):
            inner = known_trips(operand, constants)
            return None if inner is None else fold.wrap(inner, to)
        case Binary(type=Scalar(kind="i" | "u") as within, op=op, left=left, right=right) if op not in ("/", "%"):
            a, b = known_trips(left, constants), known_trips(right, constants)
            return None if a is None or b is None else int(fold.apply_binary(op, a, b, within))
    return None
