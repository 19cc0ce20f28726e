"""The memories that a thread uses, from registers to global memory: their scope, their size on the device, and the bytes
transferred so far.
"""

from gemmviz.analysis.memory.counts import Counts
from gemmviz.analysis.replay.moment import Moment
from gemmviz.files.devices import load_device
from gemmviz.model.device import Device
from gemmviz.model.sites import shared_bytes
from gemmviz.model.words import capital, number, spaced
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, framed
from gemmviz.scenes.kit.primitives import Face, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import fitted, text_line
from gemmviz.scenes.kit.view import View

_SHARE = (0.3, 0.27, 0.27)  # of the height: registers, shared memory, global memory; arrows stand between them
_REGISTER_BYTES = 4


def hierarchy_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw three levels; between them the bytes transferred so far by the warps of the watched threads."""
    return framed(_levels(moment, options), moment, options)


def size_text(size: float) -> str:
    """Return bytes in binary units."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{spaced(round(size))} bytes"


def _levels(moment: Moment, options: ViewOptions) -> list[Primitive]:
    device = load_device(moment.trace.setup.device)
    words = device.words
    top, bottom = options.top - 10, options.bottom
    room = Box(MARGIN, top, options.width - 2 * MARGIN, bottom - top)
    highs = [share * room.height for share in _SHARE]
    gap = (room.height - sum(highs)) / 2
    shared, outer = moment.so_far("shared"), moment.so_far("global")
    has_shared = any(array.space == "shared" for array in moment.trace.arrays)
    own = shared_bytes(moment.trace.arrays)
    tile = f"; this kernel uses {size_text(own)} per block" if has_shared else "; this kernel uses none"
    registers = _REGISTER_BYTES * device.registers_per_sm
    levels = (
        ("Registers", "C", "private to each thread", f"{size_text(registers)} on each {words['sm']}"),
        (
            capital(words["shared memory"]),
            "A",
            f"all threads of a {words['block']} share it",
            f"{size_text(device.shared_per_sm)} on each {words['sm']}, at most {size_text(device.shared_per_block)} per "
            f"{words['block']}{tile}",
        ),
        (
            "Global memory",
            "B",
            "all threads and the host share it",
            f"{size_text(device.memory_bytes)}, {number(device.bandwidth_gb_s)} GB/s, off the chip{_cache(device)}",
        ),
    )
    primitives: list[Primitive] = []
    y = room.y
    for place, ((name, colour, who, size), high) in enumerate(zip(levels, highs, strict=True)):
        inset = (2 - place) * 0.06 * room.width
        box = Box(room.x + inset, y, room.width - 2 * inset, high)
        beside = box.width - (0.37 * room.width if place == 2 else 0.0)  # space for constants and textures
        primitives += _level(f"level-{place}", name, colour, (who, size), box, beside, options)
        y += high + gap
    first, second = room.y + highs[0], room.y + highs[0] + gap + highs[1]
    primitives += _transfer("shared", _shared_words(shared), Box(room.x, first, room.width, gap), options)
    primitives += _transfer("global", _global_words(moment, outer), Box(room.x, second, room.width, gap), options)
    return [*primitives, *_others(moment, device, Box(room.x, room.y, room.width, room.height), options)]


def _cache(device: Device) -> str:
    return f"; cache of {size_text(device.last_level_cache)}" if device.last_level_cache else "; no cache"


def _level(
    key: str, name: str, colour: str, lines: tuple[str, str], box: Box, room: float, options: ViewOptions
) -> list[Primitive]:  # fmt: skip
    theme, sizes = options.theme, options.theme.type
    size = min(sizes.name, 0.26 * box.height)
    small = min(sizes.small, 0.2 * box.height)
    x, room = box.x + 22, room - 44
    step = (box.height - size - 2 * small) / 4
    baselines = (box.y + step + 0.8 * size, box.y + 2 * step + size + 0.8 * small, box.y + 3 * step + size + 1.8 * small)
    return [
        Rects(f"{key}-box", boxes((box.x, box.y, box.width, box.height)), theme.panel, theme.accent(colour), 3.0, 10.0),
        Labels(f"{key}-name", points((x, baselines[0])), (name,), size, theme.accent(colour), "start", "semibold"),
        text_line(f"{key}-who", (x, baselines[1]), lines[0], small, room, theme.text),
        text_line(f"{key}-size", (x, baselines[2]), lines[1], small, room, theme.faint),
    ]


def _shared_words(counts: Counts) -> str:
    if not counts.requests:
        return "nothing between registers and shared memory yet"
    return (
        f"{size_text(counts.bytes_asked)} between registers and shared memory so far, in {spaced(counts.wavefronts)} wavefronts"
    )


def _global_words(moment: Moment, counts: Counts) -> str:
    if not counts.requests:
        return "nothing to or from global memory yet"
    rules = moment.trace.rules
    moved = f"{size_text(counts.bytes_moved(rules))} moved in {spaced(counts.sectors)} sectors"
    return f"{size_text(counts.bytes_asked)} requested from global memory so far, {moved}"


def _transfer(key: str, text: str, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw arrows up and down, and the transferred bytes."""
    theme, size = options.theme, min(options.theme.type.heading, 0.62 * room.height)
    x, y0, y1 = room.x + 0.2 * room.width, room.y + 5, room.y + room.height - 5
    head = min(9.0, 0.3 * (y1 - y0))
    lines = [
        [x, y0, x, y1],
        [x - head, y0 + head, x, y0],
        [x + head, y0 + head, x, y0],
        [x - head, y1 - head, x, y1],
        [x + head, y1 - head, x, y1],
    ]
    at = points((x + 30, (y0 + y1) / 2 + 0.34 * size))
    fitted_text = fitted(text, size, room.width - 0.2 * room.width - 40, "semibold")
    return [
        Lines(f"{key}-arrow", boxes(*map(tuple, lines)), theme.text, 3.0),  # type: ignore[arg-type]
        Labels(f"{key}-passed", at, (fitted_text,), size, theme.text, "start", "semibold"),
    ]


def _others(moment: Moment, device: Device, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw constant and texture memory: parts of global memory with a cache on each multiprocessor."""
    theme, text = options.theme, moment.trace.setup.kernel.text
    high = _SHARE[2] * room.height
    top, wide, gap = room.y + room.height - high, 0.17 * room.width, 0.012 * room.width
    size = min(theme.type.note, 0.16 * high)
    primitives: list[Primitive] = []
    for place, (name, word) in enumerate((("constant", "__constant__"), ("texture", "tex1D"))):
        x, y, tall = room.x + room.width - (2 - place) * (wide + gap), top + 0.1 * high, 0.8 * high
        used = "used" if word in text else "not used"
        lines = (f"{name} memory", "read only, cached on", f"each {device.words['sm']}; {used} here")
        primitives.append(Rects(f"{name}-box", boxes((x, y, wide, tall)), theme.empty, theme.faint, 1.5, 8.0))
        for row, line in enumerate(lines):
            face: Face = "regular" if row else "semibold"
            ink = theme.faint if row else theme.text
            spot = points((x + 14, y + (0.27 + 0.28 * row) * tall + 0.36 * size))
            primitives.append(Labels(f"{name}-{row}", spot, (fitted(line, size, wide - 24, face),), size, ink, "start", face))
    return primitives


VIEW = View("Memory hierarchy: bytes so far", Moment, hierarchy_scene, order=35)
