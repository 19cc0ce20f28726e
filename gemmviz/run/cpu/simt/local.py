"""Local memory: the arrays, structs and address-taken variables of a thread, one value over lanes per scalar."""

from typing import Any

import numpy as np

from gemmviz.model.errors import OUT_OF_RANGE, Place
from gemmviz.model.translation import tr
from gemmviz.run.cpu.simt.access_types import AccessType
from gemmviz.run.cpu.simt.cells import CellTable
from gemmviz.run.cpu.simt.machine import Machine
from gemmviz.run.cpu.simt.memory import far_element
from gemmviz.run.cpu.simt.values import Partial, merged, read
from gemmviz.source.types import Scalar

_ElementOffset = Any


class LocalMemory:
    """The cells of a local variable. ``form``: that of all cells, None if they differ; an access by another type
    reads and writes their bytes. ``level``: depth of control flow at the declaration.
    """

    __slots__ = ("cells", "form", "level", "name", "size", "values")
    number = -1
    unit = 1

    def __init__(self, name: str, cells: CellTable, values: list[Any], level: int) -> None:
        self.name = name
        self.cells = cells
        self.values = values
        self.size = cells.size if cells.kind is not None else 0
        self.form = None if cells.kind is None else cells.kind.form
        self.level = level

    def recorded(self, offset: _ElementOffset, kind: AccessType) -> _ElementOffset:
        return offset

    def checked(self, machine: Machine, offset: _ElementOffset, kind: AccessType, place: Place) -> _ElementOffset:
        """The offset, with 0 for inactive lanes. Raises KernelFault for an active lane out of range."""
        last = self.cells.bytes * self.cells.count // kind.bytes - kind.width
        if offset.__class__ is int and 0 <= offset <= last:
            return offset
        active = offset
        if isinstance(offset, np.ndarray) and machine.mask is not None:
            active = np.where(machine.mask, offset, 0)
        bad = np.asarray((active < 0) | (active > last))
        if bad.any():
            index = int(np.broadcast_to(active, bad.shape).ravel()[int(np.argmax(bad))])
            named = far_element(self.name, index) if isinstance(offset, np.ndarray) else ""
            message = tr(OUT_OF_RANGE, element=named or f"{self.name}[{index}]", size=last + kind.width)
            raise machine.fault(message, place, bad, id="out-of-range")
        return active

    def load(self, machine: Machine, offset: _ElementOffset, kind: AccessType, place: Place) -> Any:
        """One scalar of an access. Raises KernelFault if it isn't written."""
        if isinstance(offset, int):
            return self._element(machine, offset, kind, place)
        result: Any = None
        outer = machine.mask
        for index in np.unique(offset).tolist():
            here = offset == index
            machine.mask = here if outer is None else here & outer
            if machine.mask.any():
                value = self._element(machine, index, kind, place)
                result = merged(here, value, 0 if result is None else result, self.running(kind.scalar))
        machine.mask = outer
        return result

    def store(self, machine: Machine, offset: _ElementOffset, value: Any, kind: AccessType, place: Place) -> None:
        """Writes one scalar of an access."""
        if isinstance(offset, int):
            mask = machine.mask if machine.level != self.level else None
            self._set(machine, offset, value, kind, mask)
            return
        for index in np.unique(offset).tolist():
            here = offset == index if machine.mask is None else (offset == index) & machine.mask
            self._set(machine, index, value, kind, here)

    def running(self, scalar: Scalar) -> Scalar:
        """The type that values of ``scalar`` have while the kernel runs."""
        return scalar

    def _cell(self, offset: int, kind: AccessType) -> int | None:
        """The cell that an access covers exactly, None if it covers others."""
        if kind.form is self.form:
            return offset
        byte = offset * kind.bytes
        cell = self.cells.at(byte)
        fits = cell is not None and self.cells.start(cell) == byte and self.cells.type(cell).form is kind.form
        return cell if fits else None

    def _element(self, machine: Machine, offset: int, kind: AccessType, place: Place) -> Any:
        cell = self._cell(offset, kind)
        if cell is None:
            return self._viewed(machine, offset, kind, place)
        return self._read(machine, cell, place)

    def _read(self, machine: Machine, cell: int, place: Place) -> Any:
        value = self.values[cell]
        if value is None or value.__class__ is Partial:
            return read(machine, value, f"{self.name}[{cell}]", place)
        return value

    def _set(self, machine: Machine, offset: int, value: Any, kind: AccessType, mask: Any) -> None:
        """Writes a scalar for the lanes in ``mask``, None for all."""
        cell = self._cell(offset, kind)
        if cell is None:
            self._overwrite(offset, value, kind, mask)
            return
        self._replace(cell, value, kind.scalar, mask)

    def _replace(self, cell: int, value: Any, scalar: Scalar, mask: Any) -> None:
        self.values[cell] = value if mask is None else merged(mask, value, self.values[cell], self.running(scalar))

    def _viewed(self, machine: Machine, offset: int, kind: AccessType, place: Place) -> Any:
        """The bytes of one or several cells as another type."""
        pieces: list[Any] = []
        at, stop = offset * kind.bytes, (offset + 1) * kind.bytes
        while at < stop:
            cell = self.cells.at(at)
            if cell is None:  # padding
                pieces.append(np.zeros(1, np.uint8))
                at += 1
                continue
            own, start = self.cells.type(cell), self.cells.start(cell)
            end = min(stop, start + own.bytes)
            pieces.append(own.raw(self._read(machine, cell, place))[..., at - start : end - start])
            at = end
        outer = np.broadcast_shapes(*(piece.shape[:-1] for piece in pieces))
        whole = np.concatenate([np.broadcast_to(piece, (*outer, piece.shape[-1])) for piece in pieces], axis=-1)
        return kind.of_raw(whole)

    def _overwrite(self, offset: int, value: Any, kind: AccessType, mask: Any) -> None:
        """Writes the bytes of a scalar into one or several cells of another type. A cell written in part counts as written."""
        raw = kind.raw(value)
        first, stop = offset * kind.bytes, (offset + 1) * kind.bytes
        at = first
        while at < stop:
            cell = self.cells.at(at)
            if cell is None:
                at += 1
                continue
            own, start = self.cells.type(cell), self.cells.start(cell)
            end = min(stop, start + own.bytes)
            new = raw[..., at - first : end - first]
            if end - at < own.bytes:
                old = self.values[cell]
                old = old.value if old.__class__ is Partial else 0 if old is None else old
                kept = own.raw(old)
                outer = np.broadcast_shapes(new.shape[:-1], kept.shape[:-1])
                whole = np.array(np.broadcast_to(kept, (*outer, own.bytes)))
                whole[..., at - start : end - start] = new
                new = whole
            self._replace(cell, own.of_raw(new), own.scalar, mask)
            at = end
