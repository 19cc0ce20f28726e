"""Colours: one accent per matrix and one per warp, the same everywhere. A theme is a file in ``assets/themes``.

Accents are of the Okabe-Ito palette, and stand for the matrices alone. The colours of warps are eight muted hues of one
lightness, found by search: of all such colours far from the accents and from the red of warnings, the eight that differ most
for normal vision, deuteranopia and protanopia. One lightness leaves somebody without red or green little more than blue and
yellow, so that warps far apart in number may look alike: neighbours differ, and numbers or outlines tell the others apart.
The colours of lanes grow lighter in order, in one hue that is no matrix's. Curves of charts differ in lightness too.
"""

from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from msgspec import Struct, structs

from gemmviz.files.codec import read_toml
from gemmviz.files.resources import resource, resources
from gemmviz.model.arrays import AnyArray, Bools, Bytes, Longs
from gemmviz.model.messages import UsageError, tr
from gemmviz.model.problem import Problem
from gemmviz.scenes.kit.primitives import Face, text_width

WARP_ACCENTS = ("#9E76BC", "#B57389", "#4C9657", "#C565A8", "#5885DC", "#1294A6", "#988629", "#19968C")
LANE_ACCENTS = ("#563E60", "#6E5070", "#856480", "#9C7991", "#B38FA3", "#C9A6B6", "#E0BDC9", "#F6D5DD")
CURVE_ACCENTS = ("#797ED5", "#EFCF72", "#BD6BA1", "#92DFDA", "#7C8E33", "#ABC8F5", "#BB8377", "#8EE4A1")
_CHOSEN = 0.6  # share of the text in the colour of what is chosen
_LEVELS = (0.86, 0.68, 0.54, 0.42, 0.34, 0.27)  # strength of the outlines of memories, the nearest to the threads first
_LEAST_LOAD = 0.22
# Strengths of a colour on its ground: of what isn't meant, of what is over or yet to come, of what is near to what is meant, of
# what a picture shows without looking at it, and of what is meant but not now. At 1 it is what happens now.
DIM, PALE, SOFT, HALF, FIRM = 0.13, 0.2, 0.34, 0.5, 0.75


class TypeSizes(Struct, frozen=True):
    """Text sizes in units of a frame.

    A slide is 900 units high, so that on a screen of 1080 lines a unit is 1.2 pixels. No text is smaller than ``least``, 24
    pixels there; what would have to be smaller is left out. ``sentence``: what happens at this moment; ``words``: running text;
    ``code``: source lines.
    """

    title: float = 30.0
    progress: float = 25.0
    sentence: float = 33.4
    caption: float = 28.0
    words: float = 25.0
    name: float = 28.0
    heading: float = 25.0
    code: float = 23.4
    note: float = 22.0
    least: float = 20.0


class Style(NamedTuple):
    """How a text is drawn: its size, colour and face."""

    size: float
    colour: str
    face: Face = "regular"

    def width(self, text: str) -> float:
        """Return the width of a text in this style."""
        return text_width(text, self.size, self.face)

    def inked(self, colour: str) -> "Style":
        return self._replace(colour=colour)

    def sized(self, size: float) -> "Style":
        return self._replace(size=size)


class Theme(Struct, frozen=True):
    """The colours and text sizes of a theme.

    ``accents`` are keyed by matrix name; other colours are named by their use. ``is_dark``: light on dark; ``type``: text
    sizes; ``is_grey``: without colours; ``warps`` and ``lanes``: colours of eight groups of threads, distinct and in order;
    ``curves``: colours of the curves of a chart; ``slate``: the ground of boxes that stand for memories; ``load``: the hue of
    multiprocessors, stronger with their load; ``warning``: waste and errors, nothing else.
    """

    title: str
    is_dark: bool
    background: str
    panel: str
    text: str
    faint: str
    line: str
    empty: str
    warning: str
    slate: str
    load: str
    accents: dict[str, str]
    type: TypeSizes = TypeSizes()
    is_grey: bool = False
    warps: tuple[str, ...] = WARP_ACCENTS
    lanes: tuple[str, ...] = LANE_ACCENTS
    curves: tuple[str, ...] = CURVE_ACCENTS

    def __hash__(self) -> int:
        return hash((self.title, self.background, self.type))

    @property
    def large(self) -> Style:
        """The style of results: a sentence or a number that a picture is about."""
        return Style(self.type.sentence, self.text, "semibold")

    @property
    def strong(self) -> Style:
        """The style of names."""
        return Style(self.type.words, self.text, "semibold")

    @property
    def plain(self) -> Style:
        """The style of words."""
        return Style(self.type.words, self.text)

    @property
    def soft(self) -> Style:
        """The style of words that matter less."""
        return Style(self.type.words, self.faint)

    @property
    def small(self) -> Style:
        """The style of the smallest words."""
        return Style(self.type.least, self.text)

    @property
    def aside(self) -> Style:
        """The style of the smallest words that matter less."""
        return Style(self.type.least, self.faint)

    def accent(self, name: str) -> str:
        return self.accents.get(name, self.faint)

    @property
    def chosen(self) -> str:
        """The colour of what is selected, checked or has the keyboard's focus: none of a matrix."""
        return mixed(self.slate, self.text, _CHOSEN)

    def for_problem(self, problem: Problem) -> "Theme":
        """The theme with a colour for each array of a problem."""
        return self if problem.is_multiply else _with_hues(self, tuple(problem.hues.items()))

    def level(self, place: int) -> str:
        """The shade of a level of memory by its place, the nearest to the threads first and strongest."""
        return mixed(self.slate, self.text, _LEVELS[min(place, len(_LEVELS) - 1)])

    def loaded(self, share: float) -> str:
        """The colour of a multiprocessor with this share of its load: 0 is idle."""
        return mixed(self.empty, self.load, _LEAST_LOAD + (1 - _LEAST_LOAD) * share) if share > 0 else self.empty

    def tint(self, name: str, strength: float) -> str:
        """Return the accent mixed into the background: 0 is the background, 1 the accent."""
        return self.faded(self.accent(name), strength)

    def faded(self, colour: str, strength: float) -> str:
        """Return a colour mixed into the background: 0 is the background, 1 the colour."""
        return mixed(self.background, colour, strength)

    def legible(self, colour: str) -> str:
        """Return the colour mixed with as much of the text's colour as gives it a contrast of 4.5 with the background."""
        shares = (step / 20 for step in range(21))
        shades = (mixed(colour, self.text, share) for share in shares)
        return next((shade for shade in shades if contrast_of(shade, self.background) >= 4.5), self.text)

    def ink_on(self, colour: str) -> str:
        """Return a readable text colour on ``colour``: black or white, whichever has more contrast (WCAG relative
        luminance).
        """
        luminance = _luminance(colour)
        return "#10141A" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#FFFFFF"


@lru_cache(maxsize=32)
def _with_hues(theme: Theme, hues: tuple[tuple[str, str], ...]) -> Theme:
    own = {name: theme.accents.get(hue) or theme.warps[int(hue) % len(theme.warps)] for name, hue in hues}
    return structs.replace(theme, accents={**theme.accents, **own})


@cache
def load_theme(name: str) -> Theme:
    """Return the theme of ``assets/themes/NAME.toml``. Raises UsageError for a name without a file."""
    if name not in theme_names():
        raise UsageError(
            tr("there is no theme {name}", name=f"{name!r}"),
            remedy=tr("choose {theme_names}", theme_names=", ".join(theme_names())),
        )
    return read_toml(resource(f"assets/themes/{name}.toml"), Theme)


@cache
def theme_names() -> tuple[str, ...]:
    """Return the names of all theme files."""
    return tuple(path.stem for path in resources("assets/themes", "*.toml"))


@cache
def mixed(a: str, b: str, share: float) -> str:
    """Return ``share`` of colour ``b`` mixed into colour ``a``."""
    return "#" + "".join(f"{round(x + (y - x) * share):02X}" for x, y in zip(channels(a), channels(b), strict=True))


@cache
def channels(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of #RRGGBB, 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def contrast_of(a: str, b: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it, 1 to 21."""
    dark, light = sorted((_luminance(a), _luminance(b)))
    return (light + 0.05) / (dark + 0.05)


@cache
def _luminance(colour: str) -> float:
    def linear(channel: int) -> float:
        c = channel / 255
        return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(channel) for channel in channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


# The meaning of cell colours: states of a matrix, of a tile, and the number of loads.

# States of the cells of a matrix. From FIRST_GROUP on: accessed by that group of threads; from FIRST_OWNER on: computed by that
# group; from FIRST_FILL on: how much of a sum of C is complete.
BASE, AREA, SOURCE, LIT, SEVERAL = range(5)
FIRST_GROUP = 5
FIRST_OWNER = FIRST_GROUP + len(WARP_ACCENTS)
FIRST_FILL, FILL_LEVELS = FIRST_OWNER + len(WARP_ACCENTS), 8
# States of the cells of a tile, three for each kind of content: stored in an earlier phase, stored, accessed.
STALE, HELD, TOUCHED = range(3)
# The three lights: how much of its matrix's colour a cell has at rest, in this phase, and accessed now.
REST, PHASE, NOW = 0.12, 0.38, 1.0
HEAT_LEVELS = 9
HEAT_LIT = HEAT_LEVELS

Palette = tuple[str, ...]


@lru_cache(maxsize=64)
def matrix_palette(theme: Theme, name: str, accents: tuple[str, ...]) -> Palette:
    """Return the colours of a matrix's states.

    They are BASE, in the block's AREA, SOURCE of a value that is read from a tile, LIT, lit by SEVERAL groups of threads,
    lit by each group (``accents``), owned by each group, and sums by completeness. White is left to the pointer.
    """
    tints = (theme.tint(name, share) for share in (REST, PHASE, PHASE, NOW))
    owned = (mixed(theme.background, accent, 0.6) for accent in accents)
    filled = (theme.tint(name, REST + (PHASE - REST) * level / FILL_LEVELS) for level in range(1, FILL_LEVELS + 1))
    return *tints, theme.faint, *accents, *owned, *filled


@lru_cache(maxsize=64)
def heat_palette(theme: Theme, accent: str) -> Palette:
    """Return the colours of the heat levels, and one for the current access."""
    shares = (0.05, *(0.16 + 0.54 * (level / (HEAT_LEVELS - 2)) ** 1.2 for level in range(HEAT_LEVELS - 1)))
    return *(mixed(theme.background, accent, share) for share in shares), accent


@lru_cache(maxsize=64)
def inks_for(theme: Theme, palette: Palette) -> Palette:
    """Return a text colour for each colour; faint text on the faintest ones."""
    return theme.faint, *(theme.ink_on(colour) for colour in palette[1:])


def most_loads(problem: Problem) -> int:
    """Return the top of the scale of loads.

    Without reuse, an element of A is loaded N times and one of B M times; a cell of a tile is loaded at most once for each
    of K.
    """
    return max(problem.sizes.values(), default=1)


def shared_cells(cells: Longs, groups: AnyArray, size: int) -> Bools:
    """Return, for accesses of cells by groups of threads, whether other groups access the same cell."""
    latest = np.full(size, -1, np.int64)
    latest[cells] = groups
    several = np.zeros(size, bool)
    several[cells[latest[cells] != groups]] = True
    return np.asarray(several[cells])


def heat_levels(counts: Longs, elements: int, top: int) -> Bytes:
    """Return levels on a logarithmic scale: 0 for none, 1 for one load, the last for ``top`` and more.

    ``counts`` are loads of cells of ``elements`` elements each.
    """
    bounds = elements * max(2, top) ** (np.arange(1, HEAT_LEVELS - 1) / (HEAT_LEVELS - 2)) * (1 - 1e-9)
    return np.where(counts > 0, 1 + np.searchsorted(bounds, counts, side="right"), 0).astype(np.uint8)
