"""A language that no one speaks: every letter of a message has an accent. Plain letters in a picture are a text that no message
has.
"""

import re
from ast import literal_eval
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from functools import cache, lru_cache
from gettext import NullTranslations
from pathlib import Path

from gemmviz.model.messages import spoken
from gemmviz.scenes.kit.primitives import Cells, Labels, Scene, Squares

ROOT = Path(__file__).resolve().parent.parent
_PLAIN = "AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTtUuVvWwXxYyZz"
_ACCENTED = "ÄäḂḃĆćĎďËëḞḟĜĝĤĥÏïĴĵĶķĻļṀṁŃńÖöṖṗɊɋŔŕŚśŤťÜüṼṽŴŵẌẍŶŷŽž"
_ACCENTS = str.maketrans(_PLAIN, _ACCENTED)
_KEPT = re.compile(r"(\{[^{}]*\}|<[^>]*>|&\w)")  # placeholders, tags and letters of shortcuts

_WORD = re.compile(r"(?<![\w.])[A-Za-z]{2,}(?![\w(]| \d+\.\d)")  # "nvcc 13.0" is a product and its version
_LONG = re.compile(r"[A-Za-z]?[a-z]{2,}(?: (?=[a-z]{2,}))?")
_MARKS = {",": "，", ";": "；", ":": "："}
_PUNCTUATION = re.compile("[,;:] ")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_UNIT = re.compile(r"[GMKT]?FLOP/s|[GMkT]?B/s|[KMGT]iB|[kMGT]?B|[GMk]Hz|[mµn]s|px|nm|pt|min|fps")


class Pseudo(NullTranslations):
    """The catalogue of the language: it knows the messages of the real ones, and leaves others as they are."""

    def gettext(self, message: str) -> str:
        return accented(message) if message in _messages() else message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        text = msgid1 if n == 1 else msgid2
        return accented(text) if msgid1 in _messages() else text


class Wide(NullTranslations):
    """A catalogue in which each word is a Chinese one of two characters, with the punctuation of Chinese."""

    def gettext(self, message: str) -> str:
        return widened(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return widened(msgid2)


def wide() -> AbstractContextManager[None]:
    """A language in Chinese characters, within a ``with`` block."""
    return spoken("wide", Wide())


def widened(text: str) -> str:
    """A message in Chinese characters; placeholders, tags, acronyms and single letters stay."""
    parts = (part if number % 2 else _LONG.sub("线程", part) for number, part in enumerate(_KEPT.split(text)))
    return _PUNCTUATION.sub(lambda mark: _MARKS[mark[0].strip()], "".join(parts)).replace("程 线", "程线")


@cache
def _messages() -> frozenset[str]:
    """The messages of the template: strings in quotes, one below another, after the word msgid."""
    text = (ROOT / "translations" / "gemmviz.pot").read_text(encoding="utf-8")
    return frozenset(
        literal_eval(f"({each})") for each in re.findall(r'^msgid((?: "[^\n]*"\n|"[^\n]*"\n)+)', text, re.MULTILINE)
    )


def pseudo() -> AbstractContextManager[None]:
    """The language, within a ``with`` block."""
    return spoken("pseudo", Pseudo())


def accented(text: str) -> str:
    """A message with accents; placeholders, tags and shortcuts stay."""
    return "".join(part if number % 2 else part.translate(_ACCENTS) for number, part in enumerate(_KEPT.split(text)))


def plain_words(text: str, names: Iterable[str] = ()) -> list[str]:
    """Words of a text that no message has. Acronyms, units, files and identifiers of code are no words; ``names``: texts
    whose words are names.
    """
    known = _words_in(tuple(names))
    words = (match for match in _WORD.finditer(text))
    return [each[0] for each in words if not (each[0] in known or each[0].isupper() or _UNIT.fullmatch(each[0]))]


@lru_cache(maxsize=8)
def _words_in(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for name in names for word in re.findall(r"\w+", _COMMENT.sub("", name)))


def texts_of(scene: Scene) -> Iterator[tuple[str, str]]:
    """Each text of a picture with the key of its primitive. Code, which has a face of its own, is left out."""
    for each in (*scene.primitives, *scene.above, *scene.words):
        match each:
            case Labels() if each.face != "mono":
                yield from ((each.key, text) for text in each.texts)
            case Cells():
                for texts in (each.labels, each.tips):
                    yield from ((each.key, str(text)) for text in (() if texts is None else texts.ravel()))
            case Squares() if each.labels is not None:
                yield from ((each.key, str(text)) for text in each.labels.ravel())
