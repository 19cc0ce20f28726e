"""Changing between warps, whose registers all stay in place, beside a CPU core that saves one thread's registers in memory and
restores another's. The warps are those that occupancy allows; both strips are a model without times, in which no warp waits.
"""

from typing import NamedTuple

import numpy as np

from gemmviz.analysis.models.time import hiding_of
from gemmviz.model.device import REGISTER_BYTES, OccupancyCase
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import many, size_text
from gemmviz.scenes.kit.frame import ARRIVAL, ViewOptions, eased, titled
from gemmviz.scenes.kit.layout import REST, Box, baseline, text_at, text_in
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import View

_TOP, _GAP, _HEAD, _STRIPS = 116.0, 60.0, 44.0, 190.0
_COLUMNS, _MOST_WARPS, _THREADS = 4, 16, 4
_RUN, _CHANGE = 1.0, 0.8  # lengths in the CPU's model: between two changes, and of a change; of no machine
_TIME = _THREADS * _RUN + (_THREADS - 1) * _CHANGE
_NAMES = 190.0  # width of the names of the strips


class _Plan(NamedTuple):
    """The registers of a scheduler's warps at the left, registers and memory of a CPU core at the right, the strips below."""

    warps: Box
    registers: Box
    memory: Box
    strips: Box

    @classmethod
    def of(cls, options: ViewOptions) -> "_Plan":
        room = options.room(_TOP + _HEAD, _STRIPS + 20)
        left, right = room.columns(REST, REST, gap=_GAP)
        registers, memory = right.part(down=(0.0, 0.36)), right.part(down=(0.52, 1.0))
        strips = Box(room.x + _NAMES, room.bottom + 30, room.width - _NAMES, _STRIPS - 40)
        return cls(left, registers, memory, strips)

    def warp(self, place: int, count: int) -> Box:
        """Return the box of a warp's registers."""
        return self.warps.inset(12).grid(-(-count // _COLUMNS), min(_COLUMNS, count))[place].inset(5)

    def saved(self, thread: int) -> Box:
        """Return the box of a thread's registers in memory."""
        return self.memory.trimmed(12, 52, 12, 12).grid(1, _THREADS)[thread].inset(5, 0)

    @property
    def loaded(self) -> Box:
        """The box of a thread's registers in the core."""
        box, inner = self.saved(0), self.registers.trimmed(12, 12, 17, 12)
        return Box(inner.right - box.width, inner.y, box.width, min(box.height, inner.height))


def switch_scene(case: OccupancyCase, options: ViewOptions) -> Scene:
    """Draw the registers of both, empty on the side of the CPU, and the names."""
    plan, theme, hiding = _Plan.of(options), options.theme, hiding_of(case)
    size, y = theme.type.words, _TOP + 0.9 * theme.type.words
    shown, wide = min(hiding.warps, _MOST_WARPS), plan.warps.width
    colours = [theme.warps[place % len(theme.warps)] for place in range(shown)]
    pieces: list[Primitive] = [
        text_line("warps-name", (plan.warps.x, y), _warps_title(case, hiding.warps), size, wide, theme.text, "semibold"),
        text_line(
            "cpu-name", (plan.registers.x, y), tr("one CPU core: one set of registers"), size, wide, theme.text, "semibold"
        ),
        *_box("warps", plan.warps, "", options),
        *_box("registers", plan.registers, tr("registers"), options),
        *_box("memory", plan.memory, tr("memory: the registers of threads that wait"), options),
    ]
    for place, colour in enumerate(colours):
        pieces += _state(f"warp-{place}", plan.warp(place, shown), tr("warp {place}", place=place), colour, theme)
    empty = boxes(*(plan.saved(thread) for thread in range(_THREADS)), plan.loaded)
    pieces.append(Rects("slots", empty, None, theme.faint, 1.5, 6.0))
    note = tr("a model of what a change consists of: how long it takes, and waiting for memory, are left out")
    return titled(pieces, tr("Changing warps on {device}, and threads on a CPU", device=case.device.name), note, options)


def switch_motion(case: OccupancyCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw which warp issues, where the registers of each CPU thread are, and both strips of time so far."""
    plan, theme = _Plan.of(options), options.theme
    now = _TIME * min(1.0, options.moment / ARRIVAL)
    shown = min(hiding_of(case).warps, _MOST_WARPS)
    pieces: list[Primitive] = []
    if shown:
        here = plan.warp(min(int(now), int(np.ceil(_TIME)) - 1) % shown, shown)
        pieces.append(Rects("cursor", boxes(here.inset(-4)), None, theme.chosen, 5.0, 9.0))
    for thread, place in enumerate(_threads(plan, now)):
        pieces += _state(f"thread-{thread}", place, tr("thread {thread}", thread=thread), theme.warps[thread], theme)
    return (*pieces, *_strips(plan, now, shown, theme))


def _warps_title(case: OccupancyCase, warps: int) -> str:
    registers = case.needs.registers
    each = (
        ""
        if registers is None
        else tr(", {registers} of registers each", registers=size_text(registers * case.device.warp_size * REGISTER_BYTES))
    )
    return tr("one scheduler: {warps}{each}", warps=many(warps, "warp"), each=each)


def _box(key: str, box: Box, name: str, options: ViewOptions) -> list[Primitive]:
    theme, size = options.theme, options.theme.type.least
    at = (box.x + 16, box.y + 1.5 * size)
    pieces: list[Primitive] = [Rects(f"{key}-box", boxes(box), theme.slate, theme.faint, 2.0, 10.0)]
    return [*pieces, text_at(f"{key}-box-name", at, name, size, theme.text)] if name else pieces


def _state(key: str, box: Box, name: str, colour: str, theme: Theme) -> list[Primitive]:
    """Draw the registers of a warp or a thread, with its name where there is room."""
    size = theme.type.least
    pieces: list[Primitive] = [Rects(key, boxes(box), colour, radius=6.0)]
    if text_width(name, size) + 8 <= box.width and 1.2 * size <= box.height:
        pieces.append(text_in(f"{key}-name", box, name, size, theme.ink_on(colour)))
    return pieces


def _threads(plan: _Plan, now: float) -> list[Box]:
    """Return where the registers of each CPU thread are: in memory, in the core, or on their way."""
    turn, passed = divmod(now, _RUN + _CHANGE)
    current, share = int(turn), max(0.0, (passed - _RUN) / _CHANGE)
    save, restore = float(eased(min(1.0, 2 * share))), float(eased(max(0.0, 2 * share - 1.0)))
    places, core = [plan.saved(thread) for thread in range(_THREADS)], plan.loaded
    places[current] = core.towards(places[current], save)
    if current + 1 < _THREADS:
        places[current + 1] = places[current + 1].towards(core, restore)
    return places


def _strips(plan: _Plan, now: float, shown: int, theme: Theme) -> list[Primitive]:
    """Draw what both have done so far: the scheduler goes from warp to warp, the core saves and restores between threads."""
    box, size = plan.strips, theme.type.least
    upper, lower, unit = box.part(down=(0.0, 0.36)), box.part(down=(0.52, 0.88)), box.width / _TIME
    turns = [(float(at), float(at + 1), at % max(1, shown)) for at in range(int(np.ceil(_TIME)))] if shown else []
    runs = [(thread * (_RUN + _CHANGE), thread * (_RUN + _CHANGE) + _RUN, thread) for thread in range(_THREADS)]
    changes = [(stop, stop + _CHANGE) for _, stop, _ in runs[:-1]]
    pieces: list[Primitive] = []
    for key, row, parts in (("gpu", upper, turns), ("cpu", lower, runs)):
        for place, (start, stop, number) in enumerate(parts):
            wide = (min(stop, now, _TIME) - start) * unit
            if wide > 0:
                part = row.shifted(start * unit + 1)._replace(width=max(1.0, wide - 2))
                pieces.append(Rects(f"{key}-{place}", boxes(part), theme.warps[number % len(theme.warps)], radius=3.0))
    gaps = [(start, min(stop, now)) for start, stop in changes if start < now]
    words = tr("save, restore")
    if gaps:
        bars = [lower.shifted(start * unit)._replace(width=(stop - start) * unit).inset(1, 0) for start, stop in gaps]
        pieces.append(Rects("changes", boxes(*bars), None, theme.warning, 2.0, 3.0))
        middles = [bar.middle_x for bar in bars if bar.width + 2 > text_width(words, size) + 8]
        at = points(*((x, baseline(lower.middle_y, size)) for x in middles))
        pieces.append(Labels("changes-names", at, (words,) * len(middles), size, theme.text, "middle"))
    names = points(*((row.x - 14, baseline(row.middle_y, size)) for row in (upper, lower)))
    return [*pieces, Labels("strips", names, (tr("scheduler"), tr("CPU core")), size, theme.text, "end")]


VIEW = View(marked("Changing warps, beside a CPU"), OccupancyCase, switch_scene, switch_motion, order=61)
