"""One word on its way from a thread to each memory, on a clock of cycles: it arrives when its measured time is over. Rings show
who can access each memory, and for how long.
"""

from typing import NamedTuple

from gemmviz.model.recording import AccessTime, AccessTimesCase
from gemmviz.model.translation import grouped, marked, number, tr
from gemmviz.scenes.kit.hardware import memory
from gemmviz.scenes.kit.layout import (
    REST,
    ROW_PITCH,
    Box,
    Point,
    Share,
    beside,
    path,
    round_boxes,
    square,
    squares,
    ticks_along,
    write,
)
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.view import View, ViewOptions, titled

_INSET, _WORD = 16, 26
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


class _Plan(NamedTuple):
    """``rows``: the box of each memory's row from no cycles to the ``most``, with the clock above them; ``rings``: boxes, each
    around all those before it, and their names; ``names``: the column of all words.
    """

    clock: Box
    rows: dict[str, Box]
    rings: list[tuple[str, Box]]
    names: Box
    most: float

    @classmethod
    def of(cls, case: AccessTimesCase, options: ViewOptions) -> "_Plan":
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
    """Draw the rings, the rows, and the ticks of the clock. Words and the hand are drawn by ``access_times_motion``."""
    plan, theme = _Plan.of(case, options), options.theme
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
    plan, theme = _Plan.of(case, options), options.theme
    now, arrived = options.passed * plan.most, list[Primitive]()
    places = [plan.at(row.memory, min(now, row.cycles)) for row in case.times.rows]
    for row, place in zip(case.times.rows, places, strict=True):
        if now >= row.cycles:
            text = tr("{cycles} cycles", cycles=number(row.cycles))
            arrived.append(beside(f"cycles-{row.memory}", square(place, _WORD), "right", text, theme.strong))
    x = plan.clock.at(options.passed)[0]
    hand = path("hand", [(x, plan.clock.bottom), (x, plan.rings[-1][1].bottom - 8)], theme.chosen, 2)
    return (*(() if options.arrived else (hand,)), squares("words", places, _WORD, theme.load), *arrived)


def _memory_row(row: AccessTime, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the name of a memory, the way to it, and the memory at the end of it."""
    theme, track, end = options.theme, plan.rows[row.memory], plan.at(row.memory, row.cycles)
    name = plan.names.trimmed(right=_WORD)._replace(y=track.y, height=track.height)
    return [
        write(f"name-{row.memory}", name, tr(_MEMORY_NAMES[row.memory]), theme.strong),
        path(f"way-{row.memory}", [track.at(0), end], theme.line),
        *memory(f"memory-{row.memory}", square(end, _WORD + 12), theme),
    ]


VIEW = View(marked("Access times of the memories"), AccessTimesCase, access_times_scene, access_times_motion, order=312)
