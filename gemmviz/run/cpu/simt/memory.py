"""The memories of a kernel: matrices in global memory, shared arrays, and local arrays of threads.

Offsets count scalar elements; they are Python ints or int64 arrays over lanes. An access may touch ``width`` neighbouring
elements at once, and then must start at a multiple of that.
"""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.errors import ErrorId, KernelFault, Place
from gemmviz.model.sites import MemoryArray
from gemmviz.run.cpu.simt.machine import Machine
from gemmviz.run.cpu.simt.values import Partial, from_memory, merged, read
from gemmviz.source.types import Scalar

ElementOffset = Any
Shape = tuple[int, ...]
_MOST_NAMED = 1024
_FARTHEST = (1 << 63) - 1  # element that a fault names


class Memory:
    """Base of global and shared memory: bounds and alignment."""

    __slots__ = ("name", "number", "scalar", "size")

    def __init__(self, name: str, number: int, scalar: Scalar, size: int) -> None:
        self.name = name
        self.number = number
        self.scalar = scalar
        self.size = size

    def checked(self, machine: Machine, offset: ElementOffset, width: int, place: Place) -> ElementOffset:
        """The offset, with 0 for inactive lanes. Raises KernelFault for an active lane out of range or misaligned."""
        last = self.size - width
        if isinstance(offset, int):
            if not 0 <= offset <= last:
                raise self._outside(machine, np.asarray(max(-_FARTHEST, min(offset, _FARTHEST))), last, place)
        else:
            if machine.mask is not None:
                offset = np.where(machine.mask, offset, 0)
            if np.maximum.reduce(offset.view(np.uint64), axis=None) > last:
                raise self._outside(machine, offset, last, place)
        if width > 1 and np.any(offset % width):
            bad = np.asarray(offset % width != 0)
            message = (
                f"{self.name}[{_first(offset, bad)}] is read or written {width} elements at a time, "
                f"but is not aligned to {width * self.scalar.bytes} bytes"
            )
            raise self.unmade(machine, message, place, offset, bad, "misaligned-access")
        return offset

    def unmade(
        self, machine: Machine, message: str, place: Place, offset: Any, bad: npt.NDArray[np.bool_], id: ErrorId
    ) -> KernelFault:
        """The error for an access that is not executed; arguments as for ``fault``."""
        found = self.fault(machine, message, place, offset, bad, id=id)
        found.unmade = offset, bad
        return found

    def fault(
        self,
        machine: Machine,
        message: str,
        place: Place,
        offset: Any,
        bad: npt.NDArray[np.bool_],
        remedy: str | None = None,
        *,
        id: ErrorId,
    ) -> KernelFault:
        """The error for the active lanes where ``bad`` holds, with the elements that they asked for, the first lane's first."""
        found = machine.fault(message, place, bad, remedy, id)
        offsets, lanes = np.broadcast_arrays(offset, bad if machine.mask is None else bad & machine.mask)
        asked = np.unique(offsets[lanes])[:_MOST_NAMED].tolist()
        first = int(offsets[lanes][0])
        found.array, found.elements = self.number, (first, *(each for each in asked if each != first))
        return found

    def _outside(self, machine: Machine, offset: npt.NDArray[np.int64], last: int, place: Place) -> Exception:
        bad = (offset < 0) | (offset > last)
        index = _first(offset, bad if machine.mask is None else bad & machine.mask)
        message = f"{self.element(index)} is out of range: it has {self.size} elements"
        return self.unmade(machine, message, place, offset, bad, "out-of-range")

    def element(self, index: int) -> str:
        """An element as the source would write it."""
        return f"{self.name}[{index}]"


def _first(offset: Any, bad: Any) -> int:
    offsets, where = np.broadcast_arrays(offset, bad)
    return int(offsets.ravel()[int(np.argmax(where))])


class GlobalMemory(Memory):
    """A matrix as a flat array that all threads see. It is copied before the first write."""

    __slots__ = ("data",)

    def __init__(self, name: str, number: int, scalar: Scalar, data: npt.NDArray[Any]) -> None:
        super().__init__(name, number, scalar, data.size)
        self.data = data

    def load(self, machine: Machine, offset: ElementOffset, place: Place) -> Any:
        if isinstance(offset, int):
            return from_memory(self.data[offset], self.scalar)
        return self.data.take(offset)

    def store(self, machine: Machine, offset: ElementOffset, value: Any, place: Place) -> None:
        if not self.data.flags.writeable:
            self.data = self.data.copy()
        if machine.mask is None:
            if isinstance(offset, np.ndarray):
                offset, value = np.broadcast_arrays(offset, value)
            self.data[offset] = value if isinstance(offset, np.ndarray) else last_lane(value)
            return
        offsets, values, mask = np.broadcast_arrays(offset, value, machine.mask)
        self.data[offsets[mask]] = values[mask]


def last_lane(value: Any) -> Any:
    """The last lane's value, which remains in an element that all lanes write."""
    return value.ravel()[-1] if isinstance(value, np.ndarray) else value


@lru_cache(maxsize=256)
def _joint_shape(offset: Shape, value: Shape, mask: Shape, ndim: int) -> Shape:
    return np.broadcast_shapes(offset, value, mask, (1,) * ndim)


class SharedMemory(Memory):
    """One ``__shared__`` array of every traced block: ``data`` is (block axes, size), of extent 1 along a block axis while all
    blocks along it hold the same values.
    """

    __slots__ = ("blocks", "complete", "data", "info", "threads_ndim", "written")

    def __init__(self, info: MemoryArray, number: int, scalar: Scalar, blocks: int, threads_ndim: int, tags: bool) -> None:
        super().__init__(info.name, number, scalar, info.size)
        self.info = info
        self.blocks = blocks
        self.threads_ndim = threads_ndim
        self.data = np.zeros((1,) * blocks + (info.size,), np.int64 if tags else scalar.dtype)
        self.written = np.zeros(self.data.shape, bool)
        self.complete = tags

    def element(self, index: int) -> str:
        return self.info.subscripted(index)

    def load(self, machine: Machine, offset: ElementOffset, place: Place) -> Any:
        if not self.complete:
            self._check_written(machine, offset, place)
        return self._taken(self.data, offset)

    def _taken(self, data: npt.NDArray[Any], offset: ElementOffset) -> Any:
        if isinstance(offset, int):
            found = data[..., offset].reshape(data.shape[:-1] + (1,) * self.threads_ndim)
            return from_memory(found.ravel()[0], self.scalar) if found.size == 1 and data.dtype != bool else found
        outer = offset.shape[: self.blocks]
        if outer.count(1) == self.blocks:
            return data.take(offset.reshape(offset.shape[self.blocks :]), axis=-1)
        return data.ravel().take(self._rows(data) + offset)

    def _rows(self, data: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Index of the first element of each block in the flat data, over the lane axes."""
        outer = data.shape[:-1]
        starts = np.arange(int(np.prod(outer, dtype=np.int64)), dtype=np.int64) * self.size
        return starts.reshape(outer + (1,) * self.threads_ndim)

    def _check_written(self, machine: Machine, offset: ElementOffset, place: Place) -> None:
        missing = ~np.asarray(self._taken(self.written, offset))
        if machine.mask is not None:
            missing = missing & machine.mask
        if missing.any():
            index = _first(offset, missing)
            message, remedy = f"{self.element(index)} is read before it is written", "is a store or a __syncthreads() missing?"
            raise self.fault(machine, message, place, offset, missing, remedy, id="uninitialised-read")

    def store(self, machine: Machine, offset: ElementOffset, value: Any, place: Place) -> None:
        shape = _joint_shape(np.shape(offset), np.shape(value), np.shape(np.asarray(machine.mask)), self._ndim)
        outer, threads = shape[: self.blocks], shape[self.blocks :]
        self._widen(outer)
        if machine.mask is None and np.shape(offset)[: self.blocks].count(1) == (self.blocks if np.ndim(offset) else 0):
            inner: Any = offset if isinstance(offset, int) else offset.reshape(offset.shape[self.blocks :])
            whole = isinstance(inner, np.ndarray) and inner.shape == threads
            index = (inner if whole else np.broadcast_to(inner, threads)).reshape(-1)
            self.data[..., index] = self._spread(value, threads)
            marks: Any = (..., index)
        else:
            flat = np.broadcast_to(self._rows(self.data) + offset, self._full(shape))
            values = np.broadcast_to(value, flat.shape)
            chosen = np.ones(flat.shape, bool) if machine.mask is None else np.broadcast_to(machine.mask, flat.shape)
            self.data.reshape(-1)[flat[chosen]] = values[chosen]
            marks = np.unravel_index(flat[chosen], self.data.shape)
        if not self.complete:
            self.written[marks] = True
            self.complete = bool(self.written.all())

    def _spread(self, value: Any, threads: tuple[int, ...]) -> Any:
        """The value with its thread axes at full extent and flattened into one."""
        if not isinstance(value, np.ndarray):
            return value
        outer = value.shape[: self.blocks]
        full = value if value.shape[self.blocks :] == threads else np.broadcast_to(value, outer + threads)
        return full.reshape((*outer, -1))

    @property
    def _ndim(self) -> int:
        return self.blocks + self.threads_ndim

    def _full(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return np.broadcast_shapes(shape, self.data.shape[:-1] + (1,) * self.threads_ndim)

    def _widen(self, outer: tuple[int, ...]) -> None:
        have = self.data.shape[:-1]
        wanted = have if outer == have else np.broadcast_shapes(outer, have)
        if wanted != have:
            self.data = np.broadcast_to(self.data, (*wanted, self.size)).copy()
            self.written = np.broadcast_to(self.written, (*wanted, self.size)).copy()


class LocalMemory:
    """A local array: one value over lanes per element. ``running`` is the type of its values during the run."""

    __slots__ = ("level", "name", "running", "scalar", "size", "values")
    number = -1

    def __init__(self, name: str, scalar: Scalar, running: Scalar, values: list[Any], level: int) -> None:
        self.name = name
        self.scalar = scalar
        self.running = running
        self.values = values
        self.size = len(values)
        self.level = level

    def checked(self, machine: Machine, offset: ElementOffset, width: int, place: Place) -> ElementOffset:
        if offset.__class__ is int and 0 <= offset <= self.size - width:
            return offset
        active = offset
        if isinstance(offset, np.ndarray) and machine.mask is not None:
            active = np.where(machine.mask, offset, 0)
        bad = np.asarray((active < 0) | (active > self.size - width))
        if bad.any():
            message = f"{self.name}[{_first(active, bad)}] is out of range: it has {self.size} elements"
            raise machine.fault(message, place, bad, id="out-of-range")
        return active

    def load(self, machine: Machine, offset: ElementOffset, place: Place) -> Any:
        if isinstance(offset, int):
            return self._element(machine, offset, place)
        result: Any = None
        outer = machine.mask
        for index in np.unique(offset).tolist():
            here = offset == index
            machine.mask = here if outer is None else here & outer
            if machine.mask.any():
                result = merged(here, self._element(machine, index, place), 0 if result is None else result, self.running)
        machine.mask = outer
        return result

    def _element(self, machine: Machine, index: int, place: Place) -> Any:
        value = self.values[index]
        if value is None or value.__class__ is Partial:
            return read(machine, value, f"{self.name}[{index}]", place)
        return value

    def store(self, machine: Machine, offset: ElementOffset, value: Any, place: Place) -> None:
        if isinstance(offset, int):
            keeps = machine.level != self.level
            self.values[offset] = merged(machine.mask, value, self.values[offset], self.running) if keeps else value
            return
        for index in np.unique(offset).tolist():
            here = offset == index if machine.mask is None else (offset == index) & machine.mask
            self.values[index] = merged(here, value, self.values[index], self.running)
