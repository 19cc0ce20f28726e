"""The definition of a file format: of single pictures, films, slides or web pages."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from gemmviz.model.errors import UsageError
from gemmviz.model.translation import tr
from gemmviz.render.credit import FigureOptions
from gemmviz.render.reel import Reel
from gemmviz.scenes.kit.primitives import Scene

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
    """A format of single pictures, defined by a file in ``gemmviz.render.formats`` that ends with ``FORMAT = Still(...)``.

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


class Page(_OfAll, frozen=True):
    """A format of web pages that play the reel."""


Format = Still | Film | Deck | Page
