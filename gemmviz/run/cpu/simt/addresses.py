"""Closures of addresses: each takes the machine and gives the (memory, offset) of a pointer, in units of its type."""

from typing import Any

import numpy as np

from gemmviz.model.errors import Place
from gemmviz.run.cpu.simt.machine import Machine
from gemmviz.run.cpu.simt.pointers import NULL
from gemmviz.run.cpu.simt.values import Closure, PointerClosure
from gemmviz.source.nodes import Const, Convert, Expr
from gemmviz.source.types import CType, PointerType, unit_bytes

_FARTHEST = 1 << 58  # limit of each of two distances in units: their sum in bytes still fits 64 bits


def indexed_address(address: PointerClosure, index: Closure, scale: int) -> PointerClosure:
    """The address plus an index. An array is converted to 64 bits only once while the index is the same array."""
    last_index: Any = None
    last_scaled: Any = None

    def moved(machine: Machine) -> tuple[Any, Any]:
        nonlocal last_index, last_scaled
        memory, offset = address(machine)
        i = index(machine)
        if i.__class__ is int:
            return memory, offset + (i * scale if offset.__class__ is int else _limited(i * scale))
        if i is not last_index:
            last_index, last_scaled = i, _scaled(i, scale)
        if offset.__class__ is int:
            return memory, last_scaled + _limited(offset) if offset else last_scaled
        return memory, last_scaled + offset

    return moved


def _limited(distance: int) -> int:
    """A distance in units, clipped so that what is added to it in 64 bits stays out of every array."""
    most = _FARTHEST - 1
    return distance if -most <= distance <= most else most if distance > 0 else -most


def _scaled(index: Any, scale: int) -> Any:
    """Indices times ``scale``, int64, clipped so that overflowing offsets stay out of every array."""
    if index.dtype.itemsize == 8:
        most = _FARTHEST // max(1, abs(scale))
        index = np.clip(index, -most if index.dtype.kind == "i" else 0, most)
    wide = index.astype(np.int64, copy=False)
    return wide * scale if scale != 1 else wide


class _FixedAddress:
    """The address of a shared or local variable plus a known distance, as for most registers."""

    __slots__ = ("distance", "slot")

    def __init__(self, slot: int, distance: int) -> None:
        self.slot = slot
        self.distance = distance

    def __call__(self, machine: Machine) -> tuple[Any, Any]:
        return machine.slots[self.slot][0], self.distance


def base_address(slot: int) -> PointerClosure:
    """The address of a shared or local variable."""
    return _FixedAddress(slot, 0)


def shifted_address(address: PointerClosure, distance: int) -> PointerClosure:
    """An address plus a known distance in its units."""
    if distance == 0:
        return address
    if isinstance(address, _FixedAddress):
        return _FixedAddress(address.slot, address.distance + distance)

    limited = _limited(distance)

    def shifted(machine: Machine) -> tuple[Any, Any]:
        memory, offset = address(machine)
        return memory, offset + (distance if offset.__class__ is int else limited)

    return shifted


def reinterpreted_address(address: PointerClosure, source: CType, to: CType, place: Place) -> PointerClosure:
    """The address in the units of another type. Raises KernelFault in a run where it is at no multiple of those."""
    have, want = unit_bytes(source), unit_bytes(to)
    if have == want:
        return address
    if have > want:
        times = have // want
        if isinstance(address, _FixedAddress):
            return _FixedAddress(address.slot, address.distance * times)

        def finer(machine: Machine) -> tuple[Any, Any]:
            memory, offset = address(machine)
            return memory, offset * times

        return finer
    by = want // have
    if isinstance(address, _FixedAddress) and address.distance % by == 0:
        return _FixedAddress(address.slot, address.distance // by)
    return _coarser(address, by, f"{to}", place)


def _coarser(address: PointerClosure, by: int, name: str, place: Place) -> PointerClosure:
    def coarser(machine: Machine) -> tuple[Any, Any]:
        memory, offset = address(machine)
        bad = offset % by
        if np.any(bad):
            torn = np.asarray(bad != 0)
            if (torn if machine.mask is None else torn & machine.mask).any():
                message = f"an address in {memory.name} is read as {name}, but is not aligned to it"
                raise machine.fault(message, place, torn, id="misaligned-access")
        return memory, offset // by

    return coarser


def null_address(node: Expr) -> PointerClosure | None:
    """The address of an integer constant made a pointer; None for other nodes."""
    while isinstance(node, Convert):
        node = node.operand
    if not isinstance(node, Const):
        return None
    distance = int(node.value)
    return lambda machine: (NULL, distance)


def target_of(pointer: Expr) -> CType:
    """The type to which a pointer or array points."""
    match pointer.type:
        case PointerType(to=to):
            return to
    return getattr(pointer.type, "element", pointer.type)
