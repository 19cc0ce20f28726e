"""The host's part: the code that calls the runtime around a kernel, beside the recorded durations of the calls for pageable and
pinned memory; of calls that were not measured, beside the memories between which they copy.
"""

from typing import NamedTuple

import numpy as np

from gemmviz.model.host_run import HostCall, HostMemory, HostRun, TransferCase
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import number
from gemmviz.scenes.kit.frame import ARRIVAL, ViewOptions, eased, titled
from gemmviz.scenes.kit.layout import REST, Box, Point, Share, along, arrow, path, square, text_at, text_in
from gemmviz.scenes.kit.primitives import Lines, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.text import fitted, text_line, text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import View

# The memories of host and device as two boxes between which matrices are copied, call by call.

_NAMES = ("A", "B", "C")
_SHARE = 0.36  # of the height, for each of the two boxes
_OLD = 0.3  # strength of a matrix that holds no result yet
_HEAD = 11.0  # length of an arrow's head


class Memories(NamedTuple):
    """The boxes of the ``host`` above and the ``device`` below, and the ``side`` of a matrix in them."""

    host: Box
    device: Box
    side: float

    @classmethod
    def within(cls, room: Box) -> "Memories":
        host, _, device = room.rows(Share(_SHARE), Share(1.0 - 2 * _SHARE), Share(_SHARE))
        return cls(host, device, min(0.54 * host.height, 0.2 * room.width))

    def slot(self, target: str) -> Box:
        """The place of a matrix: of the device if its name ends with d."""
        box = self.device if target.endswith("d") else self.host
        middle = box.at(0.3 + 0.27 * _NAMES.index(target[0]))[0], box.y + 0.42 * box.height + 0.08 * self.side
        return square(middle, self.side)


def memories_drawn(memories: Memories, calls: tuple[HostCall, ...], theme: Theme) -> list[Primitive]:
    """Draw both boxes, the host's A and B, the places of the device's matrices and the ways of the copies."""
    size = theme.type.heading
    pieces: list[Primitive] = []
    for name, box in ((marked("host"), memories.host), (marked("device"), memories.device)):
        pieces.append(Rects(name, boxes(box), theme.slate, theme.faint, 2.0, 8.0))
        at = box.x + 18, box.y + 1.4 * size
        pieces.append(text_line(f"{name}-name", at, tr(name), size, box.width, theme.text, "semibold"))
    for name in _NAMES:
        pieces += _matrix(f"own-{name}", name, memories.slot(name), theme, 1.0) if name != "C" else []
        slot = memories.slot(f"{name}d")
        pieces.append(Rects(f"place-{name}", boxes(slot), None, theme.faint, 2.0, 4.0))
        low = (slot.middle_x, slot.bottom + 1.2 * theme.type.least)
        pieces.append(text_at(f"place-{name}-name", low, f"{name}d", theme.type.least, theme.faint, "middle"))
    copies = [_ends(call, memories) for call in calls if call.name == "Memcpy"]
    arrows = [arrow("", along(ends, 0.32), along(ends, 0.68), "", head=_HEAD, slope=1.0).segments for ends in copies]
    return [*pieces, Lines("ways", np.concatenate(arrows), theme.faint, 2.0)]


def memories_at(memories: Memories, calls: tuple[HostCall, ...], done: float, theme: Theme) -> list[Primitive]:
    """Draw what the device holds and what is on its way when ``done`` calls are over; the last one may be under way."""
    pieces: list[Primitive] = []
    held, result = dict[str, float](), False
    for started, call in enumerate(calls[: int(done) + 1]):
        share = min(1.0, done - started)
        if share <= 0.0:
            break
        match call.name:
            case "Memcpy" if call.target.endswith("d"):
                held[call.target] = 1.0
            case "Memcpy":
                result = share >= 1.0
            case "launch":
                held["Cd"] = max(share, _OLD)
            case "Free" if share >= 1.0:
                held.pop(call.target, None)
        if call.name == "Memcpy" and share < 1.0:
            held.pop(call.target, None)
            at = along(_ends(call, memories), float(eased(share)))
            pieces += _matrix("moving", call.target[0], square(at, memories.side), theme, 1.0)
    arrived = [_matrix(f"held-{name}", name[0], memories.slot(name), theme, strength) for name, strength in held.items()]
    arrived.append(_matrix("result", "C", memories.slot("C"), theme, 1.0 if result else _OLD))
    return [*(each for group in arrived for each in group), *pieces]


def _matrix(key: str, name: str, slot: Box, theme: Theme, strength: float) -> list[Primitive]:
    fill = theme.tint(name, strength)
    label = text_in(f"{key}-name", slot, name, theme.type.title, theme.ink_on(fill), face="semibold")
    return [Rects(key, boxes(slot), fill, radius=4.0), label]


def _ends(call: HostCall, memories: Memories) -> list[Point]:
    """Return the centres of the matrix that is copied and of its copy."""
    target, _, source = call.what.partition(" from ")
    return [memories.slot(source).middle, memories.slot(target).middle]


_MEMORIES: dict[HostMemory, str] = {"pageable": marked("pageable memory"), "pinned": marked("pinned memory")}


class _Plan(NamedTuple):
    """The lines of code at the left, ``pitch`` high and of ``size``; the regions of the ``runs`` at the right, on one scale, or
    one region for calls that were not measured.
    """

    code: Box
    pitch: float
    size: float
    runs: list[Box]
    most: float

    @classmethod
    def of(cls, case: TransferCase, options: ViewOptions) -> "_Plan":
        room = options.room(124.0, 40.0)
        lines = [code_of(call, case.prefix) for call in case.calls]
        pitch = min(room.height / (len(lines) + 2), 64.0)
        longest = max(text_width(line, 1.0, "mono") for line in lines)
        size = max(options.theme.type.least, min(options.theme.type.words, 0.5 * pitch, 0.46 * room.width / longest))
        wide = min(longest * size + 10, 0.56 * room.width)
        code, _, right = room._replace(height=(len(lines) + 1.4) * pitch).columns(wide, 30, REST)
        runs, top = [right.trimmed(left=30)], 1.4 * pitch
        if case.runs:
            halves = right.grid(1, 2, gap=30)
            runs = [box.trimmed(top=top) for box in halves[: len(case.runs)]]
        return cls(code.trimmed(top=top), pitch, size, runs, max((run.total() for run in case.runs), default=0.0))


def transfers_scene(case: TransferCase, options: ViewOptions) -> Scene:
    """Draw the code on the left; on the right a row for each kind of memory, or two memories. ``transfers_motion`` draws bars
    and copies.
    """
    plan, theme = _Plan.of(case, options), options.theme
    primitives: list[Primitive] = []
    for place, call in enumerate(case.calls):
        at = (plan.code.x, plan.code.y + (place + 0.5) * plan.pitch + 0.35 * plan.size)
        line = fitted(code_of(call, case.prefix), plan.size, plan.code.width, "mono")
        primitives.append(text_at(f"code-{place}", at, line, plan.size, theme.text, "start", "mono"))
    for run, box in zip(case.runs, plan.runs, strict=False):
        size = 1.1 * _value_size(plan, options)
        total, low = f"{number(run.total())} µs{'' if run.is_whole else ' + kernel'}", box.y - 0.3 * plan.pitch
        for key, line, y in (("name", tr(_MEMORIES[run.memory]), low - 1.25 * size), ("total", total, low)):
            primitives.append(text_line(f"{run.memory}-{key}", (box.x, y), line, size, box.width, theme.text, "semibold"))
        primitives.append(path(f"{run.memory}-start", [box.at(0.0, 0.0), box.at(0.0, 1.0)], theme.line, 1.5))
    if not case.runs:
        primitives += memories_drawn(Memories.within(plan.runs[0]), case.calls, theme)
    title = (
        tr("Host, {sizes}: three copies in, one out", sizes=_sizes(case))
        if case.copies_c
        else tr("Host, {sizes}: two copies in, one out", sizes=_sizes(case))
    )
    return titled(primitives, title, case.source or tr("times {unmeasured}", unmeasured=case.unmeasured), options)


def transfers_motion(case: TransferCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the calls of all runs up to one time of a common clock, each with its duration once it is over. Calls that were not
    measured follow each other in equal steps, which stand for no time.
    """
    plan = _Plan.of(case, options)
    if not case.runs:
        return tuple(_unmeasured(case, plan, options))
    now = plan.most * min(1.0, options.moment / ARRIVAL)
    return tuple(piece for run, box in zip(case.runs, plan.runs, strict=True) for piece in _calls(run, box, now, plan, options))


def _unmeasured(case: TransferCase, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the memories after as many calls as have passed, and a mark beside the line of the present one."""
    done = len(case.calls) * min(1.0, options.moment / ARRIVAL)
    pieces = memories_at(Memories.within(plan.runs[0]), case.calls, done, options.theme)
    if done < len(case.calls):
        mark = boxes((plan.code.x - 16, plan.code.y + (int(done) + 0.16) * plan.pitch, 6, 0.68 * plan.pitch))
        pieces.append(Rects("present", mark, options.theme.faint, radius=3.0))
    return pieces


def _sizes(case: TransferCase) -> str:
    problem = case.problem
    if problem.M == problem.N == problem.K:
        return f"N = {problem.N}"
    return f"M = {problem.M}, N = {problem.N}, K = {problem.K}"


def code_of(call: HostCall, prefix: str) -> str:
    """Return the line of the host's program that makes a call."""
    if call.name == "launch":
        return f"kernel<<<grid, block>>>({call.what});"
    if call.name == "Memcpy":
        target, _, source = call.what.partition(" from ")
        way = "HostToDevice" if target.endswith("d") else "DeviceToHost"
        return f"{prefix}Memcpy({target}, {source}, bytes, {prefix}Memcpy{way});"
    return f"{prefix}Malloc(&{call.what}, bytes);" if call.name == "Malloc" else f"{prefix}{call.name}({call.what});"


def _value_size(plan: _Plan, options: ViewOptions) -> float:
    return min(options.theme.type.least, 0.8 * plan.pitch)


def _calls(run: HostRun, room: Box, now: float, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the calls of one run that have begun at ``now``, in microseconds."""
    theme, size, pitch = options.theme, _value_size(plan, options), plan.pitch
    primitives, begun = list[Primitive](), 0.0
    for place, call in enumerate(run.calls):
        if begun > now:
            break
        x, y = room.x + room.width * begun / plan.most, room.y + place * pitch
        us = call.us or 0.0
        wide = max(3.0, room.width * min(us, now - begun) / plan.most) if us else 0.0
        fill = {"Memcpy": theme.level(1), "launch": theme.load}.get(call.name, theme.faint)
        if us:
            bar = boxes((x, y + 0.16 * pitch, wide, 0.68 * pitch))
            primitives.append(Rects(f"{run.memory}-{place}", bar, fill, radius=3.0))
        begun += us
        if begun > now:
            break
        text, ink = (f"{number(us)} µs", theme.text) if us else (tr("not measured"), theme.faint)
        after = x + wide + 8 + text_width(text, size) <= room.right
        at = (x + wide + 8, y + 0.5 * pitch + 0.35 * size) if after else (x - 8, y + 0.5 * pitch + 0.35 * size)
        primitives.append(text_at(f"{run.memory}-{place}-time", at, text, size, ink, "start" if after else "end"))
    return primitives


VIEW = View(marked("Host and device: copies over time"), TransferCase, transfers_scene, draw_motion=transfers_motion, order=50)
