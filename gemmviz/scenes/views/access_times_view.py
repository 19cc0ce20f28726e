"""One word on its way from a thread to each memory, on a clock of cycles: it arrives when its measured time is over. Rings show
who can access each memory, and for how long.
"""

from typing import NamedTuple

from gemmviz.model.access_times import AccessTime, AccessTimesCase
from gemmviz.model.translation import grouped, marked, tr
from gemmviz.model.words import number
from gemmviz.scenes.kit.frame import ARRIVAL, ViewOptions, titled
from gemmviz.scenes.kit.layout import REST, Box, Point, Share, baseline, path, square, squares, text_at
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, Scene, boxes, points
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


class _Plan(NamedTuple):
    """``rows``: the box of each memory's row from no cycles to the most; ``rings``: boxes, each around all those before it, and
    their names; ``most``: the cycles at the end of a row; ``left``: where words begin.
    """

    rows: dict[str, Box]
    rings: list[tuple[str, Box]]
    most: float
    left: float

    @classmethod
    def of(cls, case: AccessTimesCase, options: ViewOptions) -> "_Plan":
        by_name = {row.memory: row for row in case.times.rows}
        rings = [(name, [each for each in places if each in by_name]) for name, places in _RINGS]
        rings = [(name, rows) for name, rows in rings if rows]
        edge, foot = len(rings) * _INSET, 1.7 * options.theme.type.least
        room = options.room(_TOP + _CLOCK, 26)
        inner = room.trimmed(edge + _NAMES * room.width, edge, edge + _BEYOND)
        heights = list[float | Share]()
        for _, rows in rings:
            heights += [*[REST] * len(rows), foot]
        parts = iter(inner.rows(*heights))
        found, around = dict[str, Box](), list[tuple[str, Box]]()
        for place, (name, rows) in enumerate(rings):
            found.update({memory: next(parts) for memory in rows})
            ring = room.inset((len(rings) - 1 - place) * _INSET)
            around.append((name, ring._replace(height=next(parts).bottom - ring.y)))
        return cls(found, around, max(row.cycles for row in case.times.rows), room.x + edge + 8)

    def at(self, memory: str, cycles: float) -> Point:
        return self.rows[memory].at(cycles / self.most)

    def x(self, cycles: float) -> float:
        return next(iter(self.rows.values())).at(cycles / self.most)[0]


def access_times_scene(case: AccessTimesCase, options: ViewOptions) -> Scene:
    """Draw the rings, the rows, and the ticks of the clock. Words and the hand are drawn by ``access_times_motion``."""
    plan, theme = _Plan.of(case, options), options.theme
    size, pieces = theme.type.least, list[Primitive]()
    for place, (name, box) in reversed(list(enumerate(plan.rings))):
        fill = theme.panel if place % 2 else theme.background
        pieces.append(Rects(f"ring-{place}", boxes(box), fill, theme.line, 2.0, 14.0))
        pieces.append(text_at(f"ring-{place}-name", (plan.left, box.bottom - 0.55 * size), tr(name), size, theme.faint))
    for row in case.times.rows:
        pieces += _row(row, plan, options)
    other = "" if case.device == case.times.gpu.name else tr("; {device} was not measured", device=case.device)
    return titled([*pieces, *_ticks(plan, options)], tr("How long one access takes"), case.times.source + other, options)


def access_times_motion(case: AccessTimesCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the hand of the clock, and each word on its way or in its memory, with its cycles once it has arrived."""
    plan, theme = _Plan.of(case, options), options.theme
    now = min(1.0, options.moment / ARRIVAL) * plan.most
    size, x = theme.type.words, plan.x(now)
    places = [plan.at(row.memory, min(now, row.cycles)) for row in case.times.rows]
    arrived = [
        text_at(
            f"cycles-{row.memory}",
            (x + _WORD / 2 + 12, baseline(y, size)),
            tr("{cycles} cycles", cycles=number(row.cycles)),
            size,
            theme.text,
            "start",
            "semibold",
        )
        for row, (x, y) in zip(case.times.rows, places, strict=True)
        if now >= row.cycles
    ]
    hand = path("hand", [(x, _TOP + _CLOCK - 22), (x, plan.rings[-1][1].bottom - 8)], theme.chosen, 2.0)
    return (*(() if options.arrived else (hand,)), squares("words", places, _WORD, theme.load), *arrived)


def _row(row: AccessTime, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the name of a memory, the way to it, and the memory at the end of it."""
    theme, size, start, end = options.theme, options.theme.type.words, plan.at(row.memory, 0.0), plan.at(row.memory, row.cycles)
    name = fitted(tr(_NAMES_OF[row.memory]), size, start[0] - plan.left - _WORD)
    at = plan.left, baseline(start[1], size)
    return [
        text_at(f"name-{row.memory}", at, name, size, theme.text, "start", "semibold"),
        path(f"way-{row.memory}", [start, end], theme.line),
        Rects(f"memory-{row.memory}", boxes(square(end, _WORD + 12)), theme.slate, theme.faint, 2.0, 5.0),
    ]


def _ticks(plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the clock above the rows: cycles, at even distances."""
    theme, size = options.theme, options.theme.type.least
    most = plan.most
    step = next(step for step in (10, 20, 50, 100, 200, 500, 1000, 10_000) if most / step <= 10)
    ticks = [float(tick) for tick in range(0, int(most) + 1, step)]
    y = _TOP + _CLOCK - 30
    at = points(*((plan.x(tick), y) for tick in ticks))
    marks = boxes(*((plan.x(tick), y + 8, plan.x(tick), y + 18) for tick in ticks))
    texts = tuple(grouped(int(tick)) for tick in ticks)
    last = plan.x(ticks[-1]) + text_width(texts[-1], size) / 2 + 14
    return [
        Labels("clock", at, texts, size, theme.faint, "middle"),
        Lines("clock-marks", marks, theme.faint, 2.0),
        text_at("clock-name", (last, y), tr("cycles"), size, theme.faint),
    ]


VIEW = View(marked("Access times of the memories"), AccessTimesCase, access_times_scene, access_times_motion, order=51)
