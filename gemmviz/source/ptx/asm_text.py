"""The text of an asm statement as in the source: its template and the constraints of its operands."""

import re
from collections.abc import Iterator

from msgspec import Struct

_STRING = re.compile(r'(?:R"([^(\s]*)\((.*?)\)\1"|"((?:[^"\\]|\\.)*)")', re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "\n": "", "r": "\r", "'": "'", "0": "\0"}
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class AsmText(Struct, frozen=True):
    """``outputs`` and ``inputs`` are constraints, such as ``=r`` and ``l``. ``rest`` is what the template holds besides
    strings, such as macros.
    """

    template: str
    outputs: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    rest: str = ""


def asm_text(text: str) -> AsmText:
    """The parts of a statement from ``asm`` to its closing parenthesis."""
    inside = text[text.index("(") + 1 : text.rindex(")")]
    template, *sections = _sections(inside)
    constraints = [tuple(_constraints(each)) for each in sections[:2]] + [(), ()]
    return AsmText("".join(strings(template)), constraints[0], constraints[1], _other(template))


def strings(text: str) -> Iterator[str]:
    """The values of the string literals in a text, in order."""
    for match in _STRING.finditer(text):
        yield (
            match[2]
            if match[2] is not None
            else re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[0]), match[3], flags=re.DOTALL)
        )


def _other(text: str) -> str:
    return " ".join(_COMMENT.sub(" ", _STRING.sub(" ", text)).replace("\\\n", " ").split())


def _sections(text: str) -> list[str]:
    """The parts between the colons that are in no bracket and no string."""
    found, start, depth = [], 0, 0
    for at, piece in _pieces(text):
        depth += piece in "([{"
        depth -= piece in ")]}"
        if depth == 0 and piece == ":":
            found.append(text[start:at])
            start = at + 1
    return [*found, text[start:]]


def _constraints(section: str) -> Iterator[str]:
    """The strings of a section that are in no bracket."""
    depth, at = 0, 0
    for at, piece in _pieces(section):
        depth += piece in "([{"
        depth -= piece in ")]}"
        if depth == 0 and piece == '"':
            literal = _STRING.match(section, at)
            yield literal[3] if literal else ""


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Characters outside of strings and comments with their places; a string counts as its first quote."""
    at = 0
    while at < len(text):
        skipped = _STRING.match(text, at) or _COMMENT.match(text, at)
        if skipped is None:
            yield at, text[at]
            at += 1
            continue
        if text[at] != "/":
            yield at, '"'
        at = skipped.end()
