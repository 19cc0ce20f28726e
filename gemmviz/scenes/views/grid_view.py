"""The blocks of a whole launch over C: which wait, which run on which SM, which are done; beside it SMs as lanes of time."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.schedules import DONE, RUNNING, WAITING, residents, states, waves
from gemmviz.model.schedule import GridCase
from gemmviz.model.words import many, number, spaced
from gemmviz.scenes.box import Box
from gemmviz.scenes.frame import MARGIN, ViewOptions
from gemmviz.scenes.matrix import label_size
from gemmviz.scenes.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.text import fitted, text_width
from gemmviz.scenes.theme import WARP_ACCENTS, Theme, mixed
from gemmviz.scenes.view import View

_COLUMNS, _LEVELS = 400, 8
_TOP, _FOOT = 118.0, 132.0
_MOST_LABELS = 4096


def grid_scene(case: GridCase, options: ViewOptions) -> Scene:
    """At ``options.instant``, a share of the whole time."""
    width, height = options.width, options.height
    top, bottom = (_TOP, height - _FOOT) if options.words else (14.0, height - 14.0)
    blocks = Box(MARGIN, top, 0.5 * width - MARGIN - 20, bottom - top)
    lanes = Box(0.5 * width + 60, top, 0.5 * width - MARGIN - 60, bottom - top)
    at_ns = options.instant * case.schedule.duration_ns
    state = states(case.schedule, at_ns)
    found = [*_blocks(case, state, blocks, options), *_lanes(case, at_ns, lanes, options)]
    words = _words(case, state, at_ns, options) if options.words else []
    return Scene(width, height, options.theme.background, tuple(found), words=tuple(words))


def _blocks(case: GridCase, state: npt.NDArray[np.int8], room: Box, options: ViewOptions) -> list[Primitive]:
    """One cell for each block, planes of z below one another."""
    theme, (columns, rows, planes) = options.theme, case.grid
    high = rows * planes
    cell = min(room.width / columns, (room.height - 34) / high, 170.0)
    x, y = room.x + (room.width - columns * cell) / 2, room.y + 34
    fill = np.where(state == RUNNING, 2 + case.schedule.sm % len(WARP_ACCENTS), np.where(state == DONE, 1, 0))
    palette = (theme.empty, theme.tint("C", 0.5), *WARP_ACCENTS)
    inks = (theme.faint, *(theme.ink_on(colour) for colour in palette[1:]))
    labels, size = None, 0.0
    if len(state) <= _MOST_LABELS:
        size = label_size(f"SM {case.sms - 1}", cell, options.pixels)
        labels = _block_labels(state, case.schedule.sm).reshape(high, columns) if size else None
    line = theme.background if cell * options.pixels >= 5 else None
    table = Cells("grid", x, y, cell, fill.astype(np.uint8).reshape(high, columns), palette, inks, labels, size, line)
    name = f"C in {columns} × {rows}{f' × {planes}' if planes > 1 else ''} blocks"
    at = points((x, room.y + 22))
    frame = Rects("grid-frame", boxes(table.box), None, theme.line, 1.5)
    return [table, frame, Labels("grid-name", at, (name,), theme.type.heading, theme.accent("C"), "start", "semibold")]


def _block_labels(state: npt.NDArray[np.int8], sm: npt.NDArray[np.int32]) -> npt.NDArray[np.str_]:
    return np.where(state == RUNNING, np.char.add("SM ", sm.astype(str)), "")


def _lanes(case: GridCase, at_ns: float, room: Box, options: ViewOptions) -> list[Primitive]:
    """A row for each SM: the brighter, the more blocks it holds; time goes to the right."""
    theme, held = options.theme, residents_of(case)
    most = max(1, int(held.max()))
    level = np.ceil(held * _LEVELS / most).astype(np.uint8)
    palette = _shades(theme)
    y, high = room.y + 34, room.height - 34 - 34
    table = Cells("lanes", room.x, y, room.width / _COLUMNS, level, palette, palette, height=high / case.sms)
    x = room.x + room.width * at_ns / max(1, case.schedule.duration_ns)
    size = theme.type.note
    time = "waves of a model" if case.is_model else f"{number(case.schedule.duration_ns / 1e3)} µs"
    ticks = [0, case.sms - 1] if case.sms > 1 else [0]
    at = points(*((room.x - 10, y + (sm + 0.5) * high / case.sms + 0.36 * size) for sm in ticks))
    heading = fitted(f"{case.sms} SMs; brighter: more blocks, up to {most}", theme.type.heading, room.width, "semibold")
    return [
        table,
        Rects("lanes-frame", boxes(table.box), None, theme.line, 1.5),
        Lines("instant", np.array([[x, y - 6, x, y + high + 6]]), theme.text, 2.5),
        Labels("lanes-name", points((room.x, room.y + 22)), (heading,), theme.type.heading, theme.text, "start", "semibold"),
        Labels("lanes-numbers", at, tuple(f"SM {sm}" for sm in ticks), size, theme.faint, "end"),
        Labels("lanes-start", points((room.x, y + high + 26)), ("0",), size, theme.faint),
        Labels("lanes-end", points((room.x + room.width, y + high + 26)), (time,), size, theme.faint, "end"),
    ]


@lru_cache(maxsize=2)
def residents_of(case: GridCase) -> npt.NDArray[np.int32]:
    """How many blocks each SM holds, in each column of its lane."""
    return residents(case.schedule, case.sms, _COLUMNS)


@lru_cache(maxsize=8)
def _shades(theme: Theme) -> tuple[str, ...]:
    return theme.empty, *(
        mixed(theme.background, theme.accent("A"), 0.3 + 0.7 * level / _LEVELS) for level in range(1, _LEVELS + 1)
    )


def _words(case: GridCase, state: npt.NDArray[np.int8], at_ns: float, options: ViewOptions) -> list[Primitive]:
    theme, sizes, room, height = options.theme, options.theme.type, options.width - 2 * MARGIN, options.height
    waiting, running, done = (int((state == which).sum()) for which in (WAITING, RUNNING, DONE))
    now = f"{spaced(waiting)} blocks wait, {spaced(running)} run, {spaced(done)} are done"
    rounds = waves(len(state), case.sms, case.blocks_per_sm)
    most, least = ("", "") if case.is_certain else ("at most ", "at least ")
    held = f"an SM holds {most}{many(case.blocks_per_sm, 'block')} at once: {least}{many(rounds, 'wave')}"
    time = f"wave {min(rounds, int(at_ns // 1000) + 1)} of {rounds}" if case.is_model else f"{at_ns / 1e3:.1f} µs"
    progress_room = text_width(time, sizes.progress) + MARGIN
    legend = (("waiting", theme.empty), ("running, coloured by SM", WARP_ACCENTS[0]), ("done", theme.tint("C", 0.5)))
    found: list[Primitive] = [
        Labels("title", points((MARGIN, 50)), (fitted(case.what, sizes.title, room - progress_room, "semibold"),), sizes.title,
               theme.text, "start", "semibold"),
        Labels("progress", points((options.width - MARGIN, 50)), (time,), sizes.progress, theme.faint, "end"),
        Labels("note", points((MARGIN, 86)), (fitted(f"{case.device}: {case.source}", sizes.small, room),), sizes.small,
               theme.warning if case.is_model else theme.faint),
        Labels("action", points((MARGIN, height - 70)), (now,), sizes.caption, theme.text, "start", "semibold"),
        Labels("cost", points((MARGIN, height - 34)), (held,), sizes.small, theme.faint),
    ]  # fmt: skip
    x = options.width - MARGIN
    for text, colour in reversed(legend):
        x -= text_width(text, sizes.note)
        found.append(Labels(f"legend-{text}", points((x, height - 34)), (text,), sizes.note, theme.faint))
        found.append(Rects(f"chip-{text}", boxes((x - 26, height - 50, 18, 18)), colour, theme.line, 1.0, 3.0))
        x -= 48
    return found


VIEW = View("Grid: every block of the launch", GridCase, grid_scene, order=21)
