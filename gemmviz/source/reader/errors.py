"""Errors while a kernel is lowered: the parser's, within the lines that are read, and the reader's own."""

from gemmviz.parser.unit import ParseError, Unit


def first_error(unit: Unit, file: str, first: int, last: int) -> ParseError | None:
    """The first error in these lines of a file of the project."""
    return next(
        (each for each in unit.errors if any(_within(spot.line, first, last) for spot in each.spots if spot.file == file)), None
    )


def _within(line: int, first: int, last: int) -> bool:
    return first <= line <= last


class MixedSpaces(Exception):
    """A pointer variable, by the key of its declaration, that is assigned pointers into memories of several spaces."""

    def __init__(self, key: int) -> None:
        super().__init__(key)
        self.key = key
