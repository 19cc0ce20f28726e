"""Integer addresses of the memories of a run, and back: global arrays far apart, the shared arrays of a block in a window from
0 that generic addresses see elsewhere.
"""

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from gemmviz.model.errors import KernelFault, Place
from gemmviz.run.cpu.simt.machine import Machine
from gemmviz.run.cpu.simt.memory import GlobalMemory, SharedMemory
from gemmviz.run.cpu.simt.values import Address as PointerClosure
from gemmviz.run.cpu.simt.values import Closure
from gemmviz.source.nodes import Address, AtAddress
from gemmviz.source.types import CHAR, PointerType, unit_bytes
from gemmviz.source.types import AddressSpace as Space

_APART = 1 << 40  # bytes between global arrays: a multiple of 256, the alignment that the driver gives them
_SHARED = 1 << 56  # the generic address of the shared window
_ALIGNED = 16  # bytes to which a shared array is aligned
Window = Literal["generic", "shared", "global"]


def integer_address(node: Address, pointer: PointerClosure) -> Closure:
    """The closure of a pointer as an integer."""
    assert isinstance(node.pointer.type, PointerType)
    unit, window, dtype, bits = unit_bytes(node.pointer.type.to), node.window, node.type.dtype, (1 << node.type.bits) - 1

    def run(machine: Machine) -> Any:
        memory, offset = pointer(machine)
        address = machine.addresses.address(memory, offset, unit, window)
        return address.astype(dtype) if isinstance(address, np.ndarray) else address & bits

    return run


def found_address(node: AtAddress, integer: Closure) -> PointerClosure:
    """The closure of the pointer at an integer address."""
    space, unit, place = node.type.space, unit_bytes(node.type.to), node.place

    def run(machine: Machine) -> tuple[Any, Any]:
        found: tuple[Any, Any] = machine.addresses.pointer(machine, integer(machine), space, unit, place)
        return found

    return run


class Nowhere:
    """What a pointer points to whose address is in no array, such as a null pointer: any access is a fault."""

    name, number, scalar, size = "nothing", -1, CHAR, 0

    def checked(self, machine: Machine, offset: Any, width: int, place: Place) -> Any:
        """Raises KernelFault if a thread is active."""
        active = np.broadcast_to(True if machine.mask is None else machine.mask, machine.space.shape)
        if active.any():
            at = int(np.broadcast_to(offset, machine.space.shape)[active][0])
            what = "a null pointer is accessed" if at == 0 else f"the address {at:#x} is in no array"
            raise machine.fault(what, place, active, id="out-of-range")
        return 0

    def load(self, machine: Machine, offset: Any, place: Place) -> Any:
        return 0

    def store(self, machine: Machine, offset: Any, value: Any, place: Place) -> None:
        return


class AddressSpace:
    """Where each memory of a run lies. ``end``: the bytes of the shared window."""

    def __init__(self, matrices: Iterable[GlobalMemory], shared: Iterable[SharedMemory]) -> None:
        self._global = {number * _APART: memory for number, memory in enumerate(matrices, 1)}
        self._shared: dict[int, SharedMemory] = {}
        self._nowhere = Nowhere()
        self.end = 0
        for memory in shared:
            start = -(-self.end // _ALIGNED) * _ALIGNED
            self._shared[start] = memory
            self.end = start + memory.size * memory.scalar.bytes
        self._starts = [*self._shared]
        self._bases = {id(memory): start for start, memory in {**self._global, **self._shared}.items()}

    def address(self, memory: Any, offset: Any, unit: int, window: Window) -> Any:
        """The address in bytes of a place in a memory, whose offset counts ``unit`` bytes."""
        if memory is self._nowhere:
            return offset * unit
        base, is_shared = self._bases.get(id(memory)), isinstance(memory, SharedMemory)
        if base is None or (window != "generic" and is_shared != (window == "shared")):
            kind = "an array of the thread" if base is None else "in shared memory" if is_shared else "in global memory"
            message = f"{memory.name} is {kind}: it has no {'' if window == 'generic' else f'{window} '}address"
            raise KernelFault(message, None, id="unsupported")
        return offset * unit + base + (_SHARED if is_shared and window == "generic" else 0)

    def pointer(self, machine: Machine, address: Any, space: Space | None, unit: int, place: Place) -> tuple[Any, Any]:
        """The memory and the offset, in units of ``unit`` bytes, that an address means in the active lanes."""
        lanes, active = np.broadcast_arrays(address, True if machine.mask is None else machine.mask)
        lanes = lanes[active].astype(np.int64)
        base, memory, low, high = self._memory(int(lanes[0]) if len(lanes) else 0, space)
        if np.any((lanes < low) | (lanes >= high)):
            message = f"threads address {memory.name} and another array in one access, which is not supported"
            raise machine.fault(message, place, id="unsupported")
        if np.any((lanes - base) % unit):
            raise machine.fault(f"this address is not a multiple of {unit} bytes", place, id="misaligned-access")
        distance = address.astype(np.int64) - base if isinstance(address, np.ndarray) else int(address) - base
        return memory, distance // unit

    def _memory(self, address: int, space: Space | None) -> tuple[int, Any, int, int]:
        """The memory at an address, the address in the same window at which it begins, and the range of addresses near it."""
        if space == "shared" or (space is None and address >= _SHARED):
            window = 0 if space == "shared" else _SHARED
            index = bisect_right(self._starts, address - window) - 1
            if index >= 0 and address - window <= self.end:
                following = self._starts[index + 1] if index + 1 < len(self._starts) else _APART
                start = self._starts[index]
                return start + window, self._shared[start], start + window, following + window
        middle = address + _APART // 2
        start = middle - middle % _APART
        if space != "shared" and (memory := self._global.get(start)) is not None:
            return start, memory, start - _APART // 2, start + _APART // 2
        return 0, self._nowhere, -_SHARED, np.iinfo(np.int64).max
