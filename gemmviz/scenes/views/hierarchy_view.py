"""The memories that a thread uses, from registers to global memory: their scope, their size on the device, and the bytes
transferred so far.
"""

from gemmviz.analysis.memory.counts import Counts
from gemmviz.analysis.replay.moment import Moment
from gemmviz.files.devices import load_device
from gemmviz.model.device import Device, MemoryLevel
from gemmviz.model.sites import shared_bytes
from gemmviz.model.words import capital, number, spaced
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, framed
from gemmviz.scenes.kit.primitives import Face, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import fitted, text_line
from gemmviz.scenes.kit.view import View

_FIRST, _SHARE = 0.3, 0.27  # how high registers are, and each other level, where there are three
_ARROW, _GAP = 0.08, 0.02  # of the height: between levels with an arrow, and without
_INSET = 0.12  # of the width: of the first level
_REGISTER_BYTES = 4


def hierarchy_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw all levels of memory; between them the bytes transferred so far by the warps of the watched threads."""
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
    shared, outer = moment.so_far("shared"), moment.so_far("global")
    has_shared = any(array.space == "shared" for array in moment.trace.arrays)
    own = shared_bytes(moment.trace.arrays)
    tile = f"; this kernel uses {size_text(own)} per block" if has_shared else "; this kernel uses none"
    registers = _REGISTER_BYTES * device.registers_per_sm
    first, *caches, last = device.levels
    theme = options.theme
    levels = [
        ("Registers", theme.accent("C"), "private to each thread", f"{size_text(registers)} on each {words['sm']}"),
        (
            capital(first.name),
            theme.accent("A"),
            f"all threads of a {words['block']} share it",
            f"{size_text(first.size_bytes)} on each {words['sm']}, at most {size_text(device.shared_per_block)} per "
            f"{words['block']}{tile}",
        ),
        *(_cache(each, theme.level(3 + place), device) for place, each in enumerate(caches)),
        (
            capital(last.name),
            theme.accent("B"),
            "all threads and the host share it",
            f"{size_text(last.size_bytes)}, {number(device.bandwidth_gb_s)} GB/s, off the chip"
            + ("" if caches else "; no cache before it"),
        ),
    ]
    primitives: list[Primitive] = []
    places = _boxes(room, len(levels))
    for place, ((name, colour, who, size), box) in enumerate(zip(levels, places, strict=True)):
        is_last = place == len(levels) - 1  # constants and textures stand beside it
        beside = box.width - (0.37 * room.width if is_last else 0.0)
        primitives += _level(f"level-{place}", name, colour, (who, size), box, beside, options)
    for key, label, below in (("shared", _shared_words(shared), 1), ("global", _global_words(moment, outer), len(places) - 1)):
        above = places[below - 1].y + places[below - 1].height
        primitives += _transfer(key, label, Box(room.x, above, room.width, places[below].y - above), options)
    return [*primitives, *_others(moment, device, places[-1], options)]


def _boxes(room: Box, count: int) -> list[Box]:
    """The boxes of ``count`` levels, each wider than the one above it."""
    gaps = [_ARROW, *[_GAP] * (count - 3), _ARROW]
    shares = [_FIRST, *[_SHARE] * (count - 1)]
    scale = (1.0 - sum(gaps)) / sum(shares)
    y, placed = room.y, []
    for place, (share, gap) in enumerate(zip(shares, [*gaps, 0.0], strict=True)):
        inset = _INSET * room.width * (1 - place / (count - 1))
        placed.append(Box(room.x + inset, y, room.width - 2 * inset, share * scale * room.height))
        y += (share * scale + gap) * room.height
    return placed


def _cache(level: MemoryLevel, colour: str, device: Device) -> tuple[str, str, str, str]:
    """Name, colour and texts of a cache."""
    where = f"on each {device.words['sm']}" if level.shared_by == "SM" else f"for all {device.words['sm']}s"
    rate = "" if level.bandwidth_gb_s is None else f", {number(level.bandwidth_gb_s)} GB/s"
    return capital(level.name), colour, "filled by the hardware", f"{size_text(level.size_bytes)} {where}{rate}"


def _level(
    key: str, name: str, colour: str, lines: tuple[str, str], box: Box, room: float, options: ViewOptions
) -> list[Primitive]:  # fmt: skip
    theme, sizes = options.theme, options.theme.type
    size = min(sizes.name, 0.26 * box.height)
    small = min(sizes.words, 0.2 * box.height)
    x, room = box.x + 22, room - 44
    step = (box.height - size - 2 * small) / 4
    baselines = (box.y + step + 0.8 * size, box.y + 2 * step + size + 0.8 * small, box.y + 3 * step + size + 1.8 * small)
    return [
        Rects(f"{key}-box", boxes((box.x, box.y, box.width, box.height)), theme.panel, colour, 3.0, 10.0),
        Labels(f"{key}-name", points((x, baselines[0])), (name,), size, colour, "start", "semibold"),
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
    high, top, wide, gap = room.height, room.y, 0.17 * room.width, 0.012 * room.width
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
