"""The content of an export: still pictures, and the same content as a film. Each picture is drawn on request."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from gemmviz.model.errors import UsageError
from gemmviz.model.records import replace
from gemmviz.model.translation import tr
from gemmviz.render.credit import FigureOptions
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.transition import PaintLayer


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
        return replace(self.still, primitives=(*self.still.primitives, *self.motion))


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
