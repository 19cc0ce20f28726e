"""A language that no one speaks: every letter of a message has an accent. Plain letters in a picture are a text that no message
has.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from functools import lru_cache
from gettext import NullTranslations

from gemmviz.model.translation import spoken
from gemmviz.scenes.kit.primitives import Cells, Labels, Scene, Squares

_PLAIN = "AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTtUuVvWwXxYyZz"
_ACCENTED = "ÄäḂḃĆćĎďËëḞḟĜĝĤĥÏïĴĵĶķĻļṀṁŃńÖöṖṗɊɋŔŕŚśŤťÜüṼṽŴŵẌẍŶŷŽž"
_ACCENTS = str.maketrans(_PLAIN, _ACCENTED)
_KEPT = re.compile(r"(\{\w*\}|<[^>]*>|&\w)")  # placeholders, tags and letters of shortcuts

_WORD = re.compile(r"(?<![\w.])[A-Za-z]{2,}(?![\w(]| \d+\.\d)")  # "nvcc 13.0" is a product and its version
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_UNIT = re.compile(r"[GMKT]?FLOP/s|[GMkT]?B/s|[KMGT]iB|[kMGT]?B|[GMk]Hz|[mµn]s|px|nm|pt|min|fps")


class Pseudo(NullTranslations):
    """The catalogue of the language."""

    def gettext(self, message: str) -> str:
        return accented(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return accented(msgid1 if n == 1 else msgid2)


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
