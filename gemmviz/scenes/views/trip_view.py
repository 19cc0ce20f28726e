"""Latency against bandwidth: one word on its way from memory to a thread, and the words that memory can deliver until it
arrives, in a grid that fills meanwhile.
"""

from typing import NamedTuple

import numpy as np

from gemmviz.model.cases import TripCase
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import number, spaced
from gemmviz.scenes.kit.frame import ARRIVAL, ViewOptions, titled
from gemmviz.scenes.kit.layout import REST, Box, baseline, cells_in, path, squares, text_at
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import text_line
from gemmviz.scenes.kit.view import View

_TOP, _WORD, _END = 116.0, 34.0, 170.0  # upper edge; a word; the width of memory and thread
_WAY = 0.26  # of the height: the way of the word
_CELLS = 128  # at most this many cells stand for all words
_NAMES = 88.0  # height of the words above a part


class _Plan(NamedTuple):
    """The way of one word between ``memory`` and ``thread`` above, the grid of words below. ``per_cell``: words of a cell."""

    memory: Box
    way: Box
    thread: Box
    grid: Box
    per_cell: int
    cells: int

    @classmethod
    def of(cls, case: TripCase, options: ViewOptions) -> "_Plan":
        room = options.room(_TOP, 30)
        per_cell = 2 ** max(0, int(np.ceil(np.log2(case.words / _CELLS))))
        _, upper, _, grid = room.rows(40, _WAY * room.height, _NAMES, REST)
        memory, way, thread = upper.columns(_END, REST, _END)
        return cls(memory, way, thread, grid, per_cell, int(case.words // per_cell))


def trip_scene(case: TripCase, options: ViewOptions) -> Scene:
    """Draw memory, thread and the way between them, and what a cell of the grid stands for."""
    plan, theme = _Plan.of(case, options), options.theme
    size, left, width = theme.type.words, plan.memory.x, plan.grid.width
    cell = tr(
        "bandwidth, {bandwidth_gb_s} GB/s: a square is {per_cell} words of 4 bytes",
        bandwidth_gb_s=number(case.bandwidth_gb_s),
        per_cell=spaced(plan.per_cell),
    )
    latency, above, below = tr("latency: the way of one word"), (left, plan.way.y - 16), (left, plan.grid.y - 22)
    ends = points(*((each.middle_x, baseline(each.middle_y, size)) for each in (plan.memory, plan.thread)))
    pieces: list[Primitive] = [
        text_line("latency-name", above, latency, size, width, theme.text, "semibold"),
        Rects("memory", boxes(plan.memory), theme.slate, theme.faint, 2.0, 8.0),
        Rects("thread", boxes(plan.thread), theme.panel, theme.line, 2.0, 8.0),
        Labels("ends", ends, (tr("memory"), tr("thread")), size, theme.text, "middle", "semibold"),
        path("way", [plan.way.at(0.0), plan.way.at(1.0)], theme.line),
        text_line("bandwidth-name", below, cell, size, width, theme.text, "semibold"),
    ]
    note = tr("{device}: the time of one access is measured, the bandwidth is the vendor's", device=case.times.gpu.name)
    return titled(pieces, tr("Latency is not bandwidth"), note, options)


def trip_motion(case: TripCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the word and the filled part of the grid at ``options.moment``, with time and words so far."""
    plan, theme = _Plan.of(case, options), options.theme
    share = min(1.0, options.moment / ARRIVAL)
    (x, y), right = plan.way.middle, plan.grid.right
    words = case.words if share >= 1.0 else share * plan.cells * plan.per_cell
    time, count = tr("{share} ns", share=number(share * case.trip_ns)), tr("{words} thousand words", words=number(words / 1000))
    return (
        squares("word", [plan.way.inset(_WORD / 2, 0).at(share)], _WORD, theme.load),
        _grid(plan, share, options),
        text_at("time", (x, y - 26), time, theme.type.sentence, theme.text, "middle", "semibold"),
        text_at("words-so-far", (right, plan.grid.y - 22), count, theme.type.words, theme.text, "end", "semibold"),
    )


def _grid(plan: _Plan, share: float, options: ViewOptions) -> Cells:
    """Draw the grid, filled row by row."""
    theme, box = options.theme, plan.grid
    side = (box.width * box.height / max(1, plan.cells)) ** 0.5
    columns = min(plan.cells, max(1, int(np.ceil(box.width / side))))
    fill = np.zeros((-(-plan.cells // columns), columns), np.uint8)
    fill.ravel()[: round(share * plan.cells)] = 1
    fill.ravel()[plan.cells :] = 2
    palette = (theme.empty, theme.loaded(0.8), theme.background)
    inks = tuple(theme.ink_on(colour) for colour in palette)
    return cells_in("words", box, fill, palette, theme.background, inks)


VIEW = View(marked("Latency against bandwidth"), TripCase, trip_scene, trip_motion, least=300.0, order=62)
