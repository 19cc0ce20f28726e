"""The parser's errors within the lines that are lowered."""

from gemmviz.parser.unit import ParseError, Unit


def first_error(unit: Unit, file: str, first: int, last: int) -> ParseError | None:
    """The first error in these lines of a file of the project."""
    return next(
        (each for each in unit.errors if any(_within(spot.line, first, last) for spot in each.spots if spot.file == file)), None
    )


def _within(line: int, first: int, last: int) -> bool:
    return first <= line <= last
