"""Numbers, counts and lists as text."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, get_args

from msgspec import Struct

from gemmviz.model.errors import UsageError
from gemmviz.model.problem_kind import Control
from gemmviz.model.sites import MemoryArray
from gemmviz.model.translation import counted, grouped, marked, tr, trn

_LISTS = {"and": marked("{others} and {last}"), "or": marked("{others} or {last}")}
_ORDINALS = {1: marked("{number}st"), 2: marked("{number}nd"), 3: marked("{number}rd")}
_ORDINAL = marked("{number}th")
_GROWING = frozenset({"sector", "wavefront", "lane", "element", "load"})  # what is counted up when a question is answered


def number(value: float) -> str:
    """A number with three digits, or more before its point, with thin spaces between thousands from five digits on."""
    return grouped(value, "\u2009") if value >= 100 else f"{value:.3g}"


def spaced(count: float) -> str:
    """All digits of a count, as ``grouped`` writes those of other numbers."""
    return counted(grouped(count))


def size_text(size: float) -> str:
    """A number of bytes in binary units: "48 KiB", "512 bytes"."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return tr("{size} bytes", size=grouped(round(size)))


def percent(share: float) -> str:
    """A share in percent, with one decimal: "12.5 %"."""
    return f"{counted(f'{100 * share:.1f}')} %"


def many(count: int, noun: str) -> str:
    """A count and its noun: "1 sector", "4 launches". Nouns in calls are messages of the catalogue, as "{count} sector"."""
    text = counted(count, count if count > 1 and noun in _GROWING else None)
    return trn(f"{{count}} {noun}", f"{{count}} {plural(noun)}", count, count=text)


def sized(count: int, noun: str) -> str:
    """A size and its noun, as ``many`` writes counts: "256 threads" of a block. No question hides it."""
    return trn(f"{{count}} {noun}", f"{{count}} {plural(noun)}", count, count=str(count))


def noun(word: str) -> str:
    """Return the noun itself: the mark of a noun in a table, which ``many`` counts or ``tr`` shows."""
    return word


def plural(noun: str) -> str:
    """The English plural of a noun: "sectors", "launches"."""
    return f"{noun}es" if noun.endswith(("ch", "sh", "ss", "x")) else f"{noun}s"


def capital(text: str) -> str:
    """The text with an upper-case first letter."""
    return text[:1].upper() + text[1:]


def listed(names: Iterable[str], last: Literal["and", "or"] = "and") -> str:
    """Names in a sentence: "A, B and C"."""
    *others, end = [*names] or [""]
    return tr(_LISTS[last], others=", ".join(others), last=end) if others else end


def ordinal(number: int) -> str:
    """A place in a row, from 1: "1st", "22nd"."""
    return tr(_ORDINAL if number % 100 in (11, 12, 13) else _ORDINALS.get(number % 10, _ORDINAL), number=number)


def letter(place: int) -> str:
    """The letter of a choice, "A" for 0."""
    return chr(ord("A") + place)


def all_blocks(count: int) -> str:
    """All blocks of a launch in words: "all 16 blocks"."""
    return tr("all {count} blocks", count=count) if count > 1 else tr("its only block")


# Notation for elements of matrices and for threads, which differs between courses.

IndexOrder = Literal["row, column", "column, row"]
ThreadOrder = Literal["x, y", "y, x"]
_ORDERS = (marked("row, column"), marked("column, row"))


class LabelStyle(Struct, frozen=True):
    """A notation. ``order``: which index of an element comes first; ``first``: the number of the first row and column, 0 or 1;
    ``thread``: which index of a thread comes first. Raises UsageError for other values.
    """

    order: Annotated[IndexOrder, Control("Elements", "Which index of an element is written first")] = "row, column"
    first: Annotated[int, Control("First index", "Whether rows and columns are counted from 0 or from 1", most=1)] = 0
    thread: Annotated[ThreadOrder, Control("Threads", "Which index of a thread is written first")] = "x, y"

    def __post_init__(self) -> None:
        if self.order not in _ORDERS or self.thread not in get_args(ThreadOrder) or self.first not in (0, 1):
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
        return f"{name}[{', '.join(map(str, self._ordered(indices)))}]"

    def named(self, array: MemoryArray, element: int) -> str:
        """An element of an array, by its number: "A[3, 5]", "x[17]"."""
        return self.element(array.name, *array.indices(element))

    def indices(self, array: MemoryArray, element: int) -> str:
        """The indices of an element alone, such as "3,5" or "17"."""
        return ",".join(map(str, self._ordered(array.indices(element))))

    def _ordered(self, indices: Sequence[int]) -> list[int]:
        """Indices as written: counted from ``first``, those of rows and columns in the notation's order."""
        if len(indices) == 2 and self.order == "column, row":
            indices = indices[::-1]
        return [index + self.first for index in indices]

    def pair(self, row: int, column: int) -> str:
        """The indices alone, such as "3,5"."""
        return ",".join(map(str, self._ordered((row, column))))

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
