"""A picture whose counts are hidden while a question about them is open, and counted up once it is answered.

Counts are numbers that stand before a unit ("32 sectors", "4 needed", "12.5 %"). Indices, sizes and addresses stay. A picture
that draws a count as shapes names them with one of ``SHAPES`` in their keys.
"""

import re
from functools import lru_cache
from typing import Any

import numpy as np

from gemmviz.model.records import replace
from gemmviz.model.translation import ENGLISH, language, marked, tr
from gemmviz.model.words import spaced
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Scene, Squares

UNKNOWN = "?"
SHAPES = ("sector", "wavefront", "wasteful", "meter", "request-", "waiting")
_STATEMENTS = ("action", "cost", "note")  # sentences that may name the element or the thread that a question is about
_NUMBER = "\\d+(?:\u202f\\d{3})*(?:\\.\\d+)?"
_UNITS = (
    "sectors?", "requests?", "wavefronts?", "transactions?", "instructions?", "lines?(?! above| below)", "bytes?",
    "elements?", "lanes?", "terms?", "words?", "tiles?", "phases?",
    "blocks?", "warps?", "loads?", "reads?", "stores?", "writes?", "accesses",
    "conflicts?", "collisions?", "broadcasts?", "banks?", "[KMG]iB", "B", "moved", "needed", "used", "excess", "lost", "wasted",
    "unasked", "too many", "would", "times", "× (?:more|fewer)",
)  # fmt: skip
_GROWING = frozenset({"sectors", "wavefronts", "transactions", "lanes", "elements", "loads", "bytes", "moved"})
_INDEXED = (
    marked("warp"), marked("lane"), marked("thread"), marked("block"), marked("step"), marked("line"), marked("byte"),
    marked("row"), marked("column"), marked("bank"),
)  # fmt: skip
_NO_INDEX = "".join(rf"(?<!\b{word} )" for word in _INDEXED)
_COUNT = re.compile(
    rf"(?<![\w.,\[(]){_NO_INDEX}(?<!sector of )(?<!sectors of )(?P<count>{_NUMBER})"
    rf"(?=(?P<of> of {_NUMBER})? (?P<unit>{'|'.join(_UNITS)})\b| ?%|×(?= |$))"
)
_PHASES = re.compile(rf"(?<=phase ){_NUMBER} of {_NUMBER}")
_LOADS = re.compile(
    rf"(?<=loads so far: ){_NUMBER}|{_NUMBER}(?= by (?:block|all|thread|this|warp)\b)"
    rf"|(?<=stored ){_NUMBER}(?= time)|(?<=\(){_NUMBER}(?= at the end\))"
)  # how often an element is loaded and stored
_COPIES = re.compile(rf"(?<=×){_NUMBER}$")  # how many lanes share a copy


def counted_text(text: str, share: float) -> str:
    """Return a text with its counts at ``share`` of their value: 0 for question marks, 1 for the counts themselves.

    What is counted one by one, such as sectors, grows with the share. Parts and percentages of it are hidden until the end.
    """
    return text if share >= 1.0 else _counted(text, share, language())


@lru_cache(maxsize=2048)
def _counted(text: str, share: float, code: str) -> str:
    if code != ENGLISH:
        text = _foreign_count(code).sub(UNKNOWN, text)

    def so_far(match: re.Match[str]) -> str:
        digits = match["count"].replace("\u202f", "")
        is_part = match["of"] or text[: match.start()].endswith(" of ")
        if share <= 0.0 or is_part or match["unit"] not in _GROWING or not digits.isdecimal():
            return UNKNOWN
        return spaced(int(int(digits) * share))

    for hidden in (_LOADS, _PHASES, _COPIES):
        text = hidden.sub(UNKNOWN, text)
    return _COUNT.sub(so_far, text)


@lru_cache(maxsize=4)
def _foreign_count(code: str) -> re.Pattern[str]:
    """The counts in a text of another language, whose units aren't known: numbers before a word or a percent sign, unless they
    are an index: then the name of what they number, or a sign of order, stands before them.
    """
    indexed = "".join(rf"(?<!{re.escape(tr(word))} )" for word in _INDEXED)
    return re.compile(rf"(?<![\w.,\[(第])(?<!第 ){indexed}{_NUMBER}(?= ?(?:[\u2e80-\u9fff%]|[^\W\d_]{{3}}))")


def counted_scene(scene: Scene, share: float) -> Scene:
    """Return the picture with its counts at ``share`` of their value. At 0 shapes that are counts are left out."""
    if share >= 1.0:
        return scene
    primitives, above, words = (counted(part, share) for part in (scene.primitives, scene.above, scene.words))
    return Scene(scene.width, scene.height, scene.background, primitives, above, words)


def counted(primitives: tuple[Primitive, ...], share: float) -> tuple[Primitive, ...]:
    """Return primitives as ``counted_scene`` does."""
    if share >= 1.0:
        return primitives
    return tuple(_of_primitive(each, share) for each in primitives if share > 0.0 or not _tells(each.key) or _asks(each))


def _tells(key: str) -> bool:
    """Return whether a primitive is a count, or says what a question may be about."""
    return any(shape in key for shape in SHAPES) or key.rpartition("left-")[2].rpartition("right-")[2] in _STATEMENTS


def _asks(each: Primitive) -> bool:
    """Return whether a primitive is the text of a meter, which asks for its counts once they are question marks."""
    return isinstance(each, Labels) and "meter" in each.key


def _of_primitive(each: Primitive, share: float) -> Primitive:
    match each:
        case Labels():
            return replace(each, texts=tuple(counted_text(text, share) for text in each.texts))
        case Cells() if each.tips is not None:
            return replace(each, tips=_each_text(each.tips, share))
        case Squares() if each.labels is not None:
            return replace(each, labels=_each_text(each.labels, share))
    return each


def _each_text(texts: Any, share: float) -> Any:
    flat = [counted_text(str(text), share) for text in texts.ravel()]
    return np.array(flat, np.str_).reshape(texts.shape)
