"""One warp's access to shared memory by wavefront and bank: which lanes each bank serves in each wavefront."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.memory.banks import lane_words, passes_by_one_word, served_groups
from gemmviz.analysis.memory.warps import moved_by_lane
from gemmviz.model.arrays import Longs
from gemmviz.model.device import MemoryRules
from gemmviz.model.sites import MemoryArray, Operand

NVIDIA = MemoryRules()


@dataclass(frozen=True)
class Punchcard:
    """The access by wavefront and bank.

    ``first`` (wavefronts, banks): the first lane that each hole serves, -1 for none; ``served``: the number of lanes it
    serves; ``starts``: the first wavefront of each group of lanes.
    """

    first: npt.NDArray[np.int64]
    served: npt.NDArray[np.int64]
    starts: tuple[int, ...]


def access_card(lanes: Longs, operand: Operand, array: MemoryArray, rules: MemoryRules) -> Punchcard:
    """The card of one request (lanes,), -1 inactive: one below the other those of the runs that its layout is made of."""
    cards = []
    for run in operand.layout.runs:
        moved = moved_by_lane(lanes.reshape(-1, rules.request_lanes), run.first, rules).reshape(1, -1)
        words, per_lane = lane_words(moved, array.itemsize, rules, run.width)
        cards.append(punchcard(words[0], per_lane, operand.access == "read", rules))
    begins = np.cumsum([0, *(len(card.first) for card in cards)]).tolist()
    starts = tuple(begin + start for begin, card in zip(begins[:-1], cards, strict=True) for start in card.starts)
    return Punchcard(np.vstack([card.first for card in cards]), np.vstack([card.served for card in cards]), starts)


def punchcard(
    words: npt.NDArray[np.int64], per_lane: int = 1, is_load: bool = True, rules: MemoryRules = NVIDIA
) -> Punchcard:  # fmt: skip
    """Return the punchcard of an access.

    ``words``: the first 4-byte word of each lane (-1 inactive), of ``per_lane`` words. Within a bank, words are ordered by
    their first lanes; equal words are one (a broadcast).
    """
    firsts, counts, starts, rows = [], [], [], 0
    for first, served in _groups(words, per_lane, is_load, rules):
        starts.append(rows)
        rows += len(first)
        firsts.append(first)
        counts.append(served)
    return Punchcard(np.concatenate(firsts), np.concatenate(counts), tuple(starts))


def _groups(
    words: npt.NDArray[np.int64], per_lane: int, is_load: bool, rules: MemoryRules
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Return the holes of lanes that are served together, group by group; half a warp each if a pass broadcasts one word."""
    if rules.broadcast == "each word":
        for group in served_groups(words, per_lane, is_load):
            yield _group(words, per_lane, group, rules.banks)
        return
    for start in range(0, len(words), rules.request_lanes):
        half = words[start : start + rules.request_lanes]
        for part in range(per_lane):
            passes = passes_by_one_word(np.where(half >= 0, half + part, -1), rules)
            first = np.full((len(passes), rules.banks), -1, np.int64)
            served = np.zeros((len(passes), rules.banks), np.int64)
            for row, banks in enumerate(passes):
                for bank, lanes in banks.items():
                    first[row, bank], served[row, bank] = start + lanes[0], len(lanes)
            if len(passes):
                yield first, served


def _group(
    words: npt.NDArray[np.int64], per_lane: int, group: slice, banks: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    holes: list[dict[int, list[int]]] = [{} for _ in range(banks)]
    for lane in range(group.start, group.stop):
        for word in range(int(words[lane]), int(words[lane]) + per_lane) if words[lane] >= 0 else ():
            holes[word % banks].setdefault(word, []).append(lane)
    rows = max(len(bank) for bank in holes)
    first, served = np.full((rows, banks), -1, np.int64), np.zeros((rows, banks), np.int64)
    for number, bank in enumerate(holes):
        for row, lanes in enumerate(bank.values()):
            first[row, number], served[row, number] = lanes[0], len(lanes)
    return first, served
