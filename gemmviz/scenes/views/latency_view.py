"""Latency hiding: the warps of one scheduler over time, issuing or waiting. Drag the number of threads to change the number
of warps.
"""

from typing import NamedTuple

import numpy as np

from gemmviz.analysis.models.occupancy import what_ifs
from gemmviz.analysis.models.time import BUSY, CYCLES, LATENCY, Hiding, hiding_of
from gemmviz.model.device import OccupancyCase
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import many, sized
from gemmviz.scenes.kit.frame import ViewOptions, titled
from gemmviz.scenes.kit.layout import REST, Box, baseline, path, square, text_at
from gemmviz.scenes.kit.primitives import Face, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.kit.what_if import what_if_curve

_MOST_ROWS = 16
_TALLEST, _STRIP, _NAMES = 168.0, 44.0, 118.0  # a row; the scheduler's; the width of the names beside them
_ROWS_SHARE = 0.54
_WAITS = marked("waits for memory")
_REGULAR: Face = "regular"
_STRONG: Face = "semibold"


class _Layout(NamedTuple):
    """The regions of a frame, from above: the warps, the scheduler, the sentence at baseline ``y``, and the curve."""

    rows: Box
    line: Box
    y: float
    below: Box

    @classmethod
    def of(cls, options: ViewOptions) -> "_Layout":
        room = options.room(116.0, 26.0)
        inner, sizes = room.trimmed(left=_NAMES), options.theme.type
        strip, words = min(_STRIP, 0.08 * room.height), 2.2 * sizes.least + sizes.words
        rows, _, line, said, below = inner.rows(_ROWS_SHARE * room.height, 12, strip, words + 24, REST)
        return cls(rows, line, said.bottom - 24, below)


def latency_scene(case: OccupancyCase, options: ViewOptions) -> Scene:
    """Draw the empty strip of the scheduler and the curve of values to try."""
    hiding, layout = hiding_of(case), _Layout.of(options)
    note = tr(
        "model: a warp issues for {busy} cycles, then waits {latency} for memory; {block}",
        busy=BUSY,
        latency=LATENCY,
        block=_block(case),
    )
    title = tr(
        "Latency hiding: {warps} on one scheduler of {device}", warps=many(hiding.warps, "warp"), device=case.device.name
    )
    pieces = _axis(layout.line, options.theme)
    threads = what_ifs(case.device, case.needs)[0]
    if layout.below.height > 100:
        pieces += what_if_curve(threads, case, layout.below, options, has_scale=True)
    return titled(pieces, title, note, options)


def latency_motion(case: OccupancyCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw a row for each warp and the scheduler's until the share ``moment`` of the cycles, with a cursor there and the name
    of the warp that issues; then the share in which the scheduler issues.
    """
    hiding, layout, theme = hiding_of(case), _Layout.of(options), options.theme
    until = CYCLES * options.moment
    pieces = [*_rows(hiding, layout.rows, until, theme), *_scheduler(hiding, layout.line, until, theme)]
    if options.moment < 1.0:
        issuing = _issuing(hiding, until)
        return (*pieces, *_names(hiding, layout.rows, issuing, theme), _cursor(layout, until, theme))
    pieces += _names(hiding, layout.rows, None, theme)
    at = (layout.rows.x, layout.y)
    return (
        *pieces,
        text_line("latency-said", at, hiding.sentence, theme.type.words, layout.rows.width, theme.text, "semibold"),
    )


def _block(case: OccupancyCase) -> str:
    """Return the resources of a block that the model takes: tried ones, or the kernel's own."""
    needs = case.needs
    registers = "" if needs.registers is None else tr(", {registers} each", registers=sized(needs.registers, "register"))
    shared = (
        tr(", {shared_bytes} KiB shared", shared_bytes=f"{needs.shared_bytes / 1024:.3g}")
        if needs.shared_bytes
        else tr(", none shared")
    )
    return (
        tr(
            "tried: {threads} a block{registers}{shared}",
            threads=sized(needs.threads, "thread"),
            registers=registers,
            shared=shared,
        )
        if case.is_tried
        else tr(
            "the kernel: {threads} a block{registers}{shared}",
            threads=sized(needs.threads, "thread"),
            registers=registers,
            shared=shared,
        )
    )


def _x(room: Box, cycle: float) -> float:
    return room.x + room.width * cycle / CYCLES


def _pitch(hiding: Hiding, room: Box) -> float:
    return min(room.height / max(1, min(hiding.warps, _MOST_ROWS)), _TALLEST)


def _rows(hiding: Hiding, room: Box, until: float, theme: Theme) -> list[Primitive]:
    """Draw a row for each warp: where it issues, and where it waits."""
    pitch = _pitch(hiding, room)
    pieces: list[Primitive] = []
    for warp in range(min(hiding.warps, _MOST_ROWS)):
        starts = [start for start in hiding.busy[warp].tolist() if 0 <= start < until]
        row = room.shifted(y=warp * pitch)._replace(height=0.72 * pitch)
        pieces += _row(f"{warp}", starts, until, row, theme.warps[warp % len(theme.warps)], theme)
    return pieces


def _row(key: str, starts: list[int], until: float, row: Box, colour: str, theme: Theme) -> list[Primitive]:
    """Draw one warp: a block of its colour where it issues, a thin bar where it waits, named where there is room."""
    ends = [(_x(row, s + BUSY), _x(row, min(s + BUSY + LATENCY, until))) for s in starts if s + BUSY < until]
    thin, size = square(row.middle, row.width, max(3.0, 0.3 * row.height)), theme.type.least
    waits = [thin._replace(x=left, width=right - left) for left, right in ends]
    issues = _issues(starts, until, row)
    pieces: list[Primitive] = [
        Rects(f"waits-{key}", boxes(*waits), theme.line), Rects(f"issues-{key}", boxes(*issues), colour, radius=2.0)
    ]  # fmt: skip
    if thin.height >= 1.3 * size:
        room, y = text_width(tr(_WAITS), size) + 16, baseline(thin.middle_y, size)
        at = [(box.middle_x, y) for box in waits if box.width >= room]
        pieces.append(Labels(f"waits-{key}-name", points(*at), (tr(_WAITS),) * len(at), size, theme.text, "middle"))
    return pieces


def _issues(starts: list[int], until: float, row: Box) -> list[Box]:
    """Return the parts of a row in which a warp issues."""
    return [row._replace(x=_x(row, s), width=_x(row, min(s + BUSY, until)) - _x(row, s)) for s in starts]


def _names(hiding: Hiding, room: Box, issuing: int | None, theme: Theme) -> list[Primitive]:
    """Draw the names of the warps, as many as can be read, that of the warp that issues strong."""
    size, pitch, shown = theme.type.least, _pitch(hiding, room), min(hiding.warps, _MOST_ROWS)
    step = next(step for step in (1, 2, 4, 8, 16) if step * pitch >= 1.15 * size or step == 16)
    strong = [warp for warp in range(shown) if warp == issuing]
    faint = [warp for warp in range(0, shown, step) if all(abs(warp - each) >= step for each in strong)]
    names: list[Primitive] = []
    for key, warps, ink, face in (("warps", faint, theme.faint, _REGULAR), ("issuing", strong, theme.text, _STRONG)):
        at = points(*((room.x - 14, baseline(room.y + (warp + 0.36) * pitch, size)) for warp in warps))
        names.append(Labels(key, at, tuple(tr("warp {warp}", warp=warp) for warp in warps), size, ink, "end", face))
    if shown < hiding.warps:
        more = tr("and {warps} more", warps=hiding.warps - shown)
        names.append(text_at("more-warps", (room.right, room.y - 4), more, size, theme.faint, "end"))
    return names


def _issuing(hiding: Hiding, cycle: float) -> int | None:
    """Return the warp that issues at a cycle, None if all wait."""
    issues = ((hiding.busy >= 0) & (hiding.busy <= cycle) & (cycle < hiding.busy + BUSY)).any(axis=1)
    return int(issues.argmax()) if issues.any() else None


def _cursor(layout: _Layout, cycle: float, theme: Theme) -> Lines:
    """Draw a line through all rows at a cycle."""
    x = _x(layout.rows, cycle)
    return path("cursor", [(x, layout.rows.y - 6), (x, layout.line.bottom)], theme.text, 2.5)


def _scheduler(hiding: Hiding, room: Box, until: float, theme: Theme) -> list[Primitive]:
    """Draw when the scheduler issues, in the colours of the warps."""
    pieces: list[Primitive] = []
    for place, colour in enumerate(theme.warps):
        warps = range(place, hiding.warps, len(theme.warps))
        starts = [s for warp in warps for s in hiding.busy[warp].tolist() if 0 <= s < until]
        if starts:
            pieces.append(Rects(f"scheduler-{place}", boxes(*_issues(starts, until, room)), colour))
    return pieces


def _axis(room: Box, theme: Theme) -> list[Primitive]:
    """Draw the empty strip of the scheduler and the cycles below it."""
    size, y = theme.type.least, room.bottom
    ticks = np.arange(0, CYCLES + 1, LATENCY).tolist()
    at = points(*((_x(room, t), y + 8 + 0.95 * size) for t in ticks))
    return [
        Rects("scheduler-track", boxes(room), theme.empty),
        text_at("scheduler", (room.x - 14, baseline(y - 0.5 * room.height, size)), tr("issues"), size, theme.text, "end"),
        Lines("cycles", boxes(*((_x(room, t), y, _x(room, t), y + 8) for t in ticks)), theme.faint, 1.5),
        Labels("cycles-numbers", at[:-1], tuple(map(str, ticks[:-1])), size, theme.faint),
        Labels("cycles-end", at[-1:], (tr("{ticks} cycles", ticks=ticks[-1]),), size, theme.faint, "end"),
    ]


VIEW = View(marked("Latency hiding (model)"), OccupancyCase, latency_scene, draw_motion=latency_motion, order=47)
