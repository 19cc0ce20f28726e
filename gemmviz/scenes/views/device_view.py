"""A device: one multiprocessor with cores and on-chip memories, the whole chip, and the memory off the chip."""

import numpy as np

from gemmviz.model.device import Device
from gemmviz.model.launch_case import LaunchCase
from gemmviz.model.words import many, number, spaced
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, titled
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import fitted, text_line
from gemmviz.scenes.kit.theme import mixed
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.views.hierarchy_view import size_text

_REGISTER_BYTES = 4


def device_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw one multiprocessor on the left, the chip on the right, and the memory off the chip below."""
    device, width, height = case.device, options.width, options.height
    room = Box(MARGIN, 120.0, width - 2 * MARGIN, height - 120.0 - 40.0)
    low = 0.2 * room.height
    upper = room.height - low - 30
    one = Box(room.x, room.y, 0.46 * room.width, upper)
    chip = Box(room.x + 0.5 * room.width, room.y, 0.5 * room.width, upper)
    below = Box(room.x, room.y + upper + 30, room.width, low)
    primitives = [*_one(device, one, options), *_chip(device, chip, options), *_memory(device, below, options)]
    primitives.append(
        Lines("zoom", boxes((one.x + one.width, one.y + 40, chip.x + 24, chip.y + 74)), options.theme.faint, 1.5, dashed=True)
    )
    bus = room.x + 0.75 * room.width
    primitives.append(Lines("bus", boxes((bus, room.y + upper, bus, below.y)), options.theme.text, 4.0))
    note = f"{device.architecture}, {'an imaginary device' if device.is_toy else 'figures published by the vendor'}"
    return titled(primitives, device.name, note, options)


def _frame(key: str, name: str, room: Box, options: ViewOptions) -> list[Primitive]:
    size = options.theme.type.heading
    return [
        Rects(
            f"{key}-box", boxes((room.x, room.y, room.width, room.height)), options.theme.panel, options.theme.line, 2.0, 10.0
        ),
        text_line(
            f"{key}-name", (room.x + 20, room.y + 1.4 * size), name, size, room.width - 40, options.theme.text, "semibold"
        ),
    ]


def _one(device: Device, room: Box, options: ViewOptions) -> list[Primitive]:
    theme, words = options.theme, device.words
    small = theme.type.words
    primitives = _frame("one", f"one of its {many(device.sms, words['sm'])}", room, options)
    inner = Box(room.x + 20, room.y + 54, room.width - 40, room.height - 70)
    text = f"{many(device.fp32_per_sm, words['core'])}, up to {spaced(device.max_threads_per_sm)} threads at once"
    primitives.append(text_line("cores-name", (inner.x, inner.y + small), text, small, inner.width, theme.text))
    cores = Box(inner.x, inner.y + 1.5 * small, inner.width, 0.42 * inner.height)
    primitives.append(_cells("cores", device.fp32_per_sm, cores, theme.accent("C"), options))
    y = cores.y + cores.height + 14
    held = size_text(_REGISTER_BYTES * device.registers_per_sm)
    bars = (
        ("registers", "B", f"registers: {held}, {spaced(device.registers_per_sm)} of 32 bits"),
        (
            "shared",
            "A",
            f"{words['shared memory']}: {size_text(device.shared_per_sm)}, up to {size_text(device.shared_per_block)} per "
            f"{words['block']}",
        ),
        *(
            (each.name, "", f"{each.name}: {size_text(each.size_bytes)}")
            for each in device.levels[1:-1]
            if each.shared_by == "SM"
        ),
    )
    bar = (inner.y + inner.height - y) / len(bars)
    for key, colour, label in bars:
        high = bar - 12
        size = min(small, 0.5 * high)
        primitives.append(
            Rects(
                f"{key}-bar", boxes((inner.x, y, inner.width, high)), theme.tint(colour, 0.45), theme.accent(colour), 2.0, 6.0
            )
        )
        at = points((inner.x + 14, y + high / 2 + 0.35 * size))
        primitives.append(
            Labels(
                f"{key}-said", at, (fitted(label, size, inner.width - 28, "semibold"),), size, theme.text, "start", "semibold"
            )
        )
        y += bar
    return primitives


def _cells(key: str, count: int, room: Box, colour: str, options: ViewOptions) -> Cells:
    """Return ``count`` squares, as large as they fit."""
    columns = max(range(1, count + 1), key=lambda c: min(room.width / c, room.height / -(-count // c)))
    rows = -(-count // columns)
    size = min(room.width / columns, room.height / rows, 110.0)
    fill = np.zeros((rows, columns), np.uint8)
    fill.ravel()[count:] = 1
    palette = (colour, options.theme.panel)
    return Cells(
        key, room.x, room.y, size, fill, palette, (options.theme.ink_on(colour), options.theme.text), line=options.theme.panel
    )


def _chip(device: Device, room: Box, options: ViewOptions) -> list[Primitive]:
    theme = options.theme
    cores = device.sms * device.fp32_per_sm
    name = f"the chip: {many(device.sms, device.words['sm'])}, {spaced(cores)} {device.words['core']}s"
    primitives = _frame("chip", name, room, options)
    caches = [each for each in device.levels[1:-1] if each.shared_by == "device"]
    cache = 0.16 * room.height
    inner = Box(room.x + 20, room.y + 62, room.width - 40, room.height - 80 - cache * len(caches))
    primitives.append(_cells("sms", device.sms, inner, mixed(theme.panel, theme.accent("C"), 0.7), options))
    for place, each in enumerate(reversed(caches)):
        key = f"cache{'-' + str(place) if place else ''}"
        y = room.y + room.height - cache * (place + 1) - 6
        size = min(theme.type.words, 0.5 * cache)
        label = f"{each.name} of all multiprocessors: {size_text(each.size_bytes)}"
        primitives.append(Rects(f"{key}-bar", boxes((inner.x, y, inner.width, cache - 8)), theme.empty, theme.faint, 2.0, 6.0))
        at = points((inner.x + 14, y + (cache - 8) / 2 + 0.35 * size))
        primitives.append(
            Labels(
                f"{key}-said", at, (fitted(label, size, inner.width - 28, "semibold"),), size, theme.text, "start", "semibold"
            )
        )
    return primitives


def _memory(device: Device, room: Box, options: ViewOptions) -> list[Primitive]:
    theme, size = options.theme, min(options.theme.type.name, 0.24 * room.height)
    first = f"Global memory: {size_text(device.memory_bytes)}, off the chip"
    rate = device.bandwidth_gb_s
    per_flop = device.peak_gflops / rate if rate else 0.0
    second = f"{number(rate)} GB/s; at {number(device.peak_gflops)} GFLOP/s, {per_flop:.3g} operations per byte"
    return [
        Rects(
            "memory-box", boxes((room.x, room.y, room.width, room.height)), theme.tint("B", 0.3), theme.accent("B"), 3.0, 10.0
        ),
        text_line(
            "memory-name", (room.x + 24, room.y + 0.42 * room.height), first, size, room.width - 48, theme.text, "semibold"
        ),
        text_line("memory-rate", (room.x + 24, room.y + 0.78 * room.height), second, 0.85 * size, room.width - 48, theme.text),
    ]


VIEW = View("Device: its multiprocessors and memories", LaunchCase, device_scene, order=40)
