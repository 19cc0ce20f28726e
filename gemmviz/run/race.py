"""Runs the warps (or, of a block that is one warp, the threads) of a block one by one in an order that is chosen, and looks for
the shortest order that spoils C.

Between two barriers CUDA promises no order of warps, and since compute capability 7.0 none of threads either (CUDA C++
Programming Guide, Independent Thread Scheduling). Each unit runs in a thread of its own; before each access it waits for its
turn.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gemmviz.model.errors import Cancelled, GemmvizError
from gemmviz.model.race import RaceCase, Turn
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import AccessSink, Bools, Longs
from gemmviz.model.sites import Site
from gemmviz.model.threads import BlockRange, ThreadSpace, Triple
from gemmviz.run.engine import Cancel
from gemmviz.run.executor import bound
from gemmviz.run.room import inputs
from gemmviz.run.simt.interpret import Binding, interpret, never
from gemmviz.run.simt.memory import SharedMemory
from gemmviz.spec.legality import device_for

MOST_TRIES, MOST_S = 400, 30.0  # where a search ends that has found nothing
_WAIT_S = 30.0


class _Ended(Exception):
    """The others are over, or one of them failed."""


class _Stage:
    """Whose turn it is. A unit asks for its turn before each access, and is let go by ``choose``."""

    def __init__(self, units: int, lead: int, ahead: int) -> None:
        self.units, self.lead, self.ahead = units, lead, ahead
        self.done = [0] * units  # steps
        self.at_barrier = [False] * units
        self.is_over = [False] * units
        self.waiting = [False] * units
        self.turn = -1
        self.failed: BaseException | None = None
        self.change = threading.Condition()

    def ask(self, unit: int, is_barrier: bool) -> None:
        """Returns when it is this unit's turn. At a barrier that is when all have come."""
        with self.change:
            self.at_barrier[unit] = is_barrier
            self.waiting[unit] = True
            self._choose()
            while self.turn != unit and self.failed is None:
                if not self.change.wait(_WAIT_S):
                    self.failed = GemmvizError("the threads of this block wait for each other")
            if self.failed is not None:
                self.change.notify_all()
                raise _Ended
            self.turn, self.waiting[unit] = -1, False
            self.done[unit] += 1

    def leave(self, unit: int, error: BaseException | None) -> None:
        with self.change:
            self.is_over[unit] = True
            if error is not None and not isinstance(error, _Ended):
                self.failed = self.failed or error
            self._choose()
            self.change.notify_all()

    def _choose(self) -> None:
        """Once everybody waits or is over: whose turn it is."""
        alive = [unit for unit in range(self.units) if not self.is_over[unit]]
        if not alive or self.turn != -1 or not all(self.waiting[unit] for unit in alive):
            return
        if all(self.at_barrier[unit] for unit in alive):
            self.at_barrier = [False] * self.units  # all have come: it is passed by one after the other
        free = [unit for unit in alive if not self.at_barrier[unit]]
        first = self.ahead if self.ahead in free and self.done[self.ahead] < self.lead else None
        self.turn = first if first is not None else min(free, key=lambda unit: (self.done[unit], unit))
        self.change.notify_all()


class _Unit(AccessSink):
    """One unit's run: its lanes alone are active, and its shared memory is everybody's."""

    def __init__(
        self, number: int, lanes: Bools, stage: _Stage, binding: Binding, shared: dict[int, SharedMemory],
        turns: list[Turn], written: Bools, lock: threading.Lock,
    ) -> None:  # fmt: skip
        self.number, self.lanes, self.stage, self.binding = number, lanes, stage, binding
        self.shared, self.turns, self.written, self.lock = shared, turns, written, lock
        self.waits_for_warp = int(lanes.sum()) == 1  # a unit that is one thread waits at barriers of warps, too
        self.sites: list[Site] = []
        self.count = 0

    def started(self, machine: Any) -> None:
        machine.mask, machine.exited = self.lanes, ~self.lanes
        for place, value in enumerate(machine.slots):
            if isinstance(value, tuple) and value and isinstance(value[0], SharedMemory):
                with self.lock:
                    common = self.shared.setdefault(value[0].number, value[0])
                common.complete = True  # what nobody has written yet holds what was there before: zeros here
                machine.slots[place] = (common, *value[1:])

    def site(self, site: Site) -> None:
        self.sites.append(site)

    def access(self, site: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int) -> None:
        where = self.sites[site]
        self.stage.ask(self.number, where.is_barrier if self.waits_for_warp else where.waits_for == "block")
        with self.lock:
            self.turns.append(self._turn(where, offset, mask))
        self.count += 1

    def value(self, value: Any) -> None:
        with self.lock:
            at = next(place for place in reversed(range(len(self.turns))) if self.turns[place].unit == self.number)
            lanes = np.flatnonzero(self.lanes.ravel())
            flat = np.broadcast_to(np.asarray(value, np.float64), self.lanes.shape).ravel()
            shown = float(flat[lanes[0]]) if len(lanes) == 1 else float(flat[lanes].sum())
            was = self.turns[at]
            self.turns[at] = replace(was, value=shown)

    def _turn(self, where: Site, offset: Any, mask: Bools | None) -> Turn:
        line = where.place.line
        if where.is_barrier:
            return Turn(self.number, self.count, line, "wait at the barrier", "")
        operand = where.operands[0]
        array = self.binding.arrays[operand.array]
        lanes = self.lanes if mask is None else self.lanes & mask
        elements = np.broadcast_to(np.asarray(offset), self.lanes.shape)[np.broadcast_to(lanes, self.lanes.shape)]
        if array.name == "C" and operand.access == "write":
            for further in operand.offsets:
                self.written[elements[(elements >= 0) & (elements < len(self.written))] + further] = True
        named = array.subscripted(int(elements[0])) if len(elements) == 1 else array.name
        return Turn(self.number, self.count, line, f"{operand.access} {named}", array.name)


def race_of(setup: Setup, block: Triple = (0, 0, 0), what: str = "", cancelled: Cancel = never) -> RaceCase:
    """Looks for the order in which one unit runs ahead by the fewest steps and C is another than in lockstep.

    Raises GemmvizError for what can't be run.
    """
    binding = bound(setup)
    x, y, z = (min(at, extent - 1) for at, extent in zip(block, binding.launch.grid, strict=True))
    space = ThreadSpace(binding.launch, BlockRange((x, x + 1), (y, y + 1), (z, z + 1)), device_for(setup).rules.warp_size)
    by_warps = space.warps_per_block > 1
    units = space.warps_per_block if by_warps else space.threads_per_block
    lanes = [_lanes(space, unit, by_warps) for unit in range(units)]
    right, order = _played(binding, space, lanes, 0, 0, cancelled)
    steps = max((turn.step for turn in order), default=0) + 1
    orders = [(lead, ahead) for lead in range(1, steps + 1) for ahead in range(units)]
    end, tried = time.monotonic() + MOST_S, 0
    for lead, ahead in orders[:MOST_TRIES]:
        if cancelled():
            raise Cancelled
        if time.monotonic() > end:
            break
        tried += 1
        wrong, turns = _played(binding, space, lanes, lead, ahead, cancelled)
        if not np.allclose(right, wrong, rtol=1e-5, atol=1e-6, equal_nan=True):
            found = _Found(ahead, lead, tried, len(orders), _spoilt(order, turns), right, wrong)
            return _case(setup, what, by_warps, units, found)
    return _case(setup, what, by_warps, units, _Found(-1, 0, tried, len(orders), tuple(order), right, right))


@dataclass(frozen=True)
class _Found:
    """Who went ahead by how much, in which of how many orders, and what came of it."""

    ahead: int
    lead: int
    tried: int
    orders: int
    turns: tuple[Turn, ...]
    right: Any
    wrong: Any


def _lanes(space: ThreadSpace, unit: int, by_warps: bool) -> Bools:
    number = np.arange(space.threads_per_block).reshape(space.thread_shape or (1,))
    found = number // space.warp_size == unit if by_warps else number == unit
    return np.asarray(found.reshape(space.shape or ()), bool)


def _played(
    binding: Binding, space: ThreadSpace, lanes: list[Bools], lead: int, ahead: int, cancelled: Callable[[], bool]
) -> tuple[Any, list[Turn]]:
    """C as flat float64, NaN where the block stores nothing, and the order in which all happened."""
    stage, turns, lock = _Stage(len(lanes), lead, ahead), [], threading.Lock()  # type: ignore[var-annotated]
    data = inputs(binding, cancelled)
    written = np.zeros(data["C"].size, bool)
    shared: dict[int, SharedMemory] = {}

    def run(unit: int) -> None:
        error: BaseException | None = None
        try:
            sink = _Unit(unit, lanes[unit], stage, binding, shared, turns, written, lock)
            interpret(binding, space, sink, data, wants_values=True, cancelled=cancelled)
        except BaseException as wrong:
            error = wrong
        stage.leave(unit, error)

    threads = [threading.Thread(target=run, args=(unit,), daemon=True) for unit in range(len(lanes))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if stage.failed is not None:
        raise stage.failed
    return np.where(written, np.asarray(data["C"], np.float64), np.nan), turns


def _spoilt(order: list[Turn], turns: list[Turn]) -> tuple[Turn, ...]:
    """The turns, those that read another value than in lockstep marked."""
    known = {(turn.unit, turn.step): turn.value for turn in order}

    def expected(turn: Turn) -> float | None:
        before = known.get((turn.unit, turn.step))
        if before is None or turn.value is None or not turn.does.startswith("read"):
            return None
        return None if np.isclose(before, turn.value, rtol=1e-6, atol=1e-9, equal_nan=True) else before

    return tuple(replace(turn, expected=expected(turn)) for turn in turns)


def _case(setup: Setup, what: str, by_warps: bool, units: int, found: _Found) -> RaceCase:
    rows, columns = setup.problem.shapes["C"]
    by_columns = "C" in setup.kernel.column_major
    tables = [
        each.reshape(columns, rows).T if by_columns else each.reshape(rows, columns) for each in (found.right, found.wrong)
    ]
    there = np.argwhere(~np.isnan(tables[0]) | ~np.isnan(tables[1]))
    (r0, c0), (r1, c1) = (there.min(axis=0), there.max(axis=0) + 1) if len(there) else ((0, 0), (1, 1))
    part = slice(int(r0), int(r1)), slice(int(c0), int(c1))
    kind: Literal["warps", "threads"] = "warps" if by_warps else "threads"
    return RaceCase(
        setup, what, kind, units, found.ahead, found.lead, found.tried, found.orders, found.turns,
        tables[0][part], tables[1][part], (int(r0), int(c0)),
    )  # fmt: skip
