"""Runs the warps of a block (or the threads, if it is one warp) one by one in a chosen order, and searches for the shortest
lead that gives a wrong C.

Between two barriers CUDA promises no order of warps, and since compute capability 7.0 none of threads either (CUDA C++
Programming Guide, Independent Thread Scheduling). The search is deterministic: orders are tried by lead, then by unit.
"""

import time
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gemmviz.launch.legality import device_for
from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.errors import Cancelled, GemmvizError
from gemmviz.model.race import RaceCase, Turn
from gemmviz.model.setup import Setup
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import BlockRange, ThreadSpace, Triple
from gemmviz.run.cpu.executor import bound
from gemmviz.run.cpu.interleaving import Interleaving, Stored
from gemmviz.run.engine import Cancel

MOST_TRIES, MOST_S = 400, 30.0  # time limit of a search without a result


def race_of(setup: Setup, block: Triple = (0, 0, 0), what: str = "", cancelled: Cancel = is_cancelled) -> RaceCase:
    """Searches for the order in which one unit runs ahead by the fewest steps and C differs from that in lockstep.

    Raises GemmvizError for a kernel that can't be run, or not once within MOST_S; Cancelled.
    """
    end = time.monotonic() + MOST_S

    def stopped() -> bool:
        return cancelled() or time.monotonic() > end

    binding = bound(setup)
    if not setup.problem.output_names:
        raise GemmvizError("the problem has no outputs, so no order of threads changes its result")
    array = binding.arrays[binding.number(setup.problem.output_names[0])]
    x, y, z = (min(at, extent - 1) for at, extent in zip(block, binding.launch.grid, strict=True))
    space = ThreadSpace(binding.launch, BlockRange((x, x + 1), (y, y + 1), (z, z + 1)), device_for(setup).rules.warp_size)
    by_warps = space.warps_per_block > 1
    units = space.warps_per_block if by_warps else space.threads_per_block
    lanes = [_lanes(space, unit, by_warps) for unit in range(units)]
    try:
        block_run = Interleaving(binding, space, lanes, stopped)
        right, order = block_run.play(0, 0)
    except Cancelled:
        if cancelled():
            raise
        what = f"one order of this block's {units} {'warps' if by_warps else 'threads'} takes longer than {MOST_S:g} s"
        raise GemmvizError(what, remedy="choose smaller sizes: a race needs only a few phases") from None
    steps = max((turn.step for turn in order), default=0) + 1
    orders = [(lead, ahead) for lead in range(1, steps + 1) for ahead in range(units)]
    tried = 0
    for lead, ahead in orders[:MOST_TRIES]:
        try:
            wrong, turns = block_run.play(lead, ahead)
        except Cancelled:
            if cancelled():
                raise
            break
        tried += 1
        if not right.agrees_with(wrong):
            result = _Result(ahead, lead, tried, len(orders), _spoilt(order, turns), right, wrong)
            return _case(setup, array, what, by_warps, units, result)
    return _case(setup, array, what, by_warps, units, _Result(-1, 0, tried, len(orders), tuple(order), right, right))


@dataclass(frozen=True)
class _Result:
    """Result of the search: the unit that ran ahead, its lead, the numbers of orders, the turns and both versions of C."""

    ahead: int
    lead: int
    tried: int
    orders: int
    turns: tuple[Turn, ...]
    right: Stored
    wrong: Stored


def _lanes(space: ThreadSpace, unit: int, by_warps: bool) -> Bools:
    number = np.arange(space.threads_per_block).reshape(space.thread_shape or (1,))
    lanes = number // space.warp_size == unit if by_warps else number == unit
    return np.asarray(lanes.reshape(space.shape or ()), bool)


def _spoilt(order: list[Turn], turns: list[Turn]) -> tuple[Turn, ...]:
    """The turns, with ``expected`` set for those that read another value than in lockstep."""
    known = {(turn.unit, turn.step): turn.value for turn in order}

    def expected(turn: Turn) -> float | None:
        before = known.get((turn.unit, turn.step))
        if before is None or turn.value is None or not turn.action.startswith("read"):
            return None
        return None if np.isclose(before, turn.value, rtol=1e-6, atol=1e-9, equal_nan=True) else before

    return tuple(replace(turn, expected=expected(turn)) for turn in turns)


def _case(setup: Setup, array: MemoryArray, what: str, by_warps: bool, units: int, result: _Result) -> RaceCase:
    elements = np.union1d(result.right.elements, result.wrong.elements)
    row, column = _places(array, elements)
    corner = (int(row.min()), int(column.min())) if len(elements) else (0, 0)
    shape = (int(row.max()) + 1 - corner[0], int(column.max()) + 1 - corner[1]) if len(elements) else (1, 1)
    kind: Literal["warps", "threads"] = "warps" if by_warps else "threads"
    return RaceCase(
        setup, what, kind, units, result.ahead, result.lead, result.tried, result.orders, result.turns,
        _table(array, result.right, corner, shape), _table(array, result.wrong, corner, shape), corner,
    )  # fmt: skip


def _places(array: MemoryArray, elements: Longs) -> tuple[Longs, Longs]:
    """Rows and columns of elements of the result."""
    rows, columns = array.row_column(elements)
    return np.asarray(rows, np.int64), np.asarray(columns, np.int64)


def _table(array: MemoryArray, stored: Stored, corner: tuple[int, int], shape: tuple[int, int]) -> Any:
    """The part of the result with this ``corner`` and ``shape``: float64, NaN where nothing was stored."""
    table = np.full(shape, np.nan)
    row, column = _places(array, stored.elements)
    table[row - corner[0], column - corner[1]] = stored.values
    return table
