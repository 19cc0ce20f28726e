"""Latency hiding: the warps of one scheduler over time, issuing or waiting. Drag the number of threads to change the number
of warps.
"""

import numpy as np

from gemmviz.analysis.models.latency import BUSY, CYCLES, LATENCY, Hiding, hiding_of
from gemmviz.analysis.models.occupancy import what_ifs
from gemmviz.model.occupancy import OccupancyCase
from gemmviz.model.words import many
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, titled
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import text_line
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.kit.what_if import what_if_curve

_MOST_ROWS = 16


def latency_scene(case: OccupancyCase, options: ViewOptions) -> Scene:
    """Draw a row for each warp, the scheduler below them, and the curve of values to try."""
    hiding, theme, size = hiding_of(case), options.theme, options.theme.type.note
    note = (
        f"model, not measured: each warp issues for {BUSY} cycles, then waits {LATENCY} for memory; one warp issues at a time"
    )
    title = f"Latency hiding: {many(hiding.warps, 'warp')} on one scheduler of {case.device.name}"
    room = Box(MARGIN, 120.0, options.width - 2 * MARGIN, options.height - 120.0 - 30.0)
    rows = Box(room.x + 110, room.y + 10, room.width - 110, 0.5 * room.height)
    line = Box(rows.x, rows.y + rows.height + 16, rows.width, 44.0)
    pieces = [*_rows(hiding, rows, options), *_scheduler(hiding, line, options)]
    y = line.y + line.height + 1.6 * size
    more = "all latency is hidden" if hiding.warps >= hiding.enough else f"{hiding.enough} warps would hide all latency"
    summary = f"the scheduler issues in {100 * hiding.used:.3g} % of the cycles; {more}"
    pieces.append(text_line("latency-said", (rows.x, y), summary, theme.type.heading, rows.width, theme.text, "semibold"))
    threads = what_ifs(case.device, case.needs)[0]
    below = Box(rows.x, y + 20, rows.width, room.y + room.height - y - 20)
    if below.height > 80:
        pieces += what_if_curve(threads, case, below, options)
    return titled(pieces, title, note, options)


def _x(room: Box, cycle: float) -> float:
    return room.x + room.width * cycle / CYCLES


def _rows(hiding: Hiding, room: Box, options: ViewOptions) -> list[Primitive]:
    theme, shown = options.theme, min(hiding.warps, _MOST_ROWS)
    if not shown:
        return []
    pitch = min(room.height / shown, 48.0)
    high, size = 0.7 * pitch, min(options.theme.type.note, 0.7 * pitch)
    pieces: list[Primitive] = []
    unit = room.width * BUSY / CYCLES
    for warp in range(shown):
        y, starts = room.y + warp * pitch, hiding.busy[warp][hiding.busy[warp] >= 0]
        waits = [
            (
                _x(room, s + BUSY),
                y + 0.35 * high,
                min(_x(room, s + BUSY + LATENCY), room.x + room.width) - _x(room, s + BUSY),
                0.3 * high,
            )
            for s in starts.tolist()
            if s + BUSY < CYCLES
        ]
        busy = [(_x(room, s), y, unit, high) for s in starts.tolist()]
        colour = theme.warps[warp % len(theme.warps)]
        if waits:
            pieces.append(Rects(f"waits-{warp}", boxes(*waits), theme.line))
        if busy:
            pieces.append(Rects(f"issues-{warp}", boxes(*busy), colour, radius=2.0))
        at = points((room.x - 14, y + 0.5 * high + 0.35 * size))
        pieces.append(Labels(f"warp-{warp}", at, (f"warp {warp}",), size, theme.faint, "end"))
    if shown < hiding.warps:
        at = points((room.x + room.width, room.y - 4))
        pieces.append(
            Labels("more-warps", at, (f"and {hiding.warps - shown} more",), options.theme.type.note, theme.faint, "end")
        )
    return pieces


def _scheduler(hiding: Hiding, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw when the scheduler issues, in the colours of the warps, and when it is idle."""
    theme, size, unit = options.theme, options.theme.type.note, room.width * BUSY / CYCLES
    pieces: list[Primitive] = [
        Rects("scheduler-track", boxes((room.x, room.y, room.width, room.height)), theme.empty),
        Labels(
            "scheduler", points((room.x - 14, room.y + 0.5 * room.height + 0.35 * size)), ("issues",), size, theme.text, "end"
        ),
    ]
    for colour in range(len(theme.warps)):
        starts = [s for warp in range(colour, hiding.warps, len(theme.warps)) for s in hiding.busy[warp].tolist() if s >= 0]
        if starts:
            pieces.append(
                Rects(
                    f"scheduler-{colour}",
                    boxes(*((_x(room, s), room.y, unit, room.height) for s in starts)),
                    theme.warps[colour],
                )
            )
    ticks = np.arange(0, CYCLES + 1, LATENCY)
    marks = np.array([[_x(room, t), room.y + room.height, _x(room, t), room.y + room.height + 8] for t in ticks.tolist()])
    pieces.append(Lines("cycles", marks, theme.faint, 1.5))
    ends = points((room.x + room.width, room.y - 6))
    pieces.append(Labels("cycles-name", ends, (f"{CYCLES} cycles from left to right",), size, theme.faint, "end"))
    return pieces


VIEW = View("Latency hiding (model)", OccupancyCase, latency_scene, order=47)
