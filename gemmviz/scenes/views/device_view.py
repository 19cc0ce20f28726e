"""Views of a device: its parts, what a core reaches, and what the cache holds."""

import dataclasses
from typing import NamedTuple

import numpy as np

from gemmviz.analysis.models import data_bytes, largest_held, matrix_bytes
from gemmviz.model.cases import LaunchCase
from gemmviz.model.device import Device
from gemmviz.model.messages import counted, grouped, marked, number, size_text, sized, tr
from gemmviz.model.problem import Problem
from gemmviz.scenes.kit.layout import (
    AIR,
    LINE_PITCH,
    REST,
    ROW_PITCH,
    Box,
    Line,
    Point,
    Share,
    all_beside,
    along,
    beside,
    cells_in,
    fits_box,
    lines_down,
    panel,
    path,
    round_boxes,
    square,
    squares,
    wrapped,
    write,
)
from gemmviz.scenes.kit.primitives import Cells, Lines, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.shapes import caches_of, cores, hatching, memory, units
from gemmviz.scenes.kit.theme import FIRM, SOFT, Theme
from gemmviz.scenes.kit.view import ARRIVAL, View, ViewOptions, eased_from, eased_in_turn, titled

# Device: its multiprocessors and memories.

_CACHE, _DEVICE_PAD = 1 / 6, 20  # of the chip's height: a cache; from the edge of a box to what is in it


def device_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """A device: one multiprocessor with its control, cores and on-chip memories, the whole chip, and the memory off the chip.
    The chip fills multiprocessor by multiprocessor, while its cores are counted.

    Draw one multiprocessor on the left, the chip on the right, and the memory off the chip below.
    """
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
    return dataclasses.replace(cells, fill=fill), *panel("chip", chip, theme, text)[1:]


def _device_boxes(options: ViewOptions) -> tuple[Box, Box, Box]:
    """Return the boxes of one multiprocessor, the chip and the memory below them."""
    upper, below = options.room(120, 40).rows(Share(4), REST, gap=30)
    one, chip = upper.columns(Share(11), Share(12), gap=60)
    return one, chip, below


def _one(device: Device, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw a multiprocessor: its cores, and its memories below them."""
    theme, words = options.theme, device.words
    inner = room.trimmed(_DEVICE_PAD, 54, _DEVICE_PAD, 16)
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
    return room.trimmed(_DEVICE_PAD, 62, _DEVICE_PAD, 18 + _CACHE * room.height * len(caches_of(device, "device")))


def _whole_chip(device: Device, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the frame of the chip and its caches. Its multiprocessors are drawn by ``device_motion``."""
    primitives: list[Primitive] = [*panel("chip", room, options.theme)]
    rest = room.trimmed(_DEVICE_PAD, 0, _DEVICE_PAD, 6)
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


# Reach: memories of a multiprocessor.

_APART, _WORD, _REACH_PAD = 110, 30, 24  # between the multiprocessors; a word; within a box
_CORE, _MOST_CORES = 40, 32
_HOPPER = (9,)  # major compute capability from which blocks may form clusters


def _reach_boxes(options: ViewOptions) -> dict[str, Box]:
    """Return the boxes of two multiprocessors with their cores and shared memories, of the cache that all share and of the
    memory.
    """
    upper, cache, outer = options.room(120, 36).rows(Share(4), REST, REST, gap=AIR)
    found = {"cache": cache, "memory": outer}
    for place, sm in enumerate(upper.columns(REST, REST, gap=_APART)):
        _, cores, _, shared, _ = sm.inset(_REACH_PAD, 0).rows(*map(Share, (6, 4, 3, 6, 2)))
        found |= {f"sm-{place}": sm, f"cores-{place}": cores.columns(Share(5), Share(3))[0], f"shared-{place}": shared}
    return found


def _word_ways(rooms: dict[str, Box]) -> list[list[Point]]:
    """Return the corners of the ways of the three words, from a core on; the last one ends at the edge."""
    own, shared, cores = rooms["sm-0"], rooms["shared-0"], rooms["cores-0"]
    start = cores.right + 60, cores.middle_y
    beyond, down = shared.right + 12, rooms["memory"].middle_y
    return [
        [start, cores.at(1), (cores.right, shared.middle_y)],
        [start, (beyond, cores.middle_y), (beyond, down)],
        [start, (own.right, cores.middle_y)],
    ]


def reach_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """What a core reaches: the shared memory of its own multiprocessor and the global memory, not its neighbour's shared
    memory. A word goes both ways; a third one turns back at the edge of its multiprocessor.

    Draw two multiprocessors, what all of them share, and the ways of a word.
    """
    device, theme, rooms = case.device, options.theme, _reach_boxes(options)
    pieces = list[Primitive]()
    for place in (0, 1):
        sm, name = rooms[f"sm-{place}"], f"{tr(device.words['sm'])} {place}"
        name += "" if place == 0 else tr(", one of the other {sms}", sms=device.sms - 1)
        pieces += [*panel(f"sm-{place}", sm, theme, name, _REACH_PAD), _cores(f"cores-{place}", device, rooms, options)]
    for key, text in _reached_memories(device).items():
        pieces += memory(f"{key}-box", rooms[key], theme, [Line(f"{key}-name", text, *theme.strong)])
    pieces += _roads(rooms, options)
    title = tr("What a {core} of {device} reaches", core=tr(device.words["core"]), device=device.name)
    return titled(pieces, title, _reach_note(device), options)


def reach_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the words on their ways; the one for the neighbour comes back."""
    theme = options.theme
    shares = [eased_in_turn(options.passed, place, 3) for place in range(3)]
    shares[2] = 1 - abs(2 * shares[2] - 1)  # there and back
    middles = [along(way, share) for way, share in zip(_word_ways(_reach_boxes(options)), shares, strict=True)]
    return (squares("words", middles, _WORD, theme.load, theme.ink_on(theme.load), theme.background),)


def _reached_memories(device: Device) -> dict[str, str]:
    """Return the texts of the memories."""
    sm, shared, cache = tr(device.words["sm"]), tr(device.words["shared memory"]), device.last_level_cache
    own = {
        f"shared-{place}": tr("{shared_memory} of {sm} {place}", shared_memory=shared, sm=sm, place=place) for place in (0, 1)
    }
    every = tr("last-level cache, shared by all: {last_level_cache}", last_level_cache=size_text(cache))
    outer = tr(
        "global memory: {memory_bytes}, for all {many}",
        memory_bytes=size_text(device.memory_bytes),
        many=sized(device.sms, device.words["sm"]),
    )
    return {**own, "cache": every if cache else tr("no cache for all"), "memory": outer}


def _cores(key: str, device: Device, rooms: dict[str, Box], options: ViewOptions) -> Cells:
    """Draw some cores of a multiprocessor in two rows."""
    rows, columns = min(2, device.fp32_per_sm), max(1, min(_MOST_CORES, device.fp32_per_sm) // 2)
    return cells_in(
        key,
        rooms[key].tiled(rows, columns, _CORE),
        np.zeros((rows, columns), np.uint8),
        (options.theme.load,),
        options.theme.panel,
    )


def _roads(rooms: dict[str, Box], options: ViewOptions) -> list[Primitive]:
    """Draw the ways, and the edge at which the third one ends, with what is on the other side."""
    theme, ways, other = options.theme, _word_ways(rooms), rooms["shared-1"]
    segments = np.concatenate([path("", way, "").segments for way in ways])
    edge = square(ways[2][-1], _APART, 120)
    beyond = rooms["sm-1"].x + 12
    blocked = [(edge.middle_x + 8, edge.middle_y), (beyond, edge.middle_y), (beyond, other.middle_y), other.at(0)]
    return [
        Lines("ways", segments, theme.faint, 3),
        path("edge", [edge.edge("top"), edge.edge("bottom")], theme.chosen, 7),
        path("no-way", blocked, theme.faint, 2, dashed=True),
        beside("edge-name", edge.shifted(_APART / 2), "top", tr("no way"), theme.small, anchor="middle"),
    ]


def _reach_note(device: Device) -> str:
    if device.vendor == "NVIDIA" and device.capability >= _HOPPER:
        return tr("without clusters of blocks, whose blocks may read each other's shared memory; boxes are not to scale")
    return tr("{architecture}; boxes are not to scale", architecture=device.architecture)


# What the cache holds.

_HEADROOM = 1.6  # height of the picture, in heights of the box, unless more has to be shown
_WALL, _JET = 4, 26
_MIB = 2**20


class _Plan(NamedTuple):
    """The box of the cache, units of height of a byte, and the room of the words beside it."""

    box: Box
    unit: float
    said: Box

    @classmethod
    def of(cls, case: LaunchCase, options: ViewOptions) -> "_Plan":
        cache, room = case.device.last_level_cache, options.room(150, 48)
        unit = room.height / max(_HEADROOM * cache, 1.06 * data_bytes(case.problem))
        _, column, _, said = room.columns(150, min(680, 0.44 * options.width), 70, REST)
        return cls(column.strip("bottom", cache * unit)[0], unit, said.trimmed(top=options.theme.large.size))

    def band(self, low: float, high: float) -> Box:
        """The part of the box between two heights in bytes."""
        return Box(self.box.x, self.box.bottom - high * self.unit, self.box.width, (high - low) * self.unit)


def cache_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """A, B and C poured into a box as large as the device's last-level cache, all areas on one scale; what does not fit is
    red.

    The model: a cache holds whatever is used as long as all of it fits.

    Draw the empty box of the cache with its size.
    """
    plan, theme, device = _Plan.of(case, options), options.theme, case.device
    cache, walls = device.last_level_cache, plan.box.trimmed(-_WALL / 2, right=-_WALL / 2, bottom=-_WALL / 2)
    corners = [walls.at(*share) for share in ((0, 0), (0, 1), (1, 1), (1, 0))]
    primitives: list[Primitive] = [path("cache-walls", corners if cache else corners[1:3], theme.faint, _WALL)]
    if cache:
        style = theme.strong.sized(theme.type.least)
        lines = square(plan.box.middle, plan.box.width, 2 * LINE_PITCH * style.size).grid(2, 1)
        names = (tr("cache"), f"{number(cache / _MIB)} MiB")
        ground = Rects("cache", boxes(plan.box), theme.slate)
        primitives = [ground, *primitives, all_beside("cache-size", lines, "left", names, style, 18)]
    note = tr("heights are to scale; the model: a cache holds what is used as long as all of it fits")
    return titled(primitives, tr("A, B and C in the last-level cache of {device}", device=device.name), note, options)


def cache_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Pour the matrices one after the other; when all have been poured, say what fits and what does not."""
    plan, theme = _Plan.of(case, options), options.theme
    total, edge, pieces = data_bytes(case.problem), case.device.last_level_cache, list[Primitive]()
    poured = total * eased_from(options.moment)
    for name, low, high in _byte_ranges(case.problem):
        for is_lost, start, stop in ((False, low, min(high, edge)), (True, max(low, edge), high)):
            if start < min(stop, poured):
                pieces += _poured_layer(name, is_lost, plan.band(start, min(stop, poured)), plan.unit, theme)
    if 0 < poured < total:
        name = next(each for each, _, high in _byte_ranges(case.problem) if poured < high)
        column = options.room(120)
        jet = square(plan.box.middle, _JET)._replace(y=column.y, height=max(0, plan.band(0, poured).y - column.y))
        pieces.append(round_boxes("jet", jet, theme.accent(name)))
    return (*pieces, *(_verdict(case, plan, theme) if poured >= total else ()))


def _byte_ranges(problem: Problem) -> list[tuple[str, int, int]]:
    """Return each matrix with the heights, in bytes, between which it lies."""
    spans, low = [], 0
    for name, size in matrix_bytes(problem).items():
        spans.append((name, low, low + size))
        low += size
    return spans


def _poured_layer(name: str, is_lost: bool, band: Box, unit: float, theme: Theme) -> list[Primitive]:
    """Draw a part of a matrix in its colour, or red and hatched where it does not fit, with its name and size."""
    key, style = f"{name}-{'lost' if is_lost else 'held'}", theme.strong
    text = f"{name}  {number(band.height / unit / _MIB)} MiB"
    fill = theme.faded(theme.warning, SOFT) if is_lost else theme.tint(name, FIRM)
    pieces: list[Primitive] = [Rects(key, boxes(band), fill, theme.warning if is_lost else None, 2)]
    if is_lost:
        pieces.append(hatching(f"{key}-hatching", boxes(band), theme.warning))
    if fits_box(band, [text], style):
        behind = square(band.middle, style.width(text) + 28, ROW_PITCH * style.size)
        pieces += [Rects(f"{key}-ground", boxes(behind), fill)] if is_lost else []
        ink = theme.text if is_lost else theme.ink_on(fill)
        pieces.append(write(f"{key}-name", band, text, style.inked(ink), "middle"))
    return pieces


def _verdict(case: LaunchCase, plan: _Plan, theme: Theme) -> list[Primitive]:
    """Draw the sizes of all matrices and of what does not fit, and up to which size they do."""
    total, cache = data_bytes(case.problem), case.device.last_level_cache
    said = [(tr("A, B and C: {total} MiB", total=number(total / _MIB)), theme.large)]
    if total > cache:
        lost = counted(number((total - cache) / _MIB))
        said.append((tr("{lost} MiB do not fit", lost=lost), theme.large.inked(theme.warning)))
    said.append((_up_to(case), theme.plain))
    parts = (wrapped(f"said-{n}", *each, plan.said.width, 3, 20) for n, each in enumerate(said))
    return [*lines_down(plan.said, (line for part in parts for line in part))]


def _up_to(case: LaunchCase) -> str:
    """Return up to which size three square matrices fit the cache."""
    largest = largest_held(case.device.last_level_cache)
    if not largest:
        return tr("{device} has no cache for global memory: each read goes to DRAM", device=case.device.name)
    return tr("N × N matrices, 12 N² bytes, fit up to N = {largest}", largest=largest)


VIEWS = {
    "cache": View(
        marked("What the cache holds"), LaunchCase, cache_scene, draw_motion=cache_motion, multiplies=True, order=307
    ),
    "device": View(marked("Device: its multiprocessors and memories"), LaunchCase, device_scene, device_motion, order=407),
    "reach": View(marked("Reach: memories of a multiprocessor"), LaunchCase, reach_scene, reach_motion, order=408),
}
