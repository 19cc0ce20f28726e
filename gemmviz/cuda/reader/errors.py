"""Errors of the parser and of the reader as errors of the kernel, in plain words, with the way out."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache

from gemmviz.cuda.parser.source_text import missing_remedy
from gemmviz.cuda.parser.unit import STUBS, ParseError, Unit, plain_sentence
from gemmviz.model.errors import Place, SourceError
from gemmviz.model.outline import COMMENT

_WAYS_OUT = (
    ("goto", "write it as a loop, an if or a return"),
    ("new is", "use an array of the thread or of shared memory"),
    ("malloc", "use an array of the thread or of shared memory"),
    ("throw", "use return"),
    ("recursion", "write it as a loop"),
    ("known before the kernel runs", "make it constexpr, or pass it as a parameter"),
    ("before it is assigned", "assign it first, on every path"),
    ("pointer in memory", "keep an index in memory, and add it to the pointer"),
    ("references", "return a value, or an index"),
    ("nested too deeply", "split it into several statements"),
    ("at most", "make it smaller"),
    ("more than", "make it smaller"),
    ("more elements", "make it smaller"),
    ("no body", "include the file that defines it"),
    ("division by zero", "divide by another number"),
    ("member", "use a member that it has"),
    ("the first case", "move it in front of the switch"),
    ("can't become", "convert it, or change the type of the variable"),
    ("does not work on", "convert the operands to numbers"),
    ("can't be used", "use one of its members or elements"),
    ("the type", "use a number type of CUDA, or a struct of numbers"),
    ("takes", "pass what its declaration asks for"),
    ("values for", "write as many values as it has elements"),
    ("PTX", "write it as CUDA C, or with an intrinsic function"),
    ("asm", "write it as CUDA C, or with an intrinsic function"),
    ("", "write it in a simpler way"),
)  # words of messages, the first that fits


def way_out(message: str) -> str:
    """What to do about something that can't be read."""
    return next(remedy for words, remedy in _WAYS_OUT if words in message)


def first_error(unit: Unit, file: str, first: int, last: int) -> ParseError | None:
    """The first error in these lines of a file of the project."""
    return next(
        (each for each in unit.errors if any(first <= spot.line <= last for spot in each.spots if spot.file == file)), None
    )


class MixedSpaces(Exception):
    """A pointer variable, by the key of its declaration, that is assigned pointers into memories of several spaces."""

    def __init__(self, key: int) -> None:
        super().__init__(key)
        self.key = key


_MOST_CANDIDATES = 20_000


def parse_refusal(unit: Unit, error: ParseError, otherwise: Place | None) -> SourceError:
    """An error of the parser in plain words. One that has no place in the shown file is placed at ``otherwise``."""
    message, remedy, kind = plain_sentence(error.message)
    if error.place is None and error.spots[0].file:
        message = f"{message} (line {error.spots[0].line} of {error.spots[0].file})"
    if kind == "unknown-name":
        remedy = missing_remedy(unit.missing) or _closest(unit, error) or remedy
    return SourceError(message, error.place or otherwise, remedy=remedy, id=kind)


def _closest(unit: Unit, error: ParseError) -> str | None:
    """A remedy with the name most similar to the unknown one: of the shown text, else of CUDA."""
    match = re.search(r"'(\w+)'", error.message)
    if match is None:
        return None
    name = match[1]
    own = set(_identifiers(COMMENT.sub("", unit.source.text)))
    close = get_close_matches(name, own - {name}, 1) or get_close_matches(name, _cuda_names() - {name}, 1, 0.8)
    return f"did you mean {close[0]}?" if close else None


def _identifiers(text: str) -> Iterator[str]:
    for number, match in enumerate(re.finditer(r"\b[A-Za-z_]\w{2,}\b", text)):
        if number == _MOST_CANDIDATES:
            return
        yield match[0]


@cache
def _cuda_names() -> frozenset[str]:
    texts: Iterable[str] = (path.read_text(encoding="utf-8") for path in STUBS.rglob("*") if path.is_file())
    return frozenset(name for text in texts for name in _identifiers(text) if "GEMMVIZ" not in name)
