"""One warp's request on the address line: lanes above, the 128-byte lines below, cut into 32-byte sectors.

Requested bytes are highlighted, other bytes of moved sectors are marked, and sectors that are not moved are empty. If there
is space, the sectors that are moved are repeated below, large enough to show the lane that requests each element.
"""

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.analysis.memory.costs import MovedSectors
from gemmviz.analysis.memory.counts import Counts, count_rows
from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.device import MemoryRules
from gemmviz.model.layouts import Layout
from gemmviz.model.sites import MemoryArray
from gemmviz.model.translation import counted, grouped, many, marked, tr
from gemmviz.scenes.kit.layout import Box, text_at
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import label_step, text_line, text_width
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.view import MARGIN, View, ViewOptions, eased, framed, nothing_accessed
from gemmviz.scenes.stage.cost import elements_of, request_sectors, sector_grid, sector_places

# Sectors on their way from the address line to where they are drawn large: each as one piece, those of a line together.

_LINE_FLIGHT = 0.6  # share of the time that one line's sectors take, if there are others
_OUTLINE_EDGE = 2.0  # units that an outline reaches beyond its sector


def sector_flight(
    moved: MovedSectors, lines: Longs, start: Floats, end: Floats, share: float, colours: tuple[str, str], theme: Theme
) -> list[Primitive]:  # fmt: skip
    """Draw sectors at a share of the time, over a picture in which all have arrived. ``lines`` (sectors,): the rank of the
    line of each; ``start``, ``end`` (sectors, 4): boxes; ``colours``: of elements that are requested, and of those that aren't.
    """
    last = int(lines.max())
    flight = _LINE_FLIGHT if last else 1.0
    passed = np.clip((share - (1.0 - flight) * lines / max(1, last)) / flight, 0.0, 1.0)
    along = eased(passed)[:, None]
    now, open_ = start + (end - start) * along, passed < 1.0
    cover = end[open_] + (-_OUTLINE_EDGE, -_OUTLINE_EDGE, 2 * _OUTLINE_EDGE, 2 * _OUTLINE_EDGE)
    flying = open_ & (passed > 0.0)
    asked = moved.is_asked[: len(end)]
    return [
        Rects("sectors-cover", cover, theme.background),
        Rects("flying-along", elements_of(now, flying[:, None] & ~asked), colours[1]),
        Rects("flying-asked", elements_of(now, flying[:, None] & asked), colours[0]),
        Rects("flying-sectors", now[flying], None, theme.faint, 1.5),
    ]


Shades = tuple[str, str, str]
_AWAY, _MOVED, _REQUESTED = range(3)
_STRIP_HEIGHT, _LEAST_TABLE, _LANE_HEIGHT = 310.0, 200.0, 30.0
_LINE_GAP, _LARGEST_CELL = 10.0, 110.0
_ASKING = 0.4  # share of the motion in which the lanes ask; then the sectors come
_LEAST_REQUESTED = 4.0  # units: wide enough to be visible


def memory_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the request of the watched warp, or of the first active warp of the block."""
    strip = _strip_of(moment, options)
    if strip is None:
        return framed(nothing_accessed(moment, "global", options), moment, options)
    primitives = strip.primitives()
    if strip.height < options.bottom - options.top:
        primitives += _sectors(moment, _room_of_sectors(strip, options), options)
    return framed(primitives, moment, options)


def memory_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the request lane by lane over the still picture, then the sectors on their way from the address line."""
    strip = _strip_of(moment, options) if options.moment < 1.0 else None
    if strip is None:
        return ()
    moved, room = _sectors_moved(moment), _room_of_sectors(strip, options)
    end = sector_places(moved, room, _LARGEST_CELL) if room.height > 0 else np.zeros((0, 4))
    if not len(end):
        return strip.motion(options.moment)
    asking, share = min(1.0, options.moment / _ASKING), max(0.0, (options.moment - _ASKING) / (1.0 - _ASKING))
    start, lines = strip.sector_boxes(moved.numbers[: len(end)])
    start = np.where(lines[:, None] < 0, end, start)
    colours = strip.palette[_REQUESTED], strip.palette[_MOVED]
    flight = sector_flight(moved, np.maximum(lines, 0), start, end, share, colours, options.theme)
    return (*(strip.motion(asking) if asking < 1.0 else ()), *flight)


def _strip_of(moment: Moment, options: ViewOptions) -> "_Strip | None":
    main = moment.touched_in("global")
    request = None if main is None else moment.request_of(main.row)
    if main is None or request is None:
        return None
    rules = moment.trace.rules
    lines = touched_lines(request.lanes, main.array.itemsize, main.operand.layout, rules)
    cost = count_rows(request.lanes.reshape(-1, rules.request_lanes), main.operand, main.array, rules)
    palette = _byte_palette(main.array.name, cost.excessive_sectors > 0, options.theme)
    height = options.bottom - options.top
    sentence = tr(
        "{array}, warp {warp}: {request_sentence}",
        array=main.array.name,
        warp=request.warp,
        request_sentence=request_sentence(cost),
    )
    return _Strip(
        request.lanes, lines, main.array, rules, palette, options, followed_lane(moment), sentence,
        _STRIP_HEIGHT if height >= _STRIP_HEIGHT + _LEAST_TABLE else height,
    )  # fmt: skip


def _room_of_sectors(strip: "_Strip", options: ViewOptions) -> Box:
    """Return the room below the address line for the sectors that are moved; of no height if there is none."""
    top, size = options.top + strip.height, options.theme.type.note
    high = options.bottom - top - 2.4 * size if strip.height < options.bottom - options.top else 0.0
    return Box(MARGIN, top + 2.2 * size, options.width - 2 * MARGIN, high)


def _sectors_moved(moment: Moment) -> MovedSectors:
    main = moment.touched_in("global")
    request = None if main is None else moment.request_of(main.row)
    assert main is not None
    assert request is not None
    return request_sectors(moment, main, request)[0]


def _sectors(moment: Moment, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the moved sectors side by side, each element with its lane."""
    main, size, theme = moment.touched_in("global"), options.theme.type.note, options.theme
    assert main is not None
    grid, _ = sector_grid(_sectors_moved(moment), room, theme.accent(main.array.name), options, "memory", _LARGEST_CELL)
    heading = tr(
        "the sectors that are moved, in the order of their addresses; numbers are lanes, ×n: n lanes share the element"
    )
    return [text_line("memory-heading", (MARGIN, room.y - 0.8 * size), heading, size, room.width, theme.faint), *grid]


def followed_lane(moment: Moment) -> int | None:
    """Return the lane of the followed thread, None without one."""
    return None if moment.focus.thread is None else moment.focus.thread % moment.trace.rules.warp_size


def request_sentence(cost: Counts) -> str:
    """Return what a request moves, and what it needs."""
    lanes, sectors = many(cost.lanes, "lane"), many(cost.sectors, "sector")
    needed = (
        tr("{sectors} of {ideal_sectors} needed", sectors=sectors, ideal_sectors=counted(cost.ideal_sectors))
        if cost.sectors == cost.ideal_sectors
        else (tr("{sectors} moved, {ideal_sectors} needed", sectors=sectors, ideal_sectors=counted(cost.ideal_sectors)))
    )
    return f"{lanes}, {needed}: {counted(f'{100 * cost.ideal_sectors / cost.sectors:.3g}')} %"


class TouchedLines(Struct, frozen=True):
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


def _line_fill(table: Longs) -> npt.NDArray[np.uint8]:
    return np.where(table >= 0, _REQUESTED, np.where(table == -1, _MOVED, _AWAY)).astype(np.uint8)


def _byte_palette(name: str, wasteful: bool, theme: Theme) -> Shades:
    """Return the colours of sectors that are not moved, of moved bytes (red if fewer sectors would suffice), and of
    requested bytes.
    """
    brought = mixed(theme.background, theme.warning, 0.45) if wasteful else theme.tint(name, 0.3)
    return theme.empty, brought, theme.accent(name)


class _Strip:
    """The address line: all accessed lines side by side, the lanes above them, and threads of light between."""

    def __init__(
        self, lanes: Longs, lines: TouchedLines, array: MemoryArray, rules: MemoryRules, palette: Shades, options: ViewOptions,
        followed: int | None, sentence: str, height: float,
    ) -> None:  # fmt: skip
        self.lanes, self.numbers, self.table, self.array, self.rules = lanes, lines.numbers, lines.first, array, rules
        self.palette, self.theme, self.width = palette, options.theme, options.width
        self.followed, self.sentence, self.top, self.height = followed, sentence, options.top, height
        lines_touched, per_line = self.table.shape
        self.per_line = per_line
        gaps = _LINE_GAP * (lines_touched - 1)
        self.cell = min((self.width - 2 * MARGIN - gaps) / (lines_touched * per_line), 22.0)
        across = lines_touched * per_line * self.cell + gaps
        self.x = (self.width - across) / 2

    @property
    def _bar(self) -> float:
        return max(18.0, min(44.0, self.height * 0.16))

    @property
    def _line_y(self) -> float:
        return self.top + self.height - self._bar - 92

    def primitives(self) -> list[Primitive]:
        """Draw everything in a band ``height`` units high."""
        at, size = points((self.width / 2, self.top + self.height - 14)), self.theme.type.words
        return [
            Labels("memory-sentence", at, (self.sentence,), size, self.theme.text, "middle", "semibold"),
            *self._threads(),
            *self._lanes(self.top + 26),
            *self._lines(self._line_y, self._bar),
        ]

    def motion(self, share: float) -> tuple[Primitive, ...]:
        """Draw the threads of light of the first lanes alone; ``share``: of the time of the step that has passed."""
        top = self.top + 26 + _LANE_HEIGHT + 2
        cover = boxes((0.0, top, self.width, self._line_y - top - 1.0))
        lanes = np.where(np.arange(len(self.lanes)) < share * len(self.lanes), self.lanes, -1)
        return (Rects("threads-cover", cover, self.theme.background), *self._threads(lanes))

    def sector_boxes(self, sectors: Longs) -> tuple[Floats, Longs]:
        """Return the boxes (n, 4) of sectors on the address line, and the rank of the line of each, -1 if it isn't drawn."""
        cuts = self.rules.line_bytes // self.rules.sector_bytes
        rank = np.minimum(np.searchsorted(self.numbers, sectors // cuts), len(self.numbers) - 1)
        wide = self.per_line * self.cell / cuts
        x = self.line_x(rank) + sectors % cuts * wide
        boxes = np.column_stack([x, np.full(len(x), self._line_y), np.full(len(x), wide), np.full(len(x), self._bar)])
        return boxes, np.where(self.numbers[rank] == sectors // cuts, rank, -1)

    def line_x(self, row: Longs) -> Floats:
        return np.asarray(self.x + row * (self.per_line * self.cell + _LINE_GAP))

    def _lane_x(self) -> Floats:
        pitch = (self.width - 2 * MARGIN) / len(self.lanes)
        return np.asarray(MARGIN + (np.arange(len(self.lanes)) + 0.5) * pitch)

    def _threads(self, lanes: Longs | None = None) -> list[Primitive]:
        """Draw a line for each lane (default: for all), that of the followed one on top."""
        lanes = self.lanes if lanes is None else lanes
        active = np.flatnonzero(lanes >= 0)
        elements = lanes[active]
        row = np.searchsorted(self.numbers, elements // self.per_line)
        x = self.line_x(row) + (elements % self.per_line + 0.5) * self.cell
        top, bottom = self.top + 26 + _LANE_HEIGHT + 2, self._line_y
        ends = np.stack([self._lane_x()[active], np.full(len(active), top), x, np.full(len(active), bottom)], axis=1)
        primitives: list[Primitive] = [Lines("lane-threads", ends, self.theme.accent(self.array.name), 1.6)]
        if self.followed in active.tolist():
            primitives.append(Lines("followed-thread", ends[active == self.followed], self.theme.text, 4.0))
        return primitives

    def _lanes(self, y: float) -> list[Primitive]:
        x, theme = self._lane_x(), self.theme
        active = self.lanes >= 0
        side, size = 40.0, theme.type.least
        cells = np.stack([x - side / 2, np.full(len(x), y), np.full(len(x), side), np.full(len(x), _LANE_HEIGHT)], axis=1)
        texts = tuple(str(lane) for lane in range(len(x)))
        at = np.stack([x, np.full(len(x), y + 22)], axis=1)
        accent = theme.accent(self.array.name)
        ink = theme.ink_on(accent)
        on, off = np.flatnonzero(active), np.flatnonzero(~active)
        ring = [] if self.followed is None else [Rects("followed-lane", cells[[self.followed]], None, theme.text, 4.0, 5.0)]
        return [
            Rects("lanes-active", cells[on], accent, radius=5.0),
            Rects("lanes-idle", cells[off], theme.empty, radius=5.0),
            Labels("lane-numbers", at[on], tuple(texts[lane] for lane in on), size, ink, "middle", meaning="scale"),
            Labels("idle-numbers", at[off], tuple(texts[lane] for lane in off), size, theme.faint, "middle", meaning="scale"),
            text_at("lane-name", (MARGIN, y - 8), tr("lanes"), size, theme.faint),
            *ring,
        ]

    def _lines(self, y: float, bar: float) -> list[Primitive]:
        theme, palette = self.theme, self.palette
        fill = _line_fill(self.table)
        x = self.line_x(np.arange(len(self.numbers)))
        primitives: list[Primitive] = []
        for state, colour in enumerate(palette):
            row, column = np.nonzero(fill == state)
            wide = max(self.cell, _LEAST_REQUESTED) if state == _REQUESTED else self.cell
            bytes_ = np.stack([x[row] + column * self.cell, np.full(len(row), y), np.full(len(row), wide),
                              np.full(len(row), bar)], axis=1)  # fmt: skip
            primitives.append(Rects(f"line-bytes-{state}", bytes_, colour))
        sector = self.rules.sector_bytes // self.array.itemsize * self.cell
        cuts = self.rules.line_bytes // self.rules.sector_bytes
        marks = [(at + i * sector, y, at + i * sector, y + bar) for at in x.tolist() for i in range(cuts + 1)]
        primitives.append(Lines("sectors", np.array(marks), theme.background, 2.0))
        return [*primitives, *self._addresses(x, y + bar + 22)]

    def _addresses(self, x: Floats, y: float) -> list[Primitive]:
        """Draw the address of every line, or of every second, fourth, ... if they would overlap."""
        texts = [grouped(int(number) * self.rules.line_bytes) for number in self.numbers]
        pitch, size = self.per_line * self.cell + _LINE_GAP, self.theme.type.least
        every = label_step(pitch, max(text_width(text, size) for text in texts) + 20, len(texts))
        texts, at = texts[::every], [(left, y) for left in x.tolist()[::every]]
        what = tr("byte address of each {line_bytes}-byte line", line_bytes=self.rules.line_bytes)
        name = text_at("line-name", (MARGIN, y + 26), what, size, self.theme.faint)
        return [Labels("line-addresses", points(*at), tuple(texts), size, self.theme.faint, meaning="scale"), name]


VIEW = View(marked("Memory: lines and sectors of a request"), Moment, memory_scene, memory_motion, is_count=True, order=2)
