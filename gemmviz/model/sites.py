"""What a kernel touches, and where: arrays, the places of the source that touch them, and the loops around these."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gemmviz.model.element_types import ElementType, element_type
from gemmviz.model.errors import Place
from gemmviz.model.layouts import SCALAR, Layout

Space = Literal["global", "shared"]
SPACES: tuple[Space, ...] = ("global", "shared")
Access = Literal["read", "write"]
SiteKind = Literal["load", "store", "copy", "atomic", "barrier", "warp barrier", "wait", "matrix", "fence"]


@dataclass(frozen=True, slots=True)
class MemoryArray:
    """A matrix in global memory or an array in shared memory. ``shape`` is (rows, columns), or more dims if declared so.

    ``element_type`` is a name of the table of element types, ``itemsize`` its size in bytes. Global arrays start at a multiple
    of 256 bytes, as the driver allocates them.
    """

    name: str
    space: Space
    shape: tuple[int, ...]
    element_type: str
    column_major: bool = False

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.element.bytes

    @property
    def element(self) -> ElementType:
        """The type of its elements. Raises UsageError for one that the table doesn't have."""
        return element_type(self.element_type)

    def subscripted(self, element: int) -> str:
        """An element as the source would write it: ``tile[2][3]`` of a shared array, ``A[19]`` of a matrix."""
        subscripts: list[int] = []
        for extent in reversed(self.shape[1:] if self.space == "shared" else ()):
            element, inner = divmod(element, extent)
            subscripts.insert(0, inner)
        return self.name + "".join(f"[{each}]" for each in (element, *subscripts))

    def row_column(self, element: npt.NDArray[np.generic]) -> tuple[Any, Any]:
        """Row and column of each element, for arrays of one or two dims (leading dims are stacked as rows)."""
        if self.column_major:
            columns, rows = np.divmod(element, self.shape[0])
            return rows, columns
        return np.divmod(element, self.shape[-1])

    def place(self, element: int) -> tuple[int, int]:
        """Row and column of one element."""
        row, column = self.row_column(np.asarray(element))
        return int(row), int(column)


def shared_bytes(arrays: Iterable[MemoryArray]) -> int:
    """What those in shared memory take of a block's."""
    return sum(array.size * array.itemsize for array in arrays if array.space == "shared")


@dataclass(frozen=True, slots=True)
class Operand:
    """One array that a site reads or writes, by its number.

    ``layout``: the elements that each thread touches, counted from the one in the record. ``element_type``: by name, where the
    access takes the elements for another type than the array's; "" for the array's own. Offsets count elements of the array.
    """

    array: int
    access: Access
    layout: Layout = SCALAR
    element_type: str = ""

    @property
    def width(self) -> int:
        """Elements that one thread touches."""
        return self.layout.width


@dataclass(frozen=True, slots=True)
class Kind:
    """What a kind of site does: the accesses that its operands have, all of them needed unless it ``may_lack`` some; whether
    threads wait for each other at it (``is_barrier``), or threads that do it to one element need no order (``is_atomic``).
    """

    accesses: frozenset[Access] = frozenset()
    may_lack: bool = False
    is_barrier: bool = False
    is_atomic: bool = False

    def allows(self, operands: "tuple[Operand, ...]") -> bool:
        """Whether a site of this kind may have these operands."""
        found = {operand.access for operand in operands}
        return found <= self.accesses if self.may_lack else found == self.accesses


_READS: frozenset[Access] = frozenset({"read"})
_WRITES: frozenset[Access] = frozenset({"write"})
KINDS: Mapping[str, Kind] = {
    "load": Kind(_READS),
    "store": Kind(_WRITES),
    "copy": Kind(_READS | _WRITES),
    "atomic": Kind(_WRITES, is_atomic=True),
    "barrier": Kind(is_barrier=True),
    "warp barrier": Kind(is_barrier=True),
    "wait": Kind(),
    "matrix": Kind(_READS | _WRITES, may_lack=True),
    "fence": Kind(),
}


@dataclass(frozen=True, slots=True)
class Site:
    """One place of the source that touches memory or synchronises.

    ``loops`` are the numbers of the loops around it, outermost first; ``calls`` the calls it was inlined through. A "copy"
    moves elements from one array to another without registers; an "atomic" reads and writes its operand at once; a "wait"
    completes asynchronous steps. ``is_async``: it only begins what it does, and a wait completes it. ``visible_to``: of a wait,
    which threads see what it completes: the one that waits (cp.async.wait_group), or all of the block that wait (an mbarrier).
    """

    place: Place
    text: str
    loops: tuple[int, ...]
    kind: SiteKind
    operands: tuple[Operand, ...] = ()
    calls: tuple[Place, ...] = ()
    statement: Place | None = None
    is_async: bool = False
    visible_to: Literal["thread", "block"] = "thread"

    @property
    def is_barrier(self) -> bool:
        """Whether threads wait for each other here: those of the block, or of the warp."""
        return KINDS[self.kind].is_barrier

    @property
    def is_atomic(self) -> bool:
        """Whether threads may do it to one element in any order."""
        return KINDS[self.kind].is_atomic

    @property
    def rows(self) -> int:
        """Rows of the record that one step takes: one for each operand; one for who takes part where there are none."""
        return max(1, len(self.operands))

    def operand(self, place: int) -> Operand | None:
        """The operand at a place, from 0; None where the site has none there."""
        return self.operands[place] if place < len(self.operands) else None

    def touches(self, array: int) -> bool:
        return any(operand.array == array for operand in self.operands)

    def accesses(self, access: Access) -> tuple[Operand, ...]:
        """The operands that are read, or written."""
        return tuple(operand for operand in self.operands if operand.access == access)


@dataclass(frozen=True, slots=True)
class LoopInfo:
    """A loop of the kernel: the number of the loop around it (or -1), and whether it holds a barrier."""

    outer: int
    place: Place
    holds_barrier: bool
