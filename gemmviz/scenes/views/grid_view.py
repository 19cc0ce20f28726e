"""The blocks of a launch over C: waiting, running on an SM, or done; beside them the SMs over time. Two launches, or one on
two devices, stand side by side.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.models.schedules import DONE, RUNNING, WAITING, WAVE_NS, states, waves
from gemmviz.model.records import replace
from gemmviz.model.schedule import GridCase
from gemmviz.model.translation import language, marked, tr
from gemmviz.model.words import many, spaced
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, title_size
from gemmviz.scenes.kit.magnify import moved
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.sm_time import HEAD, block_names, sm_rows
from gemmviz.scenes.kit.text import fitted, text_line, text_width, wrap_text
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.view import View

_TOP, _FOOT = 118.0, 132.0
_LINE = 28.0
_SOURCE_LINES = 2
_MOST_TIPS, _MOST_LABELS = 4096, 256
_NUMBERS_ROOM, _LARGEST, _LEAST_CELL = 84.0, 170.0, 8.0
_WIDE, _BLOCKS_SHARE = 1.2, 0.62
_HERE = len(["waiting", "running", "done"])  # palette entries from here on are of the marked SM


def grid_scene(case: GridCase, options: ViewOptions) -> Scene:
    """Draw the grid at ``options.instant``, a share of the total time; of the longer one of two launches."""
    if case.beside is None:
        return _alone(case, options, case.schedule.duration_ns, case.sms)
    sides = case.beside, case
    span, rows = max(side.schedule.duration_ns for side in sides), max(side.sms for side in sides)
    half = replace(options, width=options.width / 2, clip=None)
    own = not case.shares_time
    scenes = [_alone(side, half, side.schedule.duration_ns if own else span, rows, own) for side in sides]
    primitives: list[Primitive] = [
        Lines("between", np.array([[half.width, 12.0, half.width, options.height - 12]]), options.theme.line, 2.0)
    ]
    words: list[Primitive] = []
    for place, scene in enumerate(scenes):
        x, prefix = place * half.width, ("left-", "right-")[place]
        primitives += [moved(each, x, 0.0, prefix) for each in scene.primitives]
        words += [moved(each, x, 0.0, prefix) for each in scene.words]
    return Scene(options.width, options.height, options.theme.background, tuple(primitives), words=tuple(words))


def _alone(case: GridCase, options: ViewOptions, span_ns: int, rows: int, has_own_time: bool = False) -> Scene:
    """Draw one launch on an axis of ``span_ns``; ``rows``: SMs of the larger device; ``has_own_time``: whether the other half
    has another axis.
    """
    width, height = options.width, options.height
    top, bottom = (_TOP, height - _FOOT) if options.words else (14.0, height - 14.0)
    if _is_narrow(options):
        top += _SOURCE_LINES * _LINE if options.words else 0.0
        blocks = Box(MARGIN, top, width - 2 * MARGIN, _BLOCKS_SHARE * (bottom - top) - 16)
        y = top + HEAD + _cell(case, blocks) * case.grid[1] * case.grid[2] + 24  # the SMs take what is left
        lanes = Box(MARGIN + _NUMBERS_ROOM, y, width - 2 * MARGIN - _NUMBERS_ROOM, bottom - y)
    else:
        blocks = Box(MARGIN, top, 0.5 * width - MARGIN - 20, bottom - top)
        lanes = Box(0.5 * width + _NUMBERS_ROOM, top, 0.5 * width - MARGIN - _NUMBERS_ROOM, bottom - top)
    at_ns = options.instant * span_ns
    state = states(case.schedule, at_ns)
    primitives = [*_blocks(case, state, blocks, options), *sm_rows(case, at_ns, span_ns, rows, lanes, options, has_own_time)]
    words = _words(case, state, at_ns, options) if options.words else []
    return Scene(width, height, options.theme.background, tuple(primitives), words=tuple(words))


def _cell(case: GridCase, room: Box) -> float:
    columns, rows, planes = case.grid
    return min(room.width / columns, (room.height - HEAD) / (rows * planes), _LARGEST)


def _blocks(case: GridCase, state: npt.NDArray[np.int8], room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw one cell for each block, planes of z stacked; the blocks of the marked SM stand out."""
    theme, (columns, rows, planes) = options.theme, case.grid
    high, cell = rows * planes, _cell(case, room)
    x, y = room.x + (room.width - columns * cell) / 2, room.y + HEAD
    fill = np.where(case.schedule.sm == options.sm, state + _HERE, state).astype(np.uint8).reshape(high, columns)
    palette = _palette(theme)
    inks = (theme.faint, *(theme.ink_on(colour) for colour in palette[1:]))
    size = theme.type.least
    labels = _labels(case, cell, size)
    line = theme.background if cell * options.pixels >= _LEAST_CELL else None
    tips = _tips(case, state).reshape(high, columns) if len(state) <= _MOST_TIPS else None
    table = Cells("grid", x, y, cell, fill, palette, inks, labels, size if labels is not None else 0.0, line, tips=tips)
    name = (
        tr("{columns} × {rows} × {planes} blocks over C", columns=columns, rows=rows, planes=planes)
        if planes > 1
        else tr("{columns} × {rows} blocks over C", columns=columns, rows=rows)
    )
    frame = Rects("grid-frame", boxes(table.box), None, theme.line, 1.5)
    heading = text_line("grid-name", (x, room.y + 22), name, theme.type.heading, room.width, theme.accent("C"), "semibold")
    return [table, frame, heading]


def _palette(theme: Theme) -> tuple[str, ...]:
    """Return the colours of waiting, running and done blocks, then of those of the marked SM."""
    colours = _colours(theme)
    return *colours, mixed(colours[0], theme.text, 0.4), theme.text, mixed(colours[2], theme.text, 0.55)


def _colours(theme: Theme) -> tuple[str, str, str]:
    """Return the colours by state."""
    by_state = {WAITING: theme.empty, RUNNING: theme.loaded(1.0), DONE: theme.tint("C", 0.5)}
    return by_state[0], by_state[1], by_state[2]


def _labels(case: GridCase, cell: float, size: float) -> npt.NDArray[np.str_] | None:
    """Return the names of the blocks, None if there are many or they don't fit."""
    if case.schedule.blocks > _MOST_LABELS:
        return None
    names = block_names(case)
    fits = max(text_width(name, size) for name in names) + 6 <= cell
    return np.array(names).reshape(-1, case.grid[0]) if fits else None


def _tips(case: GridCase, state: npt.NDArray[np.int8]) -> npt.NDArray[np.str_]:
    """Return the hover text of each block: its place, its state, and the SM that runs it."""
    waits, runs, ran = _tips_by_state(case, language())
    return np.where(state == DONE, ran, np.where(state == RUNNING, runs, waits))


@lru_cache(maxsize=2)
def _tips_by_state(case: GridCase, code: str) -> tuple[npt.NDArray[np.str_], ...]:
    """Return the hover texts of all blocks while they wait, run, and after they ran, in the language of ``code``."""
    names, sms = block_names(case), case.schedule.sm.tolist()
    verbs = {WAITING: tr("waits for"), RUNNING: tr("runs on"), DONE: tr("ran on")}
    return tuple(
        np.array(
            [
                tr("block {name}\n{verbs} SM {sm}", name=name, verbs=verbs[state], sm=sm)
                for name, sm in zip(names, sms, strict=True)
            ]
        )
        for state in (WAITING, RUNNING, DONE)
    )


def sm_under(case: GridCase, key: str, row: int, column: int) -> int | None:
    """Return the SM of a row of the SMs over time, or of a block of the grid; None for other cells."""
    if case.beside is not None:
        return None
    if key == "lanes":
        return row
    return int(case.schedule.sm[row * case.grid[0] + column]) if key == "grid" else None


def _words(case: GridCase, state: npt.NDArray[np.int8], at_ns: float, options: ViewOptions) -> list[Primitive]:
    theme, sizes, height = options.theme, options.theme.type, options.height
    waiting, running, done = (int((state == which).sum()) for which in (WAITING, RUNNING, DONE))
    now = tr(
        "{waiting} waiting, {running} running, {done} done", waiting=spaced(waiting), running=spaced(running), done=spaced(done)
    )
    if 0 <= options.sm < case.sms and case.beside is None:
        now = tr(
            "SM {sm} runs {blocks} in all · {now}",
            sm=options.sm,
            blocks=many(int((case.schedule.sm == options.sm).sum()), "block"),
            now=now,
        )
    rounds = waves(len(state), case.sms, case.blocks_per_sm)
    most, least = ("", "") if case.is_certain else (tr("at most "), tr("at least "))
    held = tr(
        "an SM holds {most}{blocks} at once: {least}{waves}",
        most=most,
        blocks=many(case.blocks_per_sm, "block"),
        least=least,
        waves=many(rounds, "wave"),
    )
    time = (
        tr("wave {wave} of {waves}", wave=min(rounds, int(at_ns // WAVE_NS) + 1), waves=rounds)
        if case.is_model
        else f"{at_ns / 1e3:.1f} µs"
    )
    room = options.width - 2 * MARGIN
    size = sizes.caption if text_width(now, sizes.caption, "semibold") <= room else sizes.words
    return [
        *_heading(case, time, options),
        text_line("action", (MARGIN, height - 70), now, size, room, theme.text, "semibold"),
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
    lines = [(fitted(case.source, sizes.words, room), theme.faint)]
    if _is_narrow(options):
        lines = [
            (fitted(case.what, sizes.words, room), theme.text),
            *((line, theme.faint) for line in wrap_text(case.source, sizes.words, room, _SOURCE_LINES)),
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
    theme, size = options.theme, options.theme.type.least
    x, y = options.width - MARGIN, options.height - (106 if _is_narrow(options) else 34)
    primitives: list[Primitive] = []
    waiting, running, done = _colours(theme)
    states = (("done", tr("done"), done), ("running", tr("running"), running), ("waiting", tr("waiting"), waiting))
    for key, text, colour in states:
        x -= text_width(text, size)
        primitives.append(Labels(f"legend-{key}", points((x, y)), (text,), size, theme.faint))
        primitives.append(Rects(f"chip-{key}", boxes((x - 26, y - 16, 18, 18)), colour, theme.line, 1.0, 3.0))
        x -= 48
    return primitives


def _is_narrow(options: ViewOptions) -> bool:
    """Whether the rows of the SMs stand below the blocks instead of beside them."""
    return options.width < _WIDE * options.height


VIEW = View(marked("Grid: all blocks of the launch"), GridCase, grid_scene, order=21)
