"""The content of an export: still pictures, and the same content as a film. Each picture is drawn on request."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from gemmviz.model.records import replace
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
