"""A kernel's text with its macros expanded, and for every character of it where it came from."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from gemmviz.model.errors import Place


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of the expanded text: copied from ``start:stop`` of the file, or what the macro use there became."""

    at: int
    start: int
    stop: int
    copied: bool


@dataclass(frozen=True)
class ExpandedSource:
    """The expanded text (same line structure as the file) and the way back. ``left_out``: the headers that it includes and that
    nobody here has.
    """

    original: str
    text: str
    segments: tuple[Segment, ...]
    starts: tuple[int, ...] = field(repr=False)
    line_starts: tuple[int, ...] = field(repr=False)
    left_out: tuple[str, ...] = ()

    def original_range(self, start: int, stop: int) -> tuple[int, int]:
        """The file's characters behind the expanded characters ``start:stop``."""
        first, last = self._segment(start), self._segment(max(start, stop - 1))
        begin = first.start + (start - first.at) if first.copied else first.start
        end = last.start + (stop - last.at) if last.copied else last.stop
        return begin, max(begin, end)

    def is_expansion(self, start: int, stop: int) -> bool:
        """Whether any of the expanded characters ``start:stop`` came out of a macro."""
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
