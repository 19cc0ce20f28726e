"""Colours: one accent for each matrix and one for each warp, the same everywhere. A theme is a file in ``assets/themes``.

Accents are of the Okabe-Ito palette. Those of warps were searched for: of all colours far from these, the eight that differ
most from each other for normal vision, deuteranopia and protanopia. Those of lanes are of viridis: they grow lighter in order.
"""

from dataclasses import dataclass, field
from functools import cache

from gemmviz.files.codec import read_toml
from gemmviz.files.resources import resource, resources
from gemmviz.model.errors import UsageError

WARP_ACCENTS = ("#9682FA", "#E6E61E", "#E696BE", "#E6461E", "#E6E696", "#963282", "#964646", "#6E1EFA")
LANE_ACCENTS = ("#46307E", "#3B528B", "#2C718E", "#21908D", "#27AD81", "#5CC863", "#AADC32", "#FDE725")


@dataclass(frozen=True, slots=True)
class TypeSizes:
    """Sizes of text in units of a frame; a slide is 900 high, and none of its words is smaller than 2.2 % of that. Labels of
    cells and numbers along their sides (``axis``) may be, and are faint then.
    """

    title: float = 30.0
    progress: float = 24.0
    caption: float = 25.0
    small: float = 22.0
    name: float = 28.0
    heading: float = 24.0
    note: float = 20.0
    axis: float = 16.0


@dataclass(frozen=True, slots=True)
class Theme:
    """``accents`` are keyed by matrix name; other colours by what they are for. ``is_dark``: light on dark; ``type``: sizes of
    text; ``is_grey``: without colours; ``warps`` and ``lanes``: colours of eight groups of threads, in turn and in order.
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
    accents: dict[str, str] = field(hash=False)
    type: TypeSizes = TypeSizes()
    is_grey: bool = False
    warps: tuple[str, ...] = WARP_ACCENTS
    lanes: tuple[str, ...] = LANE_ACCENTS

    def accent(self, name: str) -> str:
        return self.accents.get(name, self.faint)

    def level(self, place: int) -> str:
        """The colour of a level of memory by its place, the nearest to the threads first: the matrices', then the warps'."""
        accents = [self.accent(name) for name in "ABC"]
        return accents[place] if place < len(accents) else self.warps[(place - len(accents)) % len(self.warps)]

    def tint(self, name: str, strength: float) -> str:
        """The accent mixed into the background: 0 is the background, 1 the accent itself."""
        return mixed(self.background, self.accent(name), strength)

    def ink_on(self, colour: str) -> str:
        """Text that can be read on ``colour``: black or white, whichever contrasts more (WCAG relative luminance)."""
        luminance = _luminance(colour)
        return "#10141A" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#FFFFFF"


@cache
def load_theme(name: str) -> Theme:
    """The theme of ``assets/themes/NAME.toml``. Raises UsageError for a name without a file."""
    if name not in theme_names():
        raise UsageError(f"there is no theme {name!r}", remedy=f"choose {', '.join(theme_names())}")
    return read_toml(resource(f"assets/themes/{name}.toml"), Theme)


@cache
def theme_names() -> tuple[str, ...]:
    """The names of all theme files."""
    return tuple(path.stem for path in resources("assets/themes", "*.toml"))


@cache
def mixed(a: str, b: str, share: float) -> str:
    """``share`` of colour ``b`` in colour ``a``."""
    return "#" + "".join(f"{round(x + (y - x) * share):02X}" for x, y in zip(channels(a), channels(b), strict=True))


@cache
def channels(colour: str) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255, of #RRGGBB."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@cache
def _luminance(colour: str) -> float:
    def linear(channel: int) -> float:
        c = channel / 255
        return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(channel) for channel in channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
