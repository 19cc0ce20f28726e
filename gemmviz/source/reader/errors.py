"""Errors of the compiler within a kernel and what it calls, in gemmviz's words."""

import re
from collections.abc import Callable, Iterable

from gemmviz.model.errors import ErrorId, Place, SourceError, closest
from gemmviz.parser.unit import ParseError, Unit
from gemmviz.source.headers import remedy_of

_Reworded = tuple[str, str | None, ErrorId | None]  # message, remedy, id
_TYPES = ("int", "float", "double", "unsigned", "float2", "float4", "size_t", "uint", "half", "char", "bool")
_WORD = re.compile(r"[A-Za-z_]\w*")


def _unknown_type(name: str, words: Iterable[str]) -> _Reworded:
    return f"{name!r} is not a known type", closest(name, [*_TYPES, *words]), "unknown-name"


def _undeclared(name: str, words: Iterable[str]) -> _Reworded:
    return f"{name!r} is not declared", closest(name, words), "unknown-name"


def _function(name: str, words: Iterable[str]) -> _Reworded:
    return f"no version of {name} takes these arguments", None, None


_WORDS: tuple[tuple[re.Pattern[str], Callable[[str, Iterable[str]], _Reworded]], ...] = (
    (re.compile(r"unknown type name '([^']+)'"), _unknown_type),
    (re.compile(r"use of undeclared identifier '([^']+)'"), _undeclared),
    (re.compile(r"no template named '([^']+)'"), _undeclared),
    (re.compile(r"no matching function for call to '([^']+)'"), _function),
)


def reworded(unit: Unit, error: ParseError, place: Place | None) -> SourceError:
    """The error of gemmviz for one of the parser's."""
    message, remedy, identity = error.message, None, None
    for pattern, word in _WORDS:
        if found := pattern.fullmatch(error.message):
            others = {each for each in _WORD.findall(unit.text) if each != found[1]}
            message, remedy, identity = word(found[1], sorted(others))
            break
    if identity == "unknown-name":
        remedy = remedy_of(unit.missing) or remedy
    return SourceError(message, place, remedy=remedy, id=identity)


def first_error(unit: Unit, file: str, first: int, last: int) -> ParseError | None:
    """The first error in these lines of a file of the project."""
    return next((each for each in unit.errors if each.file == file and first <= each.line <= last), None)
