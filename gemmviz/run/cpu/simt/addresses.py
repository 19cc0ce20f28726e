"""Closures of addresses: each takes the machine and gives the (memory, offset) of a pointer, offsets in scalar elements."""

from typing import Any

import numpy as np

from gemmviz.run.cpu.simt.machine import Machine
from gemmviz.run.cpu.simt.values import Address, Closure
from gemmviz.source.nodes import Base, Expr
from gemmviz.source.types import PointerType, Scalar, VectorType, scalar_of

_FARTHEST = 1 << 62  # limit of each of two distances in elements: their sum still fits 64 bits


def indexed_address(address: Address, index: Closure, scale: int) -> Address:
    """The address plus an index. An array is converted to 64 bits only once while the index is the same array."""
    last_index: Any = None
    last_scaled: Any = None

    def moved(machine: Machine) -> tuple[Any, Any]:
        nonlocal last_index, last_scaled
        memory, offset = address(machine)
        i = index(machine)
        if i.__class__ is int:
            distance = _limited(i * scale)
            return memory, _limited(offset + distance) if offset.__class__ is int else offset + distance
        if i is not last_index:
            last_index, last_scaled = i, _scaled(i, scale)
        return memory, (last_scaled if offset.__class__ is int and offset == 0 else last_scaled + offset)

    return moved


def _limited(distance: int, most: int = _FARTHEST - 1) -> int:
    """A distance in elements, clipped so that overflowing offsets stay out of every array."""
    return distance if -most <= distance <= most else most if distance > 0 else -most


def _scaled(index: Any, scale: int) -> Any:
    """Indices times ``scale``, int64, clipped so that overflowing offsets stay out of every array."""
    if index.dtype.itemsize == 8:
        most = _FARTHEST // abs(scale)
        index = np.clip(index, -most, most)
    wide = index.astype(np.int64, copy=False)
    return wide * scale if scale != 1 else wide


class _FixedAddress:
    """The address of a local array plus a known distance, as for most registers."""

    __slots__ = ("distance", "slot")

    def __init__(self, slot: int, distance: int) -> None:
        self.slot = slot
        self.distance = distance

    def __call__(self, machine: Machine) -> tuple[Any, Any]:
        memory, offset = machine.slots[self.slot]
        return memory, offset + self.distance


def shifted_address(pointer: Expr, address: Address, distance: int) -> Address:
    """The address of ``pointer`` plus a known distance in scalar elements."""
    distance = _limited(distance, _FARTHEST)
    if isinstance(address, _FixedAddress):
        return _FixedAddress(address.slot, address.distance + distance)
    if isinstance(pointer, Base):
        return _FixedAddress(pointer.slot, distance)
    if distance == 0:
        return address

    def shifted(machine: Machine) -> tuple[Any, Any]:
        memory, offset = address(machine)
        return memory, offset + distance

    return shifted


def reinterpreted_address(address: Address, to: Scalar | VectorType, place: Any) -> Address:
    """The address as a pointer to ``to``. Raises KernelFault in a run if the memory holds another scalar type."""
    scalar = scalar_of(to)

    def reinterpreted(machine: Machine) -> tuple[Any, Any]:
        memory, offset = address(machine)
        if memory.scalar.dtype != scalar.dtype:
            raise machine.fault(
                f"{memory.name} holds {memory.scalar}; reading it as {to} is not supported", place, id="unsupported"
            )
        return memory, offset

    return reinterpreted


def element_width(pointer: Expr) -> int:
    """Number of scalar elements per element of a pointer's type."""
    match pointer.type:
        case PointerType(to=VectorType(count=count)):
            return count
    element = getattr(pointer.type, "element", None)
    return element.count if isinstance(element, VectorType) else 1
