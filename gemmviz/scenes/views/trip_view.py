"""Latency against bandwidth: one word on its way from memory to a thread, and the words that memory can deliver until it
arrives, in a grid that fills meanwhile.
"""

import math
from typing import NamedTuple

import numpy as np

from gemmviz.model.cases import TripCase
from gemmviz.model.translation import marked, number, spaced, tr
from gemmviz.scenes.kit.layout import AIR, REST, Box, Share, beside, cells_in, path, square, squares, tag
from gemmviz.scenes.kit.primitives import Cells, Primitive, Scene
from gemmviz.scenes.kit.theme import FIRM
from gemmviz.scenes.kit.view import View, ViewOptions, titled

_WORD, _END = 34, 170  # a word; the width of memory and thread
_CELLS = 128  # at most this many cells stand for all words


class _Plan(NamedTuple):
    """The ``way`` of one word above, from memory to a thread in the ``upper`` part; below it the grid of words, ``per_cell``
    for each of the ``cells``.
    """

    upper: Box
    way: Box
    grid: Box
    per_cell: int
    cells: int

    @classmethod
    def of(cls, case: TripCase, options: ViewOptions) -> "_Plan":
        room = options.room(156, 30)
        per_cell = 2 ** max(0, int(np.ceil(np.log2(case.words / _CELLS))))
        upper, _, grid = room.rows(Share(2), 88, Share(4))
        return cls(upper, upper.inset(_END, 0), grid, per_cell, int(case.words // per_cell))


def trip_scene(case: TripCase, options: ViewOptions) -> Scene:
    """Draw memory, thread and the way between them, and what a cell of the grid stands for."""
    plan, theme = _Plan.of(case, options), options.theme
    cell = tr(
        "bandwidth, {bandwidth_gb_s} GB/s: a square is {per_cell} words of 4 bytes",
        bandwidth_gb_s=number(case.bandwidth_gb_s),
        per_cell=spaced(plan.per_cell),
    )
    memory, _, thread = plan.upper.columns(_END, REST, _END)
    pieces: list[Primitive] = [
        beside("latency-name", plan.upper, "top", tr("latency: the way of one word"), theme.strong, AIR),
        *tag("memory", memory, tr("memory"), theme.slate, theme, theme.strong, theme.faint),
        *tag("thread", thread, tr("thread"), theme.panel, theme, theme.strong, theme.line),
        path("way", [plan.way.at(0), plan.way.at(1)], theme.line),
        beside("bandwidth-name", plan.grid, "top", cell, theme.strong, AIR),
    ]
    note = tr("{device}: the time of one access is measured, the bandwidth is the vendor's", device=case.times.gpu.name)
    return titled(pieces, tr("Latency is not bandwidth"), note, options)


def trip_motion(case: TripCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the word and the filled part of the grid at ``options.moment``, with time and words so far."""
    plan, theme, share = _Plan.of(case, options), options.theme, options.passed
    track = square(plan.way.middle, plan.way.width - _WORD, _WORD)
    words = case.words if share >= 1 else share * plan.cells * plan.per_cell
    time, count = tr("{share} ns", share=number(share * case.trip_ns)), tr("{words} thousand words", words=number(words / 1000))
    return (
        squares("word", [track.at(share)], _WORD, theme.load),
        _word_grid(plan, share, options),
        beside("time", track, "top", time, theme.large, anchor="middle"),
        beside("words-so-far", plan.grid, "top", count, theme.strong, AIR, "end"),
    )


def _word_grid(plan: _Plan, share: float, options: ViewOptions) -> Cells:
    """Draw the grid, filled row by row."""
    theme, box = options.theme, plan.grid
    side = math.sqrt(max(1, box.width * box.height / max(1, plan.cells)))
    columns = min(plan.cells, max(1, int(np.ceil(box.width / side))))
    fill = np.zeros((-(-plan.cells // columns), columns), np.uint8)
    fill.ravel()[: round(share * plan.cells)] = 1
    fill.ravel()[plan.cells :] = 2
    palette = (theme.empty, theme.loaded(FIRM), theme.background)
    inks = tuple(theme.ink_on(colour) for colour in palette)
    return cells_in("words", box, fill, palette, theme.background, inks)


VIEW = View(marked("Latency against bandwidth"), TripCase, trip_scene, trip_motion, least=300, order=507)
