"""What a core reaches: the shared memory of its own multiprocessor and the global memory, not its neighbour's shared memory. A
word goes both ways; a third one turns back at the edge of its multiprocessor.
"""

import numpy as np

from gemmviz.model.cases import LaunchCase
from gemmviz.model.device import Device
from gemmviz.model.translation import marked, size_text, sized, tr
from gemmviz.scenes.kit.hardware import memory
from gemmviz.scenes.kit.layout import AIR, REST, Box, Line, Point, Share, along, beside, cells_in, panel, path, square, squares
from gemmviz.scenes.kit.primitives import Cells, Lines, Primitive, Scene
from gemmviz.scenes.kit.view import View, ViewOptions, eased_in_turn, titled

_APART, _WORD, _PAD = 110, 30, 24  # between the multiprocessors; a word; within a box
_CORE, _MOST_CORES = 40, 32
_HOPPER = (9,)  # major compute capability from which blocks may form clusters


def _reach_boxes(options: ViewOptions) -> dict[str, Box]:
    """Return the boxes of two multiprocessors with their cores and shared memories, of the cache that all share and of the
    memory.
    """
    upper, cache, outer = options.room(120, 36).rows(Share(4), REST, REST, gap=AIR)
    found = {"cache": cache, "memory": outer}
    for place, sm in enumerate(upper.columns(REST, REST, gap=_APART)):
        _, cores, _, shared, _ = sm.inset(_PAD, 0).rows(*map(Share, (6, 4, 3, 6, 2)))
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
    """Draw two multiprocessors, what all of them share, and the ways of a word."""
    device, theme, rooms = case.device, options.theme, _reach_boxes(options)
    pieces = list[Primitive]()
    for place in (0, 1):
        sm, name = rooms[f"sm-{place}"], f"{tr(device.words['sm'])} {place}"
        name += "" if place == 0 else tr(", one of the other {sms}", sms=device.sms - 1)
        pieces += [*panel(f"sm-{place}", sm, theme, name, _PAD), _cores(f"cores-{place}", device, rooms, options)]
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


VIEW = View(marked("Reach: memories of a multiprocessor"), LaunchCase, reach_scene, reach_motion, order=408)
