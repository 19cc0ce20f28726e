"""One warp's request on the address line: lanes above, the 128-byte lines below, cut into 32-byte sectors.

Requested bytes are highlighted, other bytes of moved sectors are marked, and sectors that are not moved are empty. If there
is space, each line is repeated below as a row of its elements with their lanes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.memory.counts import Counts, count_rows
from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.arrays import Longs
from gemmviz.model.device import MemoryRules
from gemmviz.model.layouts import Layout
from gemmviz.model.sites import MemoryArray
from gemmviz.model.words import spaced
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, framed, message
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, points
from gemmviz.scenes.kit.sentence import no_access
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.stage.matrix import label_size

Shades = tuple[str, str, str]
_AWAY, _MOVED, _REQUESTED = range(3)
_LEFT, _RIGHT, _HEADING = 230.0, 350.0, 24.0
_STRIP_HEIGHT, _LEAST_TABLE = 300.0, 200.0
_LINE_GAP = 10.0
_LEAST_REQUESTED = 4.0  # units: wide enough to be visible


def memory_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the request of the watched warp, or of the first active warp of the block."""
    main = moment.touched_in("global")
    request = None if main is None else moment.request_of(main.row)
    if main is None or request is None:
        return framed([message(no_access(moment, "global"), options)], moment, options)
    rules = moment.trace.rules
    top, room = options.top, options.bottom - options.top
    tall = room >= _STRIP_HEIGHT + _LEAST_TABLE
    lines = touched_lines(request.lanes, main.array.itemsize, main.operand.layout, rules)
    cost = count_rows(request.lanes.reshape(-1, rules.request_lanes), main.operand, main.array, rules)
    palette = _palette(main.array.name, cost.excessive_sectors > 0, options.theme)
    strip = _Strip(request.lanes, lines, main.array, rules, palette, options, followed_lane(moment))
    sentence = f"{main.array.name}, warp {request.warp}: {request_sentence(cost)}"
    primitives = strip.primitives(top, _STRIP_HEIGHT if tall else room, sentence)
    if tall:
        primitives += _rows(lines, main.array, rules, palette, top + _STRIP_HEIGHT + 40, options)
    return framed(primitives, moment, options)


def followed_lane(moment: Moment) -> int | None:
    """Return the lane of the followed thread, None without one."""
    return None if moment.focus.thread is None else moment.focus.thread % moment.trace.rules.warp_size


def request_sentence(cost: Counts) -> str:
    """Return what a request moves, and what it needs."""
    lanes = f"{cost.lanes} lane{'s' if cost.lanes > 1 else ''}"
    sectors = f"{cost.sectors} sector{'s' if cost.sectors > 1 else ''}"
    needed = f"{sectors} of {cost.ideal_sectors} needed" if cost.sectors == cost.ideal_sectors else (
        f"{sectors} moved, {cost.ideal_sectors} needed"
    )  # fmt: skip
    return f"{lanes}, {needed}: {100 * cost.ideal_sectors / cost.sectors:.3g} %"


@dataclass(frozen=True)
class TouchedLines:
    """The accessed lines.

    ``numbers``: line numbers, ascending. ``first`` (lines, elements of a line): the first lane that requests each element,
    -1 for none, -2 if its sector is not moved. ``asking``: the number of lanes that request it.
    """

    numbers: Longs
    first: Longs
    asking: Longs


def touched_lines(lanes: Longs, itemsize: int, layout: Layout, rules: MemoryRules) -> TouchedLines:
    """Return the lines that the lanes of a request access. Lanes (lanes,), -1 inactive."""
    per_line, per_sector = rules.line_bytes // itemsize, rules.sector_bytes // itemsize
    lane = np.flatnonzero(lanes >= 0)
    elements = layout.spread(lanes[lane], lane).ravel()
    numbers = np.unique(elements // per_line)
    row, column = np.searchsorted(numbers, elements // per_line), elements % per_line
    table = np.full((len(numbers), per_line), -2, np.int64)
    table.reshape(len(numbers), -1, per_sector)[row, column // per_sector] = -1
    places, first, asking = np.unique(row * per_line + column, return_index=True, return_counts=True)
    table.reshape(-1)[places] = np.repeat(lane, layout.width)[first]
    counts = np.zeros_like(table)
    counts.reshape(-1)[places] = asking
    return TouchedLines(numbers, table, counts)


def _fill(table: Longs) -> npt.NDArray[np.uint8]:
    return np.where(table >= 0, _REQUESTED, np.where(table == -1, _MOVED, _AWAY)).astype(np.uint8)


def _palette(name: str, wasteful: bool, theme: Theme) -> Shades:
    """Return the colours of sectors that are not moved, of moved bytes (red if fewer sectors would suffice), and of
    requested bytes.
    """
    brought = mixed(theme.background, theme.warning, 0.45) if wasteful else theme.tint(name, 0.3)
    return theme.empty, brought, theme.accent(name)


class _Strip:
    """The address line: all accessed lines side by side, the lanes above them, and threads of light between."""

    def __init__(
        self, lanes: Longs, lines: TouchedLines, array: MemoryArray, rules: MemoryRules, palette: Shades, options: ViewOptions,
        followed: int | None = None,
    ) -> None:  # fmt: skip
        self.lanes, self.numbers, self.table, self.array, self.rules = lanes, lines.numbers, lines.first, array, rules
        self.palette, self.theme, self.width = palette, options.theme, options.width
        self.followed = followed
        lines_touched, per_line = self.table.shape
        self.per_line = per_line
        gaps = _LINE_GAP * (lines_touched - 1)
        self.cell = min((self.width - 2 * MARGIN - gaps) / (lines_touched * per_line), 22.0)
        across = lines_touched * per_line * self.cell + gaps
        self.x = (self.width - across) / 2

    def primitives(self, top: float, height: float, sentence: str) -> list[Primitive]:
        """Draw everything in a band ``height`` units high."""
        lane_y, bar = top + 26, max(18.0, min(44.0, height * 0.16))
        line_y = top + height - bar - 84
        return [
            Labels("memory-sentence", points((self.width / 2, top + height - 14)), (sentence,), _HEADING, self.theme.text,
                   "middle", "semibold"),
            *self._threads(lane_y + 30, line_y),
            *self._lanes(lane_y),
            *self._lines(line_y, bar),
        ]  # fmt: skip

    def line_x(self, row: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        return np.asarray(self.x + row * (self.per_line * self.cell + _LINE_GAP))

    def _lane_x(self) -> npt.NDArray[Any]:
        pitch = (self.width - 2 * MARGIN) / len(self.lanes)
        return np.asarray(MARGIN + (np.arange(len(self.lanes)) + 0.5) * pitch)

    def _threads(self, top: float, bottom: float) -> list[Primitive]:
        """Draw a line for each lane, that of the followed one on top."""
        active = np.flatnonzero(self.lanes >= 0)
        elements = self.lanes[active]
        row = np.searchsorted(self.numbers, elements // self.per_line)
        x = self.line_x(row) + (elements % self.per_line + 0.5) * self.cell
        ends = np.stack([self._lane_x()[active], np.full(len(active), top), x, np.full(len(active), bottom)], axis=1)
        primitives: list[Primitive] = [Lines("lane-threads", ends, self.theme.accent(self.array.name), 1.6)]
        if self.followed in active.tolist():
            primitives.append(Lines("followed-thread", ends[active == self.followed], self.theme.text, 4.0))
        return primitives

    def _lanes(self, y: float) -> list[Primitive]:
        x, theme = self._lane_x(), self.theme
        active = self.lanes >= 0
        side = 34.0
        boxes = np.stack([x - side / 2, np.full(len(x), y), np.full(len(x), side), np.full(len(x), 28.0)], axis=1)
        texts = tuple(str(lane) for lane in range(len(x)))
        at = np.stack([x, np.full(len(x), y + 21)], axis=1)
        accent = theme.accent(self.array.name)
        ink = theme.ink_on(accent)
        on, off = np.flatnonzero(active), np.flatnonzero(~active)
        ring = [] if self.followed is None else [Rects("followed-lane", boxes[[self.followed]], None, theme.text, 4.0, 5.0)]
        return [
            Rects("lanes-active", boxes[on], accent, radius=5.0),
            Rects("lanes-idle", boxes[off], theme.empty, radius=5.0),
            Labels("lane-numbers", at[on], tuple(texts[lane] for lane in on), 18.0, ink, "middle"),
            Labels("idle-numbers", at[off], tuple(texts[lane] for lane in off), 18.0, theme.faint, "middle"),
            Labels("lane-name", points((MARGIN, y - 8)), ("lanes",), 18.0, theme.faint),
            *ring,
        ]

    def _lines(self, y: float, bar: float) -> list[Primitive]:
        theme, palette = self.theme, self.palette
        fill = _fill(self.table)
        x = self.line_x(np.arange(len(self.numbers)))
        primitives: list[Primitive] = []
        for state, colour in enumerate(palette):
            row, column = np.nonzero(fill == state)
            wide = max(self.cell, _LEAST_REQUESTED) if state == _REQUESTED else self.cell
            boxes = np.stack([x[row] + column * self.cell, np.full(len(row), y), np.full(len(row), wide),
                              np.full(len(row), bar)], axis=1)  # fmt: skip
            primitives.append(Rects(f"line-bytes-{state}", boxes, colour))
        sector = self.rules.sector_bytes // self.array.itemsize * self.cell
        cuts = self.rules.line_bytes // self.rules.sector_bytes
        marks = [(at + i * sector, y, at + i * sector, y + bar) for at in x.tolist() for i in range(cuts + 1)]
        primitives.append(Lines("sectors", np.array(marks), theme.background, 2.0))
        return [*primitives, *self._addresses(x, y + bar + 22)]

    def _addresses(self, x: npt.NDArray[np.float64], y: float) -> list[Primitive]:
        """Draw the address of every line, or of every n-th one if they would overlap."""
        texts = [spaced(int(number) * self.rules.line_bytes) for number in self.numbers]
        pitch = self.per_line * self.cell + _LINE_GAP
        every = max(1, int(np.ceil((max(text_width(text, 18.0) for text in texts) + 20) / pitch)))
        texts, at = texts[::every], [(left, y) for left in x.tolist()[::every]]
        name = Labels(
            "line-name",
            points((MARGIN, y + 26)),
            (f"byte address of each {self.rules.line_bytes}-byte line",),
            18.0,
            self.theme.faint,
        )
        return [Labels("line-addresses", points(*at), tuple(texts), 18.0, self.theme.faint), name]


def _rows(
    lines: TouchedLines, array: MemoryArray, rules: MemoryRules, palette: Shades, top: float, options: ViewOptions
) -> list[Primitive]:
    """Draw each line as a row of its elements with their lanes."""
    table, counts = lines.first, lines.asking
    theme, (rows, columns) = options.theme, table.shape
    cell, high = (options.width - _LEFT - _RIGHT) / columns, min((options.bottom - top - 12) / rows, 34.0)
    y = top + 12
    many = np.char.add("×", counts.astype("<U3"))
    texts = np.where(table < 0, "", np.where(counts > 1, many, table.astype("<U4")))
    size = label_size("×32" if (counts > 1).any() else "31", min(cell, 1.6 * high), options.pixels)
    inks = (theme.faint, theme.text, theme.ink_on(palette[_REQUESTED]))
    heading = "the same lines, one per row; numbers are lanes, ×n: n lanes share"
    step, cuts = rules.sector_bytes // array.itemsize * cell, rules.line_bytes // rules.sector_bytes
    marks = np.array([(_LEFT + i * step, y, _LEFT + i * step, y + rows * high) for i in range(cuts + 1)])
    line = theme.background if high > 7 else None
    primitives: list[Primitive] = [
        Cells("lines", _LEFT, y, cell, _fill(table), palette, inks, texts if size else None, size, line, 1, high),
        Lines("sector-marks", marks, theme.text, 2.0),
        Labels("memory-heading", points((_LEFT, y - 12)), (heading,), 20.0, theme.faint),
    ]
    return primitives + _row_words(lines, array, rules, (_LEFT, y, cell, high), theme)


def _row_words(
    lines: TouchedLines, array: MemoryArray, rules: MemoryRules, at: tuple[float, float, float, float], theme: Theme
) -> list[Primitive]:
    """Draw the address of each line on its left and its use on its right; only every n-th one if rows are low."""
    x, y, cell, high = at
    table = lines.first
    rows, columns = table.shape
    every = max(1, int(np.ceil(21 / high)))
    shown = range(0, rows, every)
    middle = [y + (row + 0.5) * high + 6 for row in shown]
    moved = (table.reshape(rows, -1, rules.sector_bytes // array.itemsize) > -2).any(axis=2).sum(axis=1)
    used, sectors = (table >= 0).sum(axis=1) * array.itemsize, rules.line_bytes // rules.sector_bytes
    addresses = tuple(f"byte {spaced(int(lines.numbers[row]) * rules.line_bytes)}" for row in shown)
    brought = tuple(
        f"{moved[row]} of {sectors} sectors, {used[row]} of {moved[row] * rules.sector_bytes} bytes used" for row in shown
    )
    left = points(*((x - 14, at_y) for at_y in middle))
    right = points(*((x + columns * cell + 14, at_y) for at_y in middle))
    return [
        Labels("addresses", left, addresses, 18.0, theme.faint, "end"),
        Labels("brought", right, brought, 18.0, theme.faint, "start"),
    ]


VIEW = View("Memory: lines and sectors of a request", Moment, memory_scene, is_count=True, order=2)
