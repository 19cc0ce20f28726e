"""A device: one multiprocessor with its control, cores and on-chip memories, the whole chip, and the memory off the chip. The
chip fills multiprocessor by multiprocessor, while its cores are counted.
"""

import numpy as np

from gemmviz.model.cases import LaunchCase
from gemmviz.model.device import Device, MemoryLevel
from gemmviz.model.records import replace
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import many, number, size_text, spaced
from gemmviz.scenes.kit.frame import ARRIVAL, MARGIN, ViewOptions, titled
from gemmviz.scenes.kit.primitives import Box, Cells, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import View

_CACHE = 0.16  # of the chip's height: a cache
_CONTROL, _BETWEEN = 34.0, 10.0  # height of a scheduler's bar; gap between the cores of two of them
_LARGEST, _MOST_OBLONG = 110.0, 2.6  # of a cell: its side, and how many times as wide as high it may be


def device_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw one multiprocessor on the left, the chip on the right, and the memory off the chip below."""
    device = case.device
    one, chip, below = _regions(options)
    primitives = [*_one(device, one, options), *_chip(device, chip, options), *_memory(device, below, options)]
    primitives.append(
        Lines("zoom", boxes((one.x + one.width, one.y + 40, chip.x + 24, chip.y + 74)), options.theme.faint, 1.5, dashed=True)
    )
    bus = chip.x + 0.5 * chip.width
    primitives.append(Lines("bus", boxes((bus, chip.y + chip.height, bus, below.y)), options.theme.text, 4.0))
    source = tr("an imaginary device") if device.is_toy else tr("figures published by the vendor")
    note = tr("{architecture}, {source}; boxes are not to scale", architecture=device.architecture, source=source)
    return titled(primitives, device.name, note, options)


def device_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the multiprocessors of the chip up to ``options.moment``, and the number of cores so far."""
    device, theme, size = case.device, options.theme, options.theme.type.heading
    _, chip, _ = _regions(options)
    shown = device.sms if options.moment >= ARRIVAL else max(1, round(device.sms * options.way))
    cores = spaced(shown * device.fp32_per_sm)
    text = tr(
        "the chip: {many}, {cores} {core}s", many=many(shown, device.words["sm"]), cores=cores, core=tr(device.words["core"])
    )
    at = (chip.x + 20, chip.y + 1.4 * size)
    name = text_line("chip-name", at, text, size, chip.width - 40, theme.text, "semibold")
    cells = _cells("sms", device.sms, _inside(device, chip), options, first=True)
    fill = cells.fill.copy()
    fill.ravel()[shown : device.sms] = 1
    return replace(cells, fill=fill), name


def _regions(options: ViewOptions) -> tuple[Box, Box, Box]:
    """Return the boxes of one multiprocessor, the chip and the memory below them."""
    room = Box(MARGIN, 120.0, options.width - 2 * MARGIN, options.height - 120.0 - 40.0)
    low = 0.2 * room.height
    upper = room.height - low - 30
    one = Box(room.x, room.y, 0.46 * room.width, upper)
    chip = Box(room.x + 0.5 * room.width, room.y, 0.5 * room.width, upper)
    return one, chip, Box(room.x, room.y + upper + 30, room.width, low)


def _frame(key: str, room: Box, theme: Theme) -> Rects:
    return Rects(f"{key}-box", boxes((room.x, room.y, room.width, room.height)), theme.panel, theme.line, 2.0, 10.0)


def _one(device: Device, room: Box, options: ViewOptions) -> list[Primitive]:
    theme, words = options.theme, device.words
    small = theme.type.words
    size, name = theme.type.heading, tr("one of its {many}", many=many(device.sms, words["sm"]))
    at = (room.x + 20, room.y + 1.4 * size)
    primitives: list[Primitive] = [
        _frame("one", room, theme), text_line("one-name", at, name, size, room.width - 40, theme.text, "semibold")
    ]  # fmt: skip
    inner = Box(room.x + 20, room.y + 54, room.width - 40, room.height - 70)
    text = tr(
        "{many}, up to {max_threads_per_sm} threads at once",
        many=many(device.fp32_per_sm, words["core"]),
        max_threads_per_sm=spaced(device.max_threads_per_sm),
    )
    primitives.append(text_line("cores-name", (inner.x, inner.y + small), text, small, inner.width, theme.text))
    cores = Box(inner.x, inner.y + 1.6 * small, inner.width, 0.42 * inner.height)
    primitives += _cores(device, cores, options)
    y = cores.y + cores.height + 14
    bars = _memories(device)
    bar = (inner.y + inner.height - y) / len(bars)
    for key, label in bars:
        high = bar - 12
        primitives += _memory_box(key, label, Box(inner.x, y, inner.width, high), min(small, 0.6 * high), options)
        y += bar
    return primitives


def _memories(device: Device) -> tuple[tuple[str, str], ...]:
    """Return the memories of an SM: their keys, and their texts with sizes."""
    words = device.words
    held = size_text(device.register_bytes)
    most = size_text(device.shared_limit(opts_in=True))
    return (
        (
            "registers",
            tr("registers: {held}, {registers_per_sm} of 32 bits", held=held, registers_per_sm=spaced(device.registers_per_sm)),
        ),
        (
            "shared",
            tr(
                "{shared_memory}: {shared_per_sm}, up to {most} per {block}",
                shared_memory=tr(words["shared memory"]),
                shared_per_sm=size_text(device.shared_per_sm),
                most=most,
                block=tr(words["block"]),
            ),
        ),
        *(
            (each.name, f"{tr(each.name)}: {size_text(each.size_bytes)}")
            for each in device.levels[1:-1]
            if each.shared_by == "SM"
        ),
    )


def _cores(device: Device, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the cores in a group for each scheduler, below the bar of that scheduler; or all as one."""
    theme, least, count = options.theme, options.theme.type.least, device.schedulers or device.warp_granularity
    if device.is_toy or device.fp32_per_sm % count:
        return [_cells("cores", device.fp32_per_sm, room, options)]
    wide, pieces = (room.width - _BETWEEN * (count - 1)) / count, list[Primitive]()
    for place in range(count):
        x = room.x + place * (wide + _BETWEEN)
        label = next(
            (text for text in (tr("warp scheduler"), tr("scheduler")) if text_width(text, least) + 12 <= wide), tr("control")
        )
        at = points((x + wide / 2, room.y + _CONTROL / 2 + 0.36 * least))
        group = Box(x, room.y + _CONTROL + 4, wide, room.height - _CONTROL - 4)
        pieces += [
            Rects(f"scheduler-{place}", boxes((x, room.y, wide, _CONTROL)), theme.line, theme.faint, 1.5, 5.0),
            Labels(f"scheduler-{place}-name", at, (label,), least, theme.text, "middle"),
            _cells(f"cores-{place}", device.fp32_per_sm // count, group, options),
        ]
    return pieces


def _memory_box(key: str, label: str, box: Box, size: float, options: ViewOptions) -> list[Primitive]:
    """Draw a memory as a slate box with its name."""
    theme = options.theme
    at = (box.x + 14, box.y + box.height / 2 + 0.36 * size)
    return [
        Rects(f"{key}-bar", boxes((box.x, box.y, box.width, box.height)), theme.slate, theme.faint, 2.0, 6.0),
        text_line(f"{key}-said", at, label, size, box.width - 28, theme.text, "semibold"),
    ]


def _cells(key: str, count: int, room: Box, options: ViewOptions, first: bool = False) -> Cells:
    """Return ``count`` cells as a full rectangle, as near to squares as they fill the room. ``first``: the first stands out."""
    theme = options.theme
    columns = min((c for c in range(1, count + 1) if count % c == 0), key=lambda c: _oblong(c, count // c, room))
    if _oblong(columns, count // columns, room) > _MOST_OBLONG:  # a prime number of cells: leave some places empty
        columns = min(range(1, count + 1), key=lambda c: _oblong(c, -(-count // c), room))
    rows = -(-count // columns)
    fill = np.zeros((rows, columns), np.uint8)
    fill.ravel()[count:] = 1
    fill[0, 0] = 2 if first else 0
    palette = (theme.loaded(0.6 if first else 0.8), theme.panel, theme.load)
    wide, high = min(room.width / columns, _LARGEST), min(room.height / rows, _LARGEST)
    inks = tuple(theme.ink_on(colour) for colour in palette)
    return Cells(key, room.x, room.y, wide, fill, palette, inks, line=theme.panel, height=high)


def _oblong(columns: int, rows: int, room: Box) -> float:
    """Return how far the cells of so many columns and rows are from squares: 1 for squares."""
    wide, high = room.width / columns, room.height / rows
    return max(wide / high, high / wide)


def _chip_caches(device: Device) -> list[MemoryLevel]:
    return [each for each in device.levels[1:-1] if each.shared_by == "device"]


def _inside(device: Device, room: Box) -> Box:
    """Return the part of the chip that its multiprocessors fill."""
    caches = _CACHE * room.height * len(_chip_caches(device))
    return Box(room.x + 20, room.y + 62, room.width - 40, room.height - 80 - caches)


def _chip(device: Device, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the frame of the chip and its caches. Its multiprocessors are drawn by ``device_motion``."""
    theme = options.theme
    primitives: list[Primitive] = [_frame("chip", room, theme)]
    inner, cache = _inside(device, room), _CACHE * room.height
    for place, each in enumerate(reversed(_chip_caches(device))):
        key = f"cache{'-' + str(place) if place else ''}"
        y = room.y + room.height - cache * (place + 1) - 6
        label = tr("{each} of all multiprocessors: {size_bytes}", each=each.name, size_bytes=size_text(each.size_bytes))
        box = Box(inner.x, y, inner.width, cache - 8)
        primitives += _memory_box(key, label, box, min(theme.type.words, 0.6 * cache), options)
    return primitives


def _memory(device: Device, room: Box, options: ViewOptions) -> list[Primitive]:
    theme, size = options.theme, min(options.theme.type.name, 0.24 * room.height)
    first = tr("Global memory: {memory_bytes}, off the chip", memory_bytes=size_text(device.memory_bytes))
    rate = device.bandwidth_gb_s
    per_flop = device.peak_gflops / rate if rate else 0.0
    second = tr(
        "{rate} GB/s; at {peak_gflops} GFLOP/s, {per_flop} operations per byte",
        rate=number(rate),
        peak_gflops=number(device.peak_gflops),
        per_flop=f"{per_flop:.3g}",
    )
    return [
        Rects("memory-box", boxes((room.x, room.y, room.width, room.height)), theme.slate, theme.faint, 3.0, 10.0),
        text_line(
            "memory-name", (room.x + 24, room.y + 0.42 * room.height), first, size, room.width - 48, theme.text, "semibold"
        ),
        text_line("memory-rate", (room.x + 24, room.y + 0.78 * room.height), second, 0.85 * size, room.width - 48, theme.text),
    ]


VIEW = View(marked("Device: its multiprocessors and memories"), LaunchCase, device_scene, device_motion, order=40)
