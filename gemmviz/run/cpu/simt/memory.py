"""Pointers at run time, and the memories that several threads see: matrices in global memory, and shared arrays.

A pointer is a memory and an offset, in units of the type that is pointed to. Lanes may point into different memories: then the
memory is ``Several``, and accesses run once for each of them. A memory is bytes. An access reads or writes them as its own
type, in whose scalars its offset counts: a Python int, or an int64 array over lanes.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np
from msgspec import Struct, structs

from gemmviz.cuda.types import Scalar, VectorType, named_type, scalar_of
from gemmviz.model.arrays import AnyArray, Bools, Longs
from gemmviz.model.element_types import element_type
from gemmviz.model.messages import OUT_OF_RANGE, ErrorId, KernelFault, Place, tr
from gemmviz.model.sinks import Shifted
from gemmviz.model.sites import MemoryArray
from gemmviz.run.cpu.simt.machine import Machine

Pointer = tuple[Any, Any]
_NULL_NUMBER = -1


class Null:
    """The memory of null pointers and of other integers made pointers: nothing can be accessed there."""

    __slots__ = ()
    name = "a null pointer"
    number = _NULL_NUMBER

    def checked(self, machine: Machine, offset: Any, kind: Any, place: Place) -> NoReturn:
        """Raises KernelFault: nothing is there."""
        raise machine.fault(tr("a null pointer is dereferenced"), place, id="out-of-range")


NULL = Null()


class Several:
    """The memories of a pointer that differ between lanes: ``which`` is the index of each lane's memory in ``memories``."""

    __slots__ = ("memories", "which")
    name = "several arrays"

    def __init__(self, memories: tuple[Any, ...], which: Any) -> None:
        self.memories = memories
        self.which = which


def joined(mask: Any, new: Pointer, old: Pointer) -> Pointer:
    """The pointer ``new`` for the lanes in ``mask`` and ``old`` for the others."""
    offsets = new[1] if new[1] is old[1] else np.where(mask, _long(new[1]), _long(old[1]))
    if new[0] is old[0]:
        return new[0], offsets
    memories: dict[int, Any] = {}
    numbers = [_memory_numbers(memory, memories) for memory in (new[0], old[0])]
    which = np.where(mask, *numbers)
    return Several(tuple(memories.values()), which), offsets


def _memory_numbers(memory: Any, memories: dict[int, Any]) -> Any:
    """The index of each lane's memory among ``memories``, to which new ones are added."""
    several = memory.memories if isinstance(memory, Several) else (memory,)
    for each in several:
        memories.setdefault(id(each), each)
    order = list(memories)
    places = np.array([order.index(id(each)) for each in several])
    return places[memory.which] if isinstance(memory, Several) else places[0]


def _long(value: Any) -> Any:
    return value if isinstance(value, np.ndarray) else np.int64(value)


def each_memory(machine: Machine, memory: Several) -> Iterator[tuple[Any, Any]]:
    """The memories that active lanes point to, with the lanes of each. The machine's mask is theirs meanwhile."""
    outer = machine.mask
    machine.level += 1
    for number, each in enumerate(memory.memories):
        lanes = memory.which == number if outer is None else (memory.which == number) & outer
        if lanes.any():
            machine.mask = lanes
            yield each, lanes
    machine.mask = outer
    machine.level -= 1


def same_memory(a: Any, b: Any) -> Any:
    """Whether two pointers' memories are the same: a bool, or an array over lanes."""
    if not isinstance(a, Several) and not isinstance(b, Several):
        return a is b
    memories: dict[int, Any] = {}
    return np.equal(_memory_numbers(a, memories), _memory_numbers(b, memories))


_COMPARED: dict[str, Callable[[Any, Any], Any]] = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


def comparison(
    op: str, left: Callable[[Machine], Pointer], right: Callable[[Machine], Pointer], place: Place
) -> Callable[[Machine], Any]:
    """The closure of a comparison of two pointers of one type. An order of pointers into different memories is a fault."""

    def compare(machine: Machine) -> Any:
        (a, x), (b, y) = left(machine), right(machine)
        is_same = same_memory(a, b)
        if op in ("==", "!="):
            equal = is_same & np.equal(x, y)
            return _plain_bool(equal if op == "==" else ~np.asarray(equal))
        apart = ~np.asarray(is_same)
        if (apart if machine.mask is None else apart & machine.mask).any():
            raise machine.fault("pointers into two different arrays are compared", place, apart)
        return _plain_bool(_COMPARED[op](x, y))

    return compare


def is_not_null(pointer: Callable[[Machine], Pointer]) -> Callable[[Machine], Any]:
    """The closure of whether a pointer isn't null."""

    def test(machine: Machine) -> Any:
        memory, offset = pointer(machine)
        return _plain_bool(~np.asarray(same_memory(memory, NULL) & np.equal(offset, 0)))

    return test


def _plain_bool(value: Any) -> Any:
    array = np.asarray(value)
    return array if array.ndim else bool(array)


# How one access touches a memory: the scalar type of what it reads or writes, and how many of it.


class AccessType(Struct, frozen=True, eq=False):
    """A scalar or vector type as memory sees it, one object per type. Offsets of such an access count its scalars.

    ``dtype``: the NumPy type of a stored scalar; ``is_coded``: whether values of a run have another type, as for bfloat16.
    ``form``: one object for all types that a run holds in the same way. ``step``: the offset must be a multiple of it.
    """

    scalar: Scalar
    width: int
    dtype: Any
    bytes: int
    step: int
    is_coded: bool
    form: Any

    def decoded(self, stored: Any) -> Any:
        """Stored scalars as values of a run."""
        return (stored.astype(np.uint32) << 16).view(np.float32) if self.is_coded else stored

    def encoded(self, value: Any) -> Any:
        """Values of a run in their stored form; floats hold numbers that the type represents."""
        if not self.is_coded:
            return value
        return (np.asarray(value, np.float32).view(np.uint32) >> 16).astype(np.uint16)

    def single(self, stored: Any) -> Any:
        """One stored scalar as a value that all lanes share."""
        if self.is_coded:
            return self.decoded(np.asarray(stored))[()]
        return stored if self.scalar.is_float and self.bytes < 8 else stored.item()

    def raw(self, value: Any) -> Any:
        """The bytes of values: uint8 (..., bytes)."""
        stored = np.asarray(self.encoded(value) if self.is_coded else np.asarray(value, self.dtype))
        return np.asarray(stored.reshape((*stored.shape, 1)), order="C").view(np.uint8)

    def of_raw(self, raw: Any) -> Any:
        """Values from their bytes: the inverse of ``raw``."""
        stored = np.asarray(raw, order="C").view(self.dtype)[..., 0]
        return self.decoded(stored) if stored.ndim else self.single(stored[()])


@lru_cache(maxsize=256)
def access_type(ctype: Scalar | VectorType) -> AccessType:
    """How an access of this type touches memory."""
    scalar = scalar_of(ctype)
    width, step = (ctype.count, ctype.alignment // scalar.bytes) if isinstance(ctype, VectorType) else (1, 1)
    is_coded = scalar.element.decode is not None
    form = scalar.element if is_coded else scalar.dtype
    return AccessType(scalar, width, scalar.dtype, scalar.bytes, step, is_coded, form)


# The memories.

ElementOffset = Any
_Shape = tuple[int, ...]
_MOST_ELEMENTS_NAMED = 1024
_CLIPPED = 1 << 57
_UTMOST = (1 << 63) - 1  # element that a fault names
_ALIGNMENT = 16  # bytes to whose multiples shared arrays are padded here, so that the widest access fits


class Memory:
    """Base of global and shared memory: bounds and alignment. ``info`` describes the array as it is recorded."""

    __slots__ = ("bytes", "info", "name", "number", "unit")

    def __init__(self, info: MemoryArray, number: int) -> None:
        self.info = info
        self.name = info.name
        self.number = number
        self.unit = info.itemsize
        self.bytes = info.size * info.itemsize

    def recorded(self, offset: ElementOffset, kind: AccessType) -> ElementOffset:
        """An offset of an access in elements of the recorded array."""
        return offset if kind.bytes == self.unit else offset * (kind.bytes // self.unit)

    def checked(self, machine: Machine, offset: ElementOffset, kind: AccessType, place: Place) -> ElementOffset:
        """The offset, with 0 for inactive lanes. Raises KernelFault for an active lane out of range or misaligned."""
        last = self.bytes // kind.bytes - kind.width
        if isinstance(offset, int):
            if not 0 <= offset <= last:
                raise self._outside(machine, np.asarray(max(-_UTMOST, min(offset, _UTMOST))), last, kind, place)
        elif offset.__class__ is not Shifted or machine.mask is not None or kind.step > 1 or not offset.is_within(0, last):
            offset = np.asarray(offset)
            if machine.mask is not None:
                offset = np.where(machine.mask, offset, 0)
            if last < 0 or np.maximum.reduce(offset.view(np.uint64), axis=None) > last:
                raise self._outside(machine, offset, last, kind, place)
        if kind.step > 1 and np.any(offset % kind.step):
            raise self.misaligned(machine, offset, kind, place)
        return offset

    def misaligned(self, machine: Machine, offset: ElementOffset, kind: AccessType, place: Place) -> KernelFault:
        """The error for an access of several scalars whose first lies at no multiple of them."""
        bad = np.asarray(offset % kind.step != 0)
        at = np.asarray(self.recorded(offset, kind))
        message = (
            f"{self.element(_first_offset(at, bad))} is read or written {kind.width} elements at a time, "
            f"but is not aligned to {kind.step * kind.bytes} bytes"
        )
        return self.unmade(machine, message, place, at, bad, "misaligned-access")

    def unmade(self, machine: Machine, message: str, place: Place, offset: Any, bad: Bools, id: ErrorId) -> KernelFault:
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
        bad: Bools,
        remedy: str | None = None,
        *,
        id: ErrorId,
    ) -> KernelFault:
        """The error for the active lanes where ``bad`` holds, with the elements that they asked for, the first lane's first."""
        found = machine.fault(message, place, bad, remedy, id)
        offsets, lanes = np.broadcast_arrays(offset, bad if machine.mask is None else bad & machine.mask)
        asked = np.unique(offsets[lanes])[:_MOST_ELEMENTS_NAMED].tolist()
        first = int(offsets[lanes][0])
        found.array, found.elements = self.number, (first, *(each for each in asked if each != first))
        return found

    def _outside(self, machine: Machine, offset: Longs, last: int, kind: AccessType, place: Place) -> Exception:
        bad = (offset < 0) | (offset > last)
        index = _first_offset(offset, bad if machine.mask is None else bad & machine.mask)
        if kind.bytes == self.unit:
            named = far_element(self.name, index) if offset.ndim else ""
            message = tr(OUT_OF_RANGE, element=named or self.element(index), size=self.info.size)
        else:
            values = {"byte": index * kind.bytes, "array": self.name, "bytes": self.bytes}
            message = tr("byte {byte} of {array} is out of range: it has {bytes} bytes", **values)
        return self.unmade(machine, message, place, self.recorded(_multipliable(offset), kind), bad, "out-of-range")

    def element(self, index: int) -> str:
        """An element as the source would write it."""
        return f"{self.name}[{index}]"


def far_element(name: str, index: int) -> str:
    """An element whose index, one of several threads' in 64 bits, may have been clipped; "" for one that is exact."""
    if -_CLIPPED < index < _CLIPPED:
        return ""
    return f"{name}[more than 2^56]" if index > 0 else f"{name}[less than -2^56]"


def _first_offset(offset: Any, bad: Any) -> int:
    offsets, where = np.broadcast_arrays(offset, bad)
    return int(offsets.ravel()[int(np.argmax(where))])


def _multipliable(offset: Longs) -> Longs:
    """Offsets clipped so that they may be multiplied by the ratio of two sizes."""
    return np.clip(offset, -_UTMOST // _ALIGNMENT, _UTMOST // _ALIGNMENT)


class GlobalMemory(Memory):
    """A matrix as a flat array that all threads see. It is copied before the first write."""

    __slots__ = ("_views", "data", "dtype")

    def __init__(self, info: MemoryArray, number: int, data: AnyArray) -> None:
        super().__init__(info, number)
        self.data = data
        self.dtype = data.dtype
        self._views: dict[Any, AnyArray] = {}

    def _as(self, dtype: Any) -> AnyArray:
        """The whole scalars of a type that the memory's bytes hold."""
        if dtype is self.dtype:
            return self.data
        view = self._views.get(dtype)
        if view is None:
            view = self.data.view(np.uint8)[: self.bytes // dtype.itemsize * dtype.itemsize].view(dtype)
            self._views[dtype] = view
        return view

    def elements(self) -> AnyArray:
        """The recorded elements as stored, flat and writable."""
        self._own()
        return self._as(self.info.element.stored)

    def _own(self) -> None:
        """Copies the matrix before its first change."""
        if not self.data.flags.writeable:
            self.data = self.data.copy()
            self._views.clear()

    def load(self, machine: Machine, offset: ElementOffset, kind: AccessType, place: Place) -> Any:
        """One scalar of an access."""
        data = self._as(kind.dtype)
        if isinstance(offset, int):
            return kind.single(data[offset])
        return kind.decoded(data.take(offset)) if kind.is_coded else data.take(offset)

    def store(self, machine: Machine, offset: ElementOffset, value: Any, kind: AccessType, place: Place) -> None:
        """Writes one scalar of an access."""
        self._own()
        data = self._as(kind.dtype)
        value = kind.encoded(value) if kind.is_coded else value
        if machine.mask is None:
            if isinstance(offset, np.ndarray):
                offset, value = np.broadcast_arrays(offset, value)
            data[offset] = value if isinstance(offset, np.ndarray) else last_lane(value)
            return
        offsets, values, mask = np.broadcast_arrays(offset, value, machine.mask)
        data[offsets[mask]] = values[mask]


def last_lane(value: Any) -> Any:
    """The last lane's value, which remains in an element that all lanes write."""
    return value.ravel()[-1] if isinstance(value, np.ndarray) else value


@lru_cache(maxsize=256)
def _joint_shape(offset: _Shape, value: _Shape, mask: _Shape, ndim: int) -> _Shape:
    return np.broadcast_shapes(offset, value, mask, (1,) * ndim)


class SharedMemory(Memory):
    """One ``__shared__`` array of every traced block: ``data`` is (block axes, scalars), of extent 1 along a block axis while
    all blocks along it hold the same values. ``written`` is kept for each recorded element, until all of them are.
    """

    __slots__ = ("_views", "blocks", "complete", "data", "dtype", "threads_ndim", "written")

    def __init__(self, info: MemoryArray, number: int, blocks: int, threads_ndim: int) -> None:
        super().__init__(info, number)
        self.blocks = blocks
        self.threads_ndim = threads_ndim
        self.dtype = info.element.stored
        self._allocate((1,) * blocks)
        self.written = np.zeros((1,) * blocks + (info.size,), bool)
        self.complete = False

    def _allocate(self, outer: _Shape) -> None:
        padded = -(-self.bytes // _ALIGNMENT) * _ALIGNMENT
        self.data = np.zeros((*outer, padded // self.dtype.itemsize), self.dtype)
        self._views: dict[Any, AnyArray] = {}

    def element(self, index: int) -> str:
        return self.info.subscripted(index)

    def _as(self, dtype: Any) -> AnyArray:
        """The memory's bytes as scalars of a type: (block axes, scalars)."""
        if dtype is self.dtype:
            return self.data
        if dtype not in self._views:
            self._views[dtype] = self.data.view(dtype)
        return self._views[dtype]

    def elements(self) -> AnyArray:
        """The recorded elements as stored, flat and writable, of one block after the other."""
        return self._as(self.info.element.stored).reshape(-1)

    def load(self, machine: Machine, offset: ElementOffset, kind: AccessType, place: Place) -> Any:
        """One scalar of an access. Raises KernelFault if a byte of it isn't written."""
        if not self.complete:
            self._check_written(machine, offset, kind, place)
        found = self._taken(self._as(kind.dtype), offset)
        if isinstance(offset, int) and found.size == 1:
            return kind.single(found.ravel()[0])
        return kind.decoded(found) if kind.is_coded else found

    def _taken(self, data: AnyArray, offset: ElementOffset) -> Any:
        if isinstance(offset, int):
            return data[..., offset].copy().reshape(data.shape[:-1] + (1,) * self.threads_ndim)
        outer = offset.shape[: self.blocks]
        if outer.count(1) == self.blocks:
            return data.take(offset.reshape(offset.shape[self.blocks :]), axis=-1)
        return data.reshape(-1).take(self._rows(data) + offset)

    def _rows(self, data: AnyArray) -> Longs:
        """Index of the first element of each block in the flat data, over the lane axes."""
        outer = data.shape[:-1]
        starts = np.arange(int(np.prod(outer, dtype=np.int64)), dtype=np.int64) * data.shape[-1]
        return np.asarray(starts.reshape(outer + (1,) * self.threads_ndim))

    def _check_written(self, machine: Machine, offset: ElementOffset, kind: AccessType, place: Place) -> None:
        first = self.recorded(offset, kind)
        for part in range(kind.bytes // self.unit):
            at = first + part if part else first
            missing = ~np.asarray(self._taken(self.written, at))
            if machine.mask is not None:
                missing = missing & machine.mask
            if missing.any():
                first_missing = _first_offset(at, missing)
                message = tr("{name} is read before it is written", name=self.element(first_missing))
                remedy = tr("is a __syncthreads() missing? Where a condition skips the store, store 0 instead")
                line = self._line_of_copy(machine, first_missing)
                if line is not None:
                    remedy = tr("wait for the asynchronous copy of line {line} first", line=line)
                raise self.fault(machine, message, place, at, missing, remedy, id="uninitialised-read")

    def _line_of_copy(self, machine: Machine, element: int) -> int | None:
        """The line of the copy under way that will write an element of any block; None if there is none."""
        for each in machine.transfers.under_way:
            if each.memory is self:
                first = np.asarray(self.recorded(each.offset, each.kind))
                inside = (element >= first) & (element < first + self.recorded(each.kind.width, each.kind))
                if np.any(inside if each.lanes is None else inside & each.lanes):
                    return each.place.line
        return None

    def store(self, machine: Machine, offset: ElementOffset, value: Any, kind: AccessType, place: Place) -> None:
        """Writes one scalar of an access."""
        value = kind.encoded(value) if kind.is_coded else value
        shape = _joint_shape(np.shape(offset), np.shape(value), np.shape(np.asarray(machine.mask)), self._ndim)
        self._widen(shape[: self.blocks])
        marks = self._put(self._as(kind.dtype), machine, offset, value, shape)
        if self.complete:
            return
        ratio = kind.bytes // self.unit
        if ratio == 1:
            self.written[marks] = True
        else:
            for part in range(ratio):
                self._put(self.written, machine, offset * ratio + part, True, shape)
        self.complete = bool(self.written.all())

    def _put(self, data: AnyArray, machine: Machine, offset: ElementOffset, value: Any, shape: _Shape) -> Any:
        """Writes values into an array of (block axes, scalars); ``shape`` is that of the lanes. Returns the index of what it
        wrote, for arrays of the same shape.
        """
        threads = shape[self.blocks :]
        if machine.mask is None and np.shape(offset)[: self.blocks].count(1) == (self.blocks if np.ndim(offset) else 0):
            inner: Any = offset if isinstance(offset, int) else offset.reshape(offset.shape[self.blocks :])
            whole = isinstance(inner, np.ndarray) and inner.shape == threads
            index = (inner if whole else np.broadcast_to(inner, threads)).reshape(-1)
            data[..., index] = self._spread(value, threads)
            return (..., index)
        flat = np.broadcast_to(self._rows(data) + offset, self._full(shape))
        values = np.broadcast_to(value, flat.shape)
        chosen = np.ones(flat.shape, bool) if machine.mask is None else np.broadcast_to(machine.mask, flat.shape)
        data.reshape(-1)[flat[chosen]] = values[chosen]
        return np.unravel_index(flat[chosen], data.shape)

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
            self.data = np.broadcast_to(self.data, (*wanted, self.data.shape[-1])).copy()
            self._views = {}
            self.written = np.broadcast_to(self.written, (*wanted, self.written.shape[-1])).copy()


@lru_cache(maxsize=64)
def elements_of_bytes(element_name: str, size: int) -> AccessType:
    """How ``size`` bytes of an array are accessed in elements of its type, by the type's name."""
    scalar = named_type(element_type(element_name).spellings[0][0])
    assert isinstance(scalar, Scalar)
    width = size // scalar.bytes
    return structs.replace(access_type(scalar), width=width, step=min(width, _ALIGNMENT // scalar.bytes))
