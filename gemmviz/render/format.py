"""What a format of files is: of single pictures, of films, of slides, or of a page that plays."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gemmviz.model.errors import UsageError
from gemmviz.render.reel import Reel
from gemmviz.scenes.kit.primitives import Scene

LEAST_PIXELS, MOST_PIXELS = 64, 7680
LEAST_FPS, MOST_FPS = 1, 120


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """How pictures are saved: ``width`` and ``height`` in pixels, of what has pixels; ``fps``: frames a second of a film;
    ``is_transparent``: without a background; ``has_outlines``: letters as shapes, which look alike in every program;
    ``has_film``: slides end with one that plays the whole. Raises UsageError for a size or a rate that nothing can show.
    """

    width: int = 1920
    height: int = 1080
    fps: int = 30
    is_transparent: bool = False
    has_outlines: bool = False
    has_film: bool = False

    def __post_init__(self) -> None:
        if not all(LEAST_PIXELS <= side <= MOST_PIXELS for side in (self.width, self.height)):
            remedy = f"choose {LEAST_PIXELS} to {MOST_PIXELS} pixels a side"
            raise UsageError(f"a picture can't be {self.width} x {self.height}", remedy=remedy)
        if not LEAST_FPS <= self.fps <= MOST_FPS:
            raise UsageError(f"a film can't have {self.fps} frames a second", remedy=f"choose {LEAST_FPS} to {MOST_FPS}")

    def scale(self, scene: Scene) -> float:
        """Pixels of a unit."""
        return min(self.width / scene.width, self.height / scene.height)


@dataclass(frozen=True, slots=True)
class Still:
    """A file in ``gemmviz.render.formats`` that ends with ``FORMAT = Still(...)``; its suffix is the file's name. ``save`` gets
    a scene, a path and a look, and raises OSError. ``can_be_clear``: it may be without a background.
    """

    title: str
    save: Callable[[Scene, Path, RenderOptions], None]
    can_be_clear: bool = True
    order: int = 99


@dataclass(frozen=True, slots=True)
class _OfAll:
    """As ``Still``; ``save`` gets all of the reel."""

    title: str
    save: Callable[[Reel, Path, RenderOptions], None]
    can_be_clear: bool = False
    order: int = 99


class Film(_OfAll):
    """``save`` writes ``RenderOptions.fps`` frames a second."""


class Deck(_OfAll):
    """Each slide is a page."""


class Page(_OfAll):
    """One page plays all."""


Format = Still | Film | Deck | Page
