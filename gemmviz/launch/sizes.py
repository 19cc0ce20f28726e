"""Lists of problem sizes, as people write them."""

from collections.abc import Iterable

from gemmviz.model.errors import UsageError
from gemmviz.model.problem import Problem

_LONGEST = 24  # characters of two sizes


def parse_sizes(text: str) -> tuple[int, ...]:
    """Sizes from "128:8192" (doubling), "100,200,300" or both. Raises UsageError for another text."""
    found: list[int] = []
    for part in text.split(","):
        first, colon, last = part.partition(":")
        if (
            len(part) > _LONGEST
            or not first.isdecimal()
            or int(first) < 1
            or (colon and not (last.isdecimal() and int(last) >= int(first)))
        ):
            raise UsageError(f"{text!r} are no sizes", remedy="write 128:8192 (doubling), or 100,200,300")
        size = int(first)
        found.append(size)
        while colon and size * 2 <= int(last):
            size *= 2
            found.append(size)
    return tuple(sorted(set(found)))


def square_problems(sizes: Iterable[int]) -> list[Problem]:
    """Square problems."""
    return [Problem(size, size, size) for size in sizes]
