"""What a core reaches: the shared memory of its own multiprocessor and the global memory, not its neighbour's shared memory. A
word goes both ways; a third one turns back at the edge of its multiprocessor.
"""

from itertools import pairwise

import numpy as np
from msgspec import Struct

from gemmviz.model.cases import LaunchCase
from gemmviz.model.device import Device
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import many, size_text
from gemmviz.scenes.kit.frame import ARRIVAL, MARGIN, ViewOptions, eased_from, titled
from gemmviz.scenes.kit.primitives import Box, Cells, Labels, Lines, Primitive, Rects, Scene, Squares, boxes, points
from gemmviz.scenes.kit.text import fitted, text_line
from gemmviz.scenes.kit.view import View

_TOP, _GAP, _WORD = 120.0, 110.0, 30.0
_CORE, _MOST_CORES = 40.0, 32
_HOPPER = 9  # major compute capability from which blocks may form clusters
_WAYS = ((0.0, 0.4), (0.25, 0.7), (0.55, 1.0))  # of the motion: own shared memory, global memory, the neighbour's


class _Plan(Struct, frozen=True):
    """Two multiprocessors, the cache that all share and the memory below; ``shared``: the shared memory of each of the two;
    ``start``: the middle of the core that asks.
    """

    sides: tuple[Box, Box]
    shared: tuple[Box, Box]
    cache: Box
    memory: Box
    start: tuple[float, float]

    @classmethod
    def of(cls, options: ViewOptions) -> "_Plan":
        room = Box(MARGIN, _TOP, options.width - 2 * MARGIN, options.height - _TOP - 36)
        wide, high = (room.width - _GAP) / 2, 0.58 * room.height
        sides = Box(room.x, room.y, wide, high), Box(room.x + wide + _GAP, room.y, wide, high)
        shared = tuple(Box(s.x + 24, s.y + 0.64 * high, wide - 48, 0.28 * high) for s in sides)
        low = 0.16 * room.height
        cache = Box(room.x, room.y + high + 0.07 * room.height, room.width, low)
        memory = Box(room.x, cache.y + low + 0.03 * room.height, room.width, low)
        start = sides[0].x + 0.72 * wide, sides[0].y + 0.40 * high
        return cls(sides, (shared[0], shared[1]), cache, memory, start)

    @property
    def ways(self) -> tuple[tuple[tuple[float, float], ...], ...]:
        """The corners of the ways of the three words, from the core on; the last one ends at the edge."""
        (x, y), own, side = self.start, self.shared[0], self.sides[0]
        below, edge = own.x + own.width - 20, side.x + side.width
        down = self.memory.y + self.memory.height / 2
        return (
            ((x, y), (x - 60, y), (x - 60, own.y + own.height / 2)),
            ((x, y), (below + 32, y), (below + 32, down)),
            ((x, y), (edge, y)),
        )


def reach_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw two multiprocessors, what all of them share, and the ways of a word."""
    device, theme, plan = case.device, options.theme, _Plan.of(options)
    size, words = theme.type.words, device.words
    pieces: list[Primitive] = []
    for place, (side, shared) in enumerate(zip(plan.sides, plan.shared, strict=True)):
        name = f"{tr(words['sm'])} {place}" + ("" if place == 0 else tr(", one of the other {sms}", sms=device.sms - 1))
        pieces += [
            Rects(f"sm-{place}", boxes(_row(side)), theme.panel, theme.line, 2.0, 10.0),
            text_line(
                f"sm-{place}-name", (side.x + 24, side.y + 1.6 * size), name, size, side.width - 48, theme.text, "semibold"
            ),
            _cores(f"cores-{place}", device, side, options),
            *_memory(
                f"shared-{place}",
                tr(
                    "{shared_memory} of {sm} {place}", shared_memory=tr(words["shared memory"]), sm=tr(words["sm"]), place=place
                ),
                shared,
                options,
            ),
        ]
    cache = (
        tr("last-level cache, shared by all: {last_level_cache}", last_level_cache=size_text(device.last_level_cache))
        if device.last_level_cache
        else tr("no cache for all")
    )
    pieces += _memory("cache", cache, plan.cache, options)
    pieces += _memory(
        "memory",
        tr(
            "global memory: {memory_bytes}, for all {many}",
            memory_bytes=size_text(device.memory_bytes),
            many=many(device.sms, words["sm"]),
        ),
        plan.memory,
        options,
    )
    pieces += _roads(plan, options)
    return titled(
        pieces, tr("What a {core} of {device} reaches", core=tr(words["core"]), device=device.name), _note(device), options
    )


def reach_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the words on their ways; the one for the neighbour comes back."""
    plan, theme, passed = _Plan.of(options), options.theme, min(1.0, options.moment / ARRIVAL)
    found = []
    for place, (way, (start, stop)) in enumerate(zip(plan.ways, _WAYS, strict=True)):
        share = eased_from(passed, start, stop - start)
        if place == 2:
            share = 1.0 - abs(2 * share - 1.0)  # there and back
        found.append((*_along(way, share), _WORD))
    shown = np.array([(x - _WORD / 2, y - _WORD / 2, side) for x, y, side in found])
    colours = (theme.load,)
    return (
        Squares("words", shown, np.zeros(len(shown), np.uint8), colours, (theme.ink_on(theme.load),), line=theme.background),
    )


def _row(box: Box) -> tuple[float, float, float, float]:
    return box.x, box.y, box.width, box.height


def _along(way: tuple[tuple[float, float], ...], share: float) -> tuple[float, float]:
    """Return the point at a share of the length of a way."""
    at = np.array(way)
    lengths = np.abs(np.diff(at, axis=0)).sum(axis=1)
    reached = np.concatenate([[0.0], np.cumsum(lengths)])
    here = share * reached[-1]
    return float(np.interp(here, reached, at[:, 0])), float(np.interp(here, reached, at[:, 1]))


def _cores(key: str, device: Device, side: Box, options: ViewOptions) -> Cells:
    """Draw some cores of a multiprocessor in two rows."""
    theme, columns = options.theme, max(1, min(_MOST_CORES, device.fp32_per_sm) // 2)
    wide = min(_CORE, 0.6 * side.width / columns)
    fill = np.zeros((2 if device.fp32_per_sm > 1 else 1, columns), np.uint8)
    palette = (theme.loaded(0.6),)
    y = side.y + 0.40 * side.height - fill.shape[0] * wide / 2
    return Cells(key, side.x + 24, y, wide, fill, palette, (theme.ink_on(palette[0]),), line=theme.panel)


def _memory(key: str, name: str, box: Box, options: ViewOptions) -> list[Primitive]:
    theme, size = options.theme, options.theme.type.words
    at = points((box.x + 20, box.y + box.height / 2 + 0.36 * size))
    return [
        Rects(f"{key}-box", boxes(_row(box)), theme.slate, theme.faint, 2.0, 8.0),
        Labels(f"{key}-name", at, (fitted(name, size, 0.7 * box.width, "semibold"),), size, theme.text, "start", "semibold"),
    ]


def _roads(plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the ways, and the edge at which the third one ends, with what is on the other side."""
    theme, least = options.theme, options.theme.type.least
    segments = [(*one, *other) for way in plan.ways for one, other in pairwise(way)]
    (x, y), other = plan.ways[2][-1], plan.shared[1]
    wall, beyond, middle = (x, y - 60, x, y + 60), plan.sides[1].x + 12, other.y + other.height / 2
    return [
        Lines("ways", boxes(*segments), theme.faint, 3.0),
        Lines("edge", boxes(wall), theme.chosen, 7.0),
        Lines(
            "no-way",
            boxes((x + 8, y, beyond, y), (beyond, y, beyond, middle), (beyond, middle, other.x, middle)),
            theme.faint,
            2.0,
            dashed=True,
        ),
        Labels("edge-name", points((x + _GAP / 2 + 2, y - 76)), (tr("no way"),), least, theme.text, "middle"),
    ]


def _note(device: Device) -> str:
    major = device.compute_capability.partition(".")[0]
    if device.vendor == "NVIDIA" and major.isdecimal() and int(major) >= _HOPPER:
        return tr("without clusters of blocks, whose blocks may read each other's shared memory; boxes are not to scale")
    return tr("{architecture}; boxes are not to scale", architecture=device.architecture)


VIEW = View(marked("Reach: memories of a multiprocessor"), LaunchCase, reach_scene, reach_motion, order=60)
