"""Widths of text from the tables of the bundled fonts, so that all renderers agree on what fits."""

from __future__ import annotations

import re
import zlib
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from msgspec import Struct, msgpack

from gemmviz.files.resources import resource
from gemmviz.model.errors import InstallationError
from gemmviz.model.translation import in_full, told
from gemmviz.scenes.kit.primitives import Face, Labels, Meaning, points

if TYPE_CHECKING:
    from fontTools.ttLib import TTFont

# Characters as wide as they are high, such as Chinese ones: which text has them, and where its lines may break.

_BEFORE = "（［｛〈《「『【〔“‘"  # stand at no end of a line
_AFTER = "，。、；：？！）］｝〉》」』】〕”’…"  # stand at no beginning of a line


def is_wide(char: str) -> bool:
    """Whether a character is one em wide."""
    return char > "\u2e7f" and east_asian_width(char) in "WF"


@lru_cache(maxsize=8192)
def wide_characters(text: str) -> str:
    """The wide characters of a text, sorted."""
    return "" if text.isascii() else "".join(sorted(set(filter(is_wide, text))))


def words_of(text: str) -> list[tuple[str, str]]:
    """The parts between which a line may break, each with what stands before it on the same line: a space or nothing."""
    if not wide_characters(text):
        return [("" if number == 0 else " ", word) for number, word in enumerate(text.split(" "))]
    words = list[tuple[str, str]]()
    for number, chunk in enumerate(text.split(" ")):
        gap = "" if number == 0 else " "
        for part in _PART.findall(chunk) or [""]:
            words.append((gap, part))
            gap = ""
    return words


_WIDE = "\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uff60\U00020000-\U0003fffd"
_PART = re.compile(rf"[{_BEFORE}]*(?:[{_WIDE}]|[^{_WIDE}]+)[{_AFTER}]*")


FONT_FILES: dict[Face, str] = {
    "regular": "Inter-Regular.otf",
    "semibold": "Inter-SemiBold.otf",
    "mono": "JetBrainsMono-Regular.ttf",
}
ADVANCES = "assets/fonts/advances.bin"  # written by make record WHAT=advances
CAP_HEIGHT = 0.727
_MOST_FITTED = 400  # characters; no frame is wider


class Advances(Struct, frozen=True):
    """The widths of a face's characters by their codes, that of the others, and that of the em, in the font's units."""

    known: dict[int, int]
    other: int
    em: int


def font_path(face: Face) -> Path:
    """Return the path of the font file of a face. Raises InstallationError if it is missing."""
    return resource(f"assets/fonts/{FONT_FILES[face]}")


@cache
def bundled_font(face: Face) -> TTFont:
    """Return the font of a face. Raises InstallationError if its file is missing or damaged."""
    from fontTools.ttLib import TTFont  # imported here because it takes longer than a picture

    path = font_path(face)
    try:
        font = TTFont(path)
        for table in ("cmap", "hmtx", "head"):
            font[table]
    except Exception as error:  # fontTools raises many kinds of errors for damaged tables
        raise InstallationError(f"this font can't be read: {error}", file=str(path)) from None
    return font


@cache
def _advances() -> dict[Face, Advances]:
    return msgpack.decode(zlib.decompress(resource(ADVANCES).read_bytes()), type=dict[Face, Advances])


@lru_cache(maxsize=8192)
def text_width(text: str, size: float, face: Face = "regular") -> float:
    """Return the width of ``text`` with its counts in scene units at this font size, without kerning."""
    text = in_full(text)
    font = _advances()[face]
    known, other, em = font.known, font.other, font.em
    if wide_characters(text):
        return sum(em if is_wide(char) else known.get(ord(char), other) for char in text) * size / em
    return sum(known.get(ord(char), other) for char in text) * size / em


def fitted(text: str, size: float, room: float, face: Face = "regular") -> str:
    """Return ``text``, or as much of its beginning as fits ``room`` with an ellipsis."""
    plain = in_full(text)
    beginning = plain[:_MOST_FITTED]
    if beginning == plain and text_width(plain, size, face) <= room:
        return text
    if plain != text:
        return fitted(told(text, 0.0), size, room, face)
    left, length = room - text_width("…", size, face), 0
    while length < len(beginning) and left >= text_width(beginning[length], size, face):
        left -= text_width(beginning[length], size, face)
        length += 1
    return beginning[:length].rstrip() + "…"


def text_line(
    key: str, at: tuple[float, float], text: str, size: float, width: float, colour: str, face: Face = "regular",
    meaning: Meaning | None = None,
) -> Labels:  # fmt: skip
    """Return the Labels of one line of text at (x, baseline), cut with an ellipsis at ``width``."""
    return Labels(key, points(at), (fitted(text, size, width, face),), size, colour, "start", face, meaning)


_CLAUSE = re.compile("[,:;.](?= )|[，：；。](?=.)")
JOINED = "\ufdd3"  # a noncharacter of Unicode: the mark of a space at which no line breaks


def without_clauses(text: str, size: float, room: float) -> str:
    """Return a text without as many of its last clauses as don't fit."""
    while text_width(text, size) > room and (end := max(text.rfind(joint) for joint in (", ", ": ", "; "))) > 0:
        text = text[:end]
    return text


def clauses_of(text: str) -> list[tuple[str, str]]:
    """Return the two parts of a text at the end of each of its clauses but the last."""
    return [(text[: end.end()], text[end.end() :].lstrip()) for end in _CLAUSE.finditer(text)]


def with_last_words(text: str, letters: int) -> str:
    """Return a text whose last word stays in the line of the one before it if it has few letters."""
    head, _, last = text.rpartition(" ")
    return f"{head}{JOINED}{last}" if head and len(last) <= letters else text


def wrap_text(text: str, size: float, room: float, most: int, face: Face = "regular") -> tuple[str, ...]:
    """Return the lines of ``text`` within ``room``, broken between words; at most ``most`` lines, the last with an ellipsis
    then.
    """
    return tuple(fitted(line, size, room, face) for line in _lines_of(text, size, room, most, face))


def fits_lines(text: str, size: float, room: float, most: int, face: Face = "regular") -> bool:
    """Return whether ``wrap_text`` cuts nothing of a text."""
    return all(text_width(line, size, face) <= room for line in _lines_of(text, size, room, most, face))


@lru_cache(maxsize=1024)
def _lines_of(text: str, size: float, room: float, most: int, face: Face) -> tuple[str, ...]:
    """Return the lines before any is cut; the last one holds all that is left. A percent sign stays with its number."""
    lines, joined = [""], text.replace(" %", f"{JOINED}%")  # narrow spaces keep the digits of a number together
    words = [(gap, word.replace(JOINED, " ")) for gap, word in words_of(joined)]
    for number, (gap, word) in enumerate(words):
        longer = f"{lines[-1]}{gap}{word}".strip()
        if not lines[-1] or text_width(longer, size, face) <= room:
            lines[-1] = longer
        elif len(lines) == most:
            lines[-1] += "".join(gap + word for gap, word in words[number:])
            break
        else:
            lines.append(word)
    return tuple(lines)


def label_step(pitch: float, needed: float, count: int) -> int:
    """Return every how many of ``count`` labels, a power of two, is drawn, so that those ``pitch`` apart have the space that
    they need; ``count``, for the first alone, if there is no such step.
    """
    step = 1
    while step < count and step * pitch < needed:
        step *= 2
    return max(1, min(step, count))
