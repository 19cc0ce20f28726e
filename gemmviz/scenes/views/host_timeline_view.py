"""The host's part: the calls around a kernel and the code that makes them, with their durations, for pageable and for
pinned memory.
"""

from dataclasses import dataclass

from gemmviz.model.host_run import HostCall, HostRun, TransferCase
from gemmviz.model.words import number
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import ARRIVAL, MARGIN, ViewOptions, titled
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import fitted, text_line, text_width
from gemmviz.scenes.kit.view import View


@dataclass(frozen=True, slots=True)
class _Plan:
    """The lines of code at the left, ``pitch`` high and of ``size``; the regions of the ``runs`` at the right, on one scale."""

    code: Box
    pitch: float
    size: float
    runs: tuple[Box, ...]
    most: float

    @classmethod
    def of(cls, case: TransferCase, options: ViewOptions) -> "_Plan":
        room = Box(MARGIN, 124.0, options.width - 2 * MARGIN, options.height - 124.0 - 40.0)
        lines = [code_of(call, case.prefix) for call in case.runs[0].calls]
        pitch = min(room.height / (len(lines) + 2), 64.0)
        longest = max(text_width(line, 1.0, "mono") for line in lines)
        size = max(options.theme.type.least, min(options.theme.type.words, 0.5 * pitch, 0.46 * room.width / longest))
        wide = min(longest * size + 10, 0.5 * room.width)
        half, y = (room.width - wide - 60) / 2, room.y + 1.4 * pitch
        high = len(lines) * pitch
        runs = tuple(Box(room.x + wide + 30 + n * (half + 30), y, half, high) for n in range(len(case.runs)))
        return cls(Box(room.x, y, wide, high), pitch, size, runs, max(run.total() for run in case.runs))


def transfers_scene(case: TransferCase, options: ViewOptions) -> Scene:
    """Draw the code on the left, and a row for each kind of memory on the right. Bars are drawn by ``transfers_motion``."""
    plan, theme = _Plan.of(case, options), options.theme
    primitives: list[Primitive] = []
    for place, call in enumerate(case.runs[0].calls):
        at = points((plan.code.x, plan.code.y + (place + 0.5) * plan.pitch + 0.35 * plan.size))
        line = fitted(code_of(call, case.prefix), plan.size, plan.code.width, "mono")
        primitives.append(Labels(f"code-{place}", at, (line,), plan.size, theme.text, "start", "mono"))
    for run, box in zip(case.runs, plan.runs, strict=True):
        size = 1.1 * _value_size(plan, options)
        heading, corner = f"{run.memory} memory: {number(run.total())} µs", (box.x, box.y - 0.4 * plan.pitch)
        primitives.append(text_line(f"{run.memory}-name", corner, heading, size, box.width, theme.text, "semibold"))
        primitives.append(Lines(f"{run.memory}-start", boxes((box.x, box.y, box.x, box.y + box.height)), theme.line, 1.5))
    n = case.runs[0].n
    title = f"Host at N = {n}: {'three copies' if case.copies_c else 'two copies'} in, one out"
    note = (
        case.source
        if n == case.requested
        else f"{case.source}. N = {case.requested} was not recorded; this is the nearest size"
    )
    return titled(primitives, title, note, options)


def transfers_motion(case: TransferCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the calls of all runs up to one time of a common clock, each with its duration once it is over."""
    plan = _Plan.of(case, options)
    now = plan.most * min(1.0, options.moment / ARRIVAL)
    return tuple(piece for run, box in zip(case.runs, plan.runs, strict=True) for piece in _calls(run, box, now, plan, options))


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
        wide = max(3.0, room.width * min(call.us, now - begun) / plan.most)
        fill = {"Memcpy": theme.level(1), "launch": theme.load}.get(call.name, theme.faint)
        primitives.append(Rects(f"{run.memory}-{place}", boxes((x, y + 0.16 * pitch, wide, 0.68 * pitch)), fill, radius=3.0))
        begun += call.us
        if begun > now:
            break
        text = f"{number(call.us)} µs"
        after = x + wide + 8 + text_width(text, size) <= room.x + room.width
        at = points((x + wide + 8, y + 0.5 * pitch + 0.35 * size) if after else (x - 8, y + 0.5 * pitch + 0.35 * size))
        primitives.append(Labels(f"{run.memory}-{place}-time", at, (text,), size, theme.text, "start" if after else "end"))
    return primitives


VIEW = View("Host and device: copies over time", TransferCase, transfers_scene, draw_motion=transfers_motion, order=50)
