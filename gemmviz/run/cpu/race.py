"""Runs the warps of a block (or the threads, if it is one warp) one by one in a chosen order, and searches for the shortest
lead that gives a wrong C.

Between two barriers CUDA promises no order of warps, and since compute capability 7.0 none of threads either (CUDA C++
Programming Guide, Independent Thread Scheduling). The search is deterministic: the pairs of accesses that race are reversed one
by one, those first that need the shortest lead.
"""

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from msgspec import Struct, structs

from gemmviz.cuda.launch.launch_form import not_confirmed
from gemmviz.cuda.launch.legality import device_for
from gemmviz.cuda.nodes import Barrier, Mbarrier
from gemmviz.cuda.walk import nodes_of
from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.messages import Cancelled, GemmvizError, cancelled_after, checkpoint, tr
from gemmviz.model.setup import Setup
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import BlockRange, ThreadSpace, Triple
from gemmviz.model.trace import RaceCase, Turn
from gemmviz.run.cpu.executor import bound
from gemmviz.run.cpu.interleaving import Event, Interleaving, Lead, Slot, Stored
from gemmviz.run.cpu.simt.interpret import Binding

# The turns of a lockstep run to the pairs of accesses that race: two units touch one cell between the same two barriers,
# and one of them writes.

_EPOCH = 40  # bits of a cell's number; the epoch is above them
_MOST_PAIRS = 1 << 20  # that are compared at a time


class RacingPair(Struct, frozen=True):
    """An access of ``unit`` that comes first in lockstep, by its step, and the order in which it comes last: the unit ahead
    makes its own access at the last step of the lead. Both touch ``cell``; ``begin``: the number of turns before the barrier
    that comes before both.
    """

    unit: int
    step: int
    lead: Lead
    cell: int
    begin: int


def racing_pairs(turns: Iterable[tuple[Slot, Event]]) -> list[RacingPair]:
    """The racing pairs of a lockstep run, those with the smallest leads first; of those that one order reverses, the first.

    Raises Cancelled.
    """
    accesses: dict[int, list[Longs]] = {}
    begins: dict[int, int] = {}
    for place, (slot, event) in enumerate(turns):
        begins.setdefault(slot.epoch, place)
        if event.array >= 0:
            cells = event.cells[:1] if (event.cells == event.cells[:1]).all() else np.unique(event.cells)
            # columns: epoch and cell, unit, step, steps since the barrier, place in lockstep, whether it writes, cell
            facts: tuple[Any, ...] = (
                slot.epoch << _EPOCH | cells,
                slot.unit,
                slot.step,
                slot.since,
                place,
                event.stored is not None,
                cells,
            )
            rows = np.empty((len(facts), len(cells)), np.int64)
            for row, each in zip(rows, facts, strict=True):
                row[:] = each
            accesses.setdefault(event.array, []).append(rows)
    found: dict[Lead, tuple[int, RacingPair]] = {}
    for several in accesses.values():
        for early, late in _each(np.concatenate(several, axis=1)):
            epoch = early[0] >> _EPOCH
            lead = Lead(late[1], epoch, late[3] - early[3] + 1, late[2])
            if lead not in found or early[4] < found[lead][0]:
                found[lead] = early[4], RacingPair(early[1], early[2], lead, early[6], begins[epoch])
    pairs = [pair for _, pair in found.values()]
    return sorted(pairs, key=lambda pair: (pair.lead.steps, pair.lead.epoch, pair.lead.until, pair.lead.ahead))


def _each(accesses: Longs) -> Iterator[tuple[Any, Any]]:
    """Each conflict, as its earlier and its later access. Raises Cancelled."""
    for some in _colliding_pairs(accesses):
        checkpoint()
        yield from zip(*some, strict=True)


def _colliding_pairs(accesses: Longs) -> Iterator[tuple[Any, Any]]:
    """The columns of the earlier and the later access of each pair, as lists, some at a time."""
    accesses = accesses[:, np.argsort(accesses[0], kind="stable")]
    writes = accesses[:, accesses[5] == 1]
    first, last = (np.searchsorted(accesses[0], writes[0], side=side) for side in ("left", "right"))
    ends = np.cumsum(last - first)
    start = 0
    while start < len(ends):
        passed = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, passed + _MOST_PAIRS)))
        yield _reversed_pairs(accesses, writes[:, start:stop], first[start:stop], last[start:stop])
        start = stop


def _reversed_pairs(accesses: Longs, writes: Longs, first: Longs, last: Longs) -> tuple[Any, Any]:
    """The pairs of some writes with the accesses between ``first`` and ``last``, one for each order that reverses it."""
    counts = last - first
    place = np.repeat(last - np.cumsum(counts), counts) + np.arange(counts.sum())
    others, writes = accesses[:, place], np.repeat(writes, counts, axis=1)
    differ = (writes[1] != others[1]) & ((others[5] == 0) | (writes[4] < others[4]))
    writes, others = writes[:, differ], others[:, differ]
    is_earlier = writes[4] < others[4]
    early, late = np.where(is_earlier, writes, others), np.where(is_earlier, others, writes)
    order = np.argsort(early[4], kind="stable")
    early, late = early[:, order], late[:, order]
    _, chosen = np.unique(np.stack([late[1], early[0] >> _EPOCH, late[3] - early[3], late[2]]), axis=1, return_index=True)
    return early[:, chosen].T.tolist(), late[:, chosen].T.tolist()


MOST_TRIES, MOST_S = 400, 30.0  # time limit of a search without a result
_FAR, _MOST_UNITS = 1 << 30, 32  # farther than any run is long; units that are run ahead where nothing races
_SEEN = 64  # turns up to the pair of which the cells are kept, stores apart
Extents = tuple[tuple[str, tuple[int, ...]], ...]


def race_of(setup: Setup, block: Triple = (0, 0, 0), what: str = "") -> RaceCase:
    """Searches for the order in which one unit is ahead of the others by the fewest steps and C differs from that in lockstep.

    Raises GemmvizError for a kernel that can't be run, or not once within MOST_S, or whose launch isn't confirmed; Cancelled.
    """
    if (doubt := not_confirmed(setup.kernel)) is not None:
        raise doubt
    binding = bound(setup)
    if any(isinstance(part, Mbarrier) or (isinstance(part, Barrier) and part.number) for part in nodes_of(binding.program)):
        raise GemmvizError(tr("orders of warps that wait at mbarriers or numbered barriers are not searched"))
    if not setup.problem.output_names:
        raise GemmvizError("the problem has no outputs, so no order of threads changes its result")
    array = binding.arrays[binding.number(setup.problem.output_names[0])]
    x, y, z = (min(at, extent - 1) for at, extent in zip(block, binding.launch.grid, strict=True))
    space = ThreadSpace(binding.launch, BlockRange((x, x + 1), (y, y + 1), (z, z + 1)), device_for(setup).rules.warp_size)
    by_warps = space.warps_per_block > 1
    units = space.warps_per_block if by_warps else space.threads_per_block
    lanes = [_lanes_of(space, unit, by_warps) for unit in range(units)]
    kind: Literal["warps", "threads"] = "warps" if by_warps else "threads"
    end = time.monotonic() + MOST_S
    try:
        with cancelled_after(MOST_S):
            block_run = Interleaving(binding, space, lanes)
            right, lockstep = block_run.play()
            pairs = racing_pairs(block_run.lockstep())
    except Cancelled:
        checkpoint()
        why = f"one order of this block's {units} {kind} takes longer than {MOST_S:g} s"
        raise GemmvizError(why, remedy="choose smaller sizes: a race needs only a few phases") from None
    result = _RaceSearch(block_run, right, lockstep, pairs, end).result(units)
    return _race_case(setup, array, what, kind, units, result, _tile_extents(binding))


class _RaceResult(Struct, frozen=True):
    """Result of the search: the pair, None if nothing races; whether its reversal makes C wrong; the numbers of orders; the
    turns and both versions of C.
    """

    pair: RacingPair | None
    is_wrong: bool
    tried: int
    orders: int
    turns: tuple[Turn, ...]
    right: Stored
    wrong: Stored


class _RaceSearch(Struct, frozen=True):
    """The orders that may make C wrong. Where nothing races, each unit is run ahead as far as the barriers let it."""

    block_run: Interleaving
    right: Stored
    lockstep: list[Turn]
    pairs: list[RacingPair]
    end: float

    def result(self, units: int) -> _RaceResult:
        orders = [pair.lead for pair in self.pairs] or [Lead(unit, 0, _FAR, _FAR) for unit in range(min(units, _MOST_UNITS))]
        tried = 0
        for lead in orders[:MOST_TRIES]:
            try:
                with cancelled_after(self.end - time.monotonic()):
                    wrong, turns = self.block_run.play(lead)
            except Cancelled:
                checkpoint()
                break
            tried += 1
            if not self.right.agrees_with(wrong):
                pair = next((each for each in self.pairs if each.lead == lead), None)
                spoilt = self._with_cells(_spoilt(self.lockstep, turns), pair)
                return _RaceResult(pair, True, tried, len(orders), spoilt, self.right, wrong)
        pair = self.pairs[0] if self.pairs else None
        if pair is not None:
            self.block_run.play()  # what the turns of lockstep touch
        return _RaceResult(pair, False, tried, len(orders), self._with_cells(self.lockstep, pair), self.right, self.right)

    def _with_cells(self, turns: Sequence[Turn], pair: RacingPair | None) -> tuple[Turn, ...]:
        """The turns with the cells of all stores, and of the loads that lead to the pair."""
        if pair is None:
            return tuple(turns)
        both = (pair.unit, pair.step), (pair.lead.ahead, pair.lead.until)
        last = max(place for place, turn in enumerate(turns) if (turn.unit, turn.step) in both)
        return tuple(
            self.block_run.with_cells(turn) if turn.action == "write" or last - _SEEN < place <= last else turn
            for place, turn in enumerate(turns)
        )


def _lanes_of(space: ThreadSpace, unit: int, by_warps: bool) -> Bools:
    number = np.arange(space.threads_per_block).reshape(space.thread_shape or (1,))
    lanes = number // space.warp_size == unit if by_warps else number == unit
    return np.asarray(lanes.reshape(space.shape or ()), bool)


def _spoilt(order: list[Turn], turns: list[Turn]) -> tuple[Turn, ...]:
    """The turns, with ``expected`` set for those that read another value than in lockstep."""
    known = {(turn.unit, turn.step): turn.value for turn in order}

    def expected(turn: Turn) -> float | None:
        before = known.get((turn.unit, turn.step))
        if before is None or turn.value is None or turn.action != "read":
            return None
        is_same = math.isclose(before, turn.value, rel_tol=1e-6, abs_tol=1e-9) or (
            before != before and turn.value != turn.value
        )
        return None if is_same else before

    def spoilt(turn: Turn) -> Turn:
        before = expected(turn)
        return turn if before is None else structs.replace(turn, expected=before)

    return tuple(map(spoilt, turns))


def _race_case(
    setup: Setup,
    array: MemoryArray,
    what: str,
    kind: Literal["warps", "threads"],
    units: int,
    result: _RaceResult,
    tiles: Extents,
) -> RaceCase:
    elements = np.union1d(result.right.elements, result.wrong.elements)
    row, column = _rows_and_columns(array, elements)
    corner = (int(row.min()), int(column.min())) if len(elements) else (0, 0)
    shape = (int(row.max()) + 1 - corner[0], int(column.max()) + 1 - corner[1]) if len(elements) else (1, 1)
    ahead, lead = (result.pair.lead.ahead, result.pair.lead.steps) if result.pair is not None and result.is_wrong else (-1, 0)
    return RaceCase(
        setup, what, kind, units, ahead, lead, result.tried, result.orders, result.turns,
        _race_table(array, result.right, corner, shape), _race_table(array, result.wrong, corner, shape), corner,
        _pair_places(result), -1 if result.pair is None else result.pair.cell, 0 if result.pair is None else result.pair.begin,
        tiles,
    )  # fmt: skip


def _pair_places(result: _RaceResult) -> tuple[int, int] | None:
    """The places of the pair among the turns."""
    pair = result.pair
    if pair is None:
        return None
    places = {(turn.unit, turn.step): place for place, turn in enumerate(result.turns)}
    one, other = sorted((places[pair.unit, pair.step], places[pair.lead.ahead, pair.lead.until]))
    return one, other


def _tile_extents(binding: Binding) -> Extents:
    return tuple((array.name, array.shape) for array in binding.arrays if array.space == "shared")


def _rows_and_columns(array: MemoryArray, elements: Longs) -> tuple[Longs, Longs]:
    """Rows and columns of elements of the result."""
    rows, columns = array.row_column(elements)
    return np.asarray(rows, np.int64), np.asarray(columns, np.int64)


def _race_table(array: MemoryArray, stored: Stored, corner: tuple[int, int], shape: tuple[int, int]) -> Any:
    """The part of the result with this ``corner`` and ``shape``: float64, NaN where nothing was stored."""
    table = np.full(shape, np.nan)
    row, column = _rows_and_columns(array, stored.elements)
    table[row - corner[0], column - corner[1]] = stored.values
    return table
