"""The words of the stage: what happens at this moment, above it the kernel, below it the place in the run and its cost."""

import re

from gemmviz.analysis.replay.focus import focus_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.scenes.kit import sentence
from gemmviz.scenes.kit.beat import beat
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.primitives import Face, Labels, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.text import fitted, wrap_text
from gemmviz.scenes.kit.theme import Theme, TypeSizes
from gemmviz.scenes.stage.layout import Plan

_LEADING = 1.22
_MOST_SENTENCE, _SHORT, _JOINED = 4, 2, "\u00a0"  # lines; letters; a space that does not break
_TOGETHER = re.compile(r"(?<=\d) (\w+) (?=\d)| (?=[\d(=])")  # the spaces in "step 2 of 29", "k = 2" and "block (0, 0)"


def sentence_words(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the words into their room; nothing without one."""
    room = plan.rooms.get("sentence")
    if room is None:
        return []
    theme, sizes = options.theme, options.theme.type
    kernel = fitted(kernel_words(moment), sizes.note, room.width)
    focus = focus_text(moment.focus, moment.trace)
    place = _place(f"{focus} · {sentence.step_title(moment, options.labels)}", sizes.note, room.width)
    spare = room.height - (1 + len(place)) * _LEADING * sizes.note - 16
    large, said = _sentence(beat(moment, options.labels).text, room.width, spare, sizes)
    lines: list[tuple[str, tuple[str, ...], float, str, Face]] = [
        ("title", (kernel,), sizes.note, theme.faint, "regular"),
        ("action", said, large, theme.text, "semibold"),
        ("progress", place, sizes.note, theme.faint, "regular"),
    ]
    primitives: list[Primitive] = [Rects("words-ground", boxes(_box(room)), theme.background)] if options.clip else []
    y = room.y
    for key, texts, size, colour, face in lines:
        at = points(*((room.x, y + (number + 0.8) * _LEADING * size) for number in range(len(texts))))
        primitives.append(Labels(key, at, texts, size, colour, "start", face))
        y += len(texts) * _LEADING * size + 8
    return primitives


def _place(text: str, size: float, room: float) -> tuple[str, ...]:
    """Return the lines of the place in the run, broken between a number and what it counts only if it must be."""
    joined = _TOGETHER.sub(lambda found: found[0].replace(" ", _JOINED), text)
    lines = _unjoined(wrap_text(joined, size, room, 2))
    return lines if _is_whole(lines, text) else wrap_text(text, size, room, 2)


def _sentence(text: str, width: float, height: float, sizes: TypeSizes) -> tuple[float, tuple[str, ...]]:
    """Return the largest of three sizes in which a sentence fits in whole, and its lines."""
    for size in (sizes.sentence, sizes.words, sizes.least):
        most = max(1, min(_MOST_SENTENCE, int(height / (_LEADING * size))))
        lines = _wrapped(text, size, width, most)
        if _is_whole(lines, text):
            break
    return size, lines


def _wrapped(text: str, size: float, room: float, most: int) -> tuple[str, ...]:
    """Return the lines of a sentence, whose last word does not stand alone if it is short."""
    head, _, last = text.rpartition(" ")
    joined = f"{head}{_JOINED}{last}" if head and len(last) <= _SHORT else text
    return _unjoined(wrap_text(joined, size, room, most, "semibold"))


def _unjoined(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines with plain spaces."""
    return tuple(line.replace(_JOINED, " ") for line in lines)


def _is_whole(lines: tuple[str, ...], text: str) -> bool:
    """Return whether nothing of a text was cut off."""
    return "".join(lines).replace(" ", "") == text.replace(" ", "")


def stop_words(moment: Moment, room: Box, theme: Theme) -> list[Primitive]:
    """Draw why the run ends at this step."""
    size = theme.type.words
    lines = wrap_text(sentence.cost(moment), size, room.width, max(1, int(room.height / (_LEADING * size))))
    at = points(*((room.x, room.y + (number + 0.8) * _LEADING * size) for number in range(len(lines))))
    return [Labels("cost", at, lines, size, theme.text)]


def kernel_words(moment: Moment) -> str:
    """Return the kernel's name with its parameters."""
    setup = moment.trace.setup
    return setup.kernel.name + "".join(f", {name} = {value}" for name, value in setup.parameters.items())


def _box(room: Box) -> tuple[float, float, float, float]:
    return room.x - 10, room.y - 10, room.width + 20, room.height + 20
