"""The host's part: the calls around a kernel and the code that makes them, with their durations, for pageable and for
pinned memory.
"""

from gemmviz.model.host_run import HostCall, HostRun, TransferCase
from gemmviz.model.words import number
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, titled
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import fitted, text_line, text_width
from gemmviz.scenes.kit.view import View


def transfers_scene(case: TransferCase, options: ViewOptions) -> Scene:
    """Draw the code on the left, and a row of bars for each kind of memory on one scale on the right."""
    room = Box(MARGIN, 124.0, options.width - 2 * MARGIN, options.height - 124.0 - 40.0)
    most = max(run.total() for run in case.runs)
    calls = case.runs[0].calls
    pitch = min(room.height / (len(calls) + 2), 64.0)
    size = min(options.theme.type.words, 0.5 * pitch)
    code = [code_of(call, case.prefix) for call in calls]
    longest = max(text_width(line, 1.0, "mono") for line in code)
    size = max(options.theme.type.least, min(size, 0.46 * room.width / longest))
    wide = min(longest * size + 10, 0.5 * room.width)
    half = (room.width - wide - 60) / 2
    primitives: list[Primitive] = []
    y = room.y + 1.4 * pitch
    for place, line in enumerate(code):
        at = points((room.x, y + (place + 0.5) * pitch + 0.35 * size))
        primitives.append(
            Labels(f"code-{place}", at, (fitted(line, size, wide, "mono"),), size, options.theme.text, "start", "mono")
        )
    for place, run in enumerate(case.runs):
        box = Box(room.x + wide + 30 + place * (half + 30), y, half, len(calls) * pitch)
        primitives += _timeline(run, most, box, pitch, options)
    n = case.runs[0].n
    title = f"Host at N = {n}: {'three copies' if case.copies_c else 'two copies'} in, one out"
    note = (
        case.source
        if n == case.requested
        else f"{case.source}. N = {case.requested} was not recorded; this is the nearest size"
    )
    return titled(primitives, title, note, options)


def code_of(call: HostCall, prefix: str) -> str:
    """Return the line of the host's program that makes a call."""
    if call.name == "launch":
        return f"kernel<<<grid, block>>>({call.what});"
    if call.name == "Memcpy":
        target, _, source = call.what.partition(" from ")
        way = "HostToDevice" if target.endswith("d") else "DeviceToHost"
        return f"{prefix}Memcpy({target}, {source}, bytes, {prefix}Memcpy{way});"
    return f"{prefix}Malloc(&{call.what}, bytes);" if call.name == "Malloc" else f"{prefix}{call.name}({call.what});"


def _timeline(run: HostRun, most: float, room: Box, pitch: float, options: ViewOptions) -> list[Primitive]:
    theme = options.theme
    size = min(theme.type.least, 0.8 * pitch)
    heading = f"{run.memory} memory: {number(run.total())} µs"
    primitives: list[Primitive] = [
        text_line(
            f"{run.memory}-name", (room.x, room.y - 0.4 * pitch), heading, 1.1 * size, room.width, theme.text, "semibold"
        ),
        Lines(f"{run.memory}-start", boxes((room.x, room.y, room.x, room.y + room.height)), theme.line, 1.5),
    ]
    begun = 0.0
    for place, call in enumerate(run.calls):
        x, y = room.x + room.width * begun / most, room.y + place * pitch
        wide = max(3.0, room.width * call.us / most)
        fill = {"Memcpy": theme.level(1), "launch": theme.load}.get(call.name, theme.faint)
        primitives.append(Rects(f"{run.memory}-{place}", boxes((x, y + 0.16 * pitch, wide, 0.68 * pitch)), fill, radius=3.0))
        text = f"{number(call.us)} µs"
        after = x + wide + 8 + text_width(text, size) <= room.x + room.width
        at = points((x + wide + 8, y + 0.5 * pitch + 0.35 * size) if after else (x - 8, y + 0.5 * pitch + 0.35 * size))
        primitives.append(Labels(f"{run.memory}-{place}-time", at, (text,), size, theme.text, "start" if after else "end"))
        begun += call.us
    return primitives


VIEW = View("Host and device: copies over time", TransferCase, transfers_scene, order=50)
