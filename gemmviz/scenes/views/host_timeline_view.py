"""The host's part: the code that calls the runtime around a kernel, beside the recorded durations of the calls for pageable and
pinned memory; of calls that were not measured, beside the memories between which they copy. Of a multiplication in pieces, a
lane for each stream, whose copies run under the kernels of the other one.
"""

from typing import NamedTuple

import numpy as np

from gemmviz.model.messages import marked, number, tr
from gemmviz.model.recording import HostCall, HostMemory, HostRun, StreamRuns, StreamWork, TransferCase
from gemmviz.scenes.kit.layout import (
    FINE,
    LINE_PITCH,
    REST,
    ROW_PITCH,
    Box,
    Edge,
    Line,
    Share,
    along,
    arrow,
    beside,
    lines_down,
    path,
    round_boxes,
    square,
    tag,
    write,
)
from gemmviz.scenes.kit.primitives import Lines, Primitive, Scene
from gemmviz.scenes.kit.shapes import named_memory
from gemmviz.scenes.kit.theme import SOFT, Style, Theme
from gemmviz.scenes.kit.view import View, ViewOptions, eased, titled

# The memories of host and device as two boxes between which matrices are copied, call by call.

_COPIED = ("A", "B", "C")


class Memories(NamedTuple):
    """The boxes of the ``host`` above and the ``device`` below, and the places of matrices in them, the device's with a d."""

    host: Box
    device: Box
    slots: dict[str, Box]

    @classmethod
    def within(cls, room: Box) -> "Memories":
        host, _, device = room.rows(Share(5), Share(4), Share(5))
        side, slots = min(host.height / 2, room.width / 5), dict[str, Box]()
        for box, form in ((host, "{}"), (device, "{}d")):
            _, *places = box.columns(Share(1 / 2), *[REST] * len(_COPIED))
            slots |= {form.format(name): square(place.middle, side) for name, place in zip(_COPIED, places, strict=True)}
        return cls(host, device, slots)

    def way(self, call: HostCall) -> list[tuple[float, float]]:
        """The centres of the matrix that a call copies and of its copy."""
        return [self.slots[call.source].middle, self.slots[call.target].middle]


def memories_drawn(memories: Memories, calls: tuple[HostCall, ...], theme: Theme) -> list[Primitive]:
    """Draw both boxes, the host's A and B, the places of the device's matrices and the ways of the copies."""
    pieces: list[Primitive] = [
        *named_memory("host", memories.host, tr(marked("host")), theme),
        *named_memory("device", memories.device, tr(marked("device")), theme),
    ]
    for name in _COPIED:
        pieces += _matrix_tag(f"own-{name}", name, memories.slots[name], theme, 1) if name != "C" else []
    places = [memories.slots[f"{name}d"] for name in _COPIED]
    names = [
        beside(f"place-{name}", box, "bottom", f"{name}d", theme.aside, 8, "middle")
        for name, box in zip(_COPIED, places, strict=True)
    ]
    arrows = list[Lines]()
    for call in (each for each in calls if each.name == "Memcpy"):
        edges: tuple[Edge, Edge] = ("bottom", "top") if call.is_to_device else ("top", "bottom")
        start, end = (memories.slots[name].edge(side) for name, side in zip((call.source, call.target), edges, strict=True))
        arrows.append(arrow("", start, end, "", slope=1))
    return [
        *pieces,
        round_boxes("places", places, None, theme.faint),
        *names,
        Lines("ways", np.concatenate([each.segments for each in arrows]), theme.faint, 2),
    ]


def memories_at(memories: Memories, calls: tuple[HostCall, ...], done: float, theme: Theme) -> list[Primitive]:
    """Draw what the device holds and what is on its way when ``done`` calls are over; the last one may be under way."""
    moving, held, result = list[Primitive](), dict[str, float](), SOFT
    for started, call in enumerate(calls[: int(done) + 1]):
        share = min(1, done - started)
        if share <= 0:
            break
        if call.name == "Memcpy" and share < 1:
            at = along(memories.way(call), eased(share))
            moving = _matrix_tag("moving", call.target[0], square(at, memories.slots["A"].width), theme, 1)
        elif call.is_to_device:
            held[call.target] = 1
        elif call.name == "Memcpy":
            result = 1
        elif call.name == "launch":
            held["Cd"] = max(share, SOFT)
        elif call.name == "Free" and share >= 1:
            held.pop(call.target, None)
    places = {f"held-{name}": (name, strength) for name, strength in held.items()} | {"result": ("C", result)}
    drawn = [_matrix_tag(key, name[0], memories.slots[name], theme, strength) for key, (name, strength) in places.items()]
    return [*(each for group in drawn for each in group), *moving]


def _matrix_tag(key: str, name: str, slot: Box, theme: Theme, strength: float) -> list[Primitive]:
    return [*tag(key, slot, name, theme.tint(name, strength), theme, theme.strong.sized(theme.type.title))]


_MEMORIES: dict[HostMemory, str] = {"pageable": marked("pageable memory"), "pinned": marked("pinned memory")}


class _Plan(NamedTuple):
    """A row for each call: the boxes of its ``code`` at the left; those of the ``runs`` at the right, on one scale up to
    ``most`` microseconds; ``right``: the region of both memories, of calls that were not measured.
    """

    code: list[Box]
    runs: list[list[Box]]
    right: Box
    style: Style
    most: float

    @classmethod
    def of(cls, case: TransferCase, options: ViewOptions) -> "_Plan":
        room, sizes, count = options.room(124, 40), options.theme.type, len(case.calls)
        pitch = min(room.height / (count + 2), 64)
        longest = max(Style(1, "", "mono").width(code_of(call, case.prefix)) for call in case.calls)
        size = max(sizes.least, min(sizes.words, pitch / 2, 0.46 * room.width / longest))
        wide = min(longest * size + 10, 0.56 * room.width)
        code, right = room._replace(height=(count + LINE_PITCH) * pitch).columns(wide, REST, gap=30)
        below, code = (box.trimmed(top=LINE_PITCH * pitch) for box in (right, code))
        runs = [box.grid(count, 1) for box in below.grid(1, 2, 30)[: len(case.runs)]]
        most = max((run.total() for run in case.runs), default=0)
        return cls(code.grid(count, 1), runs, right, Style(size, options.theme.text, "mono"), most)

    def value(self, theme: Theme) -> Style:
        """The style of durations."""
        return theme.small.sized(min(theme.type.least, self.code[0].height / LINE_PITCH))


def transfers_scene(case: TransferCase, options: ViewOptions) -> Scene:
    """Draw the code on the left; on the right a row for each kind of memory, or two memories. ``transfers_motion`` draws bars
    and copies.
    """
    if case.pieces is not None:
        return _lanes_scene(case, case.pieces, options)
    plan, theme = _Plan.of(case, options), options.theme
    primitives: list[Primitive] = [
        write(f"code-{place}", box, code_of(call, case.prefix), plan.style)
        for place, (call, box) in enumerate(zip(case.calls, plan.code, strict=True))
    ]
    for run, rows in zip(case.runs, plan.runs, strict=True):
        style = theme.strong.sized(plan.value(theme).size)
        total = f"{number(run.total())} µs{'' if run.is_whole else ' + kernel'}"
        lines = [Line(f"{run.memory}-name", tr(_MEMORIES[run.memory]), *style), Line(f"{run.memory}-total", total, *style)]
        above = rows[0].trimmed(top=-2 * ROW_PITCH * style.size, bottom=rows[0].height)
        start = path(f"{run.memory}-start", [rows[0].at(0, 0), rows[-1].at(0, 1)], theme.line, FINE)
        primitives += [*lines_down(above, lines), start]
    if not case.runs:
        primitives += memories_drawn(Memories.within(plan.right), case.calls, theme)
    title = (
        tr("Host, {sizes}: three copies in, one out", sizes=case.problem.dimensions)
        if case.copies_c
        else tr("Host, {sizes}: two copies in, one out", sizes=case.problem.dimensions)
    )
    return titled(primitives, title, case.source or tr("times {unmeasured}", unmeasured=case.unmeasured), options)


def transfers_motion(case: TransferCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the calls of all runs up to one time of a common clock, each with its duration once it is over. Calls that were not
    measured follow each other in equal steps, which stand for no time.
    """
    if case.pieces is not None:
        return tuple(_lanes_motion(case.pieces, options))
    plan, theme = _Plan.of(case, options), options.theme
    if case.runs:
        each = zip(case.runs, plan.runs, strict=True)
        return tuple(piece for run, rows in each for piece in _calls(run, rows, options.passed * plan.most, plan, theme))
    done = len(case.calls) * options.passed
    pieces = memories_at(Memories.within(plan.right), case.calls, done, theme)
    if done < len(case.calls):
        line = plan.code[int(done)].bar()
        pieces.append(round_boxes("present", line.shifted(-16)._replace(width=6), theme.faint))
    return tuple(pieces)


def code_of(call: HostCall, prefix: str) -> str:
    """Return the line of the host's program that makes a call."""
    if call.name == "launch":
        return f"kernel<<<grid, block>>>({call.what});"
    if call.name == "Memcpy":
        way = "HostToDevice" if call.is_to_device else "DeviceToHost"
        return f"{prefix}Memcpy({call.target}, {call.source}, bytes, {prefix}Memcpy{way});"
    return f"{prefix}Malloc(&{call.what}, bytes);" if call.name == "Malloc" else f"{prefix}{call.name}({call.what});"


def _calls(run: HostRun, rows: list[Box], now: float, plan: _Plan, theme: Theme) -> list[Primitive]:
    """Draw the calls of one run that have begun at ``now``, in microseconds."""
    primitives, begun = list[Primitive](), 0.0
    colours = {"Memcpy": theme.level(1), "launch": theme.load}
    for place, (call, row) in enumerate(zip(run.calls, rows, strict=True)):
        if begun > now:
            break
        us, key = call.us or 0, f"{run.memory}-{place}"
        bar = row.bar(begun / plan.most, min(begun + us, now) / plan.most)
        if us:
            bar = bar._replace(width=max(3, bar.width))
            primitives.append(round_boxes(key, bar, colours.get(call.name, theme.faint)))
        begun += us
        if begun > now:
            break
        style = plan.value(theme)
        text = f"{number(us)} µs" if us else tr("not measured")
        style = style if us else style.inked(theme.faint)
        fits = bar.right + 8 + style.width(text) <= row.right
        primitives.append(beside(f"{key}-time", bar, "right" if fits else "left", text, style, 8))
    return primitives


# Lanes: below the code for one piece, a row for each stream of each run, all on one scale.

_WORK: tuple[StreamWork, ...] = ("copy in", "kernel", "copy back")


def _lanes(pieces: StreamRuns, options: ViewOptions) -> tuple[Box, list[tuple[int, Box, list[Box]]]]:
    """Return the place of the code, and for each run its number of streams, the place of its name, and its lanes."""
    code, room = options.room(124, 40).rows(Share(len(_WORK) + 2), Share(2 * len(pieces.counts) + sum(pieces.counts)), gap=24)
    _, room = room.columns(6 * options.theme.type.note, REST)
    runs = room.rows(*(Share(count + 1) for count in pieces.counts), gap=12)
    parts = [(count, run.grid(count + 1, 1)) for count, run in zip(pieces.counts, runs, strict=True)]
    return code, [(count, head, lanes) for count, (head, *lanes) in parts]


def _lanes_scene(case: TransferCase, pieces: StreamRuns, options: ViewOptions) -> Scene:
    """Draw the code with the colours of its bars, and the names of the lanes. ``_lanes_motion`` draws the bars."""
    theme, (code, runs) = options.theme, _lanes(pieces, options)
    memcpy, half = f"  {case.prefix}MemcpyAsync", f"{case.prefix}Memcpy"
    texts = (
        f"for (int piece = 0; piece < {pieces.pieces}; ++piece) {{",
        "  size_t at = piece * M * K;",
        f"{memcpy}(Ad + at, A + at, bytes, {half}HostToDevice, streams[piece % count]);",
        "  kernel<<<grid, block, 0, streams[piece % count]>>>(Ad + at, Bd, Cd + at, M, N, K);",
        f"{memcpy}(C + at, Cd + at, bytes, {half}DeviceToHost, streams[piece % count]); }}",
    )
    rows, style = code.grid(len(texts), 1), Style(1, theme.text, "mono")
    size = min(theme.type.words, rows[0].height / ROW_PITCH, (code.width - 24) / max(map(style.width, texts)))
    style, note = style.sized(max(theme.type.least, size)), theme.soft.sized(theme.type.note)
    drawn: list[Primitive] = []
    for place, (text, row) in enumerate(zip(texts, rows, strict=True)):
        mark, words = row.columns(10, REST, gap=14)
        drawn.append(write(f"code-{place}", words, text, style))
        drawn += [round_boxes(f"mark-{place}", mark.bar(), _ink(_WORK[place - 2], theme))] if place > 1 else []
    for count, head, lanes in runs:
        said = tr("in one stream") if count == 1 else tr("in {count} streams", count=count)
        total = "" if _is_asked(count, options) else f": {number(pieces.total_us(count) / 1000)} ms"
        drawn.append(write(f"run-{count}", head, f"{said}{total}", theme.strong.sized(theme.type.words)))
        names = [tr("stream {number}", number=lane) for lane in range(count)]
        drawn += [beside(f"lane-{count}-{name}", row, "left", name, note, 10) for name, row in zip(names, lanes, strict=True)]
        drawn.append(path(f"start-{count}", [lanes[0].at(0, 0), lanes[-1].at(0, 1)], theme.line, FINE))
    title = tr("Host: {pieces} pieces of {sizes}", pieces=pieces.pieces, sizes=case.problem.dimensions)
    return titled(drawn, title, tr("{source}; outlined: a kernel waits", source=case.source), options)


def _is_asked(streams: int, options: ViewOptions) -> bool:
    """Whether an open question asks about the run in so many streams: one is where it begins."""
    return streams > 1 and options.counted < 1.0


def _ink(what: StreamWork, theme: Theme) -> str:
    return {"copy in": theme.level(0), "kernel": theme.load, "copy back": theme.level(2)}[what]


def _lanes_motion(pieces: StreamRuns, options: ViewOptions) -> list[Primitive]:
    """Draw the copies and kernels that have begun, with the number of their piece on each kernel that has ended."""
    theme, most, drawn = options.theme, max(map(pieces.total_us, pieces.counts)), list[Primitive]()
    now = options.passed * most
    for count, _, lanes in _lanes(pieces, options)[1]:
        for row in () if _is_asked(count, options) else pieces.of(count):
            key, lane = f"{count}-{row.piece}-{row.what}", lanes[row.stream]
            waiting, bar = (
                lane.bar(begun / most, min(end, now) / most)
                for begun, end in ((row.ready_us, row.start_us), (row.start_us, row.stop_us))
            )
            if row.ready_us < min(now, row.start_us) and waiting.width > 3:
                drawn.append(round_boxes(f"{key}-waits", waiting, None, theme.faint))
            if row.start_us < now:
                drawn.append(round_boxes(key, bar, _ink(row.what, theme)))
            if row.what == "kernel" and row.stop_us <= now:
                style = theme.small.sized(theme.type.note).inked(theme.ink_on(theme.load))
                drawn.append(write(f"{key}-piece", bar, str(row.piece), style, "middle"))
    return drawn


VIEW = View(marked("Host and device: copies over time"), TransferCase, transfers_scene, draw_motion=transfers_motion, order=509)
