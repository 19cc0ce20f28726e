"""Latency against bandwidth: one word on its way from memory to a thread, and the words that memory can deliver until it
arrives, in a grid that fills meanwhile.
"""

import numpy as np
from msgspec import Struct

from gemmviz.model.cases import TripCase
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import number, spaced
from gemmviz.scenes.kit.frame import ARRIVAL, ViewOptions, titled
from gemmviz.scenes.kit.layout import Box, baseline
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, Squares, boxes, points
from gemmviz.scenes.kit.text import text_line
from gemmviz.scenes.kit.view import View

_TOP, _WORD, _END = 116.0, 34.0, 170.0  # upper edge; a word; the width of memory and thread
_WAY = 0.26  # of the height: the way of the word
_CELLS = 128  # at most this many cells stand for all words
_NAMES = 88.0  # height of the words above a part


class _Plan(Struct, frozen=True):
    """The way of one word above, the grid of words below. ``per_cell``: words of a cell; ``columns`` of the grid."""

    way: Box
    grid: Box
    per_cell: int
    columns: int
    cells: int

    @classmethod
    def of(cls, case: TripCase, options: ViewOptions) -> "_Plan":
        room = options.room(_TOP, 30)
        per_cell = 2 ** max(0, int(np.ceil(np.log2(case.words / _CELLS))))
        cells = int(case.words // per_cell)
        way = Box(room.x, room.y + 40, room.width, _WAY * room.height)
        top = way.bottom + _NAMES
        grid = Box(room.x, top, room.width, room.bottom - top)
        side = (grid.width * grid.height / max(1, cells)) ** 0.5
        return cls(way, grid, per_cell, min(cells, max(1, int(np.ceil(grid.width / side)))), cells)

    def x(self, share: float) -> float:
        """Return the middle of the word at a share of its way."""
        return self.way.x + _END + _WORD / 2 + share * (self.way.width - 2 * _END - _WORD)


def trip_scene(case: TripCase, options: ViewOptions) -> Scene:
    """Draw memory, thread and the way between them, and what a cell of the grid stands for."""
    plan, theme = _Plan.of(case, options), options.theme
    size, way = theme.type.words, plan.way
    y, right = way.middle_y, way.right - _END
    above = plan.grid.y - 22
    cell = tr(
        "bandwidth, {bandwidth_gb_s} GB/s: a square is {per_cell} words of 4 bytes",
        bandwidth_gb_s=number(case.bandwidth_gb_s),
        per_cell=spaced(plan.per_cell),
    )
    pieces: list[Primitive] = [
        text_line(
            "latency-name", (way.x, way.y - 16), tr("latency: the way of one word"), size, way.width, theme.text, "semibold"
        ),
        Rects("memory", boxes((way.x, way.y, _END, way.height)), theme.slate, theme.faint, 2.0, 8.0),
        Rects("thread", boxes((right, way.y, _END, way.height)), theme.panel, theme.line, 2.0, 8.0),
        Labels(
            "ends",
            points((way.x + _END / 2, baseline(y, size)), (right + _END / 2, baseline(y, size))),
            (tr("memory"), tr("thread")),
            size,
            theme.text,
            "middle",
            "semibold",
        ),
        Lines("way", boxes((way.x + _END, y, right, y)), theme.line, 3.0),
        text_line("bandwidth-name", (way.x, above), cell, size, way.width, theme.text, "semibold"),
    ]
    note = tr("{device}: the time of one access is measured, the bandwidth is the vendor's", device=case.times.gpu.name)
    return titled(pieces, tr("Latency is not bandwidth"), note, options)


def trip_motion(case: TripCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the word and the filled part of the grid at ``options.moment``, with time and words so far."""
    plan, theme = _Plan.of(case, options), options.theme
    share = min(1.0, options.moment / ARRIVAL)
    size, y = theme.type.words, plan.way.middle_y
    colours = (theme.load,)
    word = Squares(
        "word", np.array([[plan.x(share) - _WORD / 2, y - _WORD / 2, _WORD]]), np.zeros(1, np.uint8), colours, colours
    )
    words = case.words if share >= 1.0 else share * plan.cells * plan.per_cell
    texts = (tr("{share} ns", share=number(share * case.trip_ns)), tr("{words} thousand words", words=number(words / 1000)))
    at = points((plan.x(0.5), y - 26), (plan.way.right, plan.grid.y - 22))
    return (
        word, _grid(plan, share, options),
        Labels("time", at[:1], texts[:1], theme.type.sentence, theme.text, "middle", "semibold"),
        Labels("words-so-far", at[1:], texts[1:], size, theme.text, "end", "semibold"),
    )  # fmt: skip


def _grid(plan: _Plan, share: float, options: ViewOptions) -> Cells:
    """Draw the grid, filled row by row."""
    theme, rows = options.theme, -(-plan.cells // plan.columns)
    wide = plan.grid.width / plan.columns
    fill = np.zeros((rows, plan.columns), np.uint8)
    fill.ravel()[: round(share * plan.cells)] = 1
    fill.ravel()[plan.cells :] = 2
    palette = (theme.empty, theme.loaded(0.8), theme.background)
    inks = tuple(theme.ink_on(colour) for colour in palette)
    return Cells(
        "words", plan.grid.x, plan.grid.y, wide, fill, palette, inks, line=theme.background, height=plan.grid.height / rows
    )


VIEW = View(marked("Latency against bandwidth"), TripCase, trip_scene, trip_motion, least=300.0, order=62)
