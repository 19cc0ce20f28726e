"""Shared memory: the number of passes (wavefronts) of one request over the banks.

Lanes are served in groups: the warp for 32-bit accesses, halves of it for 64 bits, quarters for 128 bits. Two neighbouring
groups of a load are served together if lanes agree in pairs, all i with i^1 or all i with i^2: both have one address, or one is
inactive. What is served together takes as many wavefronts as there are different words in its busiest bank. Measured on an
H200: exact on 995 single accesses (Nsight Compute, l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{ld,st}.sum).

On compute capability 1.x half a warp is served at a time, and a pass serves all lanes of one word and, from every other bank,
one lane. NVIDIA doesn't specify the word; here it is the one that most lanes need. Wider words take several requests of 4
bytes. Source: CUDA C Programming Guide 4.2, Appendix F.3.3, Shared Memory.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.analysis.memory.warps import PerRow, Rows, moved_by_lane
from gemmviz.model.arrays import Longs
from gemmviz.model.device import MemoryRules
from gemmviz.model.sites import MemoryArray, Operand

_INACTIVE_WORD = -1


def lane_words(rows: Rows, itemsize: int, rules: MemoryRules, width: int = 1) -> tuple[Rows, int]:
    """First word of a bank for each lane (-1 inactive) and the words per lane, for ``width`` elements of ``itemsize`` bytes."""
    per_lane = max(1, itemsize * width // rules.bank_bytes)
    return np.where(rows >= 0, rows * itemsize // rules.bank_bytes, _INACTIVE_WORD), per_lane


def wavefronts(words: Rows, words_per_lane: int, is_load: bool, rules: MemoryRules) -> tuple[PerRow, PerRow]:
    """Wavefronts of each request, and the fewest that could carry its words: int64 (rows,) each.

    ``words``: first word of each lane (rows, lanes), -1 inactive. The ideal is the number of requested words over the banks
    that fit one wavefront, or the actual number if broadcasts make it smaller.
    """
    actual = _wavefronts_of_rows(words, words_per_lane, is_load, rules)
    return actual, np.minimum(actual, _fewest(words, words_per_lane, rules))


def profiled_wavefronts(words: Rows, words_per_lane: int, is_load: bool, rules: MemoryRules) -> tuple[PerRow, PerRow]:
    """Wavefronts as Nsight Compute reports them: memory_l1_wavefronts_shared and its ideal, which it computes by a rule of its
    own.

    The rule is that of the hardware except for wide loads: two groups are merged if that costs one wavefront, and either the
    pair rule allows it or the last group requests nothing; all lanes that request the same are merged as well. Measured like
    the hardware's counter: exact except for loads by lanes chosen at random.
    """
    actual, fewest = _wavefronts_of_rows(words, words_per_lane, is_load, rules), _fewest(words, words_per_lane, rules)
    groups, lanes = min(words_per_lane, 8), words.shape[1]
    if is_load and groups > 1:
        size = lanes // groups
        may_pair = _merges(words) | (words[:, -size:] < 0).all(axis=1)
        reckoned = np.zeros(len(words), np.int64)
        for start in range(0, lanes, 2 * size):
            parts = words[:, start : start + size], words[:, start + size : start + 2 * size]
            apart = sum(_most_words_in_a_bank(part, words_per_lane, rules) for part in parts)
            together = _most_words_in_a_bank(words[:, start : start + 2 * size], words_per_lane, rules)
            reckoned += np.where(may_pair & (together == 1), together, apart)
        same = ((words < 0) | (words == words.max(axis=1, keepdims=True))).all(axis=1)
        actual = np.where(same, np.minimum(reckoned, -(-fewest // 2)), reckoned)
    return actual, np.minimum(actual, fewest)


def _fewest(words: Rows, words_per_lane: int, rules: MemoryRules) -> PerRow:
    """Requested words over the number of banks, rounded up."""
    requested: PerRow = np.count_nonzero(words >= 0, axis=1) * words_per_lane
    return -(-requested // rules.banks)


def passes_by_one_word(words: npt.NDArray[np.int64], rules: MemoryRules) -> list[dict[int, list[int]]]:
    """Lanes that each pass serves, by bank, if a pass broadcasts one word. ``words`` (lanes,), -1 inactive."""
    left = {lane: int(word) for lane, word in enumerate(words.tolist()) if word >= 0}
    passes: list[dict[int, list[int]]] = []
    while left:
        demand = Counter(left.values())
        chosen = max(demand, key=lambda word: demand[word])
        served = {chosen % rules.banks: [lane for lane, word in left.items() if word == chosen]}
        for lane, word in left.items():
            served.setdefault(word % rules.banks, [lane])
        for lanes in served.values():
            for lane in lanes:
                left.pop(lane, None)
        passes.append(served)
    return passes


def _served_one_by_one(words: Rows, words_per_lane: int, rules: MemoryRules) -> PerRow:
    """Passes of each row. Rows that differ only by whole rounds of the banks are computed once."""
    total = np.zeros(len(words), np.int64)
    for part in range(words_per_lane):
        some = np.where(words >= 0, words + part, _INACTIVE_WORD)
        low = np.where(some >= 0, some, np.iinfo(np.int64).max).min(axis=1) // rules.banks * rules.banks
        alike, which = np.unique(np.where(some >= 0, some - low[:, None], _INACTIVE_WORD), axis=0, return_inverse=True)
        passes = np.array([len(passes_by_one_word(row, rules)) for row in alike], np.int64)
        total += passes[which.ravel()]
    return total


def _wavefronts_of_rows(words: Rows, words_per_lane: int, is_load: bool, rules: MemoryRules) -> PerRow:
    if rules.broadcast == "one word":
        return _served_one_by_one(words, words_per_lane, rules)
    groups, lanes = min(words_per_lane, 8), words.shape[1]
    if groups == 1:
        return _most_words_in_a_bank(words, words_per_lane, rules)
    total = np.zeros(len(words), np.int64)
    merges = _merges(words) if is_load else np.zeros(len(words), bool)
    for chosen, size in ((~merges, lanes // groups), (merges, 2 * lanes // groups)):
        some = words[chosen]
        for start in range(0, lanes if len(some) else 0, size):
            total[chosen] += _most_words_in_a_bank(some[:, start : start + size], words_per_lane, rules)
    return total


def served_groups(words: npt.NDArray[np.int64], words_per_lane: int, is_load: bool) -> list[slice]:
    """The lanes of one request (lanes,) that are served together, group after group."""
    groups, lanes = min(words_per_lane, 8), len(words)
    size = lanes // groups * (2 if groups > 1 and is_load and _merges(words[None])[0] else 1)
    return [slice(start, min(lanes, start + size)) for start in range(0, lanes, size)]


def _merges(words: Rows) -> npt.NDArray[np.bool_]:
    """Whether each request's groups are merged in pairs."""
    active = words >= 0
    lanes = np.arange(words.shape[1])
    paired = [
        (~active | ~active[:, lanes ^ step] | (words == words[:, lanes ^ step])).all(axis=1) for step in (1, 2)
    ]  # fmt: skip
    return np.asarray(paired[0] | paired[1])


def _most_words_in_a_bank(words: Rows, words_per_lane: int, rules: MemoryRules) -> PerRow:
    """The largest number of distinct words in one bank, per row."""
    return np.asarray(bank_words(words, words_per_lane, rules).max(axis=1), np.int64)


def bank_words(words: Rows, words_per_lane: int, rules: MemoryRules) -> PerRow:
    """Distinct words that each row needs from each bank: int64 (rows, banks)."""
    if words_per_lane > 1:
        spread = words[:, :, None] + np.arange(words_per_lane)
        words = np.where(words[:, :, None] >= 0, spread, _INACTIVE_WORD).reshape(len(words), -1)
    ordered = np.sort(words, axis=1)
    fresh = ordered >= 0
    fresh[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    row, column = np.nonzero(fresh)
    bank = ordered[row, column] % rules.banks
    flat: npt.NDArray[Any] = np.bincount(row * rules.banks + bank, minlength=len(words) * rules.banks)
    return flat.reshape(-1, rules.banks).astype(np.int64)


# One warp's access to shared memory by wavefront and bank: which lanes each bank serves in each wavefront.

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
        for group in _holes_of_groups(words[0], per_lane, operand.access == "read", rules):
            starts.append(len(holes))
            holes += group
    return _punchcard_of(holes, tuple(starts), rules.banks)


def punchcard(words: Longs, per_lane: int = 1, is_load: bool = True, rules: MemoryRules = NVIDIA) -> Punchcard:
    """Return the punchcard of an access.

    ``words``: the first 4-byte word of each lane (-1 inactive), of ``per_lane`` words. Within a bank, words are ordered by
    their first lanes; equal words are one (a broadcast).
    """
    holes: _Holes = []
    starts = []
    for group in _holes_of_groups(words, per_lane, is_load, rules):
        starts.append(len(holes))
        holes += group
    return _punchcard_of(holes, tuple(starts), rules.banks)


def _punchcard_of(holes: _Holes, starts: tuple[int, ...], banks: int) -> Punchcard:
    """Return the card of the lanes that each bank serves, wavefront by wavefront."""
    first, served = np.full((len(holes), banks), -1, np.int64), np.zeros((len(holes), banks), np.int64)
    places = []
    for row, wavefront in enumerate(holes):
        for bank, lanes in wavefront.items():
            first[row, bank], served[row, bank] = lanes[0], len(lanes)
            places += [(lane, row, bank) for lane in lanes]
    return Punchcard(first, served, starts, np.array(places, np.int64).reshape(-1, 3))


def _holes_of_groups(words: Longs, per_lane: int, is_load: bool, rules: MemoryRules) -> Iterator[_Holes]:
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
