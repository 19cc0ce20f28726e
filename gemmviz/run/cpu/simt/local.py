"""Local memory: the arrays, structs and address-taken variables of a thread, one value over lanes per scalar."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gemmviz.cuda.types import (
    ArrayType,
    CType,
    PointerType,
    Scalar,
    StructType,
    VectorType,
    named_type,
    scalar_of,
    size_bytes,
)
from gemmviz.model.errors import OUT_OF_RANGE, Place
from gemmviz.model.translation import tr
from gemmviz.run.cpu.simt.machine import Machine
from gemmviz.run.cpu.simt.memory import AccessType, access_type, far_element
from gemmviz.run.cpu.simt.values import Partial, merged, read

# The scalars of which a local variable, array or struct consists.

Leaf = tuple[int, Scalar]  # bytes before it in its element, and its type


@dataclass(frozen=True, slots=True)
class CellTable:
    """The cells of an array of ``count`` elements of ``bytes`` each, ``leaves`` in each. ``kind`` is the type of all of them if
    they have the same and nothing lies between them, else None.
    """

    leaves: tuple[Leaf, ...]
    bytes: int
    count: int
    kind: AccessType | None
    _starts: dict[int, int] = field(default_factory=dict, compare=False)

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.leaves) * self.count

    def at(self, byte: int) -> int | None:
        """The cell that contains a byte; None between cells."""
        element, inner = divmod(byte, self.bytes)
        cell = self._starts.get(inner)
        return None if cell is None else element * len(self.leaves) + cell

    def start(self, cell: int) -> int:
        """Bytes before a cell."""
        element, leaf = divmod(cell, len(self.leaves))
        return element * self.bytes + self.leaves[leaf][0]

    def type(self, cell: int) -> AccessType:
        return access_type(self.leaves[cell % len(self.leaves)][1])


def cells_of(element: CType, count: int) -> CellTable:
    """The cells of an array of ``count`` elements."""
    leaves = tuple(sorted(_without_overlaps(list(_leaves_of(element, 0))), key=lambda leaf: leaf[0]))
    scalars = {scalar for _, scalar in leaves}
    is_dense = len(scalars) == 1 and sum(scalar.bytes for _, scalar in leaves) == size_bytes(element)
    kind = access_type(next(iter(scalars))) if is_dense else None
    cells = CellTable(leaves, max(1, size_bytes(element)), count, kind)
    for number, (start, scalar) in enumerate(leaves):
        cells._starts.update(dict.fromkeys(range(start, start + scalar.bytes), number))
    return cells


def _leaves_of(ctype: CType, start: int) -> Iterator[Leaf]:
    match ctype:
        case StructType(fields=fields):
            for each in fields:
                yield from _leaves_of(each.type, start + each.offset)
        case ArrayType(element=element):
            step = size_bytes(element)
            for at in range(size_bytes(ctype) // step):
                yield from _leaves_of(element, start + at * step)
        case PointerType():
            yield start, _unsigned_scalar(8)
        case VectorType() | Scalar():
            scalar = scalar_of(ctype)
            for at in range(size_bytes(ctype) // scalar.bytes):
                yield start + at * scalar.bytes, scalar


def _without_overlaps(leaves: list[Leaf]) -> Iterator[Leaf]:
    """The leaves; where those of a union overlap and differ, unsigned integers of the finest size cover the place."""
    taken: dict[int, set[Leaf]] = {}
    for start, scalar in leaves:
        for byte in range(start, start + scalar.bytes):
            taken.setdefault(byte, set()).add((start, scalar))
    clashing = {leaf for several in taken.values() if len(several) > 1 for leaf in several}
    yield from dict.fromkeys(leaf for leaf in leaves if leaf not in clashing)
    if clashing:
        finest = min(scalar.bytes for _, scalar in clashing)
        places = {byte - byte % finest for start, scalar in clashing for byte in range(start, start + scalar.bytes)}
        yield from ((place, _unsigned_scalar(finest)) for place in places)


def _unsigned_scalar(size: int) -> Scalar:
    scalar = named_type(f"uint{8 * size}_t")
    assert isinstance(scalar, Scalar)
    return scalar


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
