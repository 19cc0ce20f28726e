"""The content of an export: still pictures, and the same content as a film. Each picture is drawn on request."""

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct, field

from gemmviz.files.resources import resource
from gemmviz.model.messages import UsageError, tr
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.transition import PaintLayer

# The options of a figure for web pages: its name and theme, who made it, its licence, its link, and how it is cited.

FigureTheme = Literal["auto", "dark", "light"]
FIGURE_THEMES: tuple[FigureTheme, ...] = ("auto", "dark", "light")
DEFAULT_LICENCE = "CC-BY-4.0"
LICENCES = {
    **{
        f"CC-{terms}-{version}": (f"CC {terms} {version}", f"https://creativecommons.org/licenses/{terms.lower()}/{version}/")
        for terms in ("BY", "BY-SA", "BY-ND", "BY-NC", "BY-NC-SA", "BY-NC-ND")
        for version in ("3.0", "4.0")
    },
    "CC0-1.0": ("CC0 1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
    **{
        name: (name, f"https://spdx.org/licenses/{name}.html")
        for name in ("MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "GFDL-1.3-only", "GFDL-1.3-or-later")
    },
}  # by SPDX identifier: the name that is shown, and the address of the text
_LONGEST_LINK, _LONGEST_TEXT = 2000, 500
_SAFE_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class FigureOptions(Struct, frozen=True):
    """Options of a figure.

    ``name``: what URLs and other figures call it; ``follow``: the name of the figure whose steps it shows; ``theme``: "auto"
    for that of the page; ``licence``: an SPDX identifier or any text, "" for no line; ``link``: the URL of its QR code;
    ``is_split``: the script is a file of its own. Raises UsageError for a name, a theme or a link that can't be used.
    """

    name: str = "figure"
    theme: FigureTheme = "auto"
    author: str = ""
    licence: str = DEFAULT_LICENCE
    link: str = ""
    follow: str = ""
    is_split: bool = False

    def __post_init__(self) -> None:
        for name in filter(None, (self.name, self.follow)):
            if not _SAFE_NAME.fullmatch(name):
                raise UsageError(f"a figure can't be called {name!r}", remedy="use up to 64 letters, digits, and _ . -")
        if self.theme not in FIGURE_THEMES:
            raise UsageError(f"a figure has no theme {self.theme!r}", remedy=f"choose {', '.join(FIGURE_THEMES)}")
        if max(len(self.author), len(self.licence)) > _LONGEST_TEXT:
            raise UsageError(f"author and licence have at most {_LONGEST_TEXT} characters", remedy="write a shorter text")
        if self.link:
            check_link(self.link)


def check_link(url: str) -> None:
    """Check that a URL can be linked to. Raises UsageError."""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and len(url) <= _LONGEST_LINK
    except ValueError:
        is_usable = False
    if not is_usable or re.search(r"[\s\x00-\x1f\x7f\"<>\\^`{|}]", url):
        raise UsageError(f"{url[:80]!r} can't be linked to", remedy="write a URL such as https://example.org/course#tiled")


def figure_name(text: str) -> str:
    """Return a text as the name of a figure: without the characters that names can't have."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-.")[:64] or "figure"


def known_licence(identifier: str) -> tuple[str, str]:
    """Return the name of a licence and the address of its text, which is "" unless the SPDX identifier is known."""
    return LICENCES.get(identifier, (identifier, ""))


class Citation(Struct, frozen=True):
    """How gemmviz is cited: in ``words``, with its ``version`` and the ``address`` of its repository."""

    words: str
    version: str
    address: str


@cache
def citation() -> Citation:
    """Return what CITATION.cff says."""
    text = resource("CITATION.cff").read_text(encoding="utf-8")
    facts = dict(re.findall(r"^(?:  - )?([\w-]+): \"?(.*?)\"?$", text, re.MULTILINE))
    version = facts["version"]
    return Citation(f"{facts['title']}, version {version} ({facts['name']})", version, facts["repository-code"])


class Frame(Struct, frozen=True):
    """A still picture and what moves in it. ``still`` is the same object while only the motion changes. ``layers``: what is
    painted over its background instead, on the way to it from another picture.
    """

    still: Scene
    motion: tuple[Primitive, ...] = ()
    layers: tuple[PaintLayer, ...] = ()

    @property
    def scene(self) -> Scene:
        """The whole scene of the frame."""
        return dataclasses.replace(self.still, primitives=(*self.still.primitives, *self.motion))


class Slide(Struct, frozen=True):
    """A still picture. ``title`` and ``caption`` describe it; ``notes`` are for the speaker."""

    scene: Scene
    title: str
    caption: str = ""
    notes: str = ""


class Step(Struct, frozen=True):
    """A step of a web page, by theme: the scene ``before`` and ``after`` arrival, and what moves at the reel's ``moments``.

    ``phase``: its number; ``rows``: the rows of the facts' record that it has; ``way``: how the picture before becomes this
    one, "morph" or "fade"; "" at once.
    """

    before: Mapping[str, Scene]
    after: Mapping[str, Scene]
    motion: Mapping[str, tuple[tuple[Primitive, ...], ...]]
    title: str
    caption: str
    phase: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)
    way: str = ""


class Reel(Struct, frozen=True):
    """The content of an export.

    ``slides`` draws ``slide_count`` pictures; ``frames`` draws ``frame_count`` frames of a film at a frame rate; ``steps``
    draws the ``step_count`` steps of a web page. ``name``: the title of the run; ``facts``: data with which a page answers
    questions; ``theme``, ``inks`` (of text, dark and light) and ``watched``: the initial state of a page. ``moments``: the
    shares of a step at which a page holds what moves; ``trail``: how long ago (in shares of a step) and how strongly a page
    repeats it below. ``start``: the place of the step with which a page opens.
    """

    name: str
    slides: Callable[[], Iterator[Slide]]
    slide_count: int
    frames: Callable[[int], Iterator[Frame]]
    frame_count: Callable[[int], int]
    steps: Callable[[], Iterator[Step]]
    step_count: int
    facts: Callable[[], dict[str, Any]] = dict
    theme: str = "dark"
    inks: tuple[str, str] = ("#FFFFFF", "#000000")
    watched: str = ""
    moments: tuple[float, ...] = ()
    trail: tuple[tuple[float, float], ...] = ()
    start: int = 0

    def first(self) -> Scene:
        """Return the first picture."""
        return next(self.slides()).scene


# The definition of a file format: of single pictures, films, slides or web pages.

LEAST_PIXELS, MOST_PIXELS = 64, 7680
LEAST_FPS, MOST_FPS = 1, 120


class RenderOptions(Struct, frozen=True):
    """Options of saving pictures.

    ``width`` and ``height`` in pixels; ``fps``: frames per second of a film; ``is_transparent``: no background;
    ``has_outlines``: text as shapes; ``has_film``: add a slide that plays the film; ``figure``: a figure
    for web pages instead of a page. Raises UsageError for a size or a rate out
    of range.
    """

    width: int = 1920
    height: int = 1080
    fps: int = 30
    is_transparent: bool = False
    has_outlines: bool = False
    has_film: bool = False
    figure: FigureOptions | None = None

    def __post_init__(self) -> None:
        if not all(LEAST_PIXELS <= side <= MOST_PIXELS for side in (self.width, self.height)):
            remedy = tr(
                "choose {least_pixels} to {most_pixels} pixels a side", least_pixels=LEAST_PIXELS, most_pixels=MOST_PIXELS
            )
            raise UsageError(tr("a picture can't be {width} x {height}", width=self.width, height=self.height), remedy=remedy)
        if not LEAST_FPS <= self.fps <= MOST_FPS:
            raise UsageError(
                tr("a film can't have {fps} frames a second", fps=self.fps),
                remedy=tr("choose {least_fps} to {most_fps}", least_fps=LEAST_FPS, most_fps=MOST_FPS),
            )

    def scale(self, scene: Scene) -> float:
        """Return the pixels of a unit."""
        return min(self.width / scene.width, self.height / scene.height)


class Still(Struct, frozen=True):
    """A format of single pictures: ``FORMAT = Still(...)`` in a file of ``gemmviz.render.formats``.

    The suffix is the file's name. ``save`` gets a scene, a path and the options, and raises OSError. ``can_be_clear``: whether
    it supports a transparent background. ``extra``: the extra of gemmviz whose packages it needs, "" for none.
    """

    title: str
    save: Callable[[Scene, Path, RenderOptions], None]
    can_be_clear: bool = True
    order: int = 99
    extra: str = ""

    def extras(self, options: RenderOptions) -> tuple[str, ...]:
        """Return the extras of gemmviz that a file with these options needs."""
        return (self.extra,) if self.extra else ()


class _OfAll(Struct, frozen=True):
    """A format like ``Still`` whose ``save`` gets the whole reel."""

    title: str
    save: Callable[[Reel, Path, RenderOptions], None]
    can_be_clear: bool = False
    order: int = 99
    extra: str = ""

    def extras(self, options: RenderOptions) -> tuple[str, ...]:
        """Return the extras of gemmviz that a file with these options needs."""
        film = ("film",) if options.has_film else ()
        return tuple(dict.fromkeys((*((self.extra,) if self.extra else ()), *film)))


class Film(_OfAll, frozen=True):
    """A format of films. ``save`` writes ``RenderOptions.fps`` frames per second."""


class Deck(_OfAll, frozen=True):
    """A format of slides, one page each."""


class WebPage(_OfAll, frozen=True):
    """A format of web pages that play the reel."""


Format = Still | Film | Deck | WebPage
