"""A device: one multiprocessor with its control, cores and on-chip memories, the whole chip, and the memory off the chip. The
chip fills multiprocessor by multiprocessor, while its cores are counted.
"""

from gemmviz.model.cases import LaunchCase
from gemmviz.model.device import Device
from gemmviz.model.records import replace
from gemmviz.model.translation import grouped, marked, number, size_text, sized, tr
from gemmviz.scenes.kit.hardware import caches_of, cores, memory, units
from gemmviz.scenes.kit.layout import REST, ROW_PITCH, Box, Line, Share, panel, path, write
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.view import ARRIVAL, View, ViewOptions, titled

_CACHE, _PAD = 1 / 6, 20  # of the chip's height: a cache; from the edge of a box to what is in it


def device_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw one multiprocessor on the left, the chip on the right, and the memory off the chip below."""
    device, theme = case.device, options.theme
    one, chip, below = _device_boxes(options)
    primitives = [*_one(device, one, options), *_whole_chip(device, chip, options), *_off_chip(device, below, options)]
    primitives += [
        path("zoom", [(one.right, one.y + 40), (chip.x + 24, chip.y + 74)], theme.faint, 2, dashed=True),
        path("bus", [chip.edge("bottom"), (chip.middle_x, below.y)], theme.text, 4),
    ]
    source = tr("an imaginary device") if device.is_toy else tr("figures published by the vendor")
    note = tr("{architecture}, {source}; boxes are not to scale", architecture=device.architecture, source=source)
    return titled(primitives, device.name, note, options)


def device_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the multiprocessors of the chip up to ``options.moment``, and the number of cores so far."""
    device, theme = case.device, options.theme
    _, chip, _ = _device_boxes(options)
    shown = device.sms if options.moment >= ARRIVAL else max(1, round(device.sms * options.way))
    text = tr(
        "the chip: {many}, {cores} {core}s",
        many=sized(shown, device.words["sm"]),
        cores=grouped(shown * device.fp32_per_sm),
        core=tr(device.words["core"]),
    )
    cells = units("sms", device.sms, _inside(device, chip), theme, first=True)
    fill = cells.fill.copy()
    fill.ravel()[shown : device.sms] = 1
    return replace(cells, fill=fill), *panel("chip", chip, theme, text)[1:]


def _device_boxes(options: ViewOptions) -> tuple[Box, Box, Box]:
    """Return the boxes of one multiprocessor, the chip and the memory below them."""
    upper, below = options.room(120, 40).rows(Share(4), REST, gap=30)
    one, chip = upper.columns(Share(11), Share(12), gap=60)
    return one, chip, below


def _one(device: Device, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw a multiprocessor: its cores, and its memories below them."""
    theme, words = options.theme, device.words
    inner = room.trimmed(_PAD, 54, _PAD, 16)
    text = tr(
        "{many}, up to {max_threads_per_sm} threads at once",
        many=sized(device.fp32_per_sm, words["core"]),
        max_threads_per_sm=grouped(device.max_threads_per_sm),
    )
    head, of_cores, _, rest = inner.rows(40, Share(7), 14, Share(8))
    bars = _chip_memories(device)
    return [
        *panel("one", room, theme, tr("one of its {many}", many=sized(device.sms, words["sm"]))),
        write("cores-name", head, text, theme.plain),
        *cores(device, of_cores, theme),
        *(
            piece
            for (key, label), row in zip(bars.items(), rest.grid(len(bars), 1), strict=True)
            for piece in _chip_memory(key, label, row.trimmed(bottom=12), options)
        ),
    ]


def _chip_memory(key: str, text: str, box: Box, options: ViewOptions) -> list[Primitive]:
    """Draw a memory of the chip; in a low one, its text is small."""
    style = options.theme.strong.sized(min(options.theme.type.words, box.height / ROW_PITCH))
    return memory(f"{key}-bar", box, options.theme, [Line(f"{key}-said", text, *style)])


def _chip_memories(device: Device) -> dict[str, str]:
    """Return the memories of an SM: their keys, and their texts with sizes."""
    words = device.words
    registers, held = grouped(device.registers_per_sm), size_text(device.register_bytes)
    shared = tr(
        "{shared_memory}: {shared_per_sm}, up to {most} per {block}",
        shared_memory=tr(words["shared memory"]),
        shared_per_sm=size_text(device.shared_per_sm),
        most=size_text(device.shared_limit(opts_in=True)),
        block=tr(words["block"]),
    )
    caches = {each.name: f"{tr(each.name)}: {size_text(each.size_bytes)}" for each in caches_of(device, "SM")}
    return {
        "registers": tr("registers: {held}, {registers_per_sm} of 32 bits", held=held, registers_per_sm=registers),
        "shared": shared,
        **caches,
    }


def _inside(device: Device, room: Box) -> Box:
    """Return the part of the chip that its multiprocessors fill."""
    return room.trimmed(_PAD, 62, _PAD, 18 + _CACHE * room.height * len(caches_of(device, "device")))


def _whole_chip(device: Device, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the frame of the chip and its caches. Its multiprocessors are drawn by ``device_motion``."""
    primitives: list[Primitive] = [*panel("chip", room, options.theme)]
    rest = room.trimmed(_PAD, 0, _PAD, 6)
    for place, each in enumerate(reversed(caches_of(device, "device"))):
        bar, rest = rest.strip("bottom", _CACHE * room.height)
        label = tr("{each} of all multiprocessors: {size_bytes}", each=each.name, size_bytes=size_text(each.size_bytes))
        primitives += _chip_memory(f"cache{'-' + str(place) if place else ''}", label, bar.trimmed(bottom=8), options)
    return primitives


def _off_chip(device: Device, room: Box, options: ViewOptions) -> list[Primitive]:
    theme, rate = options.theme, device.bandwidth_gb_s
    style = theme.strong.sized(min(theme.type.name, room.height / 4))
    first = tr("Global memory: {memory_bytes}, off the chip", memory_bytes=size_text(device.memory_bytes))
    second = tr(
        "{rate} GB/s; at {peak_gflops} GFLOP/s, {per_flop} operations per byte",
        rate=number(rate),
        peak_gflops=number(device.peak_gflops),
        per_flop=f"{device.peak_gflops / rate if rate else 0:.3g}",
    )
    small = theme.plain.sized(min(theme.type.note, style.size))
    lines = [Line("memory-name", first, *style), Line("memory-rate", second, *small)]
    return memory("memory-box", room, theme, lines)


VIEW = View(marked("Device: its multiprocessors and memories"), LaunchCase, device_scene, device_motion, order=407)
