"""What stands above a picture, a headline, and below it: the caption of a lecture, and a link with its QR code."""

import dataclasses
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct

from gemmviz.model.arrays import Bytes
from gemmviz.model.messages import UsageError, letter, tr
from gemmviz.scenes.kit.layout import baseline, text_at
from gemmviz.scenes.kit.primitives import (
    Cells,
    Labels,
    Primitive,
    Rects,
    Scene,
    boxes,
    clauses_of,
    fits_lines,
    points,
    text_width,
    wrap_text,
)
from gemmviz.scenes.kit.shapes import moved_down
from gemmviz.scenes.kit.theme import Theme, TypeSizes, mixed
from gemmviz.scenes.kit.view import HEADLINE_PITCH, MARGIN, ViewOptions, headline_lines, title_words

_TYPE = TypeSizes()
_CAPTIONS = (36.7, 30.0, _TYPE.words)  # 44 pixels of 1080 lines; a long caption is smaller
_NUMBER, _TITLE, _CHOICE = 64.0, _TYPE.least, 27.0
_LEADING, _AIR = 1.26, 16.0
_LINES, _MOST_LINES = 2, 3  # lines for which there is always space, so that pictures keep their size; and the most
_SHARES = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)  # of the room, tried for lines of the same length
_LEAST_CLAUSE = 0.6  # width of a line that ends with its clause, per that of the other line
_INDENT, _CHOICE_AIR = 28.0, 10.0  # of choices: at their left, and above them
_BESIDE, _GAP = 380.0, 44.0  # width of title and progress, and their distance from the sentence
_DOT, _MOST_DOTS = 8.0, 32
_MOST_SHARE = 0.52  # of the height of the frame


# The headline of a picture without a title of its own

_BELOW_HEADLINE = 22.0  # from its baseline to the margin of the picture


def headline_height(options: ViewOptions) -> float:
    """Return by how much a picture moves down for its headline, 0 without one."""
    size, lines = headline_lines(options)
    return options.title_y + _BELOW_HEADLINE + (len(lines) - 1) * HEADLINE_PITCH * size - options.edge if lines else 0.0


def with_headline(scene: Scene, by: float, options: ViewOptions) -> Scene:
    """Return the scene ``by`` units further down, below a headline."""
    if not by:
        return scene
    ground = Rects("headline-ground", boxes((0.0, 0.0, scene.width, by)), scene.background)
    words = (ground, title_words("", scene.width, options), *moved_down(scene.words, by))
    parts: dict[str, Any] = {
        "primitives": moved_down(scene.primitives, by),
        "above": moved_down(scene.above, by),
        "words": words,
    }
    return dataclasses.replace(scene, height=scene.height + by, **parts)


# The caption


class Caption(Struct, frozen=True):
    """The text of a lesson step.

    ``right``: the place of the right choice, None until it is revealed; ``picked``: the place of the choice that is
    discussed or was picked; ``is_beat``: whether the caption says what happens at the step that is shown, which the picture
    then need not say again; ``number``: the number with which such a caption begins, which is drawn large; ``place``: the
    number of steps before this one, of ``count``, None without progress; ``facts``: the nouns whose counts a question leaves.
    """

    title: str = ""
    caption: str = ""
    choices: tuple[str, ...] = ()
    right: int | None = None
    picked: int | None = None
    is_beat: bool = False
    number: str = ""
    place: int | None = None
    count: int = 0
    facts: frozenset[str] = frozenset()

    @property
    def asks(self) -> bool:
        """Whether a question is open, so that nothing else may reveal its answer."""
        return bool(self.choices) and self.right is None

    @property
    def is_empty(self) -> bool:
        return not (self.title or self.caption or self.choices)


def band_height(caption: Caption, width: float, height: float) -> float:
    """Return the height of the band in a frame of this size."""
    if caption.is_empty:
        return 0.0
    return min(_MOST_SHARE * height, 2 * _AIR + _words_height(caption, width))


def _words_height(caption: Caption, width: float) -> float:
    size, lines = _caption_lines(caption, width)
    return max(_LEADING * _CAPTIONS[0] * _LINES, _LEADING * size * len(lines)) + _choices_height(caption, width)


def with_band(scene: Scene, caption: Caption, height: float, theme: Theme) -> Scene:
    """Return the scene with the band below it, ``height`` high in total."""
    if caption.is_empty:
        return scene
    top, room = scene.height, height - scene.height
    scene = _without_sentence(scene) if caption.is_beat else scene
    scale = min(1.0, (room - 2 * _AIR) / _words_height(caption, scene.width))
    ground: list[Primitive] = [
        Rects("band", boxes((0.0, top, scene.width, room)), mixed(theme.background, theme.panel, 0.9)),
        Rects("band-edge", boxes((0.0, top, scene.width, 2.0)), theme.line),
    ]
    words = [
        *_sentence_words(caption, scene.width, top, scale, theme),
        *_choice_words(caption, scene.width, height, scale, theme),
        *_title_words(caption, scene.width, top, theme),
    ]
    band = (dataclasses.replace(each, meaning="band") for each in (*ground, *words))
    return dataclasses.replace(scene, height=height, words=(*scene.words, *band))


def _without_sentence(scene: Scene) -> Scene:
    """Return a scene without its own sentence of the moment; what stands below it moves up."""
    action, below = (next((each for each in scene.words if each.meaning == what), None) for what in ("action", "progress"))
    words = tuple(each for each in scene.words if each is not action)
    if isinstance(action, Labels) and isinstance(below, Labels) and below.at[0, 1] > action.at[-1, 1]:
        raised = below.at + np.array((0.0, action.at[0, 1] - below.at[0, 1] - 0.3 * action.size))
        words = tuple(dataclasses.replace(each, at=raised) if each is below else each for each in words)
    return dataclasses.replace(scene, words=words)


# The sentence


def _number_room(caption: Caption) -> float:
    """Return the width of the large number at the left, 0 without one."""
    return text_width(caption.number, _NUMBER, "semibold") + 0.28 * _NUMBER if caption.number else 0.0


def _caption_lines(caption: Caption, width: float) -> tuple[float, tuple[str, ...]]:
    """Return the size and the lines of the caption: the largest size in which it fits."""
    has_side = bool(caption.title) or caption.place is not None
    room = width - 2 * MARGIN - _number_room(caption) - (_side_width(width) + _GAP if has_side else 0.0)
    text = caption.caption[len(caption.number) :].lstrip()
    fitting = (size for size in _CAPTIONS if fits_lines(text, size, room, _MOST_LINES, "semibold"))
    size = next(fitting, _CAPTIONS[-1])
    return size, _balanced(text, size, room) if text else ()


@lru_cache(maxsize=256)
def _balanced(text: str, size: float, room: float) -> tuple[str, ...]:
    """Return the lines of a caption, as few as fit in the room and about equally long, so that no word stands alone below
    the others. Two lines part where a clause ends, if they are about equally long then.
    """
    count = len(wrap_text(text, size, room, _MOST_LINES, "semibold"))
    for lines in clauses_of(text) if count == 2 else ():
        short, long = sorted(text_width(line, size, "semibold") for line in lines)
        if _LEAST_CLAUSE * long <= short <= long <= room:
            return lines
    shares = _SHARES if count > 1 else ()
    share = next((each for each in shares if fits_lines(text, size, each * room, count, "semibold")), 1.0)
    return wrap_text(text, size, share * room, _MOST_LINES, "semibold")


def _side_width(width: float) -> float:
    return min(_BESIDE, 0.25 * width)


def _sentence_words(caption: Caption, width: float, top: float, scale: float, theme: Theme) -> Iterator[Primitive]:
    size, lines = _caption_lines(caption, width)
    block = max(_LEADING * _CAPTIONS[0] * _LINES, _LEADING * size * len(lines))
    y = top + _AIR + scale * (block - _LEADING * size * len(lines)) / 2
    if caption.number:
        middle = top + _AIR + scale * block / 2
        at = points((MARGIN, middle + 0.36 * _NUMBER * scale))
        yield Labels("band-number", at, (caption.number,), _NUMBER * scale, theme.text, "start", "semibold")
    for number, line in enumerate(lines):
        at = points((MARGIN + _number_room(caption), y + (number + 0.77) * _LEADING * size * scale))
        yield Labels(f"band-caption-{number}", at, (line,), size * scale, theme.text, "start", "semibold")


# The choices of a question: in a row, in two columns, or one below the other, whatever they fit in first


class _ChoiceLine(NamedTuple):
    """A line of a choice, in a row and in a column of so many."""

    text: str
    place: int
    row: int
    column: int
    columns: int


def _choice_room(width: float) -> float:
    return width - 2 * MARGIN - _INDENT


def _choice_lines(caption: Caption, width: float) -> list[_ChoiceLine]:
    """Return the lines of the choices. The right one is as wide before it is marked."""
    texts = [f"{letter(place)}.  {choice}" for place, choice in enumerate(caption.choices)]
    widest = max((text_width(f"{text} ✓", _CHOICE, "semibold") for text in texts), default=0.0) + _GAP
    marked = [text + (" ✓" if place == caption.right else "") for place, text in enumerate(texts)]
    columns = next((count for count in (len(texts), 2) if widest * count <= _choice_room(width)), 1)
    if columns > 1:
        return [_ChoiceLine(text, place, place // columns, place % columns, columns) for place, text in enumerate(marked)]
    lines = [
        (line, place)
        for place, text in enumerate(marked)
        for line in wrap_text(text, _CHOICE, _choice_room(width), 2, "semibold")
    ]
    return [_ChoiceLine(line, place, row, 0, 1) for row, (line, place) in enumerate(lines)]


def _choices_height(caption: Caption, width: float) -> float:
    rows = {line.row for line in _choice_lines(caption, width)}
    return _LEADING * _CHOICE * len(rows) + (_CHOICE_AIR if rows else 0.0)


def _choice_words(caption: Caption, width: float, height: float, scale: float, theme: Theme) -> Iterator[Primitive]:
    lines = _choice_lines(caption, width)
    step = _LEADING * _CHOICE * scale
    y = height - _AIR - step * (1 + max((line.row for line in lines), default=-1))
    for number, line in enumerate(lines):
        is_right, is_picked = line.place == caption.right, line.place == caption.picked
        ink = theme.text
        if caption.right is not None:
            ink = theme.text if is_right else theme.warning if is_picked else theme.faint
        face = "semibold" if is_right or is_picked else "regular"
        at = (MARGIN + _INDENT + line.column * _choice_room(width) / line.columns, y + (line.row + 0.77) * step)
        yield text_at(f"band-choice-{number}", at, line.text, _CHOICE * scale, ink, "start", face)  # type: ignore[arg-type]


# Title and progress


def _title_words(caption: Caption, width: float, top: float, theme: Theme) -> Iterator[Primitive]:
    right, y = width - MARGIN, top + _AIR
    lines = wrap_text(caption.title, _TITLE, _side_width(width), _LINES, "semibold") if caption.title else ()
    for number, line in enumerate(lines):
        at = (right, y + (number + 0.77) * _LEADING * _TITLE)
        yield text_at(f"band-title-{number}", at, line, _TITLE, theme.faint, "end", "semibold")
    if caption.place is not None and caption.count > 1:
        below = y + len(lines) * _LEADING * _TITLE + 18.0
        yield from _progress(caption.place, caption.count, right, below, _side_width(width), theme)


def _progress(place: int, count: int, right: float, y: float, width: float, theme: Theme) -> Iterator[Primitive]:
    """Draw a dot for each step, or a bar if there are too many; the present one is bright. Its number is on the left."""
    text = tr("{place} of {count}", place=place + 1, count=count)
    room = width - text_width(tr("{count} of {count}", count=count), _TITLE) - 16.0
    past, here, left = (mixed(theme.background, theme.text, share) for share in (0.5, 1.0, 0.2))
    if count > _MOST_DOTS:
        x, high = right - room, 6.0
        yield Rects("band-left", boxes((x, y - high / 2, room, high)), left, radius=high / 2)
        yield Rects("band-past", boxes((x, y - high / 2, max(high, room * (place + 1) / count), high)), past, radius=high / 2)
    else:
        pitch = min(1.9 * _DOT, room / count)
        dot, x = min(_DOT, 0.7 * pitch), right - pitch * count
        for key, steps, colour in (
            ("past", range(place), past),
            ("here", (place,), here),
            ("left", range(place + 1, count), left),
        ):
            dots = boxes(*((x + n * pitch + pitch - dot, y - dot / 2, dot, dot) for n in steps))
            yield Rects(f"band-{key}", dots, colour, radius=dot / 2)
    yield text_at("band-place", (x - 12.0, baseline(y, _TITLE)), text, _TITLE, theme.faint, "end")


# The QR code of a URL as a table of modules, made with segno.

QUIET = 4  # modules of margin (ISO/IEC 18004, 6.3.8)


def qr_modules(url: str) -> Bytes:
    """Return the modules (n, n) of a code with its margin, 1 for a dark one. Raises UsageError if the text is too long."""
    import segno  # imported here because few pictures have a code

    try:
        code = segno.make_qr(url, error="m", boost_error=True)
    except ValueError:
        raise UsageError(f"a QR code can't hold {len(url)} characters", remedy="use a shorter URL") from None
    return np.array([[module & 1 for module in row] for row in code.matrix_iter(border=QUIET)], np.uint8)


_HIGH, _LINK_AIR, _LINK_GAP, _TEXT = 128.0, 8.0, 20.0, 22.0
_LINK_LINES = 3
_PAPER, _INK = "#FFFFFF", "#000000"  # readers of codes expect dark on light


def link_height(url: str) -> float:
    """Return the height of the space below a picture, 0 without a URL."""
    return _HIGH if url else 0.0


def with_link(scene: Scene, url: str, theme: Theme) -> Scene:
    """Return the scene with the URL and its code below it, ``link_height`` higher. Raises UsageError if the URL is too long."""
    if not url:
        return scene
    modules = qr_modules(url)
    side, top = _HIGH - 2 * _LINK_AIR, scene.height
    code = Cells(
        "link-code", MARGIN, top + _LINK_AIR, side / len(modules), modules.astype(np.uint8), (_PAPER, _INK), (_INK, _PAPER)
    )
    left = MARGIN + side + _LINK_GAP
    lines = wrap_text(url, _TEXT, scene.width - left - MARGIN, _LINK_LINES)
    leading = 1.3 * _TEXT
    first = baseline(top + _HIGH / 2 - leading * (len(lines) - 1) / 2, _TEXT)
    at = points(*((left, first + number * leading) for number in range(len(lines))))
    words = Labels("link-text", at, tuple(lines), _TEXT, theme.text)
    return dataclasses.replace(scene, height=scene.height + _HIGH, words=(*scene.words, code, words))
