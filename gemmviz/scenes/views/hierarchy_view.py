"""The memories that a thread uses, from registers to global memory: their scope, their size on the device, and the bytes
transferred so far.
"""

from itertools import pairwise

from gemmviz.analysis.memory.counts import Counts
from gemmviz.analysis.replay.moment import Moment
from gemmviz.files.devices import load_device
from gemmviz.model.device import Device, MemoryLevel
from gemmviz.model.sites import shared_bytes
from gemmviz.model.translation import capital, counted, many, marked, number, size_text, spaced, tr
from gemmviz.scenes.kit.hardware import memory
from gemmviz.scenes.kit.layout import (
    LINE_PITCH,
    NEAR,
    REST,
    Box,
    Line,
    Share,
    along,
    lines_in,
    path,
    round_boxes,
    wrapped,
    write,
)
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.text import fits_lines
from gemmviz.scenes.kit.view import View, ViewOptions, eased_from, framed
from gemmviz.scenes.stage.cells import WIDE, elements_at

_COLUMNS = Share(49), Share(31), Share(20)  # shared memory, the pipe of global memory, caches of its parts
_SHARED_AT, _GLOBAL_AT = 0.85, 0.1  # of the first and of the second: their pipes
_LEAST_PIPE, _MOST_PIPE = 6, 44
_SMALL_CACHES = (marked("constant cache"), "__constant__"), (marked("texture cache"), "tex1D")


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
    count, room = len(load_device(moment.trace.setup.device).levels), options.room()
    first, below = room.rows(REST, Share(count), gap=1.8 * options.theme.large.size)
    levels = [first, *below.grid(count, 1, down=room.height / 33)]
    levels[1] = levels[1].columns(*_COLUMNS)[0]
    return room, levels


def _pipe_x(room: Box, is_global: bool) -> float:
    near, beyond, _ = room.columns(*_COLUMNS)
    return beyond.at(_GLOBAL_AT)[0] if is_global else near.at(_SHARED_AT)[0]


def _drawn_levels(moment: Moment, options: ViewOptions) -> list[Primitive]:
    (room, levels), theme = _level_boxes(moment, options), options.theme
    primitives = list[Primitive]()
    for place, ((name, who, size), box) in enumerate(zip(_level_facts(moment), levels, strict=True)):
        end, key = _pipe_x(room, is_global=place > 1) - WIDE / 2, f"level-{place}"
        inner = box.trimmed(22, right=box.right - end + 22)
        title = next((style for style in (theme.strong, theme.small) if style.width(name) <= inner.width), theme.small)
        lines = wrapped(f"{key}-name", name, title, inner.width)
        texts = (("size", size, theme.small), ("who", who, theme.aside))
        lines += [Line(f"{key}-{part}", text, *style) for part, text, style in texts if style.width(text) <= inner.width]
        primitives += memory(f"{key}-box", box, theme, lines, place, 3, inner)
    caches = _small_caches(moment, room, levels, options)
    return [*primitives, *_pipes(moment, room, levels, options, wide=not caches), *caches]


def _level_facts(moment: Moment) -> list[tuple[str, str, str]]:
    """Return name, who uses it, and size of each level, the nearest to the threads first."""
    device, arrays = load_device(moment.trace.setup.device), moment.trace.arrays
    words, (first, *caches, last) = device.words, device.levels
    own = shared_bytes(arrays)
    uses = tr("this kernel uses {own}", own=size_text(own)) if own else tr("this kernel uses none")
    registers = tr("{size_bytes} on each {sm}", size_bytes=size_text(device.register_bytes), sm=tr(words["sm"]))
    shared = tr("{size_bytes} on each {sm}", size_bytes=size_text(first.size_bytes), sm=tr(words["sm"]))
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


def _pipes(moment: Moment, room: Box, levels: list[Box], options: ViewOptions, wide: bool) -> list[Primitive]:
    """Draw the ways to shared and to global memory, as wide as the bytes requested so far, and these numbers; ``wide``: those
    of global memory have the room of the small caches, too.
    """
    so_far = {"shared": moment.so_far("shared"), "global": moment.so_far("global")}
    most = max(1, *(each.bytes_asked for each in so_far.values()))
    primitives: list[Primitive] = []
    for (space, counts), ends in zip(so_far.items(), (levels[:2], [levels[0], *levels[2:]]), strict=True):
        x = _pipe_x(room, space == "global")
        across = _LEAST_PIPE + (_MOST_PIPE - _LEAST_PIPE) * counts.bytes_asked / most
        parts = [Box(x - across / 2, a.bottom, across, b.y - a.bottom) for a, b in pairwise(ends)]
        primitives.append(Rects(f"{space}-pipe", boxes(*parts), options.theme.faint))
        if space == "shared":
            said = ends[0]._replace(y=ends[0].bottom, width=x - room.x - _MOST_PIPE, height=ends[1].y - ends[0].bottom)
        else:
            end = room.right if wide else room.columns(*_COLUMNS)[1].right
            said = levels[1]._replace(x=x + _MOST_PIPE, width=end - x - _MOST_PIPE)
        primitives += _said(moment, space, counts, said, options)
    return primitives


def _said(moment: Moment, space: str, counts: Counts, box: Box, options: ViewOptions) -> list[Labels]:
    """Draw the bytes that were requested of a memory, large, and what that took, where there is space for it."""
    asked = tr("{count} bytes requested", count=spaced(counts.bytes_asked))
    styles, small = (options.theme.large, options.theme.strong, options.theme.small), options.theme.small
    large = next((style for style in styles if style.width(asked) <= box.width), small)
    lines = wrapped(f"{space}-passed", asked, large, box.width)
    if space == "global" and counts.sectors:
        moved = counted(size_text(counts.bytes_moved(moment.trace.rules)))
        text = tr("{moved} moved, in {sectors}", moved=moved, sectors=many(counts.sectors, "sector"))
        lines += wrapped("global-moved", text, small, box.width)
    elif counts.wavefronts:
        text = tr("in {wavefronts}", wavefronts=many(counts.wavefronts, "wavefront"))
        beyond = box.trimmed(left=large.width(asked) + NEAR)
        fits = small.width(text) <= beyond.width
        return [*lines_in(box, lines), *([write("shared-took", beyond, text, small)] if fits else [])]
    return lines_in(box, lines)


def _small_caches(moment: Moment, room: Box, levels: list[Box], options: ViewOptions) -> list[Primitive]:
    """Draw the caches of constant and texture memory beside shared memory, and their ways to global memory, of which both are
    parts; none where there is no space.
    """
    theme, text, primitives = options.theme, moment.trace.setup.kernel.text, list[Primitive]()
    column = room.columns(*_COLUMNS)[2]._replace(y=levels[1].y, height=levels[1].height)
    for box, (name, word) in zip(column.columns(REST, REST, gap=NEAR), _SMALL_CACHES, strict=True):
        style, (foot, below) = theme.small if word in text else theme.aside, (box.at(0.5, 1.0), levels[2].at(0.5, 0.0))
        most = int(box.height / (LINE_PITCH * style.size))
        if most < 1 or not fits_lines(tr(name), style.size, box.width - 2 * NEAR, most):
            return []
        lines = wrapped(f"{name}-name", tr(name), style, box.width - 2 * NEAR)
        primitives.append(path(f"{name}-way", [foot, (foot[0], below[1])], theme.line, _LEAST_PIPE))
        primitives.append(round_boxes(f"{name}-box", box, theme.panel, style.colour))
        primitives += lines_in(box.inset(NEAR, 0), lines)
    return primitives


VIEW = View(marked("Memory hierarchy: bytes so far"), Moment, hierarchy_scene, draw_motion=hierarchy_motion, order=306)
