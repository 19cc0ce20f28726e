"""The blocks of a launch over C: waiting, running on an SM, or done; beside them the SMs over time. Two launches, or one on
two devices, stand side by side.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.models.schedules import DONE, RUNNING, WAITING, WAVE_NS, residents, states, waves
from gemmviz.model.schedule import GridCase
from gemmviz.model.words import many, number, spaced
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, title_size
from gemmviz.scenes.kit.magnify import moved
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import fitted, text_line, text_width, wrap_text
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.stage.matrix import label_size

_COLUMNS, _LEVELS = 400, 8
_TOP, _FOOT = 118.0, 132.0
_LINE = 28.0
_SOURCE_LINES = 2
_MOST_LABELS = 4096
_NUMBERS_ROOM = 60.0
_WIDE = 1.2


def grid_scene(case: GridCase, options: ViewOptions) -> Scene:
    """Draw the grid at ``options.instant``, a share of the total time; of the longer one of two launches."""
    if case.beside is None:
        return _alone(case, options, case.schedule.duration_ns)
    sides = case.beside, case
    span = max(side.schedule.duration_ns for side in sides)
    half = replace(options, width=options.width / 2, clip=None)
    own = not case.shares_time
    scenes = [_alone(side, half, side.schedule.duration_ns if own else span, own) for side in sides]
    primitives: list[Primitive] = [
        Lines("between", np.array([[half.width, 12.0, half.width, options.height - 12]]), options.theme.line, 2.0)
    ]
    words: list[Primitive] = []
    for place, scene in enumerate(scenes):
        x, prefix = place * half.width, ("left-", "right-")[place]
        primitives += [moved(each, x, 0.0, prefix) for each in scene.primitives]
        words += [moved(each, x, 0.0, prefix) for each in scene.words]
    return Scene(options.width, options.height, options.theme.background, tuple(primitives), words=tuple(words))


def _alone(case: GridCase, options: ViewOptions, span_ns: int, has_own_time: bool = False) -> Scene:
    """Draw one launch on an axis of ``span_ns``; ``has_own_time``: whether the other half has another axis."""
    width, height = options.width, options.height
    top, bottom = (_TOP, height - _FOOT) if options.words else (14.0, height - 14.0)
    if _is_narrow(options):
        top += _SOURCE_LINES * _LINE if options.words else 0.0
        split = 0.62 * (bottom - top)
        blocks = Box(MARGIN, top, width - 2 * MARGIN, split - 16)
        lanes = Box(MARGIN + _NUMBERS_ROOM, top + split, width - 2 * MARGIN - _NUMBERS_ROOM, bottom - top - split)
    else:
        blocks = Box(MARGIN, top, 0.5 * width - MARGIN - 20, bottom - top)
        lanes = Box(0.5 * width + _NUMBERS_ROOM, top, 0.5 * width - MARGIN - _NUMBERS_ROOM, bottom - top)
    at_ns = options.instant * span_ns
    state = states(case.schedule, at_ns)
    primitives = [*_blocks(case, state, blocks, options), *_lanes(case, at_ns, span_ns, lanes, options, has_own_time)]
    words = _words(case, state, at_ns, options) if options.words else []
    return Scene(width, height, options.theme.background, tuple(primitives), words=tuple(words))


def _blocks(case: GridCase, state: npt.NDArray[np.int8], room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw one cell for each block, planes of z stacked."""
    theme, (columns, rows, planes) = options.theme, case.grid
    high = rows * planes
    cell = min(room.width / columns, (room.height - 34) / high, 170.0)
    x, y = room.x + (room.width - columns * cell) / 2, room.y + 34
    fill = np.where(state == RUNNING, 2 + case.schedule.sm % len(theme.warps), np.where(state == DONE, 1, 0))
    palette = (theme.empty, theme.tint("C", 0.5), *theme.warps)
    inks = (theme.faint, *(theme.ink_on(colour) for colour in palette[1:]))
    labels, size = None, 0.0
    if len(state) <= _MOST_LABELS:
        size = label_size(f"SM {case.sms - 1}", cell, options.pixels)
        labels = _block_labels(state, case.schedule.sm).reshape(high, columns) if size else None
    line = theme.background if cell * options.pixels >= 5 else None
    table = Cells("grid", x, y, cell, fill.astype(np.uint8).reshape(high, columns), palette, inks, labels, size, line)
    name = f"{columns} × {rows}{f' × {planes}' if planes > 1 else ''} blocks over C"
    at = points((x, room.y + 22))
    frame = Rects("grid-frame", boxes(table.box), None, theme.line, 1.5)
    return [table, frame, Labels("grid-name", at, (name,), theme.type.heading, theme.accent("C"), "start", "semibold")]


def _block_labels(state: npt.NDArray[np.int8], sm: npt.NDArray[np.int32]) -> npt.NDArray[np.str_]:
    return np.where(state == RUNNING, np.char.add("SM ", sm.astype(str)), "")


def _lanes(case: GridCase, at_ns: float, span_ns: int, room: Box, options: ViewOptions, has_own_time: bool) -> list[Primitive]:
    """Draw a row for each SM, coloured by the number of blocks it holds, over time up to ``span_ns``."""
    theme, counts = options.theme, residents_of(case, span_ns)
    most = max(1, int(counts.max()))
    level = np.ceil(counts * _LEVELS / most).astype(np.uint8)
    palette = _shades(theme)
    y, high = room.y + 34, room.height - 34 - 34
    table = Cells("lanes", room.x, y, room.width / _COLUMNS, level, palette, palette, height=high / case.sms)
    x = room.x + room.width * at_ns / max(1, span_ns)
    size = theme.type.note
    time = f"{many(-(-span_ns // WAVE_NS), 'wave')} (model)" if case.is_model else f"{number(span_ns / 1e3)} µs"
    time = f"its own time: {time}" if has_own_time else time
    ticks = [0, case.sms - 1] if case.sms > 1 else [0]
    at = points(*((room.x - 10, y + (sm + 0.5) * high / case.sms + 0.36 * size) for sm in ticks))
    heading = fitted(f"{case.sms} SMs; colour: blocks held, up to {most}", theme.type.heading, room.width, "semibold")
    return [
        table,
        Rects("lanes-frame", boxes(table.box), None, theme.line, 1.5),
        Lines("instant", np.array([[x, y - 6, x, y + high + 6]]), theme.text, 2.5),
        Labels("lanes-name", points((room.x, room.y + 22)), (heading,), theme.type.heading, theme.text, "start", "semibold"),
        Labels("lanes-numbers", at, tuple(f"SM {sm}" for sm in ticks), size, theme.faint, "end"),
        Labels("lanes-start", points((room.x, y + high + 26)), ("0",), size, theme.faint),
        Labels("lanes-end", points((room.x + room.width, y + high + 26)), (time,), size, theme.faint, "end"),
    ]


@lru_cache(maxsize=4)
def residents_of(case: GridCase, span_ns: int) -> npt.NDArray[np.int32]:
    """Return the number of blocks that each SM holds: (SMs, columns)."""
    return residents(case.schedule, case.sms, _COLUMNS, span_ns)


@lru_cache(maxsize=8)
def _shades(theme: Theme) -> tuple[str, ...]:
    return theme.empty, *(
        mixed(theme.background, theme.accent("A"), 0.3 + 0.7 * level / _LEVELS) for level in range(1, _LEVELS + 1)
    )


def _words(case: GridCase, state: npt.NDArray[np.int8], at_ns: float, options: ViewOptions) -> list[Primitive]:
    theme, sizes, height = options.theme, options.theme.type, options.height
    waiting, running, done = (int((state == which).sum()) for which in (WAITING, RUNNING, DONE))
    now = f"{spaced(waiting)} waiting, {spaced(running)} running, {spaced(done)} done"
    rounds = waves(len(state), case.sms, case.blocks_per_sm)
    most, least = ("", "") if case.is_certain else ("at most ", "at least ")
    held = f"an SM holds {most}{many(case.blocks_per_sm, 'block')} at once: {least}{many(rounds, 'wave')}"
    time = f"wave {min(rounds, int(at_ns // WAVE_NS) + 1)} of {rounds}" if case.is_model else f"{at_ns / 1e3:.1f} µs"
    room = options.width - 2 * MARGIN
    size = sizes.caption if text_width(now, sizes.caption, "semibold") <= room else sizes.words
    return [
        *_heading(case, time, options),
        Labels("action", points((MARGIN, height - 70)), (now,), size, theme.text, "start", "semibold"),
        text_line("cost", (MARGIN, height - 34), held, sizes.words, room, theme.faint),
        *_legend(options),
    ]


def _heading(case: GridCase, time: str, options: ViewOptions) -> list[Primitive]:
    """Draw device, launch, time and source; on several lines in a narrow frame."""
    theme, sizes, room = options.theme, options.theme.type, options.width - 2 * MARGIN
    title = case.device if _is_narrow(options) else f"{case.device}: {case.what}"
    beside = room - text_width(time, sizes.progress) - MARGIN
    size = title_size(title, theme, beside)
    title = fitted(title, size, beside, "semibold")
    ink = theme.warning if case.is_model else theme.faint
    lines = [(fitted(case.source, sizes.words, room), ink)]
    if _is_narrow(options):
        lines = [
            (fitted(case.what, sizes.words, room), theme.text),
            *((line, ink) for line in wrap_text(case.source, sizes.words, room, _SOURCE_LINES)),
        ]
    return [
        Labels("title", points((MARGIN, 50)), (title,), size, theme.text, "start", "semibold"),
        Labels("progress", points((options.width - MARGIN, 50)), (time,), sizes.progress, theme.faint, "end"),
        *(
            Labels(f"note-{place}", points((MARGIN, 86 + place * _LINE)), (line,), sizes.words, colour)
            for place, (line, colour) in enumerate(lines)
        ),
    ]


def _legend(options: ViewOptions) -> list[Primitive]:
    theme, size = options.theme, options.theme.type.note
    x, y = options.width - MARGIN, options.height - (106 if _is_narrow(options) else 34)
    primitives: list[Primitive] = []
    colours = {"done": theme.tint("C", 0.5), "running, coloured by SM": theme.warps[0], "waiting": theme.empty}
    for text, colour in colours.items():
        x -= text_width(text, size)
        primitives.append(Labels(f"legend-{text}", points((x, y)), (text,), size, theme.faint))
        primitives.append(Rects(f"chip-{text}", boxes((x - 26, y - 16, 18, 18)), colour, theme.line, 1.0, 3.0))
        x -= 48
    return primitives


def _is_narrow(options: ViewOptions) -> bool:
    """Whether the rows of the SMs stand below the blocks instead of beside them."""
    return options.width < _WIDE * options.height


VIEW = View("Grid: all blocks of the launch", GridCase, grid_scene, order=21)
