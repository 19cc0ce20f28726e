"""Walks over all nodes within one, and what a walk tells: accesses, loops worth unrolling, counters of loops."""

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from msgspec import Struct

from gemmviz.cuda import fold, nodes
from gemmviz.cuda.nodes import (
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
    Expr,
    If,
    Loop,
    Program,
    Read,
    Return,
    Stmt,
    Touch,
    Unrolled,
    touches,
)
from gemmviz.cuda.types import CType, PointerType, Scalar
from gemmviz.model.errors import Place

_LEAVES = (bool, int, str, Place, Scalar, PointerType, CType, int | None, str | None)  # types of fields that hold no node
_NODES = {each for each in vars(nodes).values() if isinstance(each, type) and each.__module__ == nodes.__name__}


@lru_cache(maxsize=64)
def nodes_of(program: Program) -> tuple[Any, ...]:
    """All nodes of a program, in the order of the source."""
    return tuple(parts(program.body))


def parts(node: Any) -> Iterator[Any]:
    """All nodes within one, itself first, in the order of the source."""
    pending = [node]
    while pending:
        part = pending.pop()
        yield part
        inner = inner_parts(part)
        inner.reverse()
        pending += inner


def inner_parts(node: Any) -> list[Any]:
    """The nodes directly below one."""
    inner: list[Any] = []
    for name in _inner_fields(node.__class__):
        value = getattr(node, name)
        kind = value.__class__
        if kind in _NODES:
            inner.append(value)
        elif kind is tuple:  # of nodes, or of slots and what is bound to them
            for each in value:
                part = each[1] if each.__class__ is tuple else each
                if part.__class__ in _NODES:
                    inner.append(part)
    return inner


@cache
def _inner_fields(kind: Any) -> tuple[str, ...]:
    """The fields of a type of node that may hold nodes."""
    types = {name: of for base in kind.__mro__ for name, of in getattr(base, "__annotations__", {}).items()}
    return tuple(name for name in kind.__struct_fields__ if types[name] not in _LEAVES)


@lru_cache(maxsize=64)
def touches_of(program: Program) -> Mapping[int, tuple[Touch, ...]]:
    """What each access of a program touches, by its number."""
    return {several[0].access: several for part in nodes_of(program) if (several := touches(part))}


@lru_cache(maxsize=64)
def variables_of_accesses(program: Program) -> tuple[Mapping[int, tuple[int, ...]], Mapping[int, tuple[int, ...]]]:
    """The slots of variables by the number of an access: the variable that receives what is loaded, and those of which a stored
    value is computed.
    """
    loaded, stored = dict[int, tuple[int, ...]](), dict[int, tuple[int, ...]]()
    for node in nodes_of(program):
        match node:
            case Assign(target=Deref(), store=int(access), value=value):
                stored[access] = tuple(dict.fromkeys(_slots_read(value)))
            case Assign(target=target, op=None, value=value):
                loaded |= dict.fromkeys(_load_giving(value), tuple(_slots_read(target))[:1])
            case Declare(slot=slot, value=value):
                loaded |= dict.fromkeys(_load_giving(value), (slot,))
    return loaded, stored


def _load_giving(value: Expr | None) -> tuple[int, ...]:
    """The number of the load that gives a value; nothing for another value."""
    match value:
        case Deref(access=int(access)):
            return (access,)
        case Convert(operand=inner) | nodes.Component(of=inner):
            return _load_giving(inner)
    return ()


def _slots_read(node: Any) -> Iterator[int]:
    """The variables and local arrays that a value is computed of, in the order of the source; none of their indices."""
    match node:
        case Read(slot=slot) | nodes.Base(slot=slot):
            yield slot
        case nodes.Offset(pointer=pointer):
            yield from _slots_read(pointer)
        case Deref(access=int()):
            return  # a value in memory, not in a variable
        case _:
            for each in inner_parts(node):
                yield from _slots_read(each)


# Finds short counted loops around a thread's arrays, whose trips are compiled one by one.

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
            if values and _size(body) * len(values) <= _MOST_STATEMENTS and _may_unroll(body, slot):
                return Unrolled(slot, values, loop)
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


def _may_unroll(body: Stmt, slot: int) -> bool:
    """Whether the body of a loop uses local arrays, ends no trip early, and leaves the counter in ``slot`` alone."""
    uses_arrays = False
    for node in parts(body):
        match node:
            case Break() | Continue() | Return() | Barrier():
                return False
            case Assign(target=Read(slot=assigned)) if assigned == slot:
                return False
            case Deref(access=None):
                uses_arrays = True
    return uses_arrays


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
    return 1


# The counters of a kernel's loops, from its program: k0 and its values in for (int k0 = 0; ...; k0 += 8).

_STEPS = ("+", "-", "*", "/")


class LoopCounter(Struct, frozen=True):
    """A variable that begins with ``first``, the same for all threads, and that each trip changes by ``op`` and ``by``."""

    name: str
    first: int
    op: str
    by: int
    within: Scalar

    def at(self, trip: int) -> int:
        """The value in a trip, counted from 0."""
        value = self.first
        for _ in range(trip):
            value = int(fold.apply_binary(self.op, value, self.by, self.within))
        return value


def loop_counters(program: Program) -> dict[int, LoopCounter]:
    """The counters by number of the loop. A loop whose counter begins differently in each thread, or that is changed in the
    loop, has none.
    """
    names = {variable.slot: variable.name for variable in program.variables}
    return {loop.number: counter for start, loop in _loops(program) if (counter := _counter(start, loop, names)) is not None}


def _loops(program: Program) -> Iterator[tuple[Declare, Loop]]:
    """The loops whose counter is declared in front of them."""
    for node in nodes_of(program):
        match node:
            case Block(statements=(Declare() as start, Loop() as loop)):
                yield start, loop
            case Unrolled(slot=slot, values=(first, *_), loop=loop):
                yield Declare(slot, Const(Scalar("int", "i", 32), first)), loop


def _counter(start: Declare, loop: Loop, names: dict[int, str]) -> LoopCounter | None:
    first = None if start.value is None else fold.known_trips(start.value, {})
    match loop.step:
        case Assign(target=Read(slot=slot), value=value, op=str() as op, within=Scalar() as within) if slot == start.slot:
            by = fold.known_trips(value, {})
            if first is None or by is None or op not in _STEPS or slot not in names or _assigns(loop.body, slot):
                return None
            return LoopCounter(names[slot], first, op, by, within)
    return None


def _assigns(body: Stmt, slot: int) -> bool:
    return any(isinstance(node, Assign) and isinstance(node.target, Read) and node.target.slot == slot for node in parts(body))
