"""Views of a warp's request: in global memory, and in shared memory."""

import dataclasses

import numpy as np
from msgspec import Struct

from gemmviz.analysis.costs import MovedSectors, Punchcard, access_card
from gemmviz.analysis.counts import Counts, count_rows
from gemmviz.analysis.replay.moment import Moment, Request, TouchedOperand
from gemmviz.model.arrays import Bytes, Floats, Layout, Longs
from gemmviz.model.device import MemoryRules
from gemmviz.model.messages import counted, grouped, many, marked, tr
from gemmviz.model.sites import MemoryArray
from gemmviz.scenes.kit.layout import FINE, REST, Box, all_beside, beside, cells_in, square, write, write_all
from gemmviz.scenes.kit.primitives import Cells, Lines, Primitive, Rects, Scene, boxes, label_step
from gemmviz.scenes.kit.theme import HALF, SOFT, Style, Theme, mixed
from gemmviz.scenes.kit.view import MARGIN, TURN, View, ViewOptions, eased_in_turn, framed, message, nothing_accessed
from gemmviz.scenes.stage.cost import (
    elements_of,
    matrix_of,
    request_sectors,
    sector_grid,
    sector_places,
    stack_cell,
    waiting_primitives,
)

# Request: memory or banks.


def request_scene(moment: Moment, options: ViewOptions) -> Scene:
    """The request of this step: the address line for global memory, the banks for shared memory.

    Draw the request in the memory of the step's first operand.
    """
    if moment.main is None:
        barrier = marked("This step is a barrier and accesses no memory.")
        text = tr(barrier if moment.site.is_barrier else marked("This step accesses no memory."))
        return framed([message(text, options)], moment, options)
    return (memory_scene if moment.main.array.space == "global" else banks_scene)(moment, options)


def _motion_of_request(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw what moves in the same view."""
    if moment.main is None:
        return ()
    return (memory_motion if moment.main.array.space == "global" else banks_motion)(moment, options)


# Memory: lines and sectors of a request.

# Sectors on their way from the address line to where they are drawn large: each as one piece, those of a line together.

_OUTLINE_EDGE = 2  # units that an outline reaches beyond its sector


def sector_flight(
    moved: MovedSectors, lines: Longs, start: Floats, end: Floats, share: float, colours: tuple[str, str], theme: Theme
) -> list[Primitive]:  # fmt: skip
    """Draw sectors at a share of the time, over a picture in which all have arrived. ``lines`` (sectors,): the rank of the
    line of each; ``start``, ``end`` (sectors, 4): boxes; ``colours``: of elements that are requested, and of those that aren't.
    """
    last = int(lines.max())
    along = eased_in_turn(share, lines, last + 1, TURN if last else 1)
    now, open_ = start + (end - start) * along[:, None], along < 1
    cover = end[open_] + (-_OUTLINE_EDGE, -_OUTLINE_EDGE, 2 * _OUTLINE_EDGE, 2 * _OUTLINE_EDGE)
    flying = open_ & (along > 0)
    asked = moved.is_asked[: len(end)]
    return [
        Rects("sectors-cover", cover, theme.background),
        Rects("flying-along", elements_of(now, flying[:, None] & ~asked), colours[1]),
        Rects("flying-asked", elements_of(now, flying[:, None] & asked), colours[0]),
        Rects("flying-sectors", now[flying], None, theme.faint, FINE),
    ]


Shades = tuple[str, str, str]
_AWAY, _MOVED, _REQUESTED = range(3)
_STRIP_HEIGHT, _LEAST_TABLE, _LANE_HEIGHT, _LANE_WIDTH = 310, 200, 30, 40
_LINE_GAP, _LARGEST_CELL, _LARGEST_ELEMENT = 10, 110, 22
_ASKING = 0.4  # share of the motion in which the lanes ask; then the sectors come
_LEAST_REQUESTED = 4  # units: wide enough to be visible


def memory_scene(moment: Moment, options: ViewOptions) -> Scene:
    """One warp's request on the address line: lanes above, the 128-byte lines below, cut into 32-byte sectors.

    Requested bytes are highlighted, other bytes of moved sectors are marked, and sectors that are not moved are empty. If
    there is space, the sectors that are moved are repeated below, large enough to show the lane that requests each element.

    Draw the request of the watched warp, or of the first active warp of the block.
    """
    strip = _strip_of(moment, options)
    if strip is None:
        return framed(nothing_accessed(moment, "global", options), moment, options)
    primitives = strip.primitives()
    if strip.height < options.bottom - options.top:
        primitives += _sectors(moment, _room_of_sectors(strip, options), options)
    return framed(primitives, moment, options)


def memory_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the request lane by lane over the still picture, then the sectors on their way from the address line."""
    strip = _strip_of(moment, options) if options.moment < 1 else None
    if strip is None:
        return ()
    moved, room = _sectors_moved(moment), _room_of_sectors(strip, options)
    end = sector_places(moved, room, _LARGEST_CELL) if room.height > 0 else np.zeros((0, 4))
    if not len(end):
        return strip.motion(options.moment)
    asking, share = min(1, options.moment / _ASKING), max(0, (options.moment - _ASKING) / (1 - _ASKING))
    start, lines = strip.sector_boxes(moved.numbers[: len(end)])
    start = np.where(lines[:, None] < 0, end, start)
    colours = strip.palette[_REQUESTED], strip.palette[_MOVED]
    flight = sector_flight(moved, np.maximum(lines, 0), start, end, share, colours, options.theme)
    return (*(strip.motion(asking) if asking < 1 else ()), *flight)


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
    size, room = options.theme.type.note, options.room()
    below = room.trimmed(top=strip.height + 2.2 * size, bottom=0.2 * size)
    return below if strip.height < room.height else below._replace(height=0)


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
    moved = _sectors_moved(moment)
    grid, _ = sector_grid(moved, room, theme.accent(main.array.name), options, "memory", _LARGEST_CELL)
    heading = tr("the sectors that are moved, in the order of their addresses; numbers are lanes")
    if (moved.asking > 1).any():
        heading += tr(", ×n: n lanes share the element")
    return [beside("memory-heading", room, "top", heading, Style(size, theme.faint), 0.8 * size), *grid]


def followed_lane(moment: Moment) -> int | None:
    """Return the lane of the followed thread, None without one."""
    return None if moment.focus.thread is None else moment.focus.thread % moment.trace.rules.warp_size


def request_sentence(cost: Counts) -> str:
    """Return what a request moves, and what it needs."""
    lanes, sectors = many(cost.lanes, "lane"), many(cost.sectors, "sector")
    needed = (
        tr("{sectors} of {needed_sectors} needed", sectors=sectors, needed_sectors=counted(cost.needed_sectors))
        if cost.sectors == cost.needed_sectors
        else (tr("{sectors} moved, {needed_sectors} needed", sectors=sectors, needed_sectors=counted(cost.needed_sectors)))
    )
    return f"{lanes}, {needed}: {counted(f'{100 * cost.needed_sectors / cost.sectors:.3g}')} %"


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


def _line_fill(table: Longs) -> Bytes:
    return np.where(table >= 0, _REQUESTED, np.where(table == -1, _MOVED, _AWAY)).astype(np.uint8)


def _byte_palette(name: str, wasteful: bool, theme: Theme) -> Shades:
    """Return the colours of sectors that are not moved, of moved bytes (red if fewer sectors are needed), and of
    requested bytes.
    """
    brought = mixed(theme.background, theme.warning, HALF) if wasteful else theme.tint(name, SOFT)
    return theme.empty, brought, theme.accent(name)


class _Strip:
    """The address line: all accessed lines side by side, the lanes above them, and threads of light between."""

    def __init__(
        self, lanes: Longs, lines: TouchedLines, array: MemoryArray, rules: MemoryRules, palette: Shades, options: ViewOptions,
        followed: int | None, sentence: str, height: float,
    ) -> None:  # fmt: skip
        self.lanes, self.numbers, self.table, self.array, self.rules = lanes, lines.numbers, lines.first, array, rules
        self.palette, self.theme, self.width = palette, options.theme, options.width
        self.followed, self.sentence, self.height = followed, sentence, height
        high = max(18, min(44, 0.16 * height))
        room = options.room()._replace(height=height)
        _, self.lane_row, ways, bar, self.below, self.foot, self.words = room.rows(26, _LANE_HEIGHT, REST, high, 30, 22, 40)
        self.ways, (touched, self.per_line) = ways.trimmed(top=2), self.table.shape
        gaps = _LINE_GAP * (touched - 1)
        self.cell = min((bar.width - gaps) / (touched * self.per_line), _LARGEST_ELEMENT)
        line = self.per_line * self.cell
        self.lines = square(bar.middle, touched * line + gaps, bar.height).columns(*[line] * touched, gap=_LINE_GAP)
        self.left = np.array([box.x for box in self.lines])

    def primitives(self) -> list[Primitive]:
        """Draw everything in a band ``height`` units high."""
        sentence = write("memory-sentence", self.words.trimmed(bottom=6), self.sentence, self.theme.strong, "middle")
        return [sentence, *self._threads(), *self._lanes(), *self._lines()]

    def motion(self, share: float) -> tuple[Primitive, ...]:
        """Draw the threads of light of the first lanes alone; ``share``: of the time of the step that has passed."""
        cover = boxes(self.ways.trimmed(bottom=1)._replace(x=0, width=self.width))
        lanes = np.where(np.arange(len(self.lanes)) < share * len(self.lanes), self.lanes, -1)
        return (Rects("threads-cover", cover, self.theme.background), *self._threads(lanes))

    def sector_boxes(self, sectors: Longs) -> tuple[Floats, Longs]:
        """Return the boxes (n, 4) of sectors on the address line, and the rank of the line of each, -1 if it isn't drawn."""
        cuts = self.rules.line_bytes // self.rules.sector_bytes
        rank = np.minimum(np.searchsorted(self.numbers, sectors // cuts), len(self.numbers) - 1)
        wide = self.per_line * self.cell / cuts
        x, bar = self.left[rank] + sectors % cuts * wide, np.full((len(rank), 3), (self.lines[0].y, wide, self.lines[0].height))
        return np.column_stack([x, bar]), np.where(self.numbers[rank] == sectors // cuts, rank, -1)

    def _threads(self, lanes: Longs | None = None) -> list[Primitive]:
        """Draw a line for each lane (default: for all), that of the followed one on top."""
        lanes = self.lanes if lanes is None else lanes
        active = np.flatnonzero(lanes >= 0)
        elements = lanes[active]
        row = np.searchsorted(self.numbers, elements // self.per_line)
        x = self.left[row] + (elements % self.per_line + 0.5) * self.cell
        lane_x = np.array([box.middle_x for box in self.lane_row.grid(1, len(self.lanes))])[active]
        ends = np.column_stack([lane_x, np.full(len(x), self.ways.y), x, np.full(len(x), self.ways.bottom)])
        primitives: list[Primitive] = [Lines("lane-threads", ends, self.theme.accent(self.array.name), FINE)]
        if self.followed in active.tolist():
            primitives.append(Lines("followed-thread", ends[active == self.followed], self.theme.text, 4))
        return primitives

    def _lanes(self) -> list[Primitive]:
        theme = self.theme
        cells = [square(box.middle, _LANE_WIDTH, box.height) for box in self.lane_row.grid(1, len(self.lanes))]
        accent, size = theme.accent(self.array.name), theme.type.least
        on, off = ([lane for lane, at in enumerate(self.lanes) if (at >= 0) == takes_part] for takes_part in (True, False))
        ring = [] if self.followed is None else [Rects("followed-lane", boxes(cells[self.followed]), None, theme.text, 4, 5)]
        drawn: list[Primitive] = []
        for key, lanes, fill, ink in (("active", on, accent, theme.ink_on(accent)), ("idle", off, theme.empty, theme.faint)):
            own = [cells[lane] for lane in lanes]
            numbers = write_all(f"{key}-numbers", own, [str(lane) for lane in lanes], Style(size, ink), "middle")
            drawn += [Rects(f"lanes-{key}", boxes(*own), fill, radius=5), dataclasses.replace(numbers, meaning="scale")]
        return [*drawn, beside("lane-name", self.lane_row, "top", tr("lanes"), theme.aside, 8), *ring]

    def _lines(self) -> list[Primitive]:
        theme, fill, (_, y, _, high) = self.theme, _line_fill(self.table), self.lines[0]
        primitives: list[Primitive] = []
        for state, colour in enumerate(self.palette):
            row, column = np.nonzero(fill == state)
            wide = max(self.cell, _LEAST_REQUESTED) if state == _REQUESTED else self.cell
            shape = np.full((len(row), 3), (y, wide, high))
            primitives.append(
                Rects(f"line-bytes-{state}", np.column_stack([self.left[row] + column * self.cell, shape]), colour)
            )
        cuts = self.rules.line_bytes // self.rules.sector_bytes
        ends = [x for line in self.lines for x in (*(part.x for part in line.grid(1, cuts)), line.right)]
        edges = [(x, y, x, y + high) for x in ends]
        primitives.append(Lines("sectors", boxes(*edges), theme.background, 2))
        return [*primitives, *self._addresses()]

    def _addresses(self) -> list[Primitive]:
        """Draw the address of every line, or of every second, fourth, ... if they would overlap."""
        texts, aside = [grouped(int(number) * self.rules.line_bytes) for number in self.numbers], self.theme.aside
        pitch = self.lines[0].width + _LINE_GAP
        every = label_step(pitch, max(map(aside.width, texts)) + 20, len(texts))
        rooms = [Box(line.x, self.below.y, max(pitch * every, aside.width(text)), self.below.height)
                 for line, text in zip(self.lines, texts, strict=True)]  # fmt: skip
        what = tr("byte address of each {line_bytes}-byte line", line_bytes=self.rules.line_bytes)
        addresses = write_all("line-addresses", rooms[::every], texts[::every], aside)
        return [dataclasses.replace(addresses, meaning="scale"), write("line-name", self.foot, what, aside)]


# Banks of shared memory.

_NAMES_WIDTH = 210  # of the names of wavefronts
_LANES, _LEAST_THREADS = 34, 110  # height of the lanes, and of the lines from them to the banks
_STACKS = 0.62  # of the height below the lanes, at most


def banks_scene(moment: Moment, options: ViewOptions) -> Scene:
    """One warp's access to shared memory: its lanes above, the banks below, and over each bank the lanes that it serves, one
    in each wavefront.

    Draw the access of the watched warp, or of the first active warp of the block.
    """
    picture = _access_of(moment, options)
    if picture is None:
        return framed(nothing_accessed(moment, "shared", options), moment, options)
    return framed(picture.primitives(), moment, options)


def banks_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the lanes on their way to their banks, one wavefront after the other."""
    picture = None if options.arrived else _access_of(moment, options)
    return () if picture is None else tuple(picture.falling(options.passed))


def _access_of(moment: Moment, options: ViewOptions) -> "_BankAccess | None":
    shared = moment.touched_in("shared")
    request = None if shared is None else moment.request_of(shared.row)
    return None if shared is None or request is None else _BankAccess(moment, shared, request, options)


class _BankAccess:
    """The parts of the picture and their places."""

    def __init__(self, moment: Moment, shared: TouchedOperand, request: Request, options: ViewOptions) -> None:
        rules = moment.trace.rules
        self.card: Punchcard = access_card(request.lanes, shared.operand, shared.array, rules)
        rows = request.lanes.reshape(-1, rules.request_lanes)
        self.cost: Counts = count_rows(rows, shared.operand, shared.array, rules)
        self.who = tr("{array}, warp {warp}", array=shared.array.name, warp=request.warp)
        self.lanes, self.followed = request.lanes, followed_lane(moment)
        self.options, self.theme = options, options.theme
        self.accent = options.theme.accent(matrix_of(moment, shared))
        room = options.room().trimmed(top=44).trimmed(left=_NAMES_WIDTH - MARGIN if options.words else 0, bottom=6)
        self.row, below = room.strip("top", _LANES)
        stacked = min(below.height - _LEAST_THREADS, max(_STACKS * below.height, 150))
        if below.height < 2 * _LEAST_THREADS:  # a low panel has no space for lines
            stacked = below.height - 8
        self.room, _ = below.strip("bottom", stacked)
        self.cell, self.high = stack_cell(self.card, self.room)
        self.floor = self.room.bottom - 36

    def _stacks(self) -> list[Primitive]:
        """Draw the banks and, once they have arrived, the lanes over them."""
        drawn = waiting_primitives(self.card, self.room, self.accent, self.theme, numbers=self.theme.type.least)
        return drawn if self.options.arrived else [each for each in drawn if not isinstance(each, Cells)]

    def primitives(self) -> list[Primitive]:
        arrived = [*self.threads(), *self._followed()] if self.options.arrived else []
        return [*self._heading(), *self._lane_row(), *self._stacks(), *arrived, *self._names()]

    def falling(self, share: float) -> list[Primitive]:
        """Draw the lanes between their row and their banks; a wavefront but the first is waste once it lies on another one."""
        lane, wavefront, bank = self.card.places.T
        rows, count = len(self.card.first), len(lane)
        along = eased_in_turn(share, wavefront, rows, TURN if rows > 1 else 1)[:, None]
        start = np.array([self._lane_box(each) for each in lane.tolist()]).reshape(-1, 4)
        top = self.floor - (wavefront + 1) * self.high
        end = np.column_stack([self.room.x + bank * self.cell, top, np.full(count, self.cell), np.full(count, self.high)])
        places = start + (end - start) * along
        lies = (along[:, 0] >= 1) & ~np.isin(wavefront, self.card.starts)
        line = self.theme.background
        return [
            Rects("falling-lanes", places[~lies], self.accent, line),
            Rects("falling-again", places[lies], self.theme.warning, line),
        ]

    def _lane_box(self, lane: int) -> Box:
        wide = self.row.width / len(self.lanes)
        return self.row._replace(x=self.row.x + lane * wide, width=wide)

    def _heading(self) -> list[Primitive]:
        groups, size_of_group = len(self.card.starts), len(self.lanes) // len(self.card.starts)
        several = tr(", in {groups} groups of {size} lanes", groups=counted(groups), size=size_of_group)
        each = several if groups > 1 else ""
        shared = tr("; ×n: a broadcast to n lanes") if (self.card.served > 1).any() else ""
        needed = (
            tr(", {ideal_wavefronts} needed", ideal_wavefronts=counted(self.cost.ideal_wavefronts))
            if self.cost.excessive_wavefronts
            else ""
        )
        text = f"{self.who}: {many(self.cost.wavefronts, 'wavefront')}{needed}{each}{shared}"
        line = self.options.room()._replace(height=32)
        return [write("bank-heading", line, text, self.theme.strong, "middle")]

    def _lane_row(self) -> list[Primitive]:
        """Draw the lanes of the warp, each over the bank of its number."""
        theme, count = self.theme, len(self.lanes)
        palette, inks = (theme.empty, self.accent), (theme.faint, theme.ink_on(self.accent))
        fill, texts = (self.lanes >= 0).astype(np.uint8)[None], np.arange(count).astype("<U4")[None]
        size, ground = theme.type.least, theme.background
        row = cells_in("bank-lanes", self.row, fill, palette, ground, inks, "lanes", texts, size)
        return [row, beside("lane-name", self.row, "left", tr("lane"), theme.aside)] if self.options.words else [row]

    def threads(self) -> list[Primitive]:
        """Draw a line from each lane to the stack over its bank."""
        top = self.row.bottom + 2
        if self.room.y - top < _LEAST_THREADS / 2:
            return []
        lane, _, bank = self.card.places.T
        highest = np.zeros(int(bank.max(initial=0)) + 1, np.int64)
        np.maximum.at(highest, bank, self.card.places[:, 1])
        y = self.floor - (highest[bank] + 1) * self.high
        start = [self._lane_box(each).middle_x for each in lane.tolist()]
        end = [self._place(0, each).middle_x for each in bank.tolist()]
        segments = np.column_stack([start, np.full(len(lane), top), end, y])
        return [Lines("bank-threads", segments, self.theme.faded(self.accent, HALF), FINE)]

    def _place(self, wavefront: int, bank: int) -> Box:
        """The place of a lane over a bank."""
        return Box(self.room.x + bank * self.cell, self.floor - (wavefront + 1) * self.high, self.cell, self.high)

    def _names(self) -> list[Primitive]:
        """Name banks and wavefronts at even distances."""
        if not self.options.words:
            return []
        style, rows = self.theme.aside, len(self.card.first)
        shown = range(0, rows, label_step(self.high, style.size + 4, rows))
        texts, places = [tr("wavefront {row}", row=row + 1) for row in shown], [self._place(row, 0) for row in shown]
        numbers = self.room.strip("bottom", self.room.bottom - self.floor)[0]
        return [
            all_beside("wavefront-names", places, "left", texts, style),
            beside("bank-name", numbers, "left", tr("bank"), style),
        ]

    def _followed(self) -> list[Primitive]:
        """Draw a ring around the first place that serves the followed lane."""
        own = np.argwhere(self.card.first == self.followed) if self.followed is not None else np.zeros((0, 2), np.int64)
        if not len(own):
            return []
        wavefront, bank = own[0].tolist()
        return [Rects("followed-lane", boxes(self._place(wavefront, bank)), None, self.theme.text, 4)]


VIEWS = {
    "banks": View(marked("Banks of shared memory"), Moment, banks_scene, banks_motion, is_count=True, least=140, order=303),
    "memory": View(
        marked("Memory: lines and sectors of a request"), Moment, memory_scene, memory_motion, is_count=True, order=302
    ),
    "request": View(
        marked("Request: memory or banks"), Moment, request_scene, _motion_of_request, is_count=True, least=140, order=301
    ),
}
