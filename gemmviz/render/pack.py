"""A reel as compressed data for the player of a page: the primitives of its scenes in two themes, and the fonts they need.

Primitives that steps share are stored once. A step is a list of primitives, coded as its difference from the list before.
"""

import base64
import gzip
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from msgspec import Struct

from gemmviz.model.messages import marked, tr
from gemmviz.render.reel import Reel, Step
from gemmviz.render.svg import subset_fonts
from gemmviz.scenes.kit.primitives import ArrayCells, Cells, Labels, Lines, Primitive, Rects, Scene, Squares

# The words of the player in pages and figures, in the language of the program: its script is the same in all languages.

_PLAYER_TEXTS = (
    marked("First step"), marked("Step back"), marked("Play or pause"), marked("Step forward"), marked("Last step"),
    marked("Step"), marked("Speed"), marked("Steps per second (+ and −)"), marked("Threads to watch"), marked("Dark or light"),
    marked("Copy a link to this moment"), marked("Full screen"), marked("Link copied"), marked("all threads"),
    marked("warp {warp}"), marked("thread {thread}"), marked("{cell}: thread {threads} of the block in this step"),
    marked("{cell}: threads {threads} of the block in this step"),
)  # fmt: skip


def player_words() -> dict[str, str]:
    """Return the translation of each word that has one, by the English word; empty in English."""
    return {word: tr(word) for word in _PLAYER_TEXTS if tr(word) != word}


THEMES = ("dark", "light")
_TENTHS, _HALVES = 10, 2
_OWN_PARTS = ("b", "s")  # boxes and texts, in which primitives of one look differ
_FIRST_CHARACTER = 35  # the character of the first entry of a palette: neither a quote nor a control character


class Pack:
    """The primitives of all steps in both themes, which differ in colours only."""

    def __init__(self) -> None:
        self.parts: list[Any] = []
        self.primitives: list[list[Any]] = []  # the part with its look, the boxes and the texts of each; 0 for none
        self.colours: list[tuple[str, str]] = []
        self.letters: list[Primitive] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._pairs: dict[tuple[str, str], int] = {}
        self._palettes: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}
        self._packed: dict[tuple[int, int], tuple[Primitive, Primitive, int]] = {}

    def layer(self, dark: Iterable[Primitive], light: Iterable[Primitive]) -> list[int]:
        """Return the numbers of some primitives."""
        return [self._primitive(one, other) for one, other in zip(dark, light, strict=True)]

    def colour(self, dark: str | None, light: str | None) -> int:
        """Return the number of a colour that may differ between the themes, -1 for none."""
        if dark is None or light is None:
            return -1
        if (dark, light) not in self._pairs:
            self._pairs[dark, light] = len(self.colours)
            self.colours.append((dark, light))
        return self._pairs[dark, light]

    def _number(self, kind: str, value: Any, pool: list[Any]) -> int:
        key = kind, json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        if key not in self._numbers:
            self._numbers[key] = len(pool)
            pool.append(value)
        return self._numbers[key]

    def part(self, value: Any) -> int:
        """Return the number of a value that others may share."""
        return self._number("part", value, self.parts)

    def _primitive(self, one: Primitive, other: Primitive) -> int:
        entry = self._packed.get((id(one), id(other)))
        if entry is None:
            look = self._facts(one, other)
            own = [look.pop(name) if isinstance(look.get(name), list) else 0 for name in _OWN_PARTS]
            number = self._number("primitive", [self.part(look), *own], self.primitives)
            entry = one, other, number  # keeps both alive, so that no other object gets their ids
            self._packed[id(one), id(other)] = entry
            self.letters.append(one)
        return entry[2]

    def _palette(self, one: tuple[str, ...], other: tuple[str, ...]) -> int:
        if (one, other) not in self._palettes:
            self._palettes[one, other] = self.part([self.colour(a, b) for a, b in zip(one, other, strict=True)])
        return self._palettes[one, other]

    def _facts(self, one: Primitive, other: Primitive) -> dict[str, Any]:
        match one, other:
            case Cells(), Cells():
                facts = {
                    "t": "c", "x": _compact(one.x), "y": _compact(one.y), "s": _compact(one.size), "h": _compact(one.pitch),
                    "n": list(one.fill.shape), "f": self.part(_as_text(one.fill)),
                    "p": self._palette(one.palette, other.palette), "i": self._palette(one.inks, other.inks),
                    "z": _compact(one.label_size),
                    "g": self.colour(one.line, other.line), "m": one.factor, "o": list(one.origin),
                }  # fmt: skip
                ids = {} if one.ids is None else {"e": self.part(one.ids.ravel().tolist())}
                return {**facts, "k": one.key, **_means(one), **self._texts(one.labels), **ids}
            case Squares(), Squares():
                facts = {
                    "t": "q", "b": _deltas(one.boxes, _parts_of_unit(one)), "f": self.part(_as_text(one.fill)),
                    "z": _compact(one.label_size),
                    "p": self._palette(one.palette, other.palette), "i": self._palette(one.inks, other.inks),
                    "g": self.colour(one.line, other.line),
                }  # fmt: skip
                return {**facts, "k": one.key, **_means(one), **self._texts(one.labels)}
            case Rects(), Rects():
                return {
                    "t": "r", "k": one.key, **_means(one), "b": _deltas(one.boxes, _parts_of_unit(one)),
                    "c": self.colour(one.fill, other.fill), "g": self.colour(one.stroke, other.stroke),
                    "w": _compact(one.stroke_width), "d": _compact(one.radius),
                }  # fmt: skip
            case Lines(), Lines():
                return {
                    "t": "l", "k": one.key, **_means(one), "b": _deltas(one.segments),
                    "g": self.colour(one.stroke, other.stroke),
                    "w": _compact(one.width), "d": int(one.dashed),
                }  # fmt: skip
            case Labels(), Labels():
                return {
                    "t": "t", "k": one.key, **_means(one), "b": _deltas(one.at), "s": list(one.texts),
                    "z": _compact(one.size), "c": self.colour(one.colour, other.colour), "a": one.anchor, "f": one.face,
                }  # fmt: skip
        raise TypeError(f"{one.key} differs between themes")

    def _texts(self, labels: "np.ndarray[Any, np.dtype[np.str_]] | None") -> dict[str, int]:
        return {} if labels is None else {"l": self.part(labels.ravel().tolist())}


class Packed(Struct, frozen=True):
    """The compressed data of the player as ``text``, and the ``background`` of its first picture."""

    text: str
    background: str


def packed(reel: Reel, theme: str) -> Packed:
    """Return the steps of a reel, each drawn in both THEMES, as compressed data."""
    pack, coder, steps = Pack(), _Coder(), []
    first: Step | None = None
    for step in reel.steps():
        first = first or step
        steps.append(_packed_step(pack, coder, step))
    assert first is not None
    dark, light = (first.after[name] for name in THEMES)
    fonts = {face: data.hex() for face, data in subset_fonts(pack.letters).items()}  # compresses better than base64
    data = {
        "name": reel.name, "width": dark.width, "height": dark.height, "theme": theme, "start": reel.start,
        "moments": reel.moments, "trail": reel.trail,
        "background": pack.colour(dark.background, light.background), "text": pack.colour(*reel.inks), "steps": steps,
        "watched": reel.watched, "facts": reel.facts(), "colours": pack.colours, "parts": pack.parts,
        "primitives": pack.primitives, "fonts": fonts,
    }  # fmt: skip
    if words := player_words():
        data["say"] = words
    plain = json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()
    text = base64.b64encode(gzip.compress(plain, 9, mtime=0)).decode()
    return Packed(text, first.after[theme].background)


class _Coder:
    """Lists of primitives as differences: most continue the list before, or are new.

    An even number leads to a place in the list before, counted from the place after the last one that was used. An odd number
    leads to a primitive, counted from the one after the last that was reached in this way. Both are signed.
    """

    def __init__(self) -> None:
        self._before: dict[str, list[int]] = {}
        self._next = 0

    def code(self, slot: str, numbers: list[int]) -> list[int]:
        """Return the code of a list. ``slot``: its place in a step, whose list before is compared."""
        places = {number: place for place, number in enumerate(self._before.get(slot, []))}
        self._before[slot] = numbers
        codes, expected = [], 0
        for number in numbers:
            if number in places:
                codes.append(2 * _zigzagged(places[number] - expected))
                expected = places[number] + 1
            else:
                codes.append(2 * _zigzagged(number - self._next) + 1)
                self._next = number + 1
        return codes


def _zigzagged(number: int) -> int:
    """Return a signed number as an unsigned one: 0, -1, 1, -2 become 0, 1, 2, 3."""
    return 2 * number if number >= 0 else -2 * number - 1


def _packed_step(pack: Pack, coder: _Coder, step: Step) -> dict[str, Any]:
    facts = {
        "before": _still(pack, coder, step.before), "after": _still(pack, coder, step.after), "phase": step.phase,
        "title": step.title, "caption": step.caption, "rows": step.rows,
    }  # fmt: skip
    facts |= {"way": step.way} if step.way else {}
    lines = step.after[THEMES[0]].description.splitlines()
    facts |= {"words": [pack.part(line) for line in lines]} if lines else {}
    samples = [pack.layer(*(step.motion[name][number] for name in THEMES)) for number in range(len(step.motion[THEMES[0]]))]
    coded = [coder.code("motion", sample) for sample in samples] if any(samples) else []
    return {**facts, **({"motion": coded} if coded else {})}


def _still(pack: Pack, coder: _Coder, scenes: Mapping[str, Scene]) -> list[list[int]]:
    """Return the layers of a step below and above what moves."""
    dark, light = (scenes[name] for name in THEMES)
    above = (*dark.above, *dark.words), (*light.above, *light.words)
    below = pack.layer(dark.primitives, light.primitives)
    return [coder.code("below", below), coder.code("above", pack.layer(*above))]


def _as_text(fill: "np.ndarray[Any, np.dtype[np.uint8]]") -> str:
    """Return a character for each entry: tables that repeat themselves then compress well."""
    return "".join(map(chr, (fill.ravel().astype(int) + _FIRST_CHARACTER).tolist()))


def _compact(value: float) -> float:
    rounded = round(float(value), 2)
    return int(rounded) if rounded == int(rounded) else rounded


def _means(one: Primitive) -> dict[str, str]:
    """Return what the player has to know of a primitive: the array whose elements it shows, or how it moves."""
    if isinstance(one.meaning, ArrayCells):
        return {"v": f"{one.meaning.space} {one.meaning.name}"}
    return {"v": str(one.meaning)} if one.meaning in ("moving", "band") else {}


def _parts_of_unit(one: Squares | Rects) -> int:
    """Return the parts of a unit in which boxes are stored. Nobody sees a tenth of what is under way."""
    return _HALVES if one.meaning in ("moving", "trail") else _TENTHS


def _deltas(values: "np.ndarray[Any, np.dtype[np.float64]]", parts: int = _TENTHS) -> list[int]:
    """Return the number of columns of a table, the parts of a unit, then its columns in these parts, each number as the
    difference from the one before: regular tables then repeat the same numbers.
    """
    rounded = np.round(values.T * parts).astype(np.int64)
    return [len(rounded), parts, *np.diff(rounded, axis=1, prepend=0).ravel().tolist()]
