"""Errors of the parser as errors of the kernel, in plain words, with the way out."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache

from gemmviz.cuda.parser.sentences import plain_sentence
from gemmviz.cuda.parser.source_text import missing_remedy
from gemmviz.cuda.parser.unit import STUBS, ParseError, Unit
from gemmviz.model.errors import Place, SourceError

_MOST_CANDIDATES = 20_000
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


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
    own = set(_identifiers(_COMMENT.sub("", unit.source.text)))
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
