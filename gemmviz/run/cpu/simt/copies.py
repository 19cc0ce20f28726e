"""Compiles copies from memory to memory, and the commits and waits of asynchronous ones, to closures.

An asynchronous copy reads its source at once; what it writes can be seen after the wait that completes it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gemmviz.model.arrays import Bools
from gemmviz.model.errors import Place
from gemmviz.model.layouts import vector
from gemmviz.model.sites import Operand
from gemmviz.run.cpu.simt.machine import NORMAL, Machine, Transfer, is_empty
from gemmviz.run.cpu.simt.values import Address, Closure
from gemmviz.source.nodes import Commit, Copy, Deref, Fence, Wait
from gemmviz.source.types import Scalar, unit_bytes

Zero = Callable[[Scalar], Any]
Announce = Callable[[Machine, Any, list[Any]], None]


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a copy: its address, the unit of its offsets in bytes, and its size in bytes."""

    address: Address
    unit: int
    bytes: int


def side(node: Deref, address: Address) -> Side:
    return Side(address, unit_bytes(node.type), node.type.bytes)


def copy(node: Copy, target: Side, source: Side, taken: Closure | None, zero: Zero, announce: Announce) -> Closure:
    """The closure of a copy. ``taken``: the bytes read, None for all; ``zero`` gives the value of an element beyond them;
    ``announce`` reports the written values to the sink.
    """
    place, access, is_async = node.place, node.access, node.is_async

    def run(machine: Machine) -> int:
        (to, there), (of, here) = target.address(machine), source.address(machine)
        count = None if taken is None else taken(machine)
        itemsize = to.scalar.bytes
        if of.scalar.bytes != itemsize or target.bytes % itemsize:
            message = f"copying {target.bytes} bytes from {of.name} ({of.scalar}) to {to.name} ({to.scalar}) is not supported"
            raise machine.fault(message, place, id="unsupported")
        width = target.bytes // itemsize
        there = to.checked(machine, in_elements(there, target.unit, itemsize), width, place)
        lanes = machine.mask
        reading = lanes if count is None else _within(lanes, count)
        machine.mask = reading
        here = in_elements(here, source.unit, itemsize)
        here = 0 if is_empty(reading) else of.checked(machine, here, width, place)
        machine.mask = lanes
        operands = Operand(of.number, "read", vector(width)), Operand(to.number, "write", vector(width))
        parts = []
        machine.step(access, operands, 0, here, reading, place)
        for i in range(width):
            reads = reading if count is None else _within(lanes, count, i * itemsize)
            parts.append(_part(machine, of, here, i, reads, lanes, zero(to.scalar), place))
        if machine.wants_values:
            machine.sink.value(parts[0])
        machine.step(access, operands, 1, there, lanes, place)
        announce(machine, to, parts)
        transfer = Transfer(machine.transfers.begun, to, there, parts, lanes, machine.transfers.batch, place)
        if is_async:
            machine.transfers.begin(transfer)
        else:
            store(machine, transfer)
        return NORMAL

    return run


def in_elements(offset: Any, unit: int, itemsize: int) -> Any:
    """An offset in units of ``unit`` bytes, in elements of ``itemsize`` bytes."""
    return offset if unit == itemsize else offset * unit // itemsize


def _within(lanes: Bools | None, count: Any, at: int = 0) -> Any:
    """The lanes that read the byte ``at`` of a copy of ``count`` bytes."""
    if not isinstance(count, np.ndarray):
        return lanes if count > at else np.zeros((), bool)
    return count > at if lanes is None else lanes & (count > at)


def _part(machine: Machine, of: Any, here: Any, i: int, reads: Any, lanes: Any, zero: Any, place: Place) -> Any:
    """The values of element ``i`` of a copy: zero for lanes that don't read it."""
    if reads is lanes:
        return of.load(machine, here + i if i else here, place)
    if is_empty(reads):
        return zero
    machine.mask = reads
    values = of.load(machine, np.where(reads, here + i, 0), place)
    machine.mask = lanes
    return np.where(reads, values, np.asarray(zero, np.asarray(values).dtype))


def store(machine: Machine, transfer: Transfer, lanes: Any = False) -> None:
    """Writes the elements of a copy, for some lanes only if given."""
    outer, machine.mask = machine.mask, transfer.lanes if lanes is False else lanes
    for i, part in enumerate(transfer.parts):
        transfer.memory.store(machine, transfer.offset + i if i else transfer.offset, part, transfer.place)
    machine.mask = outer


def commit(node: Commit) -> Closure:
    def run(machine: Machine) -> int:
        machine.transfers.commit(machine.mask)
        return NORMAL

    return run


def wait(node: Wait, pending: Closure) -> Closure:
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


def _completing(machine: Machine, transfer: Transfer, most: Any, of_block: bool) -> Any:
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
