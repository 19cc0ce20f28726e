"""Tags: numbers that name the element of which a value is a copy, and the memories of a run by tags.

A tag is the number of an array and of an element of it, as they are recorded; COMPUTED for what isn't a copy, and CONSTANT and
below for the bits of a float32 literal. A value that is wider than an element is a copy of neighbours, of which its tag names
the first.
"""

from typing import Any

import numpy as np

from gemmviz.cuda.types import LONG, Scalar
from gemmviz.model.errors import Place
from gemmviz.model.sites import MemoryArray
from gemmviz.model.trace import COMPUTED, CONSTANT
from gemmviz.run.cpu.simt.local import CellTable, LocalMemory
from gemmviz.run.cpu.simt.machine import Machine, NeedsValues
from gemmviz.run.cpu.simt.memory import ElementOffset, GlobalMemory, SharedMemory
from gemmviz.run.cpu.simt.pointers import AccessType

TAG_SHIFT = 40


def constant_tag(value: float) -> int:
    """The tag of a float32 literal: CONSTANT and below, by its bits."""
    return CONSTANT - int(np.float32(value).view(np.uint32))


def tag_array(tags: Any) -> Any:
    """Number of the array that each tag names; COMPUTED or CONSTANT if it names none."""
    found = np.asarray(tags)
    if not (found < 0).any():
        return found >> TAG_SHIFT
    return np.where(found < 0, np.maximum(found, CONSTANT), found >> TAG_SHIFT)


def tag_element(tags: Any) -> Any:
    """The element that each tag names, int32; of a CONSTANT, the bits of its float32; undefined for COMPUTED."""
    found = np.asarray(tags)
    if not (found < 0).any():
        return (found & ((1 << TAG_SHIFT) - 1)).astype(np.int32)
    bits = (CONSTANT - np.minimum(found, CONSTANT)).astype(np.uint32).view(np.int32)
    return np.where(found <= CONSTANT, bits, found & ((1 << TAG_SHIFT) - 1)).astype(np.int32)


class TagMemory(GlobalMemory):
    """A matrix whose elements are represented by their tags."""

    __slots__ = ()

    def __init__(self, info: MemoryArray, number: int) -> None:
        super().__init__(info, number, np.zeros(0))

    def load(self, machine: Machine, offset: ElementOffset, kind: AccessType, place: Place) -> Any:
        return self.recorded(offset, kind) + (self.number << TAG_SHIFT)

    def store(self, machine: Machine, offset: ElementOffset, value: Any, kind: AccessType, place: Place) -> None:
        pass


class UnseenMatrix(TagMemory):
    """A matrix whose accesses are reported and whose contents are not tracked."""

    __slots__ = ()

    def load(self, machine: Machine, offset: ElementOffset, kind: AccessType, place: Place) -> Any:
        return COMPUTED


class TagShared(SharedMemory):
    """A shared array of tags, one for each recorded element. ``units``: bytes of a recorded element of each array."""

    __slots__ = ("units",)

    def __init__(self, info: MemoryArray, number: int, blocks: int, threads_ndim: int, units: tuple[int, ...]) -> None:
        super().__init__(info, number, blocks, threads_ndim)
        self.dtype = np.dtype(np.int64)
        self.data = np.zeros((1,) * blocks + (info.size,), np.int64)
        self.units = np.array(units, np.int64)
        self.complete = True

    def tags_of(self, tag: Any, kind: AccessType) -> list[Any]:
        """The tags of the elements into which a value is written."""
        ratio = kind.bytes // self.unit
        return [tag] if ratio == 1 else [self._neighbour(tag, part) for part in range(ratio)]

    def _neighbour(self, tag: Any, part: int) -> Any:
        """The tag of a part of a value, in elements of this array, where ``tag`` is that of its first."""
        tags = np.asarray(tag)
        own = self.units[np.clip(tags >> TAG_SHIFT, 0, len(self.units) - 1)]
        named = tags + part * self.unit // own
        return np.where(tags >= 0, named, np.where(tags == constant_tag(0.0), tags, COMPUTED))

    def load(self, machine: Machine, offset: ElementOffset, kind: AccessType, place: Place) -> Any:
        ratio = kind.bytes // self.unit
        first = offset if ratio == 1 else offset * ratio
        tag = self._taken(self.data, first)
        for part in range(1, ratio):
            tag = np.where(self._taken(self.data, first + part) == self._neighbour(tag, part), tag, COMPUTED)
        return tag.ravel()[0].item() if isinstance(offset, int) and tag.size == 1 else tag

    def store(self, machine: Machine, offset: ElementOffset, value: Any, kind: AccessType, place: Place) -> None:
        ratio = kind.bytes // self.unit
        for part, tag in enumerate(self.tags_of(value, kind)):
            at = offset if ratio == 1 else offset * ratio + part
            shape = np.broadcast_shapes(np.shape(at), np.shape(tag), np.shape(np.asarray(machine.mask)), (1,) * self._ndim)
            self._widen(shape[: self.blocks])
            self._put(self.data, machine, at, tag, shape)


class UnseenShared(TagShared):
    """A shared array whose accesses are reported and whose contents are not tracked."""

    __slots__ = ()

    def load(self, machine: Machine, offset: ElementOffset, kind: AccessType, place: Place) -> Any:
        return COMPUTED

    def store(self, machine: Machine, offset: ElementOffset, value: Any, kind: AccessType, place: Place) -> None:
        pass


class TagLocal(LocalMemory):
    """Local memory whose floats are tags. Its integers are tags too if it ``holds_contents``, else numbers."""

    __slots__ = ("holds_contents",)

    def __init__(self, name: str, cells: CellTable, values: list[Any], level: int, holds_contents: bool) -> None:
        super().__init__(name, cells, values, level)
        self.holds_contents = holds_contents

    def running(self, scalar: Scalar) -> Scalar:
        return LONG if scalar.is_float or self.holds_contents else scalar

    def _viewed(self, machine: Machine, offset: int, kind: AccessType, place: Place) -> Any:
        """The tag of one cell of the same size, or no copy."""
        cell = self.cells.at(offset * kind.bytes)
        if not self.holds_contents and not kind.scalar.is_float:
            raise NeedsValues
        if cell is None:
            return COMPUTED
        tag = self._read(machine, cell, place)
        own = self.cells.type(cell)
        is_tag = self.holds_contents or own.scalar.is_float
        fits = own.bytes == kind.bytes and self.cells.start(cell) == offset * kind.bytes
        return tag if is_tag and fits else COMPUTED

    def _overwrite(self, offset: int, value: Any, kind: AccessType, mask: Any) -> None:
        at, stop = offset * kind.bytes, (offset + 1) * kind.bytes
        while at < stop:
            cell = self.cells.at(at)
            own = None if cell is None else self.cells.type(cell)
            if cell is None or own is None:
                at += 1
                continue
            if not self.holds_contents and not own.scalar.is_float:
                raise NeedsValues
            fits = own.bytes == kind.bytes and self.cells.start(cell) == at
            self._replace(cell, value if fits else COMPUTED, own.scalar, mask)
            at = self.cells.start(cell) + own.bytes
