"""Colours: one accent for each matrix and one for each warp, the same everywhere, in a dark and a light theme.

Accents are of the Okabe-Ito palette, those of warps of Paul Tol's "light" scheme: people with any colour vision can tell
apart what is in either.
"""

from dataclasses import dataclass, field
from functools import cache

BLUE, ORANGE, GREEN = "#56B4E9", "#E69F00", "#009E73"
WARP_ACCENTS = ("#77AADD", "#EE8866", "#EEDD88", "#FFAABB", "#44BB99", "#BBCC33", "#99DDFF", "#AAAA00")


@dataclass(frozen=True, slots=True)
class Theme:
    """``accents`` are keyed by matrix name; other colours by what they are for."""

    name: str
    background: str
    panel: str
    text: str
    faint: str
    line: str
    empty: str
    warning: str
    accents: dict[str, str] = field(hash=False)

    def accent(self, name: str) -> str:
        return self.accents.get(name, self.faint)

    def tint(self, name: str, strength: float) -> str:
        """The accent mixed into the background: 0 is the background, 1 the accent itself."""
        return mixed(self.background, self.accent(name), strength)

    def ink_on(self, colour: str) -> str:
        """Text that can be read on ``colour``: black or white, whichever contrasts more (WCAG relative luminance)."""
        luminance = _luminance(colour)
        return "#10141A" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#FFFFFF"


DARK = Theme(
    "dark", "#12161C", "#1A2028", "#F2F5F8", "#8B97A5", "#2B3440", "#1D242D", "#FF8A70",
    {"A": BLUE, "B": ORANGE, "C": "#19C795"},
)  # fmt: skip
LIGHT = Theme(
    "light", "#FFFFFF", "#F3F5F8", "#14181E", "#5C6875", "#C9D1DA", "#EEF1F4", "#C43E1C",
    {"A": "#3A9BD9", "B": ORANGE, "C": GREEN},
)  # fmt: skip
THEMES = {theme.name: theme for theme in (DARK, LIGHT)}


def warp_accent(warp: int) -> str:
    """Eight colours in turn."""
    return WARP_ACCENTS[warp % len(WARP_ACCENTS)]


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
