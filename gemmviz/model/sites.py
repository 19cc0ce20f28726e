"""What a kernel touches, and where: arrays, the places of the source that touch them, and the loops around these."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gemmviz.model.errors import Place

Space = Literal["global", "shared"]
Access = Literal["read", "write"]
SiteKind = Literal["load", "store", "copy", "barrier", "warp barrier"]


@dataclass(frozen=True, slots=True)
class MemoryArray:
    """A matrix in global memory or an array in shared memory. ``shape`` is (rows, columns), or more dims if declared so.

    ``itemsize`` is in bytes. Global arrays start at a multiple of 256 bytes, as the driver allocates them.
    """

    name: str
    space: Space
    shape: tuple[int, ...]
    dtype: str
    column_major: bool = False

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        return np.dtype(self.dtype).itemsize

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
    """One array that a site reads or writes, by its number. ``offsets``: the elements that one thread touches there, counted
    from the one in the record: (0,) for a scalar, (0, 1, 2, 3) for a float4.
    """

    array: int
    access: Access
    offsets: tuple[int, ...] = (0,)

    @property
    def width(self) -> int:
        """Elements that one thread touches."""
        return len(self.offsets)


@dataclass(frozen=True, slots=True)
class Site:
    """One place that touches memory, or a barrier, which has no operands and waits for the block or the warp.

    ``loops`` are the numbers of the loops around it, outermost first; ``calls`` the calls it was inlined through.
    """

    place: Place
    text: str
    loops: tuple[int, ...]
    operands: tuple[Operand, ...] = ()
    waits_for: Literal["block", "warp"] | None = None
    calls: tuple[Place, ...] = ()
    statement: Place | None = None

    @property
    def is_barrier(self) -> bool:
        return not self.operands

    @property
    def kind(self) -> SiteKind:
        """``copy`` reads one array and writes another."""
        if not self.operands:
            return "warp barrier" if self.waits_for == "warp" else "barrier"
        accesses = {operand.access for operand in self.operands}
        return "copy" if len(accesses) > 1 else "load" if accesses == {"read"} else "store"

    @property
    def rows(self) -> int:
        """Rows of the record that one step takes: one for each operand, one for who arrives at a barrier."""
        return max(1, len(self.operands))

    def touches(self, array: int) -> bool:
        return any(operand.array == array for operand in self.operands)


@dataclass(frozen=True, slots=True)
class LoopInfo:
    """A loop of the kernel: the number of the loop around it (or -1), and whether it holds a barrier."""

    outer: int
    place: Place
    holds_barrier: bool
