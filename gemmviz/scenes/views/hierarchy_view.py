"""The memories that a thread uses, from registers to global memory: their scope, their size on the device, and the bytes
transferred so far.
"""

from itertools import pairwise

from msgspec import Struct

from gemmviz.analysis.memory.counts import Counts
from gemmviz.analysis.replay.moment import Moment
from gemmviz.files.devices import load_device
from gemmviz.model.device import Device, MemoryLevel
from gemmviz.model.sites import shared_bytes
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import capital, many, number, size_text
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, eased_from, framed
from gemmviz.scenes.kit.primitives import Box, Face, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.stage.strips import WIDE, chips, stored_matrix

_ARROW, _GAP = 0.1, 0.03  # of the height: below registers, and between other levels
_SHARED = 0.58  # of the width: shared memory; global memory is reached beside it
_SHARED_AT, _GLOBAL_AT = 0.48, 0.66  # of the width: the pipes
_LEAST_PIPE, _MOST_PIPE = 6.0, 44.0


def hierarchy_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw all levels of memory; between them the bytes transferred so far by the warps of the watched threads."""
    return framed(_levels(moment, options), moment, options)


def hierarchy_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the elements of this step on their way to or from registers: a chip each, in the colour of a matrix."""
    places = _Places.of(moment, options)
    pieces: list[Primitive] = []
    for place, touched in enumerate(moment.touched):
        is_global = touched.array.space == "global"
        count, box = len(touched.cells), places.boxes[-1 if is_global else 1]
        if not count:
            continue
        ends = [(places.pipe_x(is_global), box.y + box.height / 2), (places.pipe_x(is_global), places.registers_y)]
        start, stop = ends if touched.operand.access == "read" else ends[::-1]
        share = eased_from(options.moment, 0.0, 1.0)
        middle = tuple(a + (b - a) * share for a, b in zip(start, stop, strict=True))
        colour = options.theme.accent(stored_matrix(moment, touched))
        pieces.append(Rects(f"moving-{place}", chips(count, *middle), colour, radius=2.0))
    return tuple(pieces)


class _Places(Struct, frozen=True):
    """The boxes of the levels, the nearest to the threads first, in a region."""

    room: Box
    boxes: list[Box]

    @classmethod
    def of(cls, moment: Moment, options: ViewOptions) -> "_Places":
        """Shared memory stands at the left, so that the pipe of global memory passes it."""
        count = len(load_device(moment.trace.setup.device).levels) + 1
        top = options.top - 10
        room = Box(MARGIN, top, options.width - 2 * MARGIN, options.bottom - top)
        gaps = [_ARROW, *[_GAP] * (count - 2)]
        high = (1.0 - sum(gaps)) / count
        y, placed = room.y, []
        for place, gap in enumerate([*gaps, 0.0]):
            wide = (_SHARED if place == 1 else 1.0) * room.width
            placed.append(Box(room.x, y, wide, high * room.height))
            y += (high + gap) * room.height
        return cls(room, placed)

    @property
    def registers_y(self) -> float:
        return self.boxes[0].y + self.boxes[0].height / 2

    def pipe_x(self, is_global: bool) -> float:
        return self.room.x + (_GLOBAL_AT if is_global else _SHARED_AT) * self.room.width


def _levels(moment: Moment, options: ViewOptions) -> list[Primitive]:
    places, theme = _Places.of(moment, options), options.theme
    primitives: list[Primitive] = []
    for place, ((name, who, size), box) in enumerate(zip(_facts(moment), places.boxes, strict=True)):
        end = places.pipe_x(is_global=place > 1) - WIDE / 2 if place != 0 else places.pipe_x(False) - WIDE / 2
        primitives += _level(f"level-{place}", name, theme.level(place), (who, size), box, end - box.x, options)
    primitives += _pipes(moment, places, options)
    at = (places.pipe_x(True) + 0.14 * places.room.width, places.registers_y + 0.36 * theme.type.least)
    room = places.room.x + places.room.width - at[0] - 20
    primitives.append(text_line("scale-said", at, tr("boxes are not to scale"), theme.type.least, room, theme.faint))
    return [*primitives, *_others(moment, places, options)]


def _facts(moment: Moment) -> list[tuple[str, str, str]]:
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
        *(_cache(each, device) for each in caches),
        (
            capital(tr(last.name)),
            tr("all threads and the host share it"),
            rate + ("" if caches else tr("; no cache before it")),
        ),
    ]


def _cache(level: MemoryLevel, device: Device) -> tuple[str, str, str]:
    """Name and texts of a cache."""
    where = (
        tr("on each {sm}", sm=tr(device.words["sm"]))
        if level.shared_by == "SM"
        else tr("for all {sm}s", sm=tr(device.words["sm"]))
    )
    rate = "" if level.bandwidth_gb_s is None else f", {number(level.bandwidth_gb_s)} GB/s"
    return capital(tr(level.name)), tr("filled by the hardware"), f"{size_text(level.size_bytes)} {where}{rate}"


def _level(
    key: str, name: str, colour: str, lines: tuple[str, str], box: Box, room: float, options: ViewOptions
) -> list[Primitive]:  # fmt: skip
    """Draw a memory with as many of its lines as fit."""
    theme, sizes = options.theme, options.theme.type
    x, room = box.x + 22, room - 44
    texts = [(name, sizes.words, theme.text, "semibold"), (lines[1], sizes.least, theme.text, "regular"),
             (lines[0], sizes.least, theme.faint, "regular")]  # fmt: skip
    shown = next((texts[:count] for count in (3, 2, 1) if sum(1.3 * t[1] for t in texts[:count]) <= box.height), texts[:1])
    y = box.y + (box.height - sum(1.3 * text[1] for text in shown)) / 2
    primitives: list[Primitive] = [
        Rects(f"{key}-box", boxes((box.x, box.y, box.width, box.height)), theme.slate, colour, 3.0, 10.0)
    ]
    for place, (text, size, ink, face) in enumerate(shown):
        y += 1.3 * size
        at = (x, y - 0.34 * size)
        primitives.append(text_line(f"{key}-{('name', 'size', 'who')[place]}", at, text, size, room, ink, face))  # type: ignore[arg-type]
    return primitives


def _pipes(moment: Moment, places: _Places, options: ViewOptions) -> list[Primitive]:
    """Draw the ways to shared and to global memory, as wide as the bytes so far, and these numbers."""
    theme, boxes_ = options.theme, places.boxes
    counts = {space: moment.so_far(space) for space in ("shared", "global")}  # type: ignore[arg-type]
    moved = {"shared": counts["shared"].bytes_asked, "global": counts["global"].bytes_moved(moment.trace.rules)}
    most = max(1, *moved.values())
    primitives: list[Primitive] = []
    for space, ends in (("shared", boxes_[:2]), ("global", [boxes_[0], *boxes_[2:]])):
        x, bytes_ = places.pipe_x(space == "global"), moved[space]
        wide = _LEAST_PIPE + (_MOST_PIPE - _LEAST_PIPE) * bytes_ / most if bytes_ else 2.0
        parts = [(x - wide / 2, a.y + a.height, wide, b.y - a.y - a.height) for a, b in pairwise(ends)]
        primitives.append(Rects(f"{space}-pipe", boxes(*parts), theme.faint))
    shared, outer = _shared_words(counts["shared"]), _global_words(moment, counts["global"])
    primitives += _said("shared", shared, (places.room.x, boxes_[0].y + boxes_[0].height, boxes_[1].y), places, options)
    beside = (places.pipe_x(True) + _MOST_PIPE, boxes_[1].y, boxes_[1].y + boxes_[1].height)
    return [*primitives, *_said("global", outer, beside, places, options)]


def _said(
    key: str, lines: tuple[str, ...], at: tuple[float, float, float], places: _Places, options: ViewOptions
) -> list[Primitive]:  # fmt: skip
    """Draw numbers of bytes in a space from (x, top) down to a bottom, the first line strong."""
    theme, (x, top, bottom) = options.theme, at
    size, end = theme.type.words, places.pipe_x(False) if key == "shared" else places.room.x + places.room.width
    room = end - x - (_MOST_PIPE if key == "shared" else 0.0)
    if bottom - top < 1.3 * size * len(lines):
        lines = (" ".join(lines),)
    y = (top + bottom - 1.3 * size * len(lines)) / 2
    primitives: list[Primitive] = []
    for place, line in enumerate(lines):
        y += 1.3 * size
        ink, face = (theme.faint, "regular") if place else (theme.text, "semibold")
        primitives.append(text_line(f"{key}-passed-{place}", (x, y - 0.34 * size), line, size, room, ink, face))  # type: ignore[arg-type]
    return primitives


def _shared_words(counts: Counts) -> tuple[str, ...]:
    if not counts.requests:
        return (tr("nothing to or from shared memory yet"),)
    return (
        tr(
            "{bytes_asked} so far, in {wavefronts}",
            bytes_asked=size_text(counts.bytes_asked),
            wavefronts=many(counts.wavefronts, "wavefront"),
        ),
    )


def _global_words(moment: Moment, counts: Counts) -> tuple[str, ...]:
    if not counts.requests:
        return (tr("nothing to or from"), tr("global memory yet"))
    moved = tr("{bytes_moved} moved so far", bytes_moved=size_text(counts.bytes_moved(moment.trace.rules)))
    return (
        moved,
        tr("in {sectors},", sectors=many(counts.sectors, "sector")),
        tr("for {bytes_asked} requested", bytes_asked=size_text(counts.bytes_asked)),
    )


def _others(moment: Moment, places: _Places, options: ViewOptions) -> list[Primitive]:
    """Draw constant and texture memory: parts of global memory with a cache on each multiprocessor."""
    theme, text, room = options.theme, moment.trace.setup.kernel.text, places.boxes[-1]
    size = theme.type.least
    x = places.pipe_x(True) + WIDE / 2 + 10
    wide = (room.x + room.width - x) / 2 - 12
    if room.height < 3 * size or wide < text_width(tr("constant"), size, "semibold") + 24:
        return []
    primitives: list[Primitive] = []
    for place, (name, word) in enumerate(((marked("constant"), "__constant__"), (marked("texture"), "tex1D"))):
        left, top, high = x + place * (wide + 12), room.y + 8, room.height - 16
        primitives.append(Rects(f"{name}-box", boxes((left, top, wide, high)), theme.panel, theme.faint, 1.5, 8.0))
        for row, line in enumerate((tr(name), tr("used") if word in text else tr("not used"))):
            face: Face = "regular" if row else "semibold"
            at = (left + 12, top + (0.36 + 0.4 * row) * high + 0.2 * size)
            ink = theme.faint if row else theme.text
            primitives.append(text_line(f"{name}-{row}", at, line, size, wide - 20, ink, face))
    return primitives


VIEW = View(marked("Memory hierarchy: bytes so far"), Moment, hierarchy_scene, draw_motion=hierarchy_motion, order=35)
