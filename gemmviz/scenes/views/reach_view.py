"""What a core reaches: the shared memory of its own multiprocessor and the global memory, not its neighbour's shared memory. A
word goes both ways; a third one turns back at the edge of its multiprocessor.
"""

import numpy as np

from gemmviz.model.cases import LaunchCase
from gemmviz.model.device import Device
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import size_text, sized
from gemmviz.scenes.kit.frame import ARRIVAL, ViewOptions, eased_from, titled
from gemmviz.scenes.kit.hardware import memory
from gemmviz.scenes.kit.layout import REST, Box, Line, Point, Share, along, path, squares, text_at
from gemmviz.scenes.kit.primitives import Cells, Lines, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.text import fitted, text_line
from gemmviz.scenes.kit.view import View

_TOP, _GAP, _WORD, _PAD = 120.0, 110.0, 30.0, 24.0
_CORE, _MOST_CORES = 40.0, 32
_HOPPER = 9  # major compute capability from which blocks may form clusters
_PASSES = ((0.0, 0.4), (0.25, 0.7), (0.55, 1.0))  # of the motion: own shared memory, global memory, the neighbour's


def _reach_boxes(options: ViewOptions) -> dict[str, Box]:
    """Return the boxes of two multiprocessors and their shared memories, of the cache that all share and of the memory."""
    parts = [Share(part) for part in (0.58, 0.07, 0.16, 0.03, 0.16)]
    upper, _, cache, _, outer = options.room(_TOP, 36.0).rows(*parts)
    own, other = upper.columns(REST, REST, gap=_GAP)
    shared = {f"shared-{n}": sm.inset(_PAD, 0.0).part(down=(0.64, 0.92)) for n, sm in enumerate((own, other))}
    return {"sm-0": own, "sm-1": other, **shared, "cache": cache, "memory": outer}


def _word_ways(rooms: dict[str, Box]) -> list[list[Point]]:
    """Return the corners of the ways of the three words, from a core on; the last one ends at the edge."""
    own, shared = rooms["sm-0"], rooms["shared-0"]
    x, y = start = own.at(0.72, 0.40)
    beyond, aside = shared.right + 12, x - 60
    down = rooms["memory"].middle_y
    return [
        [start, (aside, y), (aside, shared.middle_y)],
        [start, (beyond, y), (beyond, down)],
        [start, (own.right, y)],
    ]


def reach_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw two multiprocessors, what all of them share, and the ways of a word."""
    device, theme, rooms = case.device, options.theme, _reach_boxes(options)
    size, words = theme.type.words, device.words
    drawn = dict[str, list[Primitive]]()
    for key, text in _memories(device).items():
        shown = fitted(text, size, 0.7 * rooms[key].width, "semibold")
        line = Line(f"{key}-name", shown, size, theme.text, "semibold")
        drawn[key] = memory(f"{key}-box", rooms[key], [line], theme, inset=20.0)
    pieces: list[Primitive] = []
    for place in (0, 1):
        side = rooms[f"sm-{place}"]
        name = f"{tr(words['sm'])} {place}" + ("" if place == 0 else tr(", one of the other {sms}", sms=device.sms - 1))
        at, room = (side.x + _PAD, side.y + 1.6 * size), side.width - 2 * _PAD
        pieces += [
            Rects(f"sm-{place}", boxes(side), theme.panel, theme.line, 2.0, 10.0),
            text_line(f"sm-{place}-name", at, name, size, room, theme.text, "semibold"),
            _cores(f"cores-{place}", device, side, options),
            *drawn[f"shared-{place}"],
        ]
    pieces += [*drawn["cache"], *drawn["memory"], *_roads(rooms, options)]
    title = tr("What a {core} of {device} reaches", core=tr(words["core"]), device=device.name)
    return titled(pieces, title, _note(device), options)


def reach_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the words on their ways; the one for the neighbour comes back."""
    theme, passed = options.theme, min(1.0, options.moment / ARRIVAL)
    shares = [eased_from(passed, start, stop - start) for start, stop in _PASSES]
    shares[2] = 1.0 - abs(2 * shares[2] - 1.0)  # there and back
    middles = [along(way, share) for way, share in zip(_word_ways(_reach_boxes(options)), shares, strict=True)]
    return (squares("words", middles, _WORD, theme.load, theme.ink_on(theme.load), theme.background),)


def _memories(device: Device) -> dict[str, str]:
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


def _cores(key: str, device: Device, side: Box, options: ViewOptions) -> Cells:
    """Draw some cores of a multiprocessor in two rows."""
    theme, columns = options.theme, max(1, min(_MOST_CORES, device.fp32_per_sm) // 2)
    size = min(_CORE, 0.6 * side.width / columns)
    fill = np.zeros((2 if device.fp32_per_sm > 1 else 1, columns), np.uint8)
    colour = theme.loaded(0.6)
    y = side.at(0.0, 0.40)[1] - len(fill) * size / 2
    return Cells(key, side.x + _PAD, y, size, fill, (colour,), (theme.ink_on(colour),), line=theme.panel)


def _roads(rooms: dict[str, Box], options: ViewOptions) -> list[Primitive]:
    """Draw the ways, and the edge at which the third one ends, with what is on the other side."""
    theme, ways, other = options.theme, _word_ways(rooms), rooms["shared-1"]
    (x, y), beyond = ways[2][-1], rooms["sm-1"].x + 12
    segments = np.concatenate([path("", way, "").segments for way in ways])
    blocked = [(x + 8, y), (beyond, y), (beyond, other.middle_y), other.at(0.0)]
    return [
        Lines("ways", segments, theme.faint, 3.0),
        path("edge", [(x, y - 60), (x, y + 60)], theme.chosen, 7.0),
        path("no-way", blocked, theme.faint, 2.0, dashed=True),
        text_at("edge-name", (x + _GAP / 2 + 2, y - 76), tr("no way"), theme.type.least, theme.text, "middle"),
    ]


def _note(device: Device) -> str:
    major = device.compute_capability.partition(".")[0]
    if device.vendor == "NVIDIA" and major.isdecimal() and int(major) >= _HOPPER:
        return tr("without clusters of blocks, whose blocks may read each other's shared memory; boxes are not to scale")
    return tr("{architecture}; boxes are not to scale", architecture=device.architecture)


VIEW = View(marked("Reach: memories of a multiprocessor"), LaunchCase, reach_scene, reach_motion, order=60)
