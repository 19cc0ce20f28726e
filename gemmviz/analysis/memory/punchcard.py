"""One warp's access to shared memory by wavefront and bank: which lanes each bank serves in each wavefront."""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from gemmviz.analysis.memory.banks import lane_words, passes_by_one_word, served_groups
from gemmviz.analysis.memory.warps import moved_by_lane
from gemmviz.model.arrays import Longs
from gemmviz.model.device import MemoryRules
from gemmviz.model.sites import MemoryArray, Operand

NVIDIA = MemoryRules()
_Holes = list[dict[int, list[int]]]  # of each wavefront, the lanes that a bank serves


class Punchcard(Struct, frozen=True):
    """The access by wavefront and bank.

    ``first`` (wavefronts, banks): the first lane that each hole serves, -1 for none; ``served``: the number of lanes it
    serves; ``starts``: the first wavefront of each group of lanes; ``places`` (n, 3): lane, wavefront and bank, for each lane
    that a hole serves.
    """

    first: Longs
    served: Longs
    starts: tuple[int, ...]
    places: Longs


def access_card(lanes: Longs, operand: Operand, array: MemoryArray, rules: MemoryRules) -> Punchcard:
    """The card of one request (lanes,), -1 inactive: one below the other those of the runs that its layout is made of."""
    holes: _Holes = []
    starts: list[int] = []
    for run in operand.layout.runs:
        moved = moved_by_lane(lanes.reshape(-1, rules.request_lanes), run.first, rules).reshape(1, -1)
        words, per_lane = lane_words(moved, array.itemsize, rules, run.width)
        for group in _groups(words[0], per_lane, operand.access == "read", rules):
            starts.append(len(holes))
            holes += group
    return _card(holes, tuple(starts), rules.banks)


def punchcard(words: Longs, per_lane: int = 1, is_load: bool = True, rules: MemoryRules = NVIDIA) -> Punchcard:
    """Return the punchcard of an access.

    ``words``: the first 4-byte word of each lane (-1 inactive), of ``per_lane`` words. Within a bank, words are ordered by
    their first lanes; equal words are one (a broadcast).
    """
    holes: _Holes = []
    starts = []
    for group in _groups(words, per_lane, is_load, rules):
        starts.append(len(holes))
        holes += group
    return _card(holes, tuple(starts), rules.banks)


def _card(holes: _Holes, starts: tuple[int, ...], banks: int) -> Punchcard:
    """Return the card of the lanes that each bank serves, wavefront by wavefront."""
    first, served = np.full((len(holes), banks), -1, np.int64), np.zeros((len(holes), banks), np.int64)
    places = []
    for row, wavefront in enumerate(holes):
        for bank, lanes in wavefront.items():
            first[row, bank], served[row, bank] = lanes[0], len(lanes)
            places += [(lane, row, bank) for lane in lanes]
    return Punchcard(first, served, starts, np.array(places, np.int64).reshape(-1, 3))


def _groups(words: Longs, per_lane: int, is_load: bool, rules: MemoryRules) -> Iterator[_Holes]:
    """Return the holes of lanes that are served together, group by group; half a warp each if a pass broadcasts one word."""
    if rules.broadcast == "each word":
        for group in served_groups(words, per_lane, is_load):
            yield _group(words, per_lane, group, rules.banks)
        return
    for start in range(0, len(words), rules.request_lanes):
        half = words[start : start + rules.request_lanes]
        for part in range(per_lane):
            passes = passes_by_one_word(np.where(half >= 0, half + part, -1), rules)
            if passes:
                yield [{bank: [start + lane for lane in lanes] for bank, lanes in banks.items()} for banks in passes]


def _group(words: Longs, per_lane: int, group: slice, banks: int) -> _Holes:
    holes: list[dict[int, list[int]]] = [{} for _ in range(banks)]
    for lane in range(group.start, group.stop):
        for word in range(int(words[lane]), int(words[lane]) + per_lane) if words[lane] >= 0 else ():
            holes[word % banks].setdefault(word, []).append(lane)
    wavefronts: _Holes = [{} for _ in range(max(len(bank) for bank in holes))]
    for number, bank in enumerate(holes):
        for row, lanes in enumerate(bank.values()):
            wavefronts[row][number] = lanes
    return wavefronts
