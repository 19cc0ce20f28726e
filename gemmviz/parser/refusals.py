"""Errors of the parser as errors of the kernel: only those inside the kernel and what it calls, in plain words."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from clang.cindex import Cursor, CursorKind

from gemmviz.model.errors import Place, SourceError
from gemmviz.parser.precompiled import STUBS
from gemmviz.parser.sentences import plain_sentence
from gemmviz.parser.unit import ParseError, Spot, Unit

_MOST_CANDIDATES = 20_000


def check(unit: Unit, kernel: Cursor) -> None:
    """Raises SourceError for the first error inside a function or one that it calls, directly or not."""
    if not unit.errors:
        return
    spans = [_span(unit, function) for function in (kernel, *called_functions(kernel))]
    for error in unit.errors:
        if any(span.holds(spot) for spot in error.spots for span in spans):
            raise refusal(unit, error, unit.place(kernel.extent) if unit.is_shown(kernel) else None)


def check_all(unit: Unit) -> None:
    """Raises SourceError for the first error of the shown file: for a text in which the kernel isn't even recognised."""
    for error in unit.errors:
        if error.place is not None:
            raise refusal(unit, error, None)


def called_functions(function: Cursor) -> list[Cursor]:
    """Definitions of the functions that a function calls, directly or not, each once."""
    found: dict[int, Cursor] = {}
    waiting = [function]
    while waiting:
        for call in waiting.pop().walk_preorder():
            definition = _definition(call)
            if definition is not None and definition.hash not in found and definition != function:
                found[definition.hash] = definition
                waiting.append(definition)
    return list(found.values())


def refusal(unit: Unit, error: ParseError, otherwise: Place | None) -> SourceError:
    """An error of the parser in plain words. One that has no place in the shown file is placed at ``otherwise``."""
    message, remedy, kind = plain_sentence(error.message)
    if error.place is None and error.spots[0].file:
        message = f"{message} (line {error.spots[0].line} of {error.spots[0].file})"
    if kind == "unknown-name":
        remedy = missing_remedy(unit) or _closest(unit, error) or remedy
    return SourceError(message, error.place or otherwise, remedy=remedy, id=kind)


def missing_remedy(unit: Unit) -> str | None:
    """The remedy for an error that follows from missing headers; None if none is missing."""
    if not unit.missing:
        return None
    names = ", ".join(unit.missing)
    which = "is" if len(unit.missing) == 1 else "are"
    return f"{names} {which} not in the project's folder: open the folder that has {'it' if which == 'is' else 'them'}"


def _closest(unit: Unit, error: ParseError) -> str | None:
    """A remedy with the name most similar to the unknown one: of the shown text, else of CUDA."""
    match = re.search(r"'(\w+)'", error.message)
    if match is None:
        return None
    name = match[1]
    own = {each for each in _identifiers(unit.source.text) if each != name}
    close = get_close_matches(name, own, 1) or get_close_matches(name, _cuda_names(), 1, 0.8)
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


def _definition(call: Cursor) -> Cursor | None:
    """The definition of the function that a cursor calls; None for other cursors and for functions without a body."""
    if call.kind != CursorKind.CALL_EXPR or call.referenced is None:
        return None
    definition: Cursor | None = call.referenced.get_definition()
    return definition


@dataclass(frozen=True, slots=True)
class _Span:
    """The lines of a function."""

    file: str
    first: int
    last: int

    def holds(self, spot: Spot) -> bool:
        return spot.file == self.file and self.first <= spot.line <= self.last


def _span(unit: Unit, function: Cursor) -> _Span:
    return _Span(unit.file_of(function.location), function.extent.start.line, function.extent.end.line)
