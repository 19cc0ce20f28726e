"""A kernel's text with its macros expanded, and the origin of each of its characters in the file."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from gemmviz.model.errors import Place


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of the expanded text, copied from ``start:stop`` of the file or the expansion of the macro use there."""

    at: int
    start: int
    stop: int
    copied: bool


@dataclass(frozen=True)
class ExpandedSource:
    """The expanded text, with the file's line structure, and its mapping to the file. ``left_out`` are the included headers
    that gemmviz doesn't have.
    """

    original: str
    text: str
    segments: tuple[Segment, ...]
    starts: tuple[int, ...] = field(repr=False)
    line_starts: tuple[int, ...] = field(repr=False)
    left_out: tuple[str, ...] = ()

    def original_range(self, start: int, stop: int) -> tuple[int, int]:
        """The range of the file's characters from which the expanded characters ``start:stop`` come."""
        first, last = self._segment(start), self._segment(max(start, stop - 1))
        begin = first.start + (start - first.at) if first.copied else first.start
        end = last.start + (stop - last.at) if last.copied else last.stop
        return begin, max(begin, end)

    def is_expansion(self, start: int, stop: int) -> bool:
        """Whether any of the expanded characters ``start:stop`` come from a macro."""
        first = bisect_right(self.starts, start) - 1
        last = bisect_right(self.starts, max(start, stop - 1)) - 1
        return not all(segment.copied for segment in self.segments[first : last + 1])

    def place(self, start: int, stop: int) -> Place:
        return source_place(self.line_starts, *self.original_range(start, stop))

    def _segment(self, offset: int) -> Segment:
        return self.segments[max(0, bisect_right(self.starts, offset) - 1)]


def line_starts_of(text: str) -> tuple[int, ...]:
    return (0, *(found.end() for found in re.finditer("\n", text)))


def source_place(line_starts: tuple[int, ...], begin: int, end: int) -> Place:
    line, last = (bisect_right(line_starts, offset) for offset in (begin, end))
    return Place(line, begin - line_starts[line - 1] + 1, last, end - line_starts[last - 1] + 1)
