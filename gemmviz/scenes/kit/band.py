"""What a lecturer says, below a picture that makes room for it: a title, a sentence, and the choices of a question."""

from dataclasses import dataclass, replace

from gemmviz.model.words import letter
from gemmviz.scenes.kit.frame import MARGIN
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import wrapped
from gemmviz.scenes.kit.theme import Theme, mixed

_TITLE, _CAPTION, _CHOICE, _LEADING, _AIR = 22.0, 30.0, 26.0, 1.26, 16.0
_TELLING = ("action", "cost", "note")  # words of a picture that say what it costs
_MOST_SHARE = 0.52  # of the frame


@dataclass(frozen=True, slots=True)
class Caption:
    """``choices`` of a question, and the place of the one that is ``right``, None as long as that is not told; ``picked``: the
    one that is spoken of, or that somebody chose.
    """

    title: str = ""
    caption: str = ""
    choices: tuple[str, ...] = ()
    right: int | None = None
    picked: int | None = None

    @property
    def asks(self) -> bool:
        """Whether a question is open: nothing else must tell its answer."""
        return bool(self.choices) and self.right is None

    @property
    def is_empty(self) -> bool:
        return not (self.title or self.caption or self.choices)


def band_height(said: Caption, width: float, height: float) -> float:
    """How much of a frame it takes."""
    if said.is_empty:
        return 0.0
    lines = [size for size, _, _, _ in _lines(said, width)]
    return min(_MOST_SHARE * height, 2 * _AIR + sum(_LEADING * size for size in lines))


def with_band(scene: Scene, said: Caption, height: float, theme: Theme) -> Scene:
    """The scene, which leaves that much room, with the words below it: so high as a whole."""
    if said.is_empty:
        return scene
    top = scene.height
    if said.asks:
        scene = replace(scene, words=tuple(each for each in scene.words if each.key not in _TELLING))
    lines = _lines(said, scene.width)
    scale = min(1.0, (height - top - 2 * _AIR) / max(1.0, sum(_LEADING * size for size, _, _, _ in lines)))
    ground = boxes((0.0, top, scene.width, height - top))
    found: list[Primitive] = [
        Rects("band", ground, mixed(theme.background, theme.panel, 0.9)),
        Rects("band-edge", boxes((0.0, top, scene.width, 3.0)), theme.accent("A")),
    ]
    y = top + _AIR
    for number, (size, text, kind, place) in enumerate(lines):
        y += _LEADING * size * scale
        ink = theme.faint if kind == "title" else theme.text
        is_right, is_picked = place is not None and place == said.right, place is not None and place == said.picked
        if kind == "choice" and said.right is not None and not is_right:
            ink = theme.warning if is_picked else theme.faint
        if is_right:
            ink = theme.accent("C")
        x = MARGIN + (28.0 if kind == "choice" else 0.0)
        face = "semibold" if kind == "caption" or is_right or is_picked else "regular"
        at = points((x, y - 0.3 * size * scale))
        found.append(Labels(f"band-{kind}-{number}", at, (text,), size * scale, ink, "start", face))  # type: ignore[arg-type]
    return replace(scene, height=height, words=(*scene.words, *found))


def _lines(said: Caption, width: float) -> list[tuple[float, str, str, int | None]]:
    """Sizes, texts, what they are, and of choices which."""
    room = width - 2 * MARGIN
    found: list[tuple[float, str, str, int | None]] = []
    if said.title:
        found.append((_TITLE, wrapped(said.title, _TITLE, room, 1)[0], "title", None))
    if said.caption:
        found += [(_CAPTION, line, "caption", None) for line in wrapped(said.caption, _CAPTION, room, 3, "semibold")]
    for place, choice in enumerate(said.choices):
        mark = " ✓" if place == said.right else ""
        text = f"{letter(place)}.  {choice}{mark}"
        found += [(_CHOICE, line, "choice", place) for line in wrapped(text, _CHOICE, room - 28, 2, "semibold")]
    return found
