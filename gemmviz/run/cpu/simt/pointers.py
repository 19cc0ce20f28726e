"""Pointers at run time: a memory and an offset, in units of the type that is pointed to.

Lanes may point into different memories: then the memory is ``Several``, and accesses run once for each of them.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np
from msgspec import Struct

from gemmviz.cuda.types import Scalar, VectorType, scalar_of
from gemmviz.model.errors import Place
from gemmviz.model.translation import tr
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
    numbers = [_numbered(memory, memories) for memory in (new[0], old[0])]
    which = np.where(mask, *numbers)
    return Several(tuple(memories.values()), which), offsets


def _numbered(memory: Any, memories: dict[int, Any]) -> Any:
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
    return np.equal(_numbered(a, memories), _numbered(b, memories))


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
