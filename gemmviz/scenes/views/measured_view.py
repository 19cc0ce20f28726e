"""Views of what was measured: speeds, errors, counters, and the way of a word to each memory."""

import math
from itertools import groupby
from typing import NamedTuple

import numpy as np

from gemmviz.analysis.listing import declarations
from gemmviz.model.cases import AmdahlCase, Ladder, Profile, ProfileRow, RoundedRun, RoundingCase, TripCase
from gemmviz.model.messages import counted, grouped, listed, many, marked, number, percent, spaced, tr
from gemmviz.model.recording import AccessTime, AccessTimesCase
from gemmviz.scenes.kit.layout import (
    AIR,
    BAR,
    LINE_PITCH,
    NEAR,
    REST,
    ROW_PITCH,
    Box,
    Line,
    Point,
    Share,
    beside,
    cells_in,
    lines_down,
    path,
    round_boxes,
    square,
    squares,
    swatch,
    tag,
    ticks_along,
    wrapped,
    write,
    write_all,
)
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.shapes import memory
from gemmviz.scenes.kit.table import TableCell, table
from gemmviz.scenes.kit.theme import FIRM, PALE, Theme, mixed
from gemmviz.scenes.kit.view import View, ViewOptions, eased_in_turn, titled

# Kernels and copies.

_NO_TIME = marked("kernel: 0 ms")
_MOST_LIMIT_LINES = 3


class _TimeRow(NamedTuple):
    """The places of a name, of a bar, and of how many times as fast the program is."""

    name: Box
    bar: Box
    gain: Box


class _AmdahlPlan(NamedTuple):
    """The row of the headings, those of the kernels and of none, the lines below, and the width of a millisecond."""

    head: _TimeRow
    rows: list[_TimeRow]
    said: Box
    limits: list[Line]
    unit: float

    @classmethod
    def of(cls, case: AmdahlCase, options: ViewOptions) -> "_AmdahlPlan":
        room, style = options.room(120, 20), options.theme.plain
        each = (f"{n}:\u202f×\u202f{number(limit)}" for n, limit in case.limits)  # narrow spaces keep the parts together
        text = " ".join((tr("At most, by N:  ").rstrip(), *each))
        limits = wrapped("amdahl-limits", text, style, room.width, _MOST_LIMIT_LINES)
        sizes: list[float | Share] = [46, *[REST] * (len(case.names) + 1)]
        table, _, said = room.rows(REST, AIR, LINE_PITCH * style.size * len(limits))
        head, *rows = (_TimeRow(*row.columns(250, REST, 150)) for row in table.rows(*sizes))
        rows = [row._replace(bar=row.bar.bar()) for row in rows]
        return cls(head, rows, said, limits, head.bar.width / (case.kernel_ms[0] + case.copies_ms))


def amdahl_scene(case: AmdahlCase, options: ViewOptions) -> Scene:
    """Amdahl's law in recorded times: kernels get faster from row to row, the copies around them don't.

    Draw the names of the rows, the legend, and the limit at each recorded size.
    """
    theme, plan = options.theme, _AmdahlPlan.of(case, options)
    kernel, copies, _ = plan.head.bar.columns(170, 170, REST)
    primitives: list[Primitive] = [
        *swatch("amdahl-legend-0", kernel, tr("kernel"), theme.load, theme.soft),
        *swatch("amdahl-legend-1", copies, tr("copies"), _copies_colour(theme), theme.soft),
        write("amdahl-gain", plan.head.gain, tr("as fast"), theme.soft, "end"),
        *lines_down(plan.said, plan.limits),
    ]
    for place, (name, row) in enumerate(zip((*case.names, tr(_NO_TIME)), plan.rows, strict=True)):
        primitives.append(write(f"amdahl-name-{place}", row.name.trimmed(right=AIR), name, theme.plain))
    return titled(primitives, tr("Kernels and their copies, N = {n}", n=case.n), case.source, options)


def amdahl_motion(case: AmdahlCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the bars, the time of a kernel and then that of the copies: each kernel begins with the time of the slowest and
    shrinks to its own.
    """
    theme, plan, drawn = options.theme, _AmdahlPlan.of(case, options), list[Primitive]()
    times = (*case.kernel_ms, 0)
    for place, (row, own) in enumerate(zip(plan.rows, times, strict=True)):
        share = eased_in_turn(options.moment, place, len(times))
        shown = times[0] + (own - times[0]) * share
        kernel, copies = row.bar.columns(shown * plan.unit, case.copies_ms * plan.unit)
        drawn.append(Rects(f"amdahl-kernel-{place}", boxes(kernel), theme.load))
        drawn.append(Rects(f"amdahl-copies-{place}", boxes(copies), _copies_colour(theme)))
        if share >= 1 or place == 0:
            gain = case.gain(place) if place < len(case.names) else case.limit
            style = theme.strong.sized(theme.type.name)
            drawn.append(_times_of(case, place, own, (row.bar, kernel, copies), theme))
            drawn.append(write(f"amdahl-gain-{place}", row.gain, f"× {number(gain)}", style, "end"))
    return tuple(drawn)


def _times_of(case: AmdahlCase, place: int, kernel_ms: float, parts: tuple[Box, Box, Box], theme: Theme) -> Labels:
    """Write the times beside a bar, or on the larger part of one that leaves no space beside it."""
    text = tr("{kernel_ms} + {copies_ms} ms", kernel_ms=number(kernel_ms), copies_ms=number(case.copies_ms))
    (whole, kernel, copies), key, style = parts, f"amdahl-ms-{place}", theme.soft.sized(theme.type.note)
    if copies.right + style.width(text) + 2 * NEAR <= whole.right:
        return beside(key, copies, "right", text, style)
    is_kernel = kernel_ms >= case.copies_ms
    part, colour = (kernel, theme.load) if is_kernel else (copies, _copies_colour(theme))
    return write(key, part.inset(NEAR, 0), text, style.inked(theme.ink_on(colour)))


def _copies_colour(theme: Theme) -> str:
    return mixed(theme.slate, theme.text, PALE)


# Ladder: share of cuBLAS by kernel.

_NAMES = 190  # width of the names of rows


def ladder_scene(case: Ladder, options: ViewOptions) -> Scene:
    """The included kernels as rungs of a ladder: the share of cuBLAS that each reaches, and below it the counts that explain
    it.

    Draw the names of kernels and GPUs, and the counts. Bars are drawn by ``ladder_motion``.
    """
    theme, (heads, columns, rows) = options.theme, _ladder_rooms(case, options)
    small, strong = theme.small, theme.strong.sized(theme.type.note)
    texts = (
        ([each.number for each in case.rungs], strong, ""),
        ([each.word for each in case.rungs], small, ""),
        ([f"{each.sectors:.3g}" for each in case.rungs], strong, tr("sectors")),
        ([f"{each.wavefronts:.3g}" for each in case.rungs], strong, tr("wavefronts")),
    )
    drawn: list[Primitive] = []
    for place, (row, (values, style, name)) in enumerate(zip(rows, texts, strict=True)):
        boxes = [row._replace(x=column.x - 8, width=column.width + 16) for column in columns]
        drawn.append(write_all(f"ladder-row-{place}", boxes, values, style, "middle"))
        drawn.append(write(f"ladder-row-name-{place}", row._replace(width=_NAMES), name, theme.soft.sized(theme.type.note)))
    first = 0
    for base, group in groupby(case.rungs, key=lambda each: each.base):
        last = first + len(list(group)) - 1
        box = heads._replace(x=columns[first].x, width=columns[last].right - columns[first].x)
        drawn += [path(f"ladder-base-{first}", [box.at(0, 1), box.at(1, 1)], theme.faint, 2)]
        drawn.append(write(f"ladder-base-name-{first}", box, base, theme.soft.sized(theme.type.note), "middle"))
        first = last + 1
    note = tr("sectors and wavefronts for each multiply-add of a warp, counted at N = {n}", n=case.counted_at)
    return titled(drawn, tr("Share of cuBLAS, N = {n}", n=case.n), note, options)


def ladder_motion(case: Ladder, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the bars, one after another, with their shares."""
    theme, (_, columns, _), drawn = options.theme, _ladder_rooms(case, options), list[Primitive]()
    for place, (rung, column) in enumerate(zip(case.rungs, columns, strict=True)):
        share = eased_in_turn(options.moment, place, len(case.rungs))
        head, whole = column.rows(ROW_PITCH * theme.type.note, REST)
        bar = whole.columns(Share(1 - BAR), Share(2 * BAR), Share(1 - BAR))[1].part(down=(1 - share * rung.percent / 100, 1))
        drawn.append(round_boxes(f"ladder-bar-{place}", bar, theme.load))
        if share >= 1:
            above = Box(column.x - 10, bar.y - head.height, column.width + 20, head.height)
            style = theme.strong.sized(theme.type.note)
            drawn.append(write(f"ladder-share-{place}", above, percent(rung.percent / 100), style, "middle"))
    return tuple(drawn)


def _ladder_rooms(case: Ladder, options: ViewOptions) -> tuple[Box, list[Box], list[Box]]:
    """Return the row of the GPUs, the columns of the bars, and the rows below them."""
    line = ROW_PITCH * options.theme.type.note
    heads, bars, *rows = options.room(112, 24).rows(line, Share(1), line, line, line, line, gap=NEAR / 2)
    return heads, bars.trimmed(left=_NAMES).columns(*[REST] * len(case.rungs)), rows


# Rounding errors.

_BAR, _VALUE = 96, 250  # height of a bar; width of its value
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def rounding_scene(case: RoundingCase, options: ViewOptions) -> Scene:
    """The largest error of C in two runs, as bars on one scale, with the declarations in which their kernels differ.

    Draw what each kernel declares and the ground of its bar. Bars are drawn by ``rounding_motion``.
    """
    theme, pieces = options.theme, list[Primitive]()
    for place, (run, parts) in enumerate(zip((case.first, case.second), _bar_rooms(options), strict=False)):
        head, name, track, _ = parts
        other = case.second if place == 0 else case.first
        declared = listed(_own(run, other), "and") or run.kernel
        pieces += [
            write(f"declared-{place}", head, declared, theme.large._replace(face="mono")),
            write(f"kernel-{place}", name, run.kernel, theme.soft),
            round_boxes(f"track-{place}", track, theme.empty),
        ]
    sizes = case.problem.sizes
    note = tr(
        "{items}: C of the run compared with a product in float64",
        items=", ".join((f"{name} = {value}" for name, value in sizes.items())),
    )
    return titled(pieces, tr("Largest error of an element of {array}", array=case.second.check.array), note, options)


def rounding_motion(case: RoundingCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the bars as they grow, with the errors once they have grown."""
    theme, pieces, share = options.theme, list[Primitive](), options.way
    errors, rooms = (case.first.error, case.second.error), _bar_rooms(options)
    for place, (error, (_, _, track, _)) in enumerate(zip(errors, rooms, strict=False)):
        bar = track._replace(width=(track.width - _VALUE) * share * error / (max(errors) or 1))
        pieces.append(round_boxes(f"bar-{place}", bar, theme.load))
        if share >= 1:
            pieces.append(beside(f"error-{place}", bar, "right", error_text(error), theme.large, AIR))
    if share >= 1 and min(errors) > 0:
        text = tr(
            "{ratio} times as large; {elements} compared",
            ratio=counted(f"{max(errors) / min(errors):.3g}"),
            elements=many(case.second.check.compared, "element"),
        )
        pieces.append(write("ratio", rooms[2][0], text, theme.strong))
    return tuple(pieces)


def _own(run: RoundedRun, other: RoundedRun) -> list[str]:
    """Return the declarations of a kernel that the other one makes with another type."""
    others = {each.name: each.text for each in declarations(other.text)}
    return [each.text for each in declarations(run.text) if others.get(each.name, each.text) != each.text]


def error_text(error: float) -> str:
    """Return an error with two digits and a power of ten."""
    if not error:
        return "0"
    mantissa, _, exponent = f"{error:.1e}".partition("e")
    return f"{mantissa} · 10{str(int(exponent)).translate(_SUPERSCRIPT)}"


def _bar_rooms(options: ViewOptions) -> list[list[Box]]:
    """Return the rooms of both bars and of the sentence below them: a declaration, a name, the bar, and what is left."""
    rooms = options.room(150, 30).rows(Share(2), Share(2), REST)
    return [room.rows(52, 38, min(_BAR, max(room.height - 110, 20)), REST) for room in rooms]


# Profile: hardware counters.

_MEANINGS = {
    "global_load_requests": marked("loads from global memory, by warp"),
    "global_load_sectors": marked("sectors that they move"),
    "global_store_requests": marked("stores into global memory"),
    "global_store_sectors": marked("sectors that these move"),
    "shared_load_instructions": marked("loads from shared memory"),
    "shared_store_instructions": marked("stores into shared memory"),
    "shared_wavefronts": marked("passes over the banks"),
    "shared_wavefronts_ideal": marked("passes without conflicts"),
}


def profile_scene(case: Profile, options: ViewOptions) -> Scene:
    """A profile read: each hardware counter by its name in Nsight Compute, what it counts, its value, and that of the source.

    Draw the table, and below it the ratios that a reader of a profile looks at first.
    """
    theme = options.theme
    upper, lower = options.room(112).rows(Share(5), REST, gap=AIR)
    heads = (tr("what it counts"), "Nsight Compute", tr("recorded"), tr("from the source"))
    rows = [_profile_cells(row) for row in case.rows if row.name in _MEANINGS]
    drawn: list[Primitive] = [*table("profile", heads, rows, upper, theme, largest=theme.type.name)]
    texts = _ratios(case)
    for place, (text, box) in enumerate(zip(texts, lower.columns(*[REST] * max(1, len(texts)), gap=NEAR), strict=False)):
        drawn += lines_down(box, wrapped(f"profile-ratio-{place}", text, theme.large, box.width, 1))
    return titled(drawn, tr("Profile of {what}", what=case.what), case.source, options)


def _profile_cells(row: ProfileRow) -> list[TableCell]:
    differs = row.hardware != row.ours
    metric = TableCell(row.metric)
    return [
        TableCell(tr(_MEANINGS[row.name])),
        metric,
        TableCell(spaced(row.hardware), strong=True),
        TableCell(spaced(row.ours), strong=differs),
    ]


def _ratios(case: Profile) -> list[str]:
    """Return the sectors of a request, and how many of the wavefronts are needed."""
    requests, sectors = case.value("global_load_requests"), case.value("global_load_sectors")
    wavefronts, ideal = case.value("shared_wavefronts"), case.value("shared_wavefronts_ideal")
    texts = (
        [tr("{sectors} sectors for each load of a warp", sectors=f"{sectors / requests:.3g}")] if requests and sectors else []
    )
    if wavefronts and ideal:
        texts.append(tr("{share} of the wavefronts are needed", share=percent(ideal / wavefronts)))
    return texts


# Access times of the memories.

_INSET, _ACCESS_TIMES_WORD = 16, 26
_MEMORY_NAMES = {
    "register": marked("register"),
    "shared": marked("shared memory"),
    "constant": marked("constant, cached"),
    "L1": marked("global, found in L1"),
    "L2": marked("global, found in L2"),
    "DRAM": marked("global, from DRAM"),
}
_RINGS = (
    (marked("one thread, as long as it runs"), ("register",)),
    (marked("one block, as long as it runs"), ("shared",)),
    (marked("all threads and the host, as long as the program"), ("L1", "constant", "L2", "DRAM")),
)


class _AccessTimesPlan(NamedTuple):
    """``rows``: the box of each memory's row from no cycles to the ``most``, with the clock above them; ``rings``: boxes, each
    around all those before it, and their names; ``names``: the column of all words.
    """

    clock: Box
    rows: dict[str, Box]
    rings: list[tuple[str, Box]]
    names: Box
    most: float

    @classmethod
    def of(cls, case: AccessTimesCase, options: ViewOptions) -> "_AccessTimesPlan":
        by_name = {row.memory: row for row in case.times.rows}
        rings = [(name, [each for each in places if each in by_name]) for name, places in _RINGS]
        rings = [(name, rows) for name, rows in rings if rows]
        edge, foot = len(rings) * _INSET, ROW_PITCH * options.theme.type.least
        clock, room = options.room(130, 26).rows(52, REST)
        names, tracks, _ = room.trimmed(edge, edge, edge).columns(room.width / 5, REST, 150)
        sizes = list[float | Share]()
        for _, rows in rings:
            sizes += [*[REST] * len(rows), foot]
        parts = iter(tracks.rows(*sizes))
        found, around = dict[str, Box](), list[tuple[str, Box]]()
        for place, (name, rows) in enumerate(rings):
            found.update({memory: next(parts) for memory in rows})
            ring = room.inset((len(rings) - 1 - place) * _INSET)
            around.append((name, ring._replace(height=next(parts).bottom - ring.y)))
        clock = tracks._replace(y=clock.y, height=clock.height - 20)
        return cls(clock, found, around, names, max(row.cycles for row in case.times.rows))

    def at(self, memory: str, cycles: float) -> Point:
        return self.rows[memory].at(cycles / self.most)


def access_times_scene(case: AccessTimesCase, options: ViewOptions) -> Scene:
    """One word on its way from a thread to each memory, on a clock of cycles: it arrives when its measured time is over. Rings
    show who can access each memory, and for how long.

    Draw the rings, the rows, and the ticks of the clock. Words and the hand are drawn by ``access_times_motion``.
    """
    plan, theme = _AccessTimesPlan.of(case, options), options.theme
    pieces = list[Primitive]()
    for place, (name, box) in reversed(list(enumerate(plan.rings))):
        foot = box.strip("bottom", ROW_PITCH * theme.type.least)[0]._replace(x=plan.names.x)
        pieces.append(round_boxes(f"ring-{place}", box, theme.panel if place % 2 else theme.background, theme.line))
        pieces.append(write(f"ring-{place}-name", foot, tr(name), theme.aside))
    for row in case.times.rows:
        pieces += _memory_row(row, plan, options)
    step = next(step for step in (10, 20, 50, 100, 200, 500, 1000, 10_000) if plan.most / step <= 10)
    ticks = range(0, int(plan.most) + 1, step)
    pieces += ticks_along(
        "clock", plan.clock, [tick / plan.most for tick in ticks], [*map(grouped, ticks)], theme.aside, "bottom"
    )
    pieces.append(beside("clock-name", plan.clock, "right", tr("cycles"), theme.aside))
    other = "" if case.device == case.times.gpu.name else tr("; {device} was not measured", device=case.device)
    return titled(pieces, tr("How long one access takes"), case.times.source + other, options)


def access_times_motion(case: AccessTimesCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the hand of the clock, and each word on its way or in its memory, with its cycles once it has arrived."""
    plan, theme = _AccessTimesPlan.of(case, options), options.theme
    now, arrived = options.passed * plan.most, list[Primitive]()
    places = [plan.at(row.memory, min(now, row.cycles)) for row in case.times.rows]
    for row, place in zip(case.times.rows, places, strict=True):
        if now >= row.cycles:
            text = tr("{cycles} cycles", cycles=number(row.cycles))
            arrived.append(beside(f"cycles-{row.memory}", square(place, _ACCESS_TIMES_WORD), "right", text, theme.strong))
    x = plan.clock.at(options.passed)[0]
    hand = path("hand", [(x, plan.clock.bottom), (x, plan.rings[-1][1].bottom - 8)], theme.chosen, 2)
    return (*(() if options.arrived else (hand,)), squares("words", places, _ACCESS_TIMES_WORD, theme.load), *arrived)


def _memory_row(row: AccessTime, plan: _AccessTimesPlan, options: ViewOptions) -> list[Primitive]:
    """Draw the name of a memory, the way to it, and the memory at the end of it."""
    theme, track, end = options.theme, plan.rows[row.memory], plan.at(row.memory, row.cycles)
    name = plan.names.trimmed(right=_ACCESS_TIMES_WORD)._replace(y=track.y, height=track.height)
    return [
        write(f"name-{row.memory}", name, tr(_MEMORY_NAMES[row.memory]), theme.strong),
        path(f"way-{row.memory}", [track.at(0), end], theme.line),
        *memory(f"memory-{row.memory}", square(end, _ACCESS_TIMES_WORD + 12), theme),
    ]


# Latency against bandwidth.

_TRIP_WORD, _END = 34, 170  # a word; the width of memory and thread
_CELLS = 128  # at most this many cells stand for all words


class _TripPlan(NamedTuple):
    """The ``way`` of one word above, from memory to a thread in the ``upper`` part; below it the grid of words, ``per_cell``
    for each of the ``cells``.
    """

    upper: Box
    way: Box
    grid: Box
    per_cell: int
    cells: int

    @classmethod
    def of(cls, case: TripCase, options: ViewOptions) -> "_TripPlan":
        room = options.room(156, 30)
        per_cell = 2 ** max(0, int(np.ceil(np.log2(case.words / _CELLS))))
        upper, _, grid = room.rows(Share(2), 88, Share(4))
        return cls(upper, upper.inset(_END, 0), grid, per_cell, int(case.words // per_cell))


def trip_scene(case: TripCase, options: ViewOptions) -> Scene:
    """Latency against bandwidth: one word on its way from memory to a thread, and the words that memory can deliver until it
    arrives, in a grid that fills meanwhile.

    Draw memory, thread and the way between them, and what a cell of the grid stands for.
    """
    plan, theme = _TripPlan.of(case, options), options.theme
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
    plan, theme, share = _TripPlan.of(case, options), options.theme, options.passed
    track = square(plan.way.middle, plan.way.width - _TRIP_WORD, _TRIP_WORD)
    words = case.words if share >= 1 else share * plan.cells * plan.per_cell
    time, count = tr("{share} ns", share=number(share * case.trip_ns)), tr("{words} thousand words", words=number(words / 1000))
    return (
        squares("word", [track.at(share)], _TRIP_WORD, theme.load),
        _word_grid(plan, share, options),
        beside("time", track, "top", time, theme.large, anchor="middle"),
        beside("words-so-far", plan.grid, "top", count, theme.strong, AIR, "end"),
    )


def _word_grid(plan: _TripPlan, share: float, options: ViewOptions) -> Cells:
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


VIEWS = {
    "access_times": View(
        marked("Access times of the memories"), AccessTimesCase, access_times_scene, access_times_motion, order=312
    ),
    "amdahl": View(marked("Kernels and copies"), AmdahlCase, amdahl_scene, amdahl_motion, order=510),
    "ladder": View(marked("Ladder: share of cuBLAS by kernel"), Ladder, ladder_scene, ladder_motion, order=610),
    "profile": View(marked("Profile: hardware counters"), Profile, profile_scene, is_count=True, order=611),
    "rounding": View(marked("Rounding errors"), RoundingCase, rounding_scene, rounding_motion, order=511),
    "trip": View(marked("Latency against bandwidth"), TripCase, trip_scene, trip_motion, least=300, order=507),
}
