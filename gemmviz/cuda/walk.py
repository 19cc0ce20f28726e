"""A walk over all nodes within one."""

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from msgspec import Struct

from gemmviz.cuda import fold, nodes
from gemmviz.cuda.nodes import Assign, Block, Const, Convert, Declare, Expr, Loop, Program, Read, Touch, Unrolled, touches
from gemmviz.cuda.types import CType, PointerType, Scalar
from gemmviz.model.errors import Place

_LEAVES = (bool, int, str, Place, Scalar, PointerType, CType, int | None, str | None)  # types of fields that hold no node
_NODES = {each for each in vars(nodes).values() if isinstance(each, type) and each.__module__ == nodes.__name__}


def parts(node: Any) -> Iterator[Any]:
    """All nodes within one, itself first, in the order of the source."""
    pending = [node]
    while pending:
        part = pending.pop()
        yield part
        pending += reversed(inner_parts(part))


def inner_parts(node: Any) -> list[Any]:
    """The nodes directly below one."""
    inner: list[Any] = []
    for name in _inner_fields(node.__class__):
        value = getattr(node, name)
        if type(value) is tuple:  # of nodes, or of slots and what is bound to them
            for each in value:
                part = each[1] if type(each) is tuple else each
                if type(part) in _NODES:
                    inner.append(part)
        elif type(value) in _NODES:
            inner.append(value)
    return inner


@cache
def _inner_fields(kind: Any) -> tuple[str, ...]:
    """The fields of a type of node that may hold nodes."""
    types = {name: of for base in kind.__mro__ for name, of in getattr(base, "__annotations__", {}).items()}
    return tuple(name for name in kind.__struct_fields__ if types[name] not in _LEAVES)


@lru_cache(maxsize=64)
def touches_of(program: Program) -> Mapping[int, tuple[Touch, ...]]:
    """What each access of a program touches, by its number."""
    return {several[0].access: several for part in parts(program.body) if (several := touches(part))}


@lru_cache(maxsize=64)
def variables_of_accesses(program: Program) -> tuple[Mapping[int, tuple[int, ...]], Mapping[int, tuple[int, ...]]]:
    """The slots of variables by the number of an access: the variable that receives what is loaded, and those of which a stored
    value is computed.
    """
    loaded, stored = dict[int, tuple[int, ...]](), dict[int, tuple[int, ...]]()
    for node in parts(program.body):
        match node:
            case Assign(target=nodes.Deref(), store=int(access), value=value):
                stored[access] = tuple(dict.fromkeys(_slots_read(value)))
            case Assign(target=target, op=None, value=value):
                loaded |= dict.fromkeys(_load_giving(value), tuple(_slots_read(target))[:1])
            case Declare(slot=slot, value=value):
                loaded |= dict.fromkeys(_load_giving(value), (slot,))
    return loaded, stored


def _load_giving(value: Expr | None) -> tuple[int, ...]:
    """The number of the load that gives a value; nothing for another value."""
    match value:
        case nodes.Deref(access=int(access)):
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
        case nodes.Deref(access=int()):
            return  # a value in memory, not in a variable
        case _:
            for each in inner_parts(node):
                yield from _slots_read(each)


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
    for node in parts(program.body):
        match node:
            case Block(statements=(Declare() as start, Loop() as loop)):
                yield start, loop
            case Unrolled(slot=slot, values=(first, *_), loop=loop):
                yield Declare(slot, Const(Scalar("int", "i", 32), first)), loop


def _counter(start: Declare, loop: Loop, names: dict[int, str]) -> LoopCounter | None:
    first = _constant(start.value)
    match loop.step:
        case Assign(target=Read(slot=slot), value=value, op=str() as op, within=Scalar() as within) if slot == start.slot:
            by = _constant(value)
            if first is None or by is None or op not in _STEPS or slot not in names or fold.assigns(loop.body, slot):
                return None
            return LoopCounter(names[slot], first, op, by, within)
    return None


def _constant(node: Expr | None) -> int | None:
    match node:
        case Const(value=bool() | float()):
            return None
        case Const(value=value):
            return int(value)
        case Convert(type=Scalar(kind="i" | "u") as to, operand=operand):
            inner = _constant(operand)
            return None if inner is None else fold.wrap(inner, to)
    return None
