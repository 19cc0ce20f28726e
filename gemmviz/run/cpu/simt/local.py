"""Local memory: the arrays, structs and address-taken variables of a thread, one value over lanes per scalar."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from gemmviz.cuda import walk
from gemmviz.cuda.nodes import Assign, Deref, Expr, Loop, Unrolled
from gemmviz.cuda.types import ArrayType, CType, PointerType, Scalar, StructType, VectorType, named_type, scalar_of, size_bytes
from gemmviz.model.arrays import AnyArray
from gemmviz.model.messages import OUT_OF_RANGE, Place, tr
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import ThreadSpace
from gemmviz.run.cpu.simt import values
from gemmviz.run.cpu.simt.machine import Closure, Machine
from gemmviz.run.cpu.simt.memory import AccessType, GlobalMemory, SharedMemory, access_type, far_element
from gemmviz.run.cpu.simt.values import Finish, Partial, PointerClosure, merged, read

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


# What the values of a run are: numbers of C's types here, in a run that computes; other domains are ``tags`` and ``sums``.

Holder = int | Expr  # what holds a value: a variable's slot, or an expression of a place in memory or of a choice


class Compiling(Protocol):
    """What compiles expressions: the compiler of a run, and ``plain``, that of what is a number in any domain."""

    domain: "Domain"

    @property
    def plain(self) -> "Compiling": ...
    def value(self, node: Expr) -> Closure: ...
    def by_rules(self, node: Expr) -> Closure: ...
    def address(self, node: Expr) -> PointerClosure: ...


class Domain:
    """The domain of numbers, of a run on ``data``. The compiler asks a domain wherever domains differ."""

    def __init__(self, data: Mapping[str, AnyArray]) -> None:
        self.data = data

    def value(self, compiler: Compiling, node: Expr) -> Closure | None:
        """The closure of an expression that isn't evaluated by C's rules; None for others."""
        return None

    def effect(self, compiler: Compiling, node: Expr) -> Closure | None:
        """A closure of what an expression does if its value isn't needed, or None if it does nothing."""
        return compiler.value(node)

    def operand(self, compiler: Compiling, node: Expr) -> Closure:
        """The closure of a value with which only floats, or elements of memory, are computed."""
        return compiler.value(node)

    def known(self, compiler: Compiling, node: Expr) -> Closure:
        """The closure of a value on which control flow or an address depends."""
        return compiler.value(node)

    def accessed(self, compiler: Compiling, node: Deref) -> PointerClosure:
        """The closure of the address of a place in memory that is read or written."""
        return compiler.address(node.pointer)

    def given(self, compiler: Compiling, to: Holder, node: Expr) -> Closure:
        """The closure of a value that something holds from now on."""
        return compiler.value(node)

    def running(self, scalar: Scalar | None, of: Holder) -> Scalar | None:
        """The type that values of ``scalar`` have in a run, in what holds them."""
        return scalar

    def zero(self, scalar: Scalar, of: Holder) -> Any:
        """The zero in what holds it."""
        return values.constant(scalar.dtype.type(0).item(), scalar)

    def combined(self, node: Assign) -> Finish:
        """A closure of the new value of a compound assignment."""
        assert isinstance(node.type, Scalar)
        assert node.op is not None
        assert node.within is not None
        operands: list[Any] = [None, None]
        apply = values.binary(node.op, node.within, lambda machine: operands[0], lambda machine: operands[1], node.place)
        is_same = node.type.element is node.within.element
        widen, narrow = values.conversion(node.type, node.within), values.conversion(node.within, node.type)

        def combined(machine: Machine, old: Any, right: Any) -> Any:
            operands[0] = old if is_same else widen(old)
            operands[1] = right
            result = apply(machine)
            return result if is_same else narrow(result)

        return combined

    def updated(self, width: int, update: Callable[..., list[Any]], *args: Any) -> list[Any]:
        """The values of some elements of memory before and after an update, which ``update(*args)`` computes."""
        return update(*args)

    def multiplied(self, compute: Callable[[], list[Any]], count: int) -> list[Any]:
        """The ``count`` registers of a product of matrices, which ``compute`` gives."""
        return compute()

    def packed(self, halves: list[Any]) -> Any:
        """A register of 32 bits from two integers of 16, the lower first."""
        low, high = (np.asarray(half).astype(np.uint32) for half in halves)
        return low | high << np.uint32(16)

    def halves(self, register: Any) -> list[Any]:
        """The two integers of 16 bits in a register, the lower first."""
        bits = np.asarray(register, np.uint32)
        return [(bits >> np.uint32(shift)).astype(np.uint16) for shift in (0, 16)]

    def announce(self, machine: Machine, memory: Any, parts: list[Any], kind: AccessType) -> None:
        """Reports to the sink the value that a store is about to write."""
        if machine.wants_values:
            machine.sink.value(parts[0])

    def repeated(self, node: Loop | Unrolled, closure: Closure) -> Closure:
        """The closure of a loop, which may take a repeated run of it from a recorded one."""
        return closure

    def argument(self, number: float, scalar: Scalar, slot: int) -> Any:
        """The value of a parameter of the kernel that is a number."""
        return values.constant(float(number), scalar) if scalar.is_float else walk.wrap(int(number), scalar)

    def local(self, slot: int, name: str, cells: CellTable, cell_values: list[Any], level: int) -> LocalMemory:
        """A new local variable."""
        return LocalMemory(name, cells, cell_values, level)

    def matrix(self, name: str, info: MemoryArray, number: int) -> GlobalMemory:
        return GlobalMemory(info, number, self.data[name])

    def shared(self, arrays: tuple[MemoryArray, ...], number: int, space: ThreadSpace) -> SharedMemory:
        """The shared array that is the one of this number among ``arrays``."""
        return SharedMemory(arrays[number], number, len(space.block_shape), len(space.thread_shape))
