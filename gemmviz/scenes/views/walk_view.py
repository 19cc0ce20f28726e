"""The addresses that one thread reads from each input in order, their distances, and the lines that they move."""

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.reads import stride_of, walk_of
from gemmviz.model.words import listed, many, spaced
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, framed, message
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Scene, points
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.view import View

_MOST, _GAP = 12, 10.0


def walk_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw A above and B below, or the inputs of another problem: a box for each read of the first watched
    thread, later ones faint.
    """
    room = Box(MARGIN, options.top, options.width - 2 * MARGIN, options.bottom - options.top)
    primitives: list[Primitive] = []
    names = [moment.trace.arrays[number].name for number in moment.trace.inputs]
    high = room.height / max(2, len(names))
    for place, name in enumerate(names):
        walk = walk_of(moment, name)
        if walk is not None:
            primitives += _walk(moment, name, *walk, Box(room.x, room.y + place * high, room.width, high), options)
    nothing = message(
        f"The watched thread reads no element of {listed(names, 'or') or 'an input'} from global memory.", options
    )
    return framed(primitives or [nothing], moment, options)


def _summary(steps: np.ndarray, bytes_: np.ndarray, lines: np.ndarray) -> str:
    """Return the number of reads, their distance, and the number of lines."""
    stride, loads = stride_of(bytes_), len(np.unique(steps))
    jump = "irregular stride" if stride is None else f"{spaced(abs(stride))} bytes apart"
    reads = many(len(steps), "read") if loads == len(steps) else f"{many(loads, 'read')} of {many(len(steps), 'element')}"
    return f"{reads}, {jump}; {many(len(np.unique(lines)), 'line')}"


def _walk(
    moment: Moment, name: str, steps: np.ndarray, elements: np.ndarray, bytes_: np.ndarray, room: Box, options: ViewOptions
) -> list[Primitive]:
    theme, rules = options.theme, moment.trace.rules
    array = moment.trace.arrays[moment.trace.number_of(name) or 0]
    done = int(np.count_nonzero(steps <= moment.step))
    size, small = min(theme.type.words, 0.2 * room.height), min(theme.type.least, 0.12 * room.height)
    texts = [options.labels.named(array, int(element)) for element in elements]
    addresses = [f"byte {spaced(int(each))}" for each in bytes_]
    count = _fitting([*texts, *addresses], small, room.width)
    first = max(0, min(done - count // 2, len(steps) - count))
    wide = (room.width + _GAP) / len(steps[first : first + count]) - _GAP
    lines = bytes_ // rules.line_bytes
    colours = (theme.empty, theme.tint(name, 0.45), theme.accent(name))
    heading = f"{name}: {_summary(steps, bytes_, lines)} of {rules.line_bytes} bytes"
    primitives: list[Primitive] = [
        text_line(f"{name}-walk", (room.x, room.y + size), heading, size, room.width, theme.accent(name), "semibold")
    ]
    y, high = room.y + 1.9 * size, min(0.36 * room.height, 110.0)
    for place, at in enumerate(range(first, min(first + count, len(steps)))):
        x = room.x + place * (wide + _GAP)
        state = 2 if at + 1 == done and steps[at] == moment.step else 1 if at < done else 0
        ink = theme.ink_on(colours[state]) if state else theme.faint
        line = f"line {spaced(int(lines[at]))}"
        tip = np.array([[f"{texts[at]}\n{addresses[at]}\n{line}"]])
        primitives.append(
            Cells(f"{name}-walk-{at}", x, y, wide, np.array([[state]], np.uint8), colours, (theme.faint, ink, ink),
                  np.array([[texts[at]]]), small, height=high, tips=tip)
        )  # fmt: skip
        under = addresses[at], line if at == 0 or lines[at] != lines[at - 1] else "same line"
        spots = points((x + wide / 2, y + high + 1.3 * small), (x + wide / 2, y + high + 2.6 * small))
        colour = theme.text if state else theme.faint
        primitives.append(Labels(f"{name}-address-{at}", spots, under, small, colour, "middle"))
    return primitives


def _fitting(texts: list[str], size: float, room: float) -> int:
    """Return the number of boxes beside each other in which all texts fit."""
    widest = max(text_width(text, size) for text in set(texts))
    return max(1, min(_MOST, int((room + _GAP) / (widest + 10 + _GAP))))


VIEW = View("Addresses of one thread", Moment, walk_scene, order=37)
