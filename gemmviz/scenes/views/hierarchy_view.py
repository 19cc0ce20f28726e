"""The memories that a thread uses, from registers to global memory: their scope, their size on the device, and the bytes
transferred so far.
"""

from itertools import pairwise

from gemmviz.analysis.memory.counts import Counts
from gemmviz.analysis.replay.moment import Moment
from gemmviz.files.devices import load_device
from gemmviz.model.device import Device, MemoryLevel
from gemmviz.model.sites import shared_bytes
from gemmviz.model.translation import capital, counted, many, marked, number, size_text, tr
from gemmviz.scenes.kit.hardware import memory
from gemmviz.scenes.kit.layout import LINE_PITCH, REST, Box, Line, Share, along, lines_in, round_boxes, write
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.view import View, ViewOptions, eased_from, framed
from gemmviz.scenes.stage.cells import WIDE, elements_at

_SHARED_WIDTH = 0.58  # of the width: shared memory; global memory is reached beside it
_SHARED_AT, _GLOBAL_AT = 0.48, 0.66  # of the width: the pipes
_LEAST_PIPE, _MOST_PIPE = 6, 44


def hierarchy_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw all levels of memory; between them the bytes transferred so far by the warps of the watched threads."""
    return framed(_drawn_levels(moment, options), moment, options)


def hierarchy_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the elements of this step on their way to or from registers: a chip each, in the colour of a matrix."""
    room, levels = _level_boxes(moment, options)
    pieces: list[Primitive] = []
    for place, touched in enumerate(moment.touched):
        is_global = touched.array.space == "global"
        if not len(touched.cells):
            continue
        ends = [(_pipe_x(room, is_global), box.middle_y) for box in (levels[-1 if is_global else 1], levels[0])]
        way = ends if touched.operand.access == "read" else ends[::-1]
        pieces.append(elements_at(moment, place, along(way, eased_from(options.moment)), options.theme))
    return tuple(pieces)


def _level_boxes(moment: Moment, options: ViewOptions) -> tuple[Box, list[Box]]:
    """Return the space of the picture, and the boxes of the levels in it, the nearest to the threads first. Shared memory
    stands at the left, so that the pipe of global memory passes it.
    """
    count = len(load_device(moment.trace.setup.device).levels) + 1
    room = options.room().trimmed(top=-10)
    first, below = room.rows(REST, Share(count - 1), gap=room.height / 10)
    levels = [first, *below.grid(count - 1, 1, down=room.height / 33)]
    levels[1] = levels[1].part(across=(0, _SHARED_WIDTH))
    return room, levels


def _pipe_x(room: Box, is_global: bool) -> float:
    return room.at(_GLOBAL_AT if is_global else _SHARED_AT)[0]


def _drawn_levels(moment: Moment, options: ViewOptions) -> list[Primitive]:
    (room, levels), theme = _level_boxes(moment, options), options.theme
    primitives = list[Primitive]()
    for place, ((name, who, size), box) in enumerate(zip(_level_facts(moment), levels, strict=True)):
        end, key = _pipe_x(room, is_global=place > 1) - WIDE / 2, f"level-{place}"
        lines = [
            Line(f"{key}-name", name, *theme.strong),
            Line(f"{key}-size", size, *theme.small),
            Line(f"{key}-who", who, *theme.aside),
        ]
        primitives += memory(f"{key}-box", box, theme, lines, place, 3, box.trimmed(22, right=box.right - end + 22))
    primitives += _pipes(moment, room, levels, options)
    beyond = levels[0].trimmed(left=_pipe_x(room, True) + room.width / 7 - room.x, right=20)
    primitives.append(write("scale-said", beyond, tr("boxes are not to scale"), theme.aside))
    return [*primitives, *_parts_of_global(moment, room, levels[-1], options)]


def _level_facts(moment: Moment) -> list[tuple[str, str, str]]:
    """Return name, who uses it, and size of each level, the nearest to the threads first."""
    device, arrays = load_device(moment.trace.setup.device), moment.trace.arrays
    words, (first, *caches, last) = device.words, device.levels
    own = shared_bytes(arrays)
    uses = tr("this kernel uses {own}", own=size_text(own)) if own else tr("this kernel uses none")
    registers = tr("{register_bytes} on each {sm}", register_bytes=size_text(device.register_bytes), sm=tr(words["sm"]))
    shared = tr(
        "{size_bytes} on each {sm}, up to {block_shared_text} per {block}",
        size_bytes=size_text(first.size_bytes),
        sm=tr(words["sm"]),
        block_shared_text=device.block_shared_text,
        block=tr(words["block"]),
    )
    rate = tr(
        "{size_bytes}, {bandwidth_gb_s} GB/s, off the chip",
        size_bytes=size_text(last.size_bytes),
        bandwidth_gb_s=number(device.bandwidth_gb_s),
    )
    return [
        (tr("Registers"), tr("private to each thread"), registers),
        (capital(tr(first.name)), tr("shared by a {block}; {uses}", block=tr(words["block"]), uses=uses), shared),
        *(_cache_facts(each, device) for each in caches),
        (
            capital(tr(last.name)),
            tr("all threads and the host share it"),
            rate + ("" if caches else tr("; no cache before it")),
        ),
    ]


def _cache_facts(level: MemoryLevel, device: Device) -> tuple[str, str, str]:
    """Name and texts of a cache."""
    where = (
        tr("on each {sm}", sm=tr(device.words["sm"]))
        if level.shared_by == "SM"
        else tr("for all {sm}s", sm=tr(device.words["sm"]))
    )
    rate = "" if level.bandwidth_gb_s is None else f", {number(level.bandwidth_gb_s)} GB/s"
    return capital(tr(level.name)), tr("filled by the hardware"), f"{size_text(level.size_bytes)} {where}{rate}"


def _pipes(moment: Moment, room: Box, levels: list[Box], options: ViewOptions) -> list[Primitive]:
    """Draw the ways to shared and to global memory, as wide as the bytes so far, and these numbers."""
    shared, outer = moment.so_far("shared"), moment.so_far("global")
    moved = {"shared": shared.bytes_asked, "global": outer.bytes_moved(moment.trace.rules)}
    most = max(1, *moved.values())
    primitives: list[Primitive] = []
    for space, ends in (("shared", levels[:2]), ("global", [levels[0], *levels[2:]])):
        x, count = _pipe_x(room, space == "global"), moved[space]
        wide = _LEAST_PIPE + (_MOST_PIPE - _LEAST_PIPE) * count / most if count else 2
        parts = [Box(x - wide / 2, a.bottom, wide, b.y - a.bottom) for a, b in pairwise(ends)]
        primitives.append(Rects(f"{space}-pipe", boxes(*parts), options.theme.faint))
    first, second, beyond = *levels[:2], _pipe_x(room, True) + _MOST_PIPE
    between = Box(room.x, first.bottom, _pipe_x(room, False) - _MOST_PIPE - room.x, second.y - first.bottom)
    beside = Box(beyond, second.y, room.right - beyond, second.height)
    primitives += _said("shared", _shared_words(shared), between, options)
    return [*primitives, *_said("global", _global_words(moment, outer), beside, options)]


def _said(key: str, texts: tuple[str, ...], box: Box, options: ViewOptions) -> list[Labels]:
    """Draw numbers of bytes in a space, the first line strong; in one line if there is no space for all."""
    strong, soft = options.theme.strong, options.theme.soft
    if box.height < LINE_PITCH * strong.size * len(texts):
        texts = (" ".join(texts),)
    lines = (Line(f"{key}-passed-{place}", text, *(soft if place else strong)) for place, text in enumerate(texts))
    return lines_in(box, list(lines))


def _shared_words(counts: Counts) -> tuple[str, ...]:
    if not counts.requests:
        return (tr("nothing to or from shared memory yet"),)
    return (
        tr(
            "{bytes_asked} so far, in {wavefronts}",
            bytes_asked=counted(size_text(counts.bytes_asked)),
            wavefronts=many(counts.wavefronts, "wavefront"),
        ),
    )


def _global_words(moment: Moment, counts: Counts) -> tuple[str, ...]:
    if not counts.requests:
        return (tr("nothing to or from"), tr("global memory yet"))
    moved = tr("{bytes_moved} moved so far", bytes_moved=counted(size_text(counts.bytes_moved(moment.trace.rules))))
    return (
        moved,
        tr("in {sectors},", sectors=many(counts.sectors, "sector")),
        tr("for {bytes_asked} requested", bytes_asked=counted(size_text(counts.bytes_asked))),
    )


def _parts_of_global(moment: Moment, room: Box, outer: Box, options: ViewOptions) -> list[Primitive]:
    """Draw constant and texture memory: parts of global memory with a cache on each multiprocessor."""
    theme, text = options.theme, moment.trace.setup.kernel.text
    parts = outer.trimmed(_pipe_x(room, True) + WIDE / 2 + 10 - outer.x, 8, 12, 8).columns(REST, REST, gap=12)
    strong = theme.strong.sized(theme.type.least)
    if outer.height < 3 * strong.size or parts[0].width < strong.width(tr("constant")) + 24:
        return []
    primitives: list[Primitive] = []
    for part, (name, word) in zip(parts, ((marked("constant"), "__constant__"), (marked("texture"), "tex1D")), strict=True):
        used = tr("used") if word in text else tr("not used")
        lines = [Line(f"{name}-0", tr(name), *strong), Line(f"{name}-1", used, *theme.aside)]
        primitives.append(round_boxes(f"{name}-box", part, theme.panel, theme.faint))
        primitives += lines_in(part.trimmed(12, right=8), lines)
    return primitives


VIEW = View(marked("Memory hierarchy: bytes so far"), Moment, hierarchy_scene, draw_motion=hierarchy_motion, order=306)
