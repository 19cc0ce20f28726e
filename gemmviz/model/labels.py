"""Notation for elements of matrices and for threads, which differs between courses."""

from collections.abc import Sequence
from typing import Annotated, Literal, get_args

from msgspec import Struct

from gemmviz.model.errors import UsageError
from gemmviz.model.problem_kind import Control
from gemmviz.model.sites import MemoryArray
from gemmviz.model.translation import marked, tr

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
