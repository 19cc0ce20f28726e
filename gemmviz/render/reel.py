"""What is saved: pictures that stand, and the same as a film; each is drawn when it is asked for."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from gemmviz.scenes.primitives import Primitive, Scene


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


@dataclass(frozen=True)
class Reel:
    """``slides`` draws the pictures in turn, of which there are ``slide_count``; ``frames`` those of a film with so many a
    second, of which there are ``frame_count``. ``name`` says what it is of; ``facts``: what a page needs besides to answer
    questions about what is shown.
    """

    name: str
    slides: Callable[[], Iterator[Slide]]
    slide_count: int
    frames: Callable[[int], Iterator[Frame]]
    frame_count: Callable[[int], int]
    facts: dict[str, object] = field(default_factory=dict)

    def first(self) -> Scene:
        """The first of its pictures."""
        return next(self.slides()).scene


def reel_of(scene: Scene, name: str = "picture", caption: str = "") -> Reel:
    """A single picture."""

    def slides() -> Iterator[Slide]:
        yield Slide(scene, name, caption)

    def frames(fps: int) -> Iterator[Frame]:
        yield Frame(scene)

    return Reel(name, slides, 1, frames, lambda fps: 1)
