"""Counts of a launch with accesses merged or taken apart, as compilers do it, for comparison with the hardware's counters.

ptxas may load or store up to 16 neighbouring bytes of a thread at once if it knows that they are aligned, across trips of an
unrolled loop too, as long as no barrier and no conflicting access lies between. It may also take a vector apart, load what is
loaded repeatedly only once, and make the stores in both branches of an ``if`` one. Which arrays are affected is the compiler's
choice: measured on an H200, it is one choice for each array and kind of access (``explained`` finds it).

Before each group of asynchronous copies ptxas puts three shared loads that all threads skip. An addition of floats in shared
memory becomes a loop of a load and a compare-and-swap, which takes two wavefronts. Fragments of 16-bit elements in shared
memory are loaded by ldmatrix. Measured on an H200 and an H100, CUDA 13.0.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from msgspec import Struct

from gemmviz.analysis.costs import Rows, access_rows, distinct_per_row, profiled_wavefronts
from gemmviz.analysis.counts import Counts, LaunchCounter, LaunchCounts, totals
from gemmviz.model.arrays import SCALAR, Bools, Longs, vector
from gemmviz.model.device import MemoryRules
from gemmviz.model.messages import Place, tr
from gemmviz.model.outline import SiteKind
from gemmviz.model.sinks import AccessSink, SumKey, Tee
from gemmviz.model.sites import Access, MemoryArray, Operand, Site
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import INACTIVE

# Wavefronts of asynchronous copies from global to shared memory, as Nsight Compute counts them.

_VECTOR_BYTES = (4, 8, 16)  # bytes of a lane
_AROUND_BYTES = 16  # bytes of a lane in a copy around L1


def beyond_stores(source: Rows, lane_bytes: int, rules: MemoryRules) -> int:
    """Wavefronts of copies through L1 beyond those of their stores: of requests (n, lanes), from the bytes at which lanes read,
    -1 for none.
    """
    words = np.arange(lane_bytes // rules.bank_bytes)
    beyond = 0
    for lanes in np.split(source, max(1, len(words)), axis=1):
        row, lane = np.nonzero(lanes >= 0)
        bank = (lanes[row, lane, None] // rules.bank_bytes + words) % rules.banks
        readers = np.zeros((len(lanes), rules.banks), np.int64)
        np.add.at(readers, (row[:, None], bank), 1)
        beyond += int(np.maximum(readers.max(axis=1) - 1, 0).sum())
    return beyond


def around_l1(source: Rows, target: Rows, rules: MemoryRules) -> int:
    """Wavefronts of copies around L1, from the bytes at which lanes read and write. Each copies from one line to one, and from
    one sector to each sector.
    """
    sectors = rules.line_bytes // rules.sector_bytes
    read, written = source // rules.sector_bytes, target // rules.sector_bytes
    moves = np.sort(np.where(source >= 0, (read // sectors << 32 | written) * sectors + read % sectors, INACTIVE), axis=1)
    moves[:, 1:][moves[:, 1:] == moves[:, :-1]] = INACTIVE
    moves.sort(axis=1)
    rank = np.zeros_like(moves)  # of a sector among those that are copied to one
    for other in range(1, sectors):
        rank[:, other:] += moves[:, other:] // sectors == moves[:, :-other] // sectors
    return int(distinct_per_row(moves // sectors // sectors * sectors + rank, moves >= 0).sum())


class CopyCounter(AccessSink):
    """Counts ``beyond``, the wavefronts of copies through L1 beyond those of their stores, and ``around``, those of copies
    around L1.
    """

    def __init__(self, rules: MemoryRules, space: ThreadSpace, arrays: tuple[MemoryArray, ...]) -> None:
        self.rules, self.space, self.arrays = rules, space, arrays
        self.sites: list[Site] = []
        self.beyond = self.around = 0
        self._source: Longs | int = 0

    def site(self, site: Site) -> None:
        self.sites.append(site)

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        operand = self.sites[site].operand(place)
        if operand is None or not self.sites[site].is_async:
            return
        item = self.arrays[operand.array].itemsize
        at, size = np.asarray(offset) * item, item * operand.width
        if size not in _VECTOR_BYTES:
            return  # a bulk copy
        if operand.access == "read":
            self._source = at
            return
        both = (self._rows(each, mask) for each in (self._source, at))
        for source, target in zip(*both, strict=True):
            if is_around_l1(self.sites[site], size):
                self.around += around_l1(source, target, self.rules)
            else:
                self.beyond += beyond_stores(source, size, self.rules)

    def _rows(self, at: Any, mask: Bools | None) -> Iterator[Rows]:
        values = np.asarray(at if mask is None else np.where(mask, at, INACTIVE))
        return access_rows(self.space, self.rules, np.broadcast_to(values, self.space.shape))


def is_around_l1(site: Site, lane_bytes: int) -> bool:
    """Whether a copy passes L1 by: one of 16 bytes, unless its text is that of ``cp.async.ca``."""
    return lane_bytes == _AROUND_BYTES and ".ca" not in site.text


_APART, _ONCE = 0, 1
WAYS = (16, 8, _APART, _ONCE)  # the width of merged accesses, in bytes, and two other ways
_MOST_OPEN = 256
_STORES, _LOADS, _WAVEFRONTS = "shared_store_instructions", "shared_load_instructions", "shared_wavefronts"
_IDEAL = "shared_wavefronts_ideal"
_FLOAT_BYTES = 4  # bytes of a float
_LOADS_FRAGMENT, _REGISTER_BYTES = ("wmma::load_matrix_sync", "load_matrix_sync"), 4
_DEAD_LOADS = 3  # before each group of copies
_NOWHERE = Place(1, 1, 1, 1)
_MERGED_KINDS = ("load", "store")  # kinds whose accesses a compiler merges
AccessKey = tuple[int, Access]


class MergingCounter:
    """A ``LaunchSink`` that counts a launch as written and, for each of WAYS, with all accesses changed that can be. Wavefronts
    follow Nsight Compute's rule.
    """

    def __init__(self, rules: MemoryRules) -> None:
        self.written = LaunchCounter(rules, passes=profiled_wavefronts)
        self.merged = {size: LaunchCounter(rules, passes=profiled_wavefronts) for size in WAYS}
        self.copies: list[CopyCounter] = []

    def sink(self, space: ThreadSpace, arrays: tuple[MemoryArray, ...], phase_loop: int) -> AccessSink:
        written = self.written.sink(space, arrays, phase_loop)
        merged = [_Merging(counter.sink(space, arrays, -1), arrays, size) for size, counter in self.merged.items()]
        self.copies.append(CopyCounter(self.written.rules, space, arrays))
        return Tee(written, *merged, self.copies[-1])

    def add_sums(self, arrays: tuple[MemoryArray, ...], sums: Mapping[SumKey, tuple[int, ...]]) -> None:
        raise NotImplementedError("sums don't tell which accesses are neighbours")


class _Merging(AccessSink):
    """Delays accesses until the following ones are known, and passes on wide ones."""

    def __init__(self, sink: AccessSink, arrays: tuple[MemoryArray, ...], widest_bytes: int) -> None:
        self.sink, self.arrays, self.widest_bytes = sink, arrays, widest_bytes
        self.sites: list[Site] = []
        self._open: dict[AccessKey, list[_MergeableRun]] = {}
        self._numbers: dict[tuple[SiteKind, Operand], int] = {}
        self._others: dict[int, int] = {}  # numbers of sites that are passed on as they are

    def site(self, site: Site) -> None:
        self.sites.append(site)

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        where = self.sites[site]
        operand = where.operand(place)
        if where.kind == "branch":
            return
        if operand is None:
            self.ended()
            return
        for other in [key for key in self._open if key[0] == operand.array and "write" in (key[1], operand.access)]:
            if other[1] != operand.access:
                self._close(other)
        key = operand.array, operand.access
        if where.kind not in _MERGED_KINDS or (operand.layout != SCALAR and self.widest_bytes != _APART):
            if site not in self._others:
                self._others[site] = self._new_number(where)
            self.sink.access(self._others[site], place, offset, mask, (), 0)
            return
        if self.widest_bytes == _APART:
            for at in operand.layout.offsets:
                self._emit(Operand(*key, SCALAR), offset + at, mask)
            return
        runs = self._open.setdefault(key, [])
        first = _first_active_offset(offset, mask)
        if self.widest_bytes == _ONCE:
            is_once = _MergeableRun.repeats if operand.access == "read" else _MergeableRun.takes_in
            run = next((run for run in runs if is_once(run, where.text, offset, mask)), None)
        else:
            run = next((run for run in reversed(runs) if run.next == first and run.goes_on_with(offset, mask)), None)
            if run is not None:
                run.length += 1
        if run is None:
            if len(runs) >= _MOST_OPEN:
                self._pass_on(key, runs.pop(0))
            runs.append(_MergeableRun(offset, mask, first, where.text))

    def ended(self) -> None:
        for key in list(self._open):
            self._close(key)

    def _close(self, key: AccessKey) -> None:
        for run in self._open.pop(key):
            self._pass_on(key, run)

    def _pass_on(self, key: AccessKey, run: "_MergeableRun") -> None:
        """Passes on a run in pieces, each as wide as its alignment allows."""
        widest, at = max(1, self.widest_bytes // self.arrays[key[0]].itemsize), 0
        while at < run.length:
            width = next(width for width in (widest, widest // 2, 1) if width and run.has_piece(at, width))
            self._emit(Operand(*key, vector(width)), run.offset + at, run.mask)
            at += width

    def _emit(self, operand: Operand, offset: Any, mask: Bools | None) -> None:
        """Passes on an operand by itself, as a load or a store."""
        kind: SiteKind = "load" if operand.access == "read" else "store"
        if (kind, operand) not in self._numbers:
            site = Site(_NOWHERE, f"{operand.width} at a time", (), kind, (operand,))
            self._numbers[kind, operand] = self._new_number(site)
        self.sink.access(self._numbers[kind, operand], 0, offset, mask, (), 0)

    def _new_number(self, site: Site) -> int:
        self.sink.site(site)
        return len(self._numbers) + len(self._others)


class _MergeableRun:
    """Consecutive accesses of the same threads to neighbouring elements: the first offsets, and the number of elements.
    ``first``: the offset of the first thread; ``text``: of the first access.
    """

    def __init__(self, offset: Any, mask: Bools | None, first: int, text: str) -> None:
        self.offset, self.mask, self.first, self.text, self.length = offset, mask, first, text, 1

    @property
    def next(self) -> int:
        """The offset at which the first thread goes on."""
        return self.first + self.length

    def goes_on_with(self, offset: Any, mask: Bools | None) -> bool:
        if np.shape(offset) != np.shape(self.offset) or not _same_threads(mask, self.mask):
            return False
        return bool(np.all(_where_active(offset - self.offset, mask, self.length) == self.length))

    def repeats(self, text: str, offset: Any, mask: Bools | None) -> bool:
        """Whether an access is the same again."""
        return text == self.text and np.array_equal(offset, self.offset) and _same_threads(mask, self.mask)

    def takes_in(self, text: str, offset: Any, mask: Bools | None) -> bool:
        """Takes in the same access by other threads, as in the other branch of an ``if``; False if it is another one."""
        if text != self.text or mask is None or self.mask is None or np.any(mask & self.mask):
            return False
        self.offset, self.mask = np.where(mask, offset, self.offset), mask | self.mask
        return True

    def has_piece(self, at: int, width: int) -> bool:
        """Whether ``width`` neighbours from index ``at`` on exist and are aligned."""
        return at + width <= self.length and not np.any(_where_active((self.offset + at) % width, self.mask, 0))


def _first_active_offset(offset: Any, mask: Bools | None) -> int:
    """The offset of the first thread that is active."""
    if mask is None:
        return int(np.ravel(offset)[0])
    offsets, active = np.broadcast_arrays(offset, mask)
    return int(offsets.flat[int(np.argmax(active))])


def _same_threads(a: Bools | None, b: Bools | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


def _where_active(values: Any, mask: Bools | None, otherwise: int) -> Any:
    return values if mask is None else np.where(mask, values, otherwise)


class Merging(Struct, frozen=True):
    """One choice of a compiler: the accesses of an array that are changed, and how: one of WAYS."""

    array: str
    access: Access
    bytes: int

    def __str__(self) -> str:
        if self.bytes == _APART:
            return tr("wide accesses to {array} taken apart", array=self.array)
        if self.bytes == _ONCE:
            return (
                tr("repeated loads of {array} made once", array=self.array)
                if self.access == "read"
                else tr("stores of {array} in both branches made one", array=self.array)
            )
        return (
            tr("loads of {array} merged, up to {bytes} bytes at a time", array=self.array, bytes=self.bytes)
            if self.access == "read"
            else tr("stores of {array} merged, up to {bytes} bytes at a time", array=self.array, bytes=self.bytes)
        )


class Explanation(Struct, frozen=True):
    """Choices that explain the counters. ``idle_stores``, ``idle_loads``: numbers of further shared stores and loads that were
    executed without active threads; ``copy_groups``: groups of asynchronous copies with dead loads before them; ``loops``:
    additions of floats that are loops; ``matrices``: matrices of 8 x 8 elements of fragments that ldmatrix loads.
    """

    merged: tuple[Merging, ...] = ()
    idle_stores: int = 0
    idle_loads: int = 0
    copy_groups: int = 0
    loops: int = 0
    matrices: int = 0

    @property
    def idle(self) -> int:
        return self.idle_stores + self.idle_loads

    def __str__(self) -> str:
        stores = tr("{idle_stores} shared stores with all threads switched off", idle_stores=f"{self.idle_stores:,}")
        idle = tr("{idle_loads} shared loads with all threads switched off", idle_loads=f"{self.idle_loads:,}")
        groups = tr("3 dead shared loads before each of {groups} groups of copies", groups=f"{self.copy_groups:,}")
        loops = tr("{loops} additions of floats by a load and a compare-and-swap", loops=f"{self.loops:,}")
        matrices = tr("ldmatrix loads the {matrices} matrices of fragments", matrices=f"{self.matrices:,}")
        counted = (
            (self.idle_stores, stores), (self.idle_loads, idle), (self.copy_groups, groups), (self.loops, loops),
            (self.matrices, matrices),
        )  # fmt: skip
        return "; ".join([*map(str, self.merged), *(text for count, text in counted if count)]) or tr("as written")


def explained(counter: MergingCounter, counters: Mapping[str, int]) -> Explanation | None:
    """The fewest choices for which the counts of a launch equal the hardware's counters, which are named as in
    ``totals``.

    Accesses without active threads are executed but take no wavefront, so there may be more of them than were counted; of as
    many choices those with the fewest of them. None if no choice fits the counters.
    """
    written, merged_by_size = counter.written.counts, {size: each.counts for size, each in counter.merged.items()}
    copies = {key: counts for key, counts in written.accesses.items() if key[0].is_async and key[1].access == "write"}
    of_copies = sum(each.beyond + each.around for each in counter.copies) - sum(
        counts.wavefronts
        for (site, operand), counts in copies.items()
        if is_around_l1(site, operand.width * written.arrays[operand.array].itemsize)
    )
    most_groups = sum(counts.requests for counts in copies.values())
    loops = sum(counts.requests for key, counts in written.accesses.items() if _is_loop(written.arrays, *key, counts))
    matrices = sum(counts.requests for key, counts in written.accesses.items() if _is_of_fragment(written.arrays, *key))
    best: Explanation | None = None
    for merged in _choices(written, merged_by_size):
        if best is not None and len(best.merged) < len(merged):
            break
        sums = totals(_merged(written, merged_by_size, merged))
        sums[_WAVEFRONTS] += of_copies + sums.get("shared_atomic_wavefronts", 0) + 2 * loops
        sums[_LOADS] += loops
        sums[_IDEAL] += 3 * loops
        beyond = {name: value - sums[name] for name, value in counters.items() if name in sums and value != sums[name]}
        stores, loads = beyond.pop(_STORES, 0), beyond.pop(_LOADS, 0)
        of_matrices = matrices if loads < 0 else 0
        loads += of_matrices
        groups = loads // _DEAD_LOADS if loads % _DEAD_LOADS == 0 and loads // _DEAD_LOADS <= most_groups else 0
        if not beyond and min(stores, loads) >= 0:
            arrays = counter.written.arrays
            choices = tuple(Merging(arrays[array].name, access, size) for (array, access), size in merged.items())
            found = Explanation(choices, stores, loads - _DEAD_LOADS * groups, groups, loops, of_matrices)
            best = found if best is None or found.idle < best.idle else best
    return best


def _is_loop(arrays: tuple[MemoryArray, ...], site: Site, operand: Operand, counts: Counts) -> bool:
    """Whether a site adds floats in shared memory, with lanes that don't wait for each other."""
    array = arrays[operand.array]
    adds = site.is_atomic and site.text.startswith("atomicAdd")
    return (
        adds
        and array.space == "shared"
        and array.element.is_float
        and array.itemsize == _FLOAT_BYTES
        and counts.wavefronts == counts.requests
    )


def _is_of_fragment(arrays: tuple[MemoryArray, ...], site: Site, operand: Operand) -> bool:
    """Whether a site loads registers of a fragment from shared memory."""
    array, loads = arrays[operand.array], site.text.startswith(_LOADS_FRAGMENT) and operand.access == "read"
    return loads and array.space == "shared" and array.itemsize * operand.width == _REGISTER_BYTES


def _choices(counts: LaunchCounts, merged_by_size: Mapping[int, LaunchCounts]) -> Iterator[dict[AccessKey, int]]:
    """The possible choices of merged accesses, fewest first."""
    written = _by_key(counts)
    ways: list[tuple[AccessKey, int]] = []
    for size, merged in merged_by_size.items():
        ways += [(key, size) for key, each in _by_key(merged).items() if each != written.get(key)]
    keys = list(dict.fromkeys(key for key, _ in ways))
    for many in range(len(keys) + 1):
        for chosen in itertools.combinations(keys, many):
            sizes = ([size for key, size in ways if key == each] for each in chosen)
            for each in itertools.product(*sizes):
                yield dict(zip(chosen, each, strict=True))


def _by_key(counts: LaunchCounts) -> dict[AccessKey, list[Any]]:
    by_key: dict[AccessKey, list[Any]] = {}
    for (_, operand), each in counts.accesses.items():
        by_key.setdefault((operand.array, operand.access), []).append(each)
    return {key: sum(several[1:], several[0]) for key, several in by_key.items()}


def _merged(written: LaunchCounts, merged_by_size: Mapping[int, LaunchCounts], merged: Mapping[AccessKey, int]) -> LaunchCounts:
    """Counts of the launch with some of its accesses merged."""
    chosen = LaunchCounts(written.rules, written.arrays)
    sources = {key: merged_by_size[size] for key, size in merged.items()}
    for key, each in [(None, written), *sources.items()]:
        for (site, operand), counts in each.accesses.items():
            its = operand.array, operand.access
            if its == key or (key is None and its not in merged):
                chosen.add(site, operand, -1, counts)
    return chosen
