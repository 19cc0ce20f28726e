"""Arrays, the sites in the source that access them, and the loops around the sites; and the notation for elements and threads,
which differs between courses.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Annotated, Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.model.arrays import SCALAR, Layout
from gemmviz.model.element_types import ElementType, element_type
from gemmviz.model.messages import Place, UsageError, marked, tr
from gemmviz.model.outline import SiteKind
from gemmviz.model.problem_kind import Control

Space = Literal["global", "shared"]
SPACES: tuple[Space, ...] = ("global", "shared")
Access = Literal["read", "write"]
_LEAST_ROW = 32  # elements
NUMBERED_BARRIERS = 16  # of a block


class MemoryArray(Struct, frozen=True):
    """A matrix in global memory or an array in shared memory. ``shape`` is (rows, columns), or longer if declared so or if
    there are several matrices. With ``column_major``, each matrix is stored column by column.

    ``element_type`` is a name in the table of element types, ``itemsize`` its size in bytes. Global arrays start at a multiple
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
        """The type of its elements. Raises UsageError if the table has none of that name."""
        return element_type(self.element_type)

    @property
    def extents(self) -> tuple[int, int]:
        """Rows and columns as drawn: leading dimensions are stacked as rows, and a vector in global memory is laid out in rows
        of a power of two, at least one line of 32 elements.
        """
        if len(self.shape) > 1:
            return self.size // self.shape[-1], self.shape[-1]
        if self.space == "shared":
            return 1, self.size
        columns = min(self.size, max(_LEAST_ROW, 1 << ((self.size - 1).bit_length() // 2)))
        return -(-self.size // columns), columns

    def subscripted(self, element: int) -> str:
        """An element as written in the source: ``tile[2][3]`` of a shared array, ``A[19]`` of a matrix."""
        subscripts: list[int] = []
        for extent in reversed(self.shape[1:] if self.space == "shared" else ()):
            element, inner = divmod(element, extent)
            subscripts.insert(0, inner)
        return self.name + "".join(f"[{each}]" for each in (element, *subscripts))

    def row_column(self, element: npt.NDArray[np.generic]) -> tuple[Any, Any]:
        """Row and column of each element among its ``extents``."""
        if self.column_major:
            *_, rows, columns = self.shape
            matrix, inside = np.divmod(element, rows * columns)
            column, row = np.divmod(inside, rows)
            return matrix * rows + row, column
        return np.divmod(element, self.extents[1])

    def element_at(self, row: int, column: int) -> int:
        """The element at a row and column among its ``extents``."""
        if self.column_major:
            *_, rows, columns = self.shape
            matrix, row = divmod(row, rows)
            return matrix * rows * columns + column * rows + row
        return row * self.extents[1] + column

    def indices(self, element: int) -> tuple[int, ...]:
        """The indices of one element, one for each dimension."""
        if self.column_major:
            row, column = self.place(element)
            return (*(int(index) for index in np.unravel_index(row, self.shape[:-1])), column)
        return tuple(int(index) for index in np.unravel_index(element, self.shape))

    def place(self, element: int) -> tuple[int, int]:
        """Row and column of one element among its ``extents``."""
        row, column = self.row_column(np.asarray(element))
        return int(row), int(column)


def shared_bytes(arrays: Iterable[MemoryArray]) -> int:
    """Bytes of a block's shared memory that these arrays take."""
    return sum(array.size * array.itemsize for array in arrays if array.space == "shared")


class Operand(Struct, frozen=True):
    """One array that a site reads or writes, by its number.

    ``layout``: the elements that each thread touches, relative to the recorded one. ``element_type``: name of the type of the
    accessed elements, if different from the array's, else "". Offsets count elements of the array.
    """

    array: int
    access: Access
    layout: Layout = SCALAR
    element_type: str = ""

    @property
    def width(self) -> int:
        """Number of elements that one thread touches."""
        return self.layout.width


class Kind(Struct, frozen=True):
    """Properties of a kind of site: the accesses of its operands, all of them required unless ``may_lack``; whether threads
    wait for each other at it (``is_barrier``), and whether several threads may do it to one element in any order
    (``is_atomic``).
    """

    accesses: frozenset[Access] = frozenset()
    may_lack: bool = False
    is_barrier: bool = False
    is_atomic: bool = False

    def allows(self, operands: "tuple[Operand, ...]") -> bool:
        """Whether a site of this kind may have these operands."""
        accesses = {operand.access for operand in operands}
        return accesses <= self.accesses if self.may_lack else accesses == self.accesses


_READS: frozenset[Access] = frozenset({"read"})
_WRITES: frozenset[Access] = frozenset({"write"})
SITE_KINDS: Mapping[str, Kind] = {
    "load": Kind(_READS),
    "store": Kind(_WRITES),
    "copy": Kind(_READS | _WRITES),
    "atomic": Kind(_WRITES, is_atomic=True),
    "barrier": Kind(is_barrier=True),
    "warp barrier": Kind(is_barrier=True),
    "init": Kind(_WRITES),
    "arrive": Kind(_WRITES, may_lack=True, is_atomic=True),
    "wait": Kind(_READS, may_lack=True, is_atomic=True),
    "matrix": Kind(_READS | _WRITES, may_lack=True),
    "product": Kind(),
    "fence": Kind(),
    "branch": Kind(),
}


class Site(Struct, frozen=True):
    """One place in the source that accesses memory, synchronises or branches.

    ``loops`` are the numbers of the loops around it, outermost first; ``calls`` the calls through which it was inlined. A
    "copy" moves elements from one array to another without registers; an "atomic" reads and writes its operand at once. A warp
    loads or stores a "matrix" together, with an operand for each 8 x 8 matrix, or transposes one in its registers; a "product"
    multiplies such there: ``instruction`` names how, as in MATRIX_INSTRUCTIONS, or as PTX does, such as "ldmatrix.trans". A
    "wait" completes asynchronous steps. Threads "init" an mbarrier in shared memory, their operand, "arrive" there, or "wait"
    there; they also "arrive" at a barrier of the block without waiting. ``is_async``: a later wait completes the access.
    ``visible_to``: for a wait, the threads that see the completed elements: the waiting one (cp.async.wait_group), or all
    waiting threads of the block (an mbarrier); for a barrier, "grid" if the blocks of the grid wait for each other. At a
    "branch" lanes of a warp part; ``arms``: the places that it leads to, first where its condition holds.
    """

    place: Place
    text: str
    loops: tuple[int, ...]
    kind: SiteKind
    operands: tuple[Operand, ...] = ()
    calls: tuple[Place, ...] = ()
    statement: Place | None = None
    is_async: bool = False
    visible_to: Literal["thread", "block", "grid"] = "thread"
    instruction: str = ""
    arms: tuple[Place, ...] = ()

    @property
    def is_barrier(self) -> bool:
        """Whether threads of the block, or of a warp, wait for each other here."""
        return SITE_KINDS[self.kind].is_barrier

    @property
    def is_warp_barrier(self) -> bool:
        """Whether only the threads of a warp wait for each other here."""
        return self.kind == "warp barrier"

    @property
    def is_of_mbarrier(self) -> bool:
        """Whether its operand is an mbarrier, which no unit for loads and stores touches."""
        return self.kind in ("init", "arrive", "wait")

    @property
    def is_atomic(self) -> bool:
        """Whether several threads may do it to one element in any order."""
        return SITE_KINDS[self.kind].is_atomic

    @property
    def rows(self) -> int:
        """Rows of the record that one step takes: one for each operand, or one for a site without operands."""
        return max(1, len(self.operands))

    def operand(self, place: int) -> Operand | None:
        """The operand at an index, from 0; None if the site has none there."""
        return self.operands[place] if place < len(self.operands) else None

    def is_within(self, place: Place, calls: tuple[Place, ...]) -> bool:
        """Whether it is reached from a place in the source that itself is reached through these calls."""
        if self.calls[: len(calls)] != calls:
            return False
        at = (*self.calls, self.place)[len(calls)]
        start, end = (place.line, place.column), (place.end_line, place.end_column)
        return start <= (at.line, at.column) and (at.end_line, at.end_column) <= end

    def touches(self, array: int) -> bool:
        return any(operand.array == array for operand in self.operands)

    def accesses(self, access: Access) -> tuple[Operand, ...]:
        """The operands that are read, or those that are written."""
        return tuple(operand for operand in self.operands if operand.access == access)


class LoopInfo(Struct, frozen=True):
    """A loop of the kernel: the number of the loop around it, or -1, and whether it contains a barrier."""

    outer: int
    place: Place
    holds_barrier: bool


# Notation for elements of matrices and for threads, which differs between courses.

IndexOrder = Literal["row, column", "column, row"]
ThreadOrder = Literal["x, y", "y, x"]
_INDEX_ORDERS = (marked("row, column"), marked("column, row"))


class LabelStyle(Struct, frozen=True):
    """A notation. ``order``: which index of an element comes first; ``first``: the number of the first row and column, 0 or 1;
    ``thread``: which index of a thread comes first. Raises UsageError for other values.
    """

    order: Annotated[IndexOrder, Control("Elements", "Which index of an element is written first")] = "row, column"
    first: Annotated[int, Control("First index", "Whether rows and columns are counted from 0 or from 1", most=1)] = 0
    thread: Annotated[ThreadOrder, Control("Threads", "Which index of a thread is written first")] = "x, y"

    def __post_init__(self) -> None:
        if self.order not in _INDEX_ORDERS or self.thread not in get_args(ThreadOrder) or self.first not in (0, 1):
            raise UsageError(
                tr(
                    "labels can't be {order} from {first}, threads {thread}",
                    order=f"{self.order!r}",
                    first=self.first,
                    thread=f"{self.thread!r}",
                ),
                remedy=tr('choose "row, column" or "column, row", from 0 or 1, and "x, y" or "y, x"'),
            )

    def element(self, name: str, *indices: int) -> str:
        """An element, such as "A[3, 5]", with an index for each dimension: rows and columns in the order of the notation."""
        return f"{name}[{', '.join(map(str, self.ordered(indices)))}]"

    def named(self, array: MemoryArray, element: int) -> str:
        """An element of an array, by its number: "A[3, 5]", "x[17]"."""
        return self.element(array.name, *array.indices(element))

    def indices(self, array: MemoryArray, element: int) -> str:
        """The indices of an element alone, such as "3,5" or "17"."""
        return ",".join(map(str, self.ordered(array.indices(element))))

    def ordered(self, indices: Sequence[int]) -> list[int]:
        """Indices as written: counted from ``first``, those of rows and columns in the notation's order."""
        if len(indices) == 2 and self.order == "column, row":
            indices = indices[::-1]
        return [index + self.first for index in indices]

    def pair(self, row: int, column: int) -> str:
        """The indices alone, such as "3,5"."""
        return ",".join(map(str, self.ordered((row, column))))

    def span(self, name: str, row: str, column: str) -> str:
        """A range of elements, such as "A[0…3, k]", from indices that are text already."""
        first, second = (row, column) if self.order == "row, column" else (column, row)
        return f"{name}[{first}, {second}]"

    def thread_of(self, x: int, y: int) -> str:
        """A thread, such as "(1, 0)"."""
        return f"({x}, {y})" if self.thread == "x, y" else f"({y}, {x})"

    @property
    def sentence(self) -> str:
        """The notation in words."""
        return tr(
            "elements [{order}] from {first}, threads ({thread})", order=tr(self.order), first=self.first, thread=self.thread
        )


PLAIN = LabelStyle()
