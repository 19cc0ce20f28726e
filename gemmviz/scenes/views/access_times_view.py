"""One word on its way from a thread to each memory, on a clock of cycles: it arrives when its measured time is over. Rings show
who can access each memory, and for how long.
"""

import numpy as np
from msgspec import Struct

from gemmviz.model.access_times import AccessTime, AccessTimesCase
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import number, spaced
from gemmviz.scenes.kit.frame import ARRIVAL, MARGIN, ViewOptions, titled
from gemmviz.scenes.kit.layout import Box, baseline, text_at
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, Scene, Squares, boxes, points
from gemmviz.scenes.kit.text import fitted, text_width
from gemmviz.scenes.kit.view import View

_TOP, _CLOCK, _INSET = 116.0, 66.0, 16.0
_NAMES = 0.2  # of the width: the names of the memories
_BEYOND = 150.0  # right of the slowest memory: its cycles
_WORD = 26.0
_NAMES_OF = {
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


class _Plan(Struct, frozen=True):
    """``rows``: the top of each memory's row by its place; ``rings``: boxes, each around all those before it; ``start``: x of
    no cycles; ``cycle``: units of one cycle.
    """

    rows: dict[str, float]
    pitch: float
    rings: tuple[tuple[str, Box], ...]
    start: float
    cycle: float

    @classmethod
    def of(cls, case: AccessTimesCase, options: ViewOptions) -> "_Plan":
        by_name = {row.memory: row for row in case.times.rows}
        rings = [(name, [by_name[each] for each in places if each in by_name]) for name, places in _RINGS]
        rings = [(name, rows) for name, rows in rings if rows]
        size, count = options.theme.type.least, len(case.times.rows)
        foot = 1.7 * size
        top, room = _TOP + _CLOCK, options.height - _TOP - _CLOCK - 26
        pitch = (room - len(rings) * (foot + _INSET)) / count
        wide, y = options.width - 2 * MARGIN, top + len(rings) * _INSET
        tops, found = dict[str, float](), []
        for place, (name, rows) in enumerate(rings):
            for row in rows:
                tops[row.memory] = y
                y += pitch
            y += foot
            inset = (len(rings) - 1 - place) * _INSET
            found.append((name, Box(MARGIN + inset, top + inset, wide - 2 * inset, y - top - inset)))
        start = MARGIN + len(rings) * _INSET + _NAMES * wide
        end = MARGIN + wide - len(rings) * _INSET - _BEYOND
        return cls(tops, pitch, tuple(found), start, (end - start) / max(row.cycles for row in case.times.rows))

    def x(self, cycles: float) -> float:
        return self.start + cycles * self.cycle


def access_times_scene(case: AccessTimesCase, options: ViewOptions) -> Scene:
    """Draw the rings, the rows, and the ticks of the clock. Words and the hand are drawn by ``access_times_motion``."""
    plan, theme = _Plan.of(case, options), options.theme
    size, pieces = theme.type.least, list[Primitive]()
    for place, (name, box) in reversed(list(enumerate(plan.rings))):
        fill = theme.panel if place % 2 else theme.background
        pieces.append(Rects(f"ring-{place}", boxes(box), fill, theme.line, 2.0, 14.0))
        at = (MARGIN + len(plan.rings) * _INSET + 8, box.bottom - 0.55 * size)
        pieces.append(text_at(f"ring-{place}-name", at, tr(name), size, theme.faint))
    for row in case.times.rows:
        pieces += _row(row, plan, options)
    other = "" if case.device == case.times.gpu.name else tr("; {device} was not measured", device=case.device)
    return titled([*pieces, *_ticks(case, plan, options)], tr("How long one access takes"), case.times.source + other, options)


def access_times_motion(case: AccessTimesCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the hand of the clock, and each word on its way or in its memory, with its cycles once it has arrived."""
    plan, theme = _Plan.of(case, options), options.theme
    now = min(1.0, options.moment / ARRIVAL) * max(row.cycles for row in case.times.rows)
    bottom = plan.rings[-1][1].y + plan.rings[-1][1].height
    hand = boxes((plan.x(now), _TOP + _CLOCK - 22, plan.x(now), bottom - 8))
    places = [(plan.x(min(now, row.cycles)) - _WORD / 2, _middle(plan, row) - _WORD / 2, _WORD) for row in case.times.rows]
    colours = (theme.load,)
    words = Squares("words", np.array(places), np.zeros(len(places), np.uint8), colours, colours)
    size = theme.type.words
    arrived = [
        text_at(
            f"cycles-{row.memory}",
            (plan.x(row.cycles) + _WORD / 2 + 12, baseline(_middle(plan, row), size)),
            tr("{cycles} cycles", cycles=number(row.cycles)),
            size,
            theme.text,
            "start",
            "semibold",
        )
        for row in case.times.rows
        if now >= row.cycles
    ]
    on_the_way = () if options.arrived else (Lines("hand", hand, theme.chosen, 2.0),)
    return (*on_the_way, words, *arrived)


def _middle(plan: _Plan, row: AccessTime) -> float:
    return plan.rows[row.memory] + plan.pitch / 2


def _row(row: AccessTime, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the name of a memory, the way to it, and the memory at the end of it."""
    theme, size, y = options.theme, options.theme.type.words, _middle(plan, row)
    left = MARGIN + len(plan.rings) * _INSET + 8
    name = fitted(tr(_NAMES_OF[row.memory]), size, plan.start - left - _WORD)
    side = _WORD + 12
    box = boxes((plan.x(row.cycles) - side / 2, y - side / 2, side, side))
    return [
        text_at(f"name-{row.memory}", (left, baseline(y, size)), name, size, theme.text, "start", "semibold"),
        Lines(f"way-{row.memory}", boxes((plan.start, y, plan.x(row.cycles), y)), theme.line, 3.0),
        Rects(f"memory-{row.memory}", box, theme.slate, theme.faint, 2.0, 5.0),
    ]


def _ticks(case: AccessTimesCase, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the clock above the rows: cycles, at even distances."""
    theme, size = options.theme, options.theme.type.least
    most = max(row.cycles for row in case.times.rows)
    step = next(step for step in (10, 20, 50, 100, 200, 500, 1000, 10_000) if most / step <= 10)
    ticks = [float(tick) for tick in range(0, int(most) + 1, step)]
    y = _TOP + _CLOCK - 30
    at = points(*((plan.x(tick), y) for tick in ticks))
    marks = boxes(*((plan.x(tick), y + 8, plan.x(tick), y + 18) for tick in ticks))
    texts = tuple(spaced(int(tick)) for tick in ticks)
    last = plan.x(ticks[-1]) + text_width(texts[-1], size) / 2 + 14
    return [
        Labels("clock", at, texts, size, theme.faint, "middle"),
        Lines("clock-marks", marks, theme.faint, 2.0),
        text_at("clock-name", (last, y), tr("cycles"), size, theme.faint),
    ]


VIEW = View(marked("Access times of the memories"), AccessTimesCase, access_times_scene, access_times_motion, order=51)
