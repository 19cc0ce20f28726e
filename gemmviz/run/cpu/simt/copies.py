"""Compiles copies from memory to memory, and the commits and waits of asynchronous ones, to closures.

An asynchronous copy reads its source at once; what it writes can be seen after the wait that completes it.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from msgspec import Struct

from gemmviz.cuda.nodes import Commit, Copy, Deref, Fence, Wait
from gemmviz.cuda.types import Scalar, named_type, size_bytes, unit_bytes
from gemmviz.model.arrays import Bools
from gemmviz.model.element_types import element_type
from gemmviz.model.errors import Place
from gemmviz.model.layouts import vector
from gemmviz.model.records import replace
from gemmviz.model.sites import Access, Operand
from gemmviz.run.cpu.simt.machine import NORMAL, ActiveMask, Machine, PendingCopy, is_empty
from gemmviz.run.cpu.simt.memory import Memory
from gemmviz.run.cpu.simt.pointers import NULL, AccessType, Several, access_type, each_memory
from gemmviz.run.cpu.simt.values import Closure, PointerClosure

Zero = Callable[[Scalar], Any]
Announce = Callable[[Machine, Any, list[Any], AccessType], None]


class Side(Struct, frozen=True):
    """One side of a copy: its address, the unit of its offsets in bytes, and its size in bytes."""

    address: PointerClosure
    unit: int
    bytes: int


def side(node: Deref, address: PointerClosure) -> Side:
    return Side(address, unit_bytes(node.type), size_bytes(node.type))


def copy(node: Copy, target: Side, source: Side, taken: Closure | None, zero: Zero, announce: Announce) -> Closure:
    """The closure of a copy. ``taken``: the bytes read, None for all; ``zero`` gives the value of an element beyond them;
    ``announce`` reports the written values to the sink.
    """
    place, access, is_async = node.place, node.access, node.is_async

    def one(machine: Machine, to: Any, there: Any, of: Any, here: Any) -> None:
        kind = _elements(machine, to, of, target.bytes, place)
        count, lanes = None if taken is None else taken(machine), machine.mask
        there = to.checked(machine, _scaled(there, target.unit, kind.bytes), kind, place)
        machine.mask = reading = lanes if count is None else _within(lanes, count)
        here = 0 if is_empty(reading) else of.checked(machine, _scaled(here, source.unit, kind.bytes), kind, place)
        machine.mask = lanes
        operands = _operand(of, "read", target.bytes), _operand(to, "write", target.bytes)
        machine.step(access, operands, 0, of.recorded(here, kind), reading, place)
        parts = []
        for i in range(kind.width):
            reads = reading if count is None else _within(lanes, count, i * kind.bytes)
            parts.append(_part(machine, of, here + i if i else here, reads, zero, kind, place))
        if machine.wants_values:
            machine.sink.value(parts[0])
        machine.step(access, operands, 1, to.recorded(there, kind), lanes, place)
        announce(machine, to, parts, kind)
        transfer = PendingCopy(machine.transfers.begun, to, there, parts, kind, lanes, machine.transfers.batch, place)
        if is_async:
            machine.transfers.begin(transfer)
        else:
            store(machine, transfer, lanes)

    def run(machine: Machine) -> int:
        (to, there), (of, here) = target.address(machine), source.address(machine)
        for memory, _ in each_memory(machine, to) if to.__class__ is Several else ((to, None),):
            for other, _ in each_memory(machine, of) if of.__class__ is Several else ((of, None),):
                one(machine, memory, there, other, here)
        return NORMAL

    return run


def _elements(machine: Machine, to: Any, of: Any, size: int, place: Place) -> AccessType:
    """How a copy of ``size`` bytes between two memories moves them: in elements of the wider one. Raises KernelFault."""
    for memory in (to, of):
        if not isinstance(memory, Memory):
            if memory is NULL:
                memory.checked(machine, 0, None, place)
            raise machine.fault(f"copying to or from {memory.name} like this is not supported", place, id="unsupported")
    wider = of if of.unit >= to.unit else to
    if size % wider.unit:
        message = f"copying {size} bytes from {of.name} to {to.name} at a time is not supported"
        raise machine.fault(message, place, "copy whole elements", id="unsupported")
    return _kind(wider.info.element_type, size)


@lru_cache(maxsize=64)
def _kind(element_name: str, size: int) -> AccessType:
    spelling = element_type(element_name).spellings[0][0]
    scalar = named_type(spelling)
    assert isinstance(scalar, Scalar)
    width = size // scalar.bytes
    return replace(access_type(scalar), width=width, step=width)


def _operand(memory: Any, access: Access, size: int) -> Operand:
    return Operand(memory.number, access, vector(size // memory.unit))


def _scaled(offset: Any, unit: int, size: int) -> Any:
    """An offset in units of ``unit`` bytes, in scalars of ``size`` bytes."""
    return offset if unit == size else offset * unit // size


def _within(lanes: Bools | None, count: Any, at: int = 0) -> Any:
    """The lanes that read the byte ``at`` of a copy of ``count`` bytes."""
    if not isinstance(count, np.ndarray):
        return lanes if count > at else np.zeros((), bool)
    return count > at if lanes is None else lanes & (count > at)


def _part(machine: Machine, of: Any, here: Any, reads: Any, zero: Zero, kind: AccessType, place: Place) -> Any:
    """The values of one element of a copy: zero for lanes that don't read it."""
    lanes = machine.mask
    if reads is lanes:
        return of.load(machine, here, kind, place)
    if is_empty(reads):
        return zero(kind.scalar)
    machine.mask = reads
    values = of.load(machine, np.where(reads, here, 0), kind, place)
    machine.mask = lanes
    return np.where(reads, values, np.asarray(zero(kind.scalar), np.asarray(values).dtype))


def store(machine: Machine, transfer: PendingCopy, lanes: ActiveMask) -> None:
    """Writes the elements of a copy for some lanes."""
    outer, machine.mask = machine.mask, lanes
    for i, part in enumerate(transfer.parts):
        at = transfer.offset + i if i else transfer.offset
        transfer.memory.store(machine, at, part, transfer.kind, transfer.place)
    machine.mask = outer


def commit(node: Commit) -> Closure:
    def run(machine: Machine) -> int:
        machine.transfers.commit(machine.mask)
        return NORMAL

    return run


def wait_closure(node: Wait, pending: Closure) -> Closure:
    access, place = node.access, node.place

    def run(machine: Machine) -> int:
        most = pending(machine)
        machine.touch(access, -1, 0, place)
        done = []
        for transfer in machine.transfers.under_way:
            lanes = _completing(machine, transfer, most, node.waits_for_block)
            if is_empty(lanes):
                continue
            store(machine, transfer, lanes)
            transfer.lanes = _rest(transfer.lanes, lanes)
            if is_empty(transfer.lanes):
                done.append(transfer)
        if done:
            machine.sink.completed([transfer.number for transfer in done])
            machine.transfers.under_way = [each for each in machine.transfers.under_way if each not in done]
        return NORMAL

    return run


def _completing(machine: Machine, transfer: PendingCopy, most: Any, of_block: bool) -> Any:
    """The lanes whose copy a wait completes; None for all lanes of the space."""
    complete = transfer.batch < machine.transfers.batch - most
    lanes = transfer.lanes
    if not of_block and machine.mask is not None:
        lanes = machine.mask if lanes is None else lanes & machine.mask
    if isinstance(complete, np.ndarray):
        return complete if lanes is None else lanes & complete
    return lanes if complete else np.zeros((), bool)


def _rest(lanes: Any, done: Any) -> Any:
    if done is None:
        return np.zeros((), bool)
    return ~done if lanes is None else lanes & ~done


def fence(node: Fence) -> Closure:
    access, place = node.access, node.place

    def run(machine: Machine) -> int:
        machine.touch(access, -1, 0, place)
        return NORMAL

    return run
