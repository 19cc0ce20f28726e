"""The caption of a lecture, below a picture that makes space for it: a title, a sentence, and the choices of a question."""

from dataclasses import dataclass, replace

from gemmviz.model.words import letter
from gemmviz.scenes.kit.frame import MARGIN
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import wrap_text
from gemmviz.scenes.kit.theme import Theme, mixed

_TITLE, _CAPTION, _CHOICE, _LEADING, _AIR = 22.0, 30.0, 26.0, 1.26, 16.0
_MOST_SHARE = 0.52  # of the height of the frame


@dataclass(frozen=True, slots=True)
class Caption:
    """The text of a lesson step.

    ``right``: the place of the right choice, None until it is revealed; ``picked``: the place of the choice that is
    discussed or was picked.
    """

    title: str = ""
    caption: str = ""
    choices: tuple[str, ...] = ()
    right: int | None = None
    picked: int | None = None

    @property
    def asks(self) -> bool:
        """Whether a question is open, so that the picture hides its counts."""
        return bool(self.choices) and self.right is None

    @property
    def is_empty(self) -> bool:
        return not (self.title or self.caption or self.choices)


def band_height(caption: Caption, width: float, height: float) -> float:
    """Return the height of the band in a frame of this size."""
    if caption.is_empty:
        return 0.0
    lines = [size for size, _, _, _ in _lines(caption, width)]
    return min(_MOST_SHARE * height, 2 * _AIR + sum(_LEADING * size for size in lines))


def with_band(scene: Scene, caption: Caption, height: float, theme: Theme) -> Scene:
    """Return the scene with the band below it, ``height`` high in total."""
    if caption.is_empty:
        return scene
    top = scene.height
    lines = _lines(caption, scene.width)
    scale = min(1.0, (height - top - 2 * _AIR) / max(1.0, sum(_LEADING * size for size, _, _, _ in lines)))
    ground = boxes((0.0, top, scene.width, height - top))
    primitives: list[Primitive] = [
        Rects("band", ground, mixed(theme.background, theme.panel, 0.9)),
        Rects("band-edge", boxes((0.0, top, scene.width, 3.0)), theme.accent("A")),
    ]
    y = top + _AIR
    for number, (size, text, kind, place) in enumerate(lines):
        y += _LEADING * size * scale
        ink = theme.faint if kind == "title" else theme.text
        is_right, is_picked = place is not None and place == caption.right, place is not None and place == caption.picked
        if kind == "choice" and caption.right is not None and not is_right:
            ink = theme.warning if is_picked else theme.faint
        if is_right:
            ink = theme.accent("C")
        x = MARGIN + (28.0 if kind == "choice" else 0.0)
        face = "semibold" if kind == "caption" or is_right or is_picked else "regular"
        at = points((x, y - 0.3 * size * scale))
        primitives.append(Labels(f"band-{kind}-{number}", at, (text,), size * scale, ink, "start", face))  # type: ignore[arg-type]
    return replace(scene, height=height, words=(*scene.words, *primitives))


def _lines(caption: Caption, width: float) -> list[tuple[float, str, str, int | None]]:
    """Return size, text, kind, and place of the choice (None for other lines) of each line."""
    room = width - 2 * MARGIN
    lines: list[tuple[float, str, str, int | None]] = []
    if caption.title:
        lines.append((_TITLE, wrap_text(caption.title, _TITLE, room, 1)[0], "title", None))
    if caption.caption:
        lines += [(_CAPTION, line, "caption", None) for line in wrap_text(caption.caption, _CAPTION, room, 3, "semibold")]
    for place, choice in enumerate(caption.choices):
        mark = " ✓" if place == caption.right else ""
        text = f"{letter(place)}.  {choice}{mark}"
        lines += [(_CHOICE, line, "choice", place) for line in wrap_text(text, _CHOICE, room - 28, 2, "semibold")]
    return lines
