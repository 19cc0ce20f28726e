"""Changing between warps, whose registers all stay in place, beside a CPU core that saves one thread's registers in memory and
restores another's. The warps are those that occupancy allows; both strips are a model without times, in which no warp waits.
"""

from typing import NamedTuple

import numpy as np

from gemmviz.analysis.models.time import hiding_of
from gemmviz.model.device import REGISTER_BYTES, OccupancyCase
from gemmviz.model.translation import many, marked, size_text, tr
from gemmviz.scenes.kit.hardware import memory, named_memory
from gemmviz.scenes.kit.layout import AIR, NEAR, REST, Box, Share, all_beside, beside, round_boxes, tag, write_all
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import View, ViewOptions, eased, titled

_COLUMNS, _MOST_WARPS, _THREADS = 4, 16, 4
_RUN, _CHANGE = 1, 0.8  # lengths in the CPU's model: between two changes, and of a change; of no machine
_TIME = _THREADS * _RUN + (_THREADS - 1) * _CHANGE
_STRIP_NAMES = 190  # width of the names of the strips


class _Plan(NamedTuple):
    """The registers of a scheduler's warps at the left, registers and memory of a CPU core at the right, the strips below."""

    warps: Box
    registers: Box
    memory: Box
    strips: Box

    @classmethod
    def of(cls, options: ViewOptions) -> "_Plan":
        upper, _, below = options.room(160, 30).rows(REST, 30, 150)
        left, right = upper.columns(REST, REST, gap=60)
        registers, _, memory = right.rows(Share(9), Share(4), Share(12))
        return cls(left, registers, memory, below.trimmed(left=_STRIP_NAMES))

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
    shown = min(hiding.warps, _MOST_WARPS)
    pieces: list[Primitive] = [
        beside("warps-name", plan.warps, "top", _warps_title(case, hiding.warps), theme.strong, AIR),
        beside("cpu-name", plan.registers, "top", tr("one CPU core: one set of registers"), theme.strong, AIR),
        *memory("warps-box", plan.warps, theme),
        *named_memory("registers-box", plan.registers, tr("registers"), theme, style=theme.small),
        *named_memory("memory-box", plan.memory, tr("memory: the registers of threads that wait"), theme, style=theme.small),
    ]
    for place in range(shown):
        colour, name = theme.warps[place % len(theme.warps)], tr("warp {place}", place=place)
        pieces += tag(f"warp-{place}", plan.warp(place, shown), name, colour, theme)
    pieces.append(round_boxes("slots", [*map(plan.saved, range(_THREADS)), plan.loaded], None, theme.faint))
    note = tr("a model of what a change consists of: how long it takes, and waiting for memory, are left out")
    return titled(pieces, tr("Changing warps on {device}, and threads on a CPU", device=case.device.name), note, options)


def switch_motion(case: OccupancyCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw which warp issues, where the registers of each CPU thread are, and both strips of time so far."""
    plan, theme = _Plan.of(options), options.theme
    now = _TIME * options.passed
    shown = min(hiding_of(case).warps, _MOST_WARPS)
    pieces: list[Primitive] = []
    if shown:
        here = plan.warp(min(int(now), int(np.ceil(_TIME)) - 1) % shown, shown)
        pieces.append(round_boxes("cursor", here.inset(-4), None, theme.chosen, 5))
    for thread, place in enumerate(_threads(plan, now)):
        pieces += tag(f"thread-{thread}", place, tr("thread {thread}", thread=thread), theme.warps[thread], theme)
    return (*pieces, *_time_strips(plan, now, shown, theme))


def _warps_title(case: OccupancyCase, warps: int) -> str:
    registers = case.needs.registers
    each = (
        ""
        if registers is None
        else tr(", {registers} of registers each", registers=size_text(registers * case.device.warp_size * REGISTER_BYTES))
    )
    return tr("one scheduler: {warps}{each}", warps=many(warps, "warp"), each=each)


def _threads(plan: _Plan, now: float) -> list[Box]:
    """Return where the registers of each CPU thread are: in memory, in the core, or on their way."""
    turn, passed = divmod(now, _RUN + _CHANGE)
    current, share = int(turn), max(0, (passed - _RUN) / _CHANGE)
    save, restore = eased(min(1, 2 * share)), eased(max(0, 2 * share - 1))
    places, core = [plan.saved(thread) for thread in range(_THREADS)], plan.loaded
    places[current] = core.towards(places[current], save)
    if current + 1 < _THREADS:
        places[current + 1] = places[current + 1].towards(core, restore)
    return places


def _time_strips(plan: _Plan, now: float, shown: int, theme: Theme) -> list[Primitive]:
    """Draw both strips of time up to ``now``: the scheduler goes from warp to warp, the core saves and restores between
    threads.
    """
    upper, _, lower, _ = plan.strips.rows(Share(9), Share(4), Share(9), Share(3))
    turns = [(at, at + 1, at % max(1, shown)) for at in range(int(np.ceil(_TIME)))] if shown else []
    starts = [thread * (_RUN + _CHANGE) for thread in range(_THREADS)]
    pieces: list[Primitive] = []
    for key, row, parts in (("gpu", upper, turns), ("cpu", lower, [(at, at + _RUN, n) for n, at in enumerate(starts)])):
        for place, (start, stop, number) in enumerate(parts):
            if start < min(now, _TIME):
                part = row.part((start / _TIME, min(stop, now, _TIME) / _TIME)).inset(1, 0)
                pieces.append(round_boxes(f"{key}-{place}", part, theme.warps[number % len(theme.warps)]))
    changes = [(at + _RUN, min(at + _RUN + _CHANGE, now)) for at in starts[:-1] if at + _RUN < now]
    if changes:
        words, bars = tr("save, restore"), [lower.part((start / _TIME, stop / _TIME)).inset(1, 0) for start, stop in changes]
        named = [bar for bar in bars if bar.width > theme.small.width(words) + 8]
        pieces.append(round_boxes("changes", bars, None, theme.warning))
        pieces.append(write_all("changes-names", named, [words] * len(named), theme.small, "middle"))
    return [*pieces, all_beside("strips", [upper, lower], "left", [tr("scheduler"), tr("CPU core")], theme.small, NEAR)]


VIEW = View(marked("Changing warps, beside a CPU"), OccupancyCase, switch_scene, switch_motion, order=209)
