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

_MOST = 12


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
    first = max(0, min(done - _MOST // 2, len(steps) - _MOST))
    some = slice(first, first + _MOST)
    count = len(steps[some])
    gap = 10.0
    wide = (room.width - gap * (count - 1)) / count
    lines = bytes_ // rules.line_bytes
    colours = (theme.empty, theme.tint(name, 0.45), theme.accent(name))
    primitives: list[Primitive] = []
    size = theme.type.words
    heading = f"{name}: {_summary(steps, bytes_, lines)} of {rules.line_bytes} bytes"
    primitives.append(
        text_line(f"{name}-walk", (room.x, room.y + size), heading, size, room.width, theme.accent(name), "semibold")
    )
    y, high = room.y + 1.9 * size, min(0.24 * room.height, 64.0)
    texts = [options.labels.named(array, int(elements[at])) for at in range(first, first + count)]
    font = min(22.0, *((wide - 8) / text_width(text, 1.0) for text in texts))
    addresses = [f"byte {spaced(int(bytes_[at]))}" for at in range(first, first + count)]
    small = min(18.0, *((wide - 2) / text_width(text, 1.0) for text in addresses))
    for place, at in enumerate(range(first, first + count)):
        x = room.x + place * (wide + gap)
        state = 2 if at + 1 == done and steps[at] == moment.step else 1 if at < done else 0
        ink = theme.ink_on(colours[state]) if state else theme.faint
        label, tip = np.array([[texts[place]]]), f"{texts[place]}\n{addresses[place]}\nline {spaced(int(lines[at]))}"
        cells = Cells(
            f"{name}-walk-{at}", x, y, wide, np.array([[state]], np.uint8), colours, (theme.faint, ink, ink),
            label if font >= 8 else None, font, height=high, tips=np.array([[tip]]),
        )  # fmt: skip
        primitives.append(cells)
        under = [addresses[place], f"line {spaced(int(lines[at]))}" if at == 0 or lines[at] != lines[at - 1] else "same line"]
        spots = points((x + wide / 2, y + high + 1.3 * small), (x + wide / 2, y + high + 2.6 * small))
        primitives.append(
            Labels(f"{name}-address-{at}", spots, tuple(under), small, theme.text if state else theme.faint, "middle")
        )
    return primitives


VIEW = View("Addresses of one thread", Moment, walk_scene, order=37)
