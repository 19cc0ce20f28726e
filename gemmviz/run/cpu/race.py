"""Runs the warps (or, of a block that is one warp, the threads) of a block one by one in an order that is chosen, and looks for
the shortest order that spoils C.

Between two barriers CUDA promises no order of warps, and since compute capability 7.0 none of threads either (CUDA C++
Programming Guide, Independent Thread Scheduling). Each unit runs in a thread of its own; before each access it waits for its
turn.
"""

import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gemmviz.launch.legality import device_for
from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.errors import Cancelled, GemmvizError
from gemmviz.model.race import RaceCase, Turn
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import AccessSink
from gemmviz.model.sites import Site
from gemmviz.model.threads import BlockRange, ThreadSpace, Triple
from gemmviz.run.cpu.executor import bound
from gemmviz.run.cpu.memory_budget import inputs
from gemmviz.run.cpu.simt.interpret import Binding, interpret
from gemmviz.run.cpu.simt.memory import SharedMemory
from gemmviz.run.engine import Cancel

MOST_TRIES, MOST_S = 400, 30.0  # where a search ends that has found nothing
_WAIT_S = 30.0


class _Ended(Exception):
    """The others are over, or one of them failed."""


class _Stage:
    """Whose turn it is. A unit asks for its turn before each access, and is let go by ``choose``. Once ``stopped`` is true,
    nobody gets another turn.
    """

    def __init__(self, units: int, lead: int, ahead: int, stopped: Cancel) -> None:
        self.units, self.lead, self.ahead, self.stopped = units, lead, ahead, stopped
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
            if self.stopped():
                self.failed = self.failed or Cancelled()
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

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        where = self.sites[site]
        self.stage.ask(self.number, where.is_barrier if self.waits_for_warp else where.kind == "barrier")
        with self.lock:
            self.turns.append(self._turn(where, place, offset, mask))
        self.count += 1

    def value(self, value: Any) -> None:
        with self.lock:
            at = next(place for place in reversed(range(len(self.turns))) if self.turns[place].unit == self.number)
            lanes = np.flatnonzero(self.lanes.ravel())
            flat = np.broadcast_to(np.asarray(value, np.float64), self.lanes.shape).ravel()
            shown = float(flat[lanes[0]]) if len(lanes) == 1 else float(flat[lanes].sum())
            was = self.turns[at]
            self.turns[at] = replace(was, value=shown)

    def _turn(self, where: Site, place: int, offset: Any, mask: Bools | None) -> Turn:
        line = where.place.line
        operand = where.operand(place)
        if operand is None:
            return Turn(self.number, self.count, line, "wait at the barrier" if where.is_barrier else where.kind, "")
        array = self.binding.arrays[operand.array]
        lanes = self.lanes if mask is None else self.lanes & mask
        elements = np.broadcast_to(np.asarray(offset), self.lanes.shape)[np.broadcast_to(lanes, self.lanes.shape)]
        if array.name == "C" and operand.access == "write":
            for further in operand.layout.each(None):
                self.written[elements[(elements >= 0) & (elements < len(self.written))] + further] = True
        named = array.subscripted(int(elements[0])) if len(elements) == 1 else array.name
        return Turn(self.number, self.count, line, f"{operand.access} {named}", array.name)


def race_of(setup: Setup, block: Triple = (0, 0, 0), what: str = "", cancelled: Cancel = is_cancelled) -> RaceCase:
    """Looks for the order in which one unit runs ahead by the fewest steps and C is another than in lockstep.

    Raises GemmvizError for what can't be run, or not once within MOST_S; Cancelled.
    """
    end = time.monotonic() + MOST_S

    def stopped() -> bool:
        return cancelled() or time.monotonic() > end

    binding = bound(setup)
    x, y, z = (min(at, extent - 1) for at, extent in zip(block, binding.launch.grid, strict=True))
    space = ThreadSpace(binding.launch, BlockRange((x, x + 1), (y, y + 1), (z, z + 1)), device_for(setup).rules.warp_size)
    by_warps = space.warps_per_block > 1
    units = space.warps_per_block if by_warps else space.threads_per_block
    lanes = [_lanes(space, unit, by_warps) for unit in range(units)]
    try:
        right, order = _played(binding, space, lanes, 0, 0, stopped)
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
            wrong, turns = _played(binding, space, lanes, lead, ahead, stopped)
        except Cancelled:
            if cancelled():
                raise
            break
        tried += 1
        if not right.agrees_with(wrong):
            found = _Found(ahead, lead, tried, len(orders), _spoilt(order, turns), right, wrong)
            return _case(setup, what, by_warps, units, found)
    return _case(setup, what, by_warps, units, _Found(-1, 0, tried, len(orders), tuple(order), right, right))


@dataclass(frozen=True)
class _Stored:
    """The elements of C that a block stored, ascending, and their values as float64."""

    elements: Longs
    values: Any

    def agrees_with(self, other: "_Stored") -> bool:
        return np.array_equal(self.elements, other.elements) and np.allclose(
            self.values, other.values, rtol=1e-5, atol=1e-6, equal_nan=True
        )


@dataclass(frozen=True)
class _Found:
    """Who went ahead by how much, in which of how many orders, and what came of it."""

    ahead: int
    lead: int
    tried: int
    orders: int
    turns: tuple[Turn, ...]
    right: _Stored
    wrong: _Stored


def _lanes(space: ThreadSpace, unit: int, by_warps: bool) -> Bools:
    number = np.arange(space.threads_per_block).reshape(space.thread_shape or (1,))
    found = number // space.warp_size == unit if by_warps else number == unit
    return np.asarray(found.reshape(space.shape or ()), bool)


def _played(
    binding: Binding, space: ThreadSpace, lanes: list[Bools], lead: int, ahead: int, stopped: Callable[[], bool]
) -> tuple[_Stored, list[Turn]]:
    """What the block stores in C, and the order in which all happened. Raises Cancelled once ``stopped`` is true."""
    stage, turns, lock = _Stage(len(lanes), lead, ahead, stopped), [], threading.Lock()  # type: ignore[var-annotated]
    data = inputs(binding, stopped)
    written = np.zeros(data["C"].size, bool)
    shared: dict[int, SharedMemory] = {}

    def run(unit: int) -> None:
        error: BaseException | None = None
        try:
            sink = _Unit(unit, lanes[unit], stage, binding, shared, turns, written, lock)
            interpret(binding, space, sink, data, wants_values=True, cancelled=stopped)
        except BaseException as wrong:
            error = wrong
        stage.leave(unit, error)

    threads = [threading.Thread(target=copy_context().run, args=(run, unit), daemon=True) for unit in range(len(lanes))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if stage.failed is not None:
        raise stage.failed
    elements = np.flatnonzero(written)
    return _Stored(elements, np.asarray(data["C"])[elements].astype(np.float64)), turns


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
    elements = np.union1d(found.right.elements, found.wrong.elements)
    row, column = _places(setup, elements)
    corner = (int(row.min()), int(column.min())) if len(elements) else (0, 0)
    shape = (int(row.max()) + 1 - corner[0], int(column.max()) + 1 - corner[1]) if len(elements) else (1, 1)
    kind: Literal["warps", "threads"] = "warps" if by_warps else "threads"
    return RaceCase(
        setup, what, kind, units, found.ahead, found.lead, found.tried, found.orders, found.turns,
        _table(setup, found.right, corner, shape), _table(setup, found.wrong, corner, shape), corner,
    )  # fmt: skip


def _places(setup: Setup, elements: Longs) -> tuple[Longs, Longs]:
    """Rows and columns of elements of C."""
    rows, columns = setup.problem.shapes["C"]
    if "C" in setup.kernel.column_major:
        return elements % rows, elements // rows
    return elements // columns, elements % columns


def _table(setup: Setup, stored: _Stored, corner: tuple[int, int], shape: tuple[int, int]) -> Any:
    """The part of C of this ``shape`` that begins at ``corner``, float64, NaN where nothing was stored."""
    table = np.full(shape, np.nan)
    row, column = _places(setup, stored.elements)
    table[row - corner[0], column - corner[1]] = stored.values
    return table
