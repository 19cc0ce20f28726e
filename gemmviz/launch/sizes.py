"""Parses lists of problem sizes."""

from collections.abc import Iterable

from gemmviz.model.errors import UsageError
from gemmviz.model.problem import Problem

_LONGEST = 24  # characters of two sizes


def parse_sizes(text: str) -> tuple[int, ...]:
    """Sizes in ascending order from a text such as "128:8192" (doubling), "100,200,300" or both. Raises UsageError."""
    sizes: set[int] = set()
    for part in text.split(","):
        first, colon, last = part.partition(":")
        if (
            len(part) > _LONGEST
            or not first.isdecimal()
            or int(first) < 1
            or (colon and not (last.isdecimal() and int(last) >= int(first)))
        ):
            raise UsageError(f"{text!r} is not a list of sizes", remedy="write 128:8192 (doubling) or 100,200,300")
        size = int(first)
        sizes.add(size)
        while colon and size * 2 <= int(last):
            size *= 2
            sizes.add(size)
    return tuple(sorted(sizes))


def square_problems(sizes: Iterable[int]) -> list[Problem]:
    """Problems with M = N = K for each size."""
    return [Problem(size, size, size) for size in sizes]
