"""A replay as a self-contained web page: the primitives of the scenes, and a player that draws them.

Primitives that steps share are stored once: a step is a list of primitive numbers, and a primitive refers to its parts by
number.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from gemmviz.files.resources import resource
from gemmviz.render.reel import Reel, Step
from gemmviz.render.svg import font_faces
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, Squares

THEMES = ("dark", "light")
_TENTHS = 10
_START = """
window.gemmviz = unpacked(document.getElementById("packed").textContent.trim())
  .then((data) => mount(document.getElementById("replay"), data));
"""


class Pack:
    """The primitives of all steps in both themes, which differ in colours only."""

    def __init__(self) -> None:
        self.parts: list[Any] = []
        self.primitives: list[dict[str, Any]] = []
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

    def _part(self, value: Any) -> int:
        return self._number("part", value, self.parts)

    def _primitive(self, one: Primitive, other: Primitive) -> int:
        entry = self._packed.get((id(one), id(other)))
        if entry is None:
            number = self._number("primitive", self._facts(one, other), self.primitives)
            entry = one, other, number  # keeps both alive, so that no other object gets their ids
            self._packed[id(one), id(other)] = entry
            self.letters.append(one)
        return entry[2]

    def _palette(self, one: tuple[str, ...], other: tuple[str, ...]) -> int:
        if (one, other) not in self._palettes:
            self._palettes[one, other] = self._part([self.colour(a, b) for a, b in zip(one, other, strict=True)])
        return self._palettes[one, other]

    def _facts(self, one: Primitive, other: Primitive) -> dict[str, Any]:
        match one, other:
            case Cells(), Cells():
                facts = {
                    "t": "c", "x": _short(one.x), "y": _short(one.y), "s": _short(one.size), "h": _short(one.pitch),
                    "n": list(one.fill.shape), "f": self._part(_text(one.fill)), "p": self._palette(one.palette, other.palette),
                    "i": self._palette(one.inks, other.inks), "z": _short(one.label_size),
                    "g": self.colour(one.line, other.line), "m": one.factor, "o": list(one.origin),
                }  # fmt: skip
                ids = {} if one.ids is None else {"e": self._part(one.ids.ravel().tolist())}
                return {**facts, "k": one.key, **self._texts(one.labels), **ids}
            case Squares(), Squares():
                facts = {
                    "t": "q", "b": self._part(_numbers(one.boxes)), "f": self._part(_text(one.fill)),
                    "z": _short(one.label_size),
                    "p": self._palette(one.palette, other.palette), "i": self._palette(one.inks, other.inks),
                    "g": self.colour(one.line, other.line),
                }  # fmt: skip
                return {**facts, "k": one.key, **self._texts(one.labels)}
            case Rects(), Rects():
                return {
                    "t": "r", "k": one.key, "b": self._part(_numbers(one.boxes)), "c": self.colour(one.fill, other.fill),
                    "g": self.colour(one.stroke, other.stroke), "w": _short(one.stroke_width), "d": _short(one.radius),
                }  # fmt: skip
            case Lines(), Lines():
                return {
                    "t": "l", "k": one.key, "b": self._part(_numbers(one.segments)), "g": self.colour(one.stroke, other.stroke),
                    "w": _short(one.width), "d": int(one.dashed),
                }  # fmt: skip
            case Labels(), Labels():
                return {
                    "t": "t", "k": one.key, "b": self._part(_numbers(one.at)), "s": list(one.texts), "z": _short(one.size),
                    "c": self.colour(one.colour, other.colour), "a": one.anchor, "f": one.face,
                }  # fmt: skip
        raise TypeError(f"{one.key} differs between themes")

    def _texts(self, labels: "np.ndarray[Any, np.dtype[np.str_]] | None") -> dict[str, int]:
        return {} if labels is None else {"l": self._part(labels.ravel().tolist())}


@dataclass(frozen=True)
class Packed:
    """The compressed data of the player as ``text``, and the glyphs it needs as CSS in ``fonts``."""

    text: str
    fonts: str
    background: str


def packed(reel: Reel, theme: str) -> Packed:
    """Return the steps of a reel, each drawn in both THEMES, as compressed data."""
    pack, steps = Pack(), []
    first: Step | None = None
    for step in reel.steps():
        first = first or step
        steps.append(_step(pack, step))
    assert first is not None
    dark, light = (first.after[name] for name in THEMES)
    data = {
        "name": reel.name, "width": dark.width, "height": dark.height, "theme": theme, "moments": reel.moments,
        "trail": reel.trail,
        "background": pack.colour(dark.background, light.background), "text": pack.colour(*reel.inks), "steps": steps,
        "watched": reel.watched, "facts": reel.facts(), "colours": pack.colours, "parts": pack.parts,
        "primitives": pack.primitives,
    }  # fmt: skip
    plain = json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()
    text = base64.b64encode(gzip.compress(plain, 7, mtime=0)).decode()
    return Packed(text, font_faces(pack.letters), first.after[theme].background)


def _step(pack: Pack, step: Step) -> dict[str, Any]:
    facts = {
        "before": _still(pack, step.before), "after": _still(pack, step.after), "phase": step.phase, "title": step.title,
        "caption": step.caption, "rows": step.rows,
    }  # fmt: skip
    facts |= {"way": step.way} if step.way else {}
    samples = [pack.layer(*(step.motion[name][number] for name in THEMES)) for number in range(len(step.motion[THEMES[0]]))]
    return {**facts, **({"motion": samples} if any(samples) else {})}


def _still(pack: Pack, scenes: Mapping[str, Scene]) -> list[list[int]]:
    """Return the layers of a step below and above what moves."""
    dark, light = (scenes[name] for name in THEMES)
    above = (*dark.above, *dark.words), (*light.above, *light.words)
    return [pack.layer(dark.primitives, light.primitives), pack.layer(*above)]


def page_html(reel: Reel, theme: str) -> str:
    """Return the page as HTML. Its content security policy allows its own script and style, and no network."""
    names = ("page.html", "style.css", "player.js")
    template, style, player = (resource(f"assets/page/{name}").read_text(encoding="utf-8") for name in names)
    pack = packed(reel, theme)
    style = f"html, body {{ margin: 0; height: 100%; background: {pack.background}; }}\n{pack.fonts}\n{style}"
    player = player.replace("export default {", "const notebook = {").replace("export ", "") + _START
    policy = page_policy(player, style)
    return template.format(title=escape(reel.name), policy=policy, style=style, packed=pack.text, player=player)


def page_policy(script: str, style: str) -> str:
    """Return the content security policy: one script and one style by their hashes, fonts inside the style, and nothing else.

    No text can become a script, and the script can't turn text into markup (Trusted Types).
    """
    rules = {
        "default-src": "'none'", "script-src": _hash(script), "style-src": _hash(style), "font-src": "data:",
        "base-uri": "'none'", "form-action": "'none'", "require-trusted-types-for": "'script'", "trusted-types": "'none'",
    }  # fmt: skip
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _hash(text: str) -> str:
    """Return a source of a content security policy (W3C CSP 3, 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _text(fill: "np.ndarray[Any, np.dtype[np.uint8]]") -> str:
    return base64.b64encode(np.ascontiguousarray(fill).tobytes()).decode()


def _short(value: float) -> float:
    rounded = round(float(value), 2)
    return int(rounded) if rounded == int(rounded) else rounded


def _numbers(values: "np.ndarray[Any, np.dtype[np.float64]]") -> list[int]:
    """Return the number of columns of a table, then its columns in tenths, each number as the difference from the one before:
    regular tables then repeat the same numbers.
    """
    tenths = np.round(values.T * _TENTHS).astype(np.int64)
    return [len(tenths), *np.diff(tenths, axis=1, prepend=0).ravel().tolist()]
