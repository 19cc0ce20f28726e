"""What is saved: pictures that stand, and the same as a film; each is drawn when it is asked for."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gemmviz.scenes.kit.primitives import Primitive, Scene


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture and what moves in it; as long as nothing but that differs, ``still`` is the same object."""

    still: Scene
    motion: tuple[Primitive, ...] = ()

    @property
    def scene(self) -> Scene:
        """Both in one."""
        return replace(self.still, primitives=(*self.still.primitives, *self.motion))


@dataclass(frozen=True, slots=True)
class Slide:
    """A picture that stands. ``title`` and ``caption`` say in words what it shows, ``notes`` what a speaker may say."""

    scene: Scene
    title: str
    caption: str = ""
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A step for a page that plays, by theme: the scene ``before`` and ``after`` what moves has arrived, and what moves at each
    of four moments: at the beginning, shortly before and after chips fan out, and at arrival. ``phase``: its number; ``rows``:
    which rows of the facts' record it has.
    """

    before: Mapping[str, Scene]
    after: Mapping[str, Scene]
    motion: Mapping[str, tuple[tuple[Primitive, ...], ...]]
    title: str
    caption: str
    phase: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Reel:
    """``slides`` draws the pictures in turn, of which there are ``slide_count``; ``frames`` those of a film with so many a
    second, of which there are ``frame_count``; ``steps`` what a page plays, of which there are ``step_count``. ``name`` says
    what it is of; ``facts``: what a page needs to answer questions about what is shown; ``theme``, ``inks`` (of text, dark and
    light), ``watched``: how a page begins. ``fan``: which share of their way chips of many go before they fan out.
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
    fan: float = 0.5

    def first(self) -> Scene:
        """The first of its pictures."""
        return next(self.slides()).scene
