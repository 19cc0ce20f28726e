"""Views of what many warps are for: hiding latency, and changing without saving registers."""

from typing import NamedTuple

import numpy as np

from gemmviz.analysis.models import BUSY, CYCLES, LATENCY, Hiding, hiding_of, what_ifs
from gemmviz.model.device import REGISTER_BYTES, OccupancyCase
from gemmviz.model.messages import many, marked, size_text, sized, tr
from gemmviz.scenes.kit.chart import what_if_curve
from gemmviz.scenes.kit.layout import (
    AIR,
    LINE_PITCH,
    NAMED,
    NEAR,
    REST,
    Box,
    Share,
    all_beside,
    beside,
    path,
    round_boxes,
    tag,
    ticks_along,
    write,
    write_all,
)
from gemmviz.scenes.kit.primitives import Primitive, Rects, Scene, boxes, label_step
from gemmviz.scenes.kit.shapes import memory, named_memory
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import View, ViewOptions, eased, titled

# Latency hiding (model).

_MOST_ROWS, _TALLEST = 16, 168  # rows of warps, and the height of one
_NAMES_ROOM, _LEAVES = 118, 16  # width of the names beside them; right of the last number of the axis
_WAITING = marked("waits for memory")


class _LatencyPlan(NamedTuple):
    """The regions of a frame, from above: the rows of the warps, the scheduler, the sentence, and the curve."""

    rows: list[Box]
    line: Box
    said: Box
    below: Box

    @classmethod
    def of(cls, hiding: Hiding, options: ViewOptions) -> "_LatencyPlan":
        room, theme = options.room(116, 26).trimmed(left=_NAMES_ROOM, right=options.lacking(_LEAVES)), options.theme
        shown = max(1, min(hiding.warps, _MOST_ROWS))
        rows, _, line, _, said, _, below = room.rows(
            Share(7), 12, min(44, room.height / 12), 2 * LINE_PITCH * theme.type.least,
            LINE_PITCH * theme.strong.size, 16, Share(3), gap=4,
        )  # fmt: skip
        return cls(rows._replace(height=min(rows.height, shown * _TALLEST)).grid(shown, 1), line, said, below)


def latency_scene(case: OccupancyCase, options: ViewOptions) -> Scene:
    """Latency hiding: the warps of one scheduler over time, issuing or waiting. Drag the number of threads to change the
    number of warps.

    Draw the empty strip of the scheduler and the curve of values to try.
    """
    hiding, theme = hiding_of(case), options.theme
    regions = _LatencyPlan.of(hiding, options)
    note = tr(
        "model: a warp issues for {busy} cycles, then waits {latency} for memory; {block}",
        busy=BUSY,
        latency=LATENCY,
        block=_needs_of(case),
    )
    title = tr(
        "Latency hiding: {warps} on one scheduler of {device}", warps=many(hiding.warps, "warp"), device=case.device.name
    )
    line, cycles = regions.line, range(0, CYCLES + 1, LATENCY)
    under = line._replace(y=line.bottom + 12, height=theme.type.least)
    pieces: list[Primitive] = [
        Rects("scheduler-track", boxes(line), theme.empty),
        beside("scheduler", line, "left", tr("issues"), theme.small),
        *ticks_along("cycles", line, [cycle / CYCLES for cycle in cycles], [*map(str, cycles)], theme.aside),
        beside("cycles-name", under, "left", tr("cycles"), theme.aside),
    ]
    threads = what_ifs(case.device, case.needs)[0]
    if regions.below.height > 100:
        pieces += what_if_curve(threads, case, regions.below, options, has_scale=True)
    return titled(pieces, title, note, options)


def latency_motion(case: OccupancyCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw a row for each warp and the scheduler's until the share ``moment`` of the cycles, with a cursor there and the name
    of the warp that issues; then the share in which the scheduler issues.
    """
    hiding, theme = hiding_of(case), options.theme
    regions, until = _LatencyPlan.of(hiding, options), CYCLES * options.moment
    pieces = [*_warp_rows(hiding, regions.rows, until, theme), *_scheduler(hiding, regions.line, until, theme)]
    if options.moment < 1:
        line = regions.line.part((options.moment, options.moment))
        cursor = path("cursor", [(line.x, regions.rows[0].y - 6), (line.x, line.bottom)], theme.text, 2)
        return (*pieces, *_warp_names(hiding, regions.rows, _issuing(hiding, until), theme), cursor)
    pieces += _warp_names(hiding, regions.rows, None, theme)
    return (*pieces, write("latency-said", regions.said, hiding.sentence, theme.strong))


def _needs_of(case: OccupancyCase) -> str:
    """Return the resources of a block that the model takes: tried ones, or the kernel's own."""
    needs = case.needs
    registers = "" if needs.registers is None else tr(", {registers} each", registers=sized(needs.registers, "register"))
    shared = (
        tr(", {shared_bytes} KiB shared", shared_bytes=f"{needs.shared_bytes / 1024:.3g}")
        if needs.shared_bytes
        else tr(", none shared")
    )
    return (
        tr(
            "tried: {threads} a block{registers}{shared}",
            threads=sized(needs.threads, "thread"),
            registers=registers,
            shared=shared,
        )
        if case.is_tried
        else tr(
            "the kernel: {threads} a block{registers}{shared}",
            threads=sized(needs.threads, "thread"),
            registers=registers,
            shared=shared,
        )
    )


def _warp_rows(hiding: Hiding, rows: list[Box], until: float, theme: Theme) -> list[Primitive]:
    """Draw a row for each warp: a block of its colour where it issues, a thin bar where it waits, named where there is room."""
    pieces, name = list[Primitive](), tr(_WAITING)
    for warp, whole in enumerate(rows[: hiding.warps]):
        row = whole.trimmed(bottom=whole.height / 4)
        thin = row.grid(3, 1)[1]
        starts = [start for start in hiding.busy[warp].tolist() if 0 <= start < until]
        ends = [(s + BUSY, min(s + BUSY + LATENCY, until)) for s in starts if s + BUSY < until]
        waits = [_between_cycles(thin, *each) for each in ends]
        pieces += [
            Rects(f"waits-{warp}", boxes(*waits), theme.line),
            round_boxes(f"issues-{warp}", _issues(starts, until, row), theme.warps[warp % len(theme.warps)]),
        ]
        if thin.height >= LINE_PITCH * theme.type.least:
            named = [box for box in waits if box.width >= theme.small.width(name) + 12]
            pieces.append(write_all(f"waits-{warp}-name", named, [name] * len(named), theme.small, "middle"))
    return pieces


def _between_cycles(row: Box, start: float, stop: float) -> Box:
    return row.part((start / CYCLES, stop / CYCLES))


def _issues(starts: list[int], until: float, row: Box) -> list[Box]:
    """Return the parts of a row in which a warp issues."""
    return [_between_cycles(row, start, min(start + BUSY, until)) for start in starts]


def _warp_names(hiding: Hiding, rows: list[Box], issuing: int | None, theme: Theme) -> list[Primitive]:
    """Draw the names of the warps, as many as can be read, that of the warp that issues strong."""
    size, shown = theme.type.least, min(hiding.warps, len(rows))
    step = label_step(rows[0].height, NAMED * size, _MOST_ROWS)
    strong = [warp for warp in range(shown) if warp == issuing]
    faint = [warp for warp in range(0, shown, step) if all(abs(warp - each) >= step for each in strong)]
    names: list[Primitive] = []
    for key, warps, style in (("warps", faint, theme.aside), ("issuing", strong, theme.strong.sized(size))):
        at = [rows[warp].trimmed(bottom=rows[warp].height / 4) for warp in warps]
        names.append(all_beside(key, at, "left", [tr("warp {warp}", warp=warp) for warp in warps], style))
    if shown < hiding.warps:
        more = tr("and {warps} more", warps=hiding.warps - shown)
        names.append(beside("more-warps", rows[0], "top", more, theme.aside, 4, "end"))
    return names


def _issuing(hiding: Hiding, cycle: float) -> int | None:
    """Return the warp that issues at a cycle, None if all wait."""
    issues = ((hiding.busy >= 0) & (hiding.busy <= cycle) & (cycle < hiding.busy + BUSY)).any(axis=1)
    return int(issues.argmax()) if issues.any() else None


def _scheduler(hiding: Hiding, room: Box, until: float, theme: Theme) -> list[Primitive]:
    """Draw when the scheduler issues, in the colours of the warps."""
    pieces: list[Primitive] = []
    for place, colour in enumerate(theme.warps):
        warps = range(place, hiding.warps, len(theme.warps))
        starts = [s for warp in warps for s in hiding.busy[warp].tolist() if 0 <= s < until]
        if starts:
            pieces.append(Rects(f"scheduler-{place}", boxes(*_issues(starts, until, room)), colour))
    return pieces


# Changing warps, beside a CPU.

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
    """Changing between warps, whose registers all stay in place, beside a CPU core that saves one thread's registers in memory
    and restores another's. The warps are those that occupancy allows; both strips are a model without times, in which no
    warp waits.

    Draw the registers of both, empty on the side of the CPU, and the names.
    """
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
    for thread, place in enumerate(_register_boxes(plan, now)):
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


def _register_boxes(plan: _Plan, now: float) -> list[Box]:
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


VIEWS = {
    "latency": View(marked("Latency hiding (model)"), OccupancyCase, latency_scene, draw_motion=latency_motion, order=210),
    "switch": View(marked("Changing warps, beside a CPU"), OccupancyCase, switch_scene, switch_motion, order=209),
}
