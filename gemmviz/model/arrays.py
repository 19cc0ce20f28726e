"""Type aliases for NumPy arrays; and layouts: which elements each thread of a warp touches in an access, and which ones of a
matrix each lane holds.
"""

from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

AnyArray = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Unsigned = npt.NDArray[np.uint32]
Floats = npt.NDArray[np.float64]
Strings = npt.NDArray[np.str_]
Singles = npt.NDArray[np.float32]


# Which elements each thread of a warp touches in an access, and which ones of a matrix each lane holds.


class Layout(Struct, frozen=True, dict=True):
    """Offsets by lane and element of the access, in elements of the array, from the recorded element.

    ``offsets`` lists the offsets of lane 0, then those of lane 1, and so on, for ``lanes`` lanes; lane n of a warp takes those
    of lane n % ``lanes``. With one lane, all threads have the same offsets: a scalar, a float4 or a box.
    """

    offsets: tuple[int, ...] = (0,)
    lanes: int = 1

    @property
    def width(self) -> int:
        """Number of elements that one thread touches."""
        return len(self.offsets) // self.lanes

    @cached_property
    def farthest(self) -> int:
        """The largest offset."""
        return max(self.offsets)

    @cached_property
    def is_dense(self) -> bool:
        """Whether every thread touches consecutive elements from the recorded one on."""
        return self.lanes == 1 and self.offsets == tuple(range(len(self.offsets)))

    @cached_property
    def table(self) -> Longs:
        """The offsets, int64 (lanes, width)."""
        table = np.array(self.offsets, np.int64).reshape(self.lanes, -1)
        table.flags.writeable = False
        return table

    @cached_property
    def runs(self) -> "tuple[ElementRun, ...]":
        """The access as runs of consecutive elements of each lane, in the order of its elements."""
        breaks = np.flatnonzero((np.diff(self.table, axis=1) != 1).any(axis=0)) + 1
        edges = [0, *breaks.tolist(), self.width]
        return tuple(ElementRun(self.table[:, start], stop - start) for start, stop in pairwise(edges))

    def each(self, lanes: npt.NDArray[np.integer] | None) -> Iterator[int | Longs]:
        """The offset of each element of the access: an int if all lanes have the same, else an array of the shape of ``lanes``,
        the lanes of some threads. ``lanes`` may be None if the layout has one lane.
        """
        if self.lanes == 1:
            yield from self.offsets
            return
        assert lanes is not None
        rows = self.table[np.asarray(lanes) % self.lanes]
        for place in range(self.width):
            yield rows[..., place]

    def offset(self, place: int, lanes: npt.NDArray[np.integer]) -> int | Longs:
        """The offset of one element of the access, as from ``each``."""
        return self.offsets[place] if self.lanes == 1 else self.table[np.asarray(lanes) % self.lanes, place]

    def spread(self, first: npt.NDArray[np.integer], lanes: npt.NDArray[np.integer] | None) -> Longs:
        """All elements that threads touch, int64 (threads, width). ``first`` (threads,) are the recorded elements."""
        first = np.asarray(first, np.int64)
        if self.lanes == 1:
            return first[:, None] + self.table
        assert lanes is not None
        return np.asarray(first[:, None] + self.table[np.asarray(lanes) % self.lanes], np.int64)


class ElementRun(Struct, frozen=True, eq=False):
    """Consecutive elements of an access: ``first`` int64 (lanes of the layout,), the offset of the first, and their number."""

    first: Longs
    width: int


SCALAR = Layout()


@lru_cache(maxsize=64)
def vector(width: int) -> Layout:
    """Consecutive elements that one thread touches at once, as in a float4."""
    return Layout(tuple(range(width)))


def box(rows: int, columns: int, pitch: int) -> Layout:
    """A rectangle that one thread copies, row by row. ``pitch``: elements from one row of the array to the next."""
    return Layout(tuple(row * pitch + column for row in range(rows) for column in range(columns)))


def fragment(rows: int, columns: int, pitch: int, per_lane: int, matrices: tuple[int, ...] = (0,)) -> Layout:
    """A matrix of ``rows`` x ``columns`` elements spread over the lanes of a warp, row by row, with ``per_lane`` consecutive
    elements each: ldmatrix gives each thread 2 elements of an 8 x 8 matrix of 16-bit elements (PTX ISA, ldmatrix).

    ``pitch``: elements from one row of the array to the next; ``matrices``: offsets of further matrices from the recorded
    element, which is the first of all for every lane.
    """
    lanes = rows * columns // per_lane
    places = (divmod(lane * per_lane, columns) for lane in range(lanes))
    starts = [row * pitch + column for row, column in places]
    return Layout(tuple(start + first + at for start in starts for first in matrices for at in range(per_lane)), lanes)


ROWS, COLUMNS, LANES = 16, 8, 32
MatrixName = Literal["a", "b", "c"]
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "f32": 32, "s32": 32}  # of an element in a register


class Fragment(Struct, frozen=True, eq=False):
    """Where the elements of a matrix are: ``row`` and ``column``, int64 (lanes, elements of a lane), in the order of the
    registers, and in each from the lowest bits on.
    """

    row: Longs
    column: Longs


def loaded_fragment(is_transposed: bool) -> Fragment:
    """Return the fragment of a matrix of 8 x 8 elements of 16 bits that ldmatrix loads, stmatrix stores, and movmatrix
    transposes. Source: PTX ISA, "Warp-level matrix load instruction: ldmatrix".
    """
    outer, along = np.arange(LANES)[:, None] // 4, np.arange(LANES)[:, None] % 4 * 2 + np.arange(2)
    pair = outer + np.zeros_like(along), along
    return Fragment(*(pair[::-1] if is_transposed else pair))


@lru_cache(maxsize=32)
def fragment_of(use: MatrixName, k: int, bits: int) -> Fragment:
    """Return the fragment of A, B, or C and D, of an instruction with ``k`` products for each element, whose elements have
    ``bits`` bits.

    >>> a = fragment_of("a", 16, 16)
    >>> a.row[0].tolist(), a.column[0].tolist()
    ([0, 0, 8, 8, 0, 0, 8, 8], [0, 1, 0, 1, 8, 9, 8, 9])
    """
    if use == "c":
        each = np.arange(4)
        lane = np.arange(LANES)[:, None]
        return Fragment(lane // 4 + 8 * (each // 2), lane % 4 * 2 + each % 2)
    packed = 32 // bits
    count = (ROWS if use == "a" else COLUMNS) * k // LANES
    register, within = np.divmod(np.arange(count), packed)
    lane = np.arange(LANES)[:, None]
    group = lane // 4 + np.zeros_like(register)
    along = lane % 4 * packed + within
    if use == "a":
        return Fragment(group + 8 * (register % 2), along + register // 2 * 4 * packed)
    return Fragment(along + register * 4 * packed, group)
