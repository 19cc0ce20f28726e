"""Costs of one request of a warp: its lanes, the passes over the banks of shared memory, and the sectors of global memory."""

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
from msgspec import Struct

from gemmviz.model.arrays import SCALAR, AnyArray, Bools, Layout, Longs
from gemmviz.model.device import MemoryRules
from gemmviz.model.sinks import COST_COLUMNS
from gemmviz.model.sites import MemoryArray, Operand
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import INACTIVE

# Threads split into warps, and warps into the lanes that one request serves.

Rows = Longs
PerRow = Longs
_THREADS_AT_ONCE = 1 << 19


def warp_rows(elements: AnyArray, warp_size: int) -> Rows:
    """Elements (blocks, threads), -1 inactive, as one row per warp: int64 (blocks * warps, warp_size)."""
    blocks, threads = elements.shape
    padded = -(-threads // warp_size) * warp_size
    if padded != threads:
        rows = np.full((blocks, padded), INACTIVE, np.int64)
        rows[:, :threads] = elements
    else:
        rows = np.ascontiguousarray(elements, np.int64)
    return rows.reshape(-1, warp_size)


def request_rows(elements: AnyArray, rules: MemoryRules) -> Rows:
    """Elements (blocks, threads), -1 inactive, as one row per request: int64 (requests, request_lanes)."""
    return warp_rows(elements, rules.warp_size).reshape(-1, rules.request_lanes)


def access_rows(space: ThreadSpace, rules: MemoryRules, elements: AnyArray) -> Iterator[Rows]:
    """Elements over a thread space's axes, -1 inactive, as rows of requests, some blocks at a time. Blocks along which the
    array doesn't vary are represented by one.
    """
    outer = elements.shape[: len(space.block_shape)]
    varied = int(np.prod(outer, dtype=np.int64))
    most = max(1, _THREADS_AT_ONCE * outer[0] // (varied * space.threads_per_block)) if outer else 1
    for start in range(0, outer[0] if outer else 1, most):
        part = elements[start : start + most] if outer else elements
        yield request_rows(space.per_block(part), rules)


def lanes_of(rows: Rows, rules: MemoryRules) -> Longs:
    """The lane in its warp of each entry of some requests (rows, lanes), which begin with the first of a warp."""
    return np.arange(rows.size).reshape(rows.shape) % rules.warp_size


def moved_by_lane(rows: Rows, offsets: Rows, rules: MemoryRules) -> Rows:
    """Elements (rows, lanes), -1 inactive, plus the offsets of their lanes. ``offsets`` (n,) repeat every n lanes."""
    if not offsets.any():
        return rows
    return np.where(rows >= 0, rows + offsets[lanes_of(rows, rules) % len(offsets)], INACTIVE)


def distinct_per_row(keys: Rows, active: Bools) -> Longs:
    """Number of distinct keys of the active lanes of each row: int64 (rows,)."""
    if active.all():
        steps = np.diff(keys, axis=1)
        if (steps < 0).any():
            steps = np.diff(np.sort(keys, axis=1), axis=1)
        return np.asarray(1 + np.count_nonzero(steps, axis=1), np.int64)
    ordered = np.sort(np.where(active, keys, np.iinfo(np.int64).max), axis=1)
    changes = np.count_nonzero(np.diff(ordered, axis=1), axis=1)
    return np.asarray(np.where(active.any(axis=1), 1 + changes - ~active.all(axis=1), 0), np.int64)


# Shared memory: the number of passes (wavefronts) of one request over the banks.

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


def passes_by_one_word(words: Longs, rules: MemoryRules) -> list[dict[int, list[int]]]:
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


def served_groups(words: Longs, words_per_lane: int, is_load: bool) -> list[slice]:
    """The lanes of one request (lanes,) that are served together, group after group."""
    groups, lanes = min(words_per_lane, 8), len(words)
    size = lanes // groups * (2 if groups > 1 and is_load and _merges(words[None])[0] else 1)
    return [slice(start, min(lanes, start + size)) for start in range(0, lanes, size)]


def _merges(words: Rows) -> Bools:
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
    flat: AnyArray = np.bincount(row * rules.banks + bank, minlength=len(words) * rules.banks)
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
    groups = list[_Holes]()
    for run in operand.layout.runs:
        moved = moved_by_lane(lanes.reshape(-1, rules.request_lanes), run.first, rules).reshape(1, -1)
        words, per_lane = lane_words(moved, array.itemsize, rules, run.width)
        groups += _holes_of_groups(words[0], per_lane, operand.access == "read", rules)
    return _punchcard_of(groups, rules.banks)


def punchcard(words: Longs, per_lane: int = 1, is_load: bool = True, rules: MemoryRules = NVIDIA) -> Punchcard:
    """Return the punchcard of an access.

    ``words``: the first 4-byte word of each lane (-1 inactive), of ``per_lane`` words. Within a bank, words are ordered by
    their first lanes; equal words are one (a broadcast).
    """
    return _punchcard_of([*_holes_of_groups(words, per_lane, is_load, rules)], rules.banks)


def _punchcard_of(groups: list[_Holes], banks: int) -> Punchcard:
    """Return the card of the lanes that each bank serves, wavefront by wavefront, in groups that are served together."""
    holes, starts = _Holes(), list[int]()
    for group in groups:
        starts.append(len(holes))
        holes += group
    first, served = np.full((len(holes), banks), -1, np.int64), np.zeros((len(holes), banks), np.int64)
    places = []
    for row, wavefront in enumerate(holes):
        for bank, lanes in wavefront.items():
            first[row, bank], served[row, bank] = lanes[0], len(lanes)
            places += [(lane, row, bank) for lane in lanes]
    return Punchcard(first, served, tuple(starts), np.array(places, np.int64).reshape(-1, 3))


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


# Global memory: sectors and lines that one request moves.

_LARGEST_SEGMENT = 128  # bytes


class Requests(Struct, frozen=True):
    """Figures of each request (rows,): whether any lane is active, its sectors and lines, bytes requested (an element counts
    for each lane that requests it) and used (once), and the sectors that these bytes would fill side by side, never more than
    ``sectors``: the used bytes the ``needed_sectors``, the requested ones the ``ideal_sectors``. By the rule of compute
    capability 1.0, which serves an element once for each lane, the two are the same.
    """

    requests: PerRow
    sectors: PerRow
    lines: PerRow
    bytes_asked: PerRow
    bytes_used: PerRow
    needed_sectors: PerRow
    ideal_sectors: PerRow


def requests(rows: Rows, itemsize: int, rules: MemoryRules, layout: Layout = SCALAR) -> Requests:
    """The figures of some requests. ``rows``: elements (rows, lanes), -1 inactive; ``itemsize`` in bytes; ``layout``: the
    elements that each lane touches, relative to its own.
    """
    active = rows >= 0
    lanes = np.count_nonzero(active, axis=1)
    requested = lanes * (itemsize * layout.width)
    touched, all_active = _touched_bytes(rows, active, itemsize, rules, layout)
    sectors = distinct_per_row(touched // rules.sector_bytes, all_active)
    if rules.coalescing == "segments":
        sectors = _sectors_by_segment(rows, active, itemsize, rules, layout)
    used = _bytes_used(rows, active, touched, all_active, itemsize, layout)
    ideal = used if rules.coalescing == "segments" else requested
    return Requests(
        requests=(lanes > 0).astype(np.int64),
        sectors=sectors,
        lines=distinct_per_row(touched // rules.line_bytes, all_active),
        bytes_asked=requested,
        bytes_used=used,
        needed_sectors=np.minimum(sectors, -(-used // rules.sector_bytes)),
        ideal_sectors=np.minimum(sectors, -(-ideal // rules.sector_bytes)),
    )


def _bytes_used(rows: Rows, active: Bools, touched: Rows, all_active: Bools, itemsize: int, layout: Layout) -> PerRow:
    """Bytes that each request needs, each counted once."""
    if layout.is_dense:
        return distinct_per_row(rows, active) * (itemsize * layout.width)
    return distinct_per_row(touched, all_active) * itemsize


def moves_segment(rows: Rows, active: Bools, itemsize: int, layout: Layout) -> Bools:
    """Whether each request moves one whole segment by the rule of compute capability 1.0: (rows,)."""
    word = itemsize * layout.width
    own = rows * itemsize - np.arange(rows.shape[1]) * word
    first = np.where(active, own, np.iinfo(np.int64).max).min(axis=1)
    in_order = ((own == first[:, None]) | ~active).all(axis=1) & active.any(axis=1)
    fits = word in (4, 8, 16) and layout.is_dense
    return np.asarray(in_order & (first % min(_LARGEST_SEGMENT, rows.shape[1] * word) == 0) & fits)


def _sectors_by_segment(rows: Rows, active: Bools, itemsize: int, rules: MemoryRules, layout: Layout) -> PerRow:
    """Sectors by the rule of compute capability 1.0: those of a whole segment, or one for each lane."""
    word = itemsize * layout.width
    together = moves_segment(rows, active, itemsize, layout)
    alone = np.count_nonzero(active, axis=1) * max(1, word // rules.sector_bytes)
    return np.asarray(np.where(together, rows.shape[1] * word // rules.sector_bytes, alone), np.int64)


def _touched_bytes(rows: Rows, active: Bools, itemsize: int, rules: MemoryRules, layout: Layout) -> tuple[Rows, Bools]:
    """Byte addresses: one per lane if its elements are aligned neighbours within a sector, else one per element."""
    width = layout.width
    neighbours = layout.is_dense and rules.sector_bytes % (itemsize * width) == 0
    if neighbours and (width == 1 or not (rows[active] % width).any()):
        return rows * itemsize, active
    by_lane = layout.table[0] if layout.lanes == 1 else layout.table[lanes_of(rows, rules) % layout.lanes]
    spread = (rows[:, :, None] + by_lane).reshape(len(rows), -1) * itemsize
    return spread, np.repeat(active, width, axis=1)


CostSums = Longs  # sums in the order of COST_COLUMNS
Passes = Callable[[Rows, int, bool, MemoryRules], tuple[CostSums, CostSums]]  # as ``wavefronts``
_NARROW, _ELEMENTS_AT_ONCE = 16, 1 << 22  # elements


def cost_table(rows: Rows, operand: Operand, array: MemoryArray, rules: MemoryRules, passes: Passes = wavefronts) -> Longs:
    """Costs of each request: int64 (rows, columns), columns named by COST_COLUMNS. ``passes`` computes wavefronts."""
    layout, most = operand.layout, _most_rows(rows, operand.width, rules)
    if len(rows) > most:
        parts = range(0, len(rows), most)
        return np.concatenate([cost_table(rows[at : at + most], operand, array, rules, passes) for at in parts])
    lanes = np.count_nonzero(rows >= 0, axis=1)
    requested = lanes * (array.itemsize * layout.width)
    columns: dict[str, Longs] = {
        "requests": (lanes > 0).astype(np.int64),
        "lanes": lanes,
        "bytes_asked": requested,
    }
    if array.space == "global":
        moved = requests(rows, array.itemsize, rules, layout)
        columns |= {
            name: getattr(moved, name) for name in ("bytes_used", "sectors", "needed_sectors", "ideal_sectors", "lines")
        }
    else:
        columns["wavefronts"], columns["ideal_wavefronts"] = _of_banks(rows, operand, array, rules, passes)
    nothing = np.zeros(len(rows), np.int64)
    return np.stack([columns.get(name, nothing) for name in COST_COLUMNS], axis=1)


def _most_rows(rows: Rows, width: int, rules: MemoryRules) -> int:
    """Number of rows that are processed together: whole warps, and fewer for a wide access."""
    per_warp = rules.warp_size // rules.request_lanes
    return len(rows) if width <= _NARROW else max(1, _ELEMENTS_AT_ONCE // (width * rows.shape[1] * per_warp)) * per_warp


def _of_banks(
    rows: Rows, operand: Operand, array: MemoryArray, rules: MemoryRules, passes: Passes
) -> tuple[CostSums, CostSums]:
    """Wavefronts of each request, and the fewest possible, summed over the runs of neighbours of its layout."""
    actual, ideal = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    for run in operand.layout.runs:
        words, per_lane = lane_words(moved_by_lane(rows, run.first, rules), array.itemsize, rules, run.width)
        took, needed = passes(words, per_lane, operand.access == "read", rules)
        actual, ideal = actual + took, ideal + needed
    return actual, ideal


# The sectors of an array that some requests move: which ones, which of their elements lanes request, and whether fewer
# sectors could hold what the requests need.

_SECTORS, _NEEDED = COST_COLUMNS.index("sectors"), COST_COLUMNS.index("needed_sectors")


class MovedSectors(Struct, frozen=True):
    """Distinct sectors that some requests move.

    ``numbers`` (sectors,): byte address over the size of a sector, ascending. ``first`` (sectors, elements of a sector): the
    first lane that requests each element, -1 for none. ``asking``: how many lanes of all requests request it.
    ``is_wasteful`` (sectors,): whether a request that moves the sector moves more sectors than it needs.
    """

    numbers: Longs
    first: Longs
    asking: Longs
    is_wasteful: Bools

    @property
    def is_asked(self) -> Bools:
        """Which elements any lane requests: (sectors, elements of a sector)."""
        return np.asarray(self.asking > 0)

    @property
    def elements(self) -> Longs:
        """The elements of each sector: (sectors, elements of a sector). The last ones may be behind the end of the array."""
        per_sector = self.first.shape[1]
        return np.asarray(self.numbers[:, None] * per_sector + np.arange(per_sector))


def moved_sectors(rows: Rows, operand: Operand, array: MemoryArray, rules: MemoryRules) -> MovedSectors:
    """Return the sectors that requests move. ``rows`` (requests, lanes): elements of an array in global memory, -1 inactive."""
    per_sector = max(1, rules.sector_bytes // array.itemsize)
    request, place = np.nonzero(rows >= 0)
    lane = lanes_of(rows, rules)[request, place]
    width = operand.layout.width
    element = operand.layout.spread(rows[request, place], lane).ravel()
    request, lane = np.repeat(request, width), np.repeat(lane, width)
    costs = cost_table(rows, operand, array, rules)
    wastes = costs[:, _SECTORS] > costs[:, _NEEDED]
    of_segments = _rest_of_segments(rows, operand, array, rules)
    sector = element // per_sector
    numbers = np.unique(np.concatenate([sector, of_segments]))
    where = np.searchsorted(numbers, sector)
    cell, shape = where * per_sector + element % per_sector, (len(numbers), per_sector)
    asking = np.bincount(cell, minlength=len(numbers) * per_sector).reshape(shape)
    first = np.full(shape, -1, np.int64)
    first.reshape(-1)[cell[::-1]] = lane[::-1]  # the last one written is the first one
    is_wasteful = np.zeros(len(numbers), bool)
    is_wasteful[where[wastes[request]]] = True
    return MovedSectors(numbers, first, asking, is_wasteful)


def _rest_of_segments(rows: Rows, operand: Operand, array: MemoryArray, rules: MemoryRules) -> Longs:
    """Return all sectors of the segments that requests move as a whole, where the device moves segments."""
    word = array.itemsize * operand.layout.width
    if rules.coalescing != "segments" or not len(rows):
        return np.zeros(0, np.int64)
    together = moves_segment(rows, rows >= 0, array.itemsize, operand.layout)
    own = rows * array.itemsize - np.arange(rows.shape[1]) * word
    start = np.where(rows >= 0, own, np.iinfo(np.int64).max).min(axis=1)[together] // rules.sector_bytes
    return np.asarray((start[:, None] + np.arange(max(1, rows.shape[1] * word // rules.sector_bytes))).ravel())
