"""One step of one replay seen through one focus, as a value; and the reader that moves from one step to the next."""

import threading
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct

from gemmviz.analysis.costs import warp_rows
from gemmviz.analysis.counts import Counts, count_rows
from gemmviz.analysis.replay.focus import Focus, Scope, scope_of
from gemmviz.analysis.replay.grid import Grid
from gemmviz.analysis.replay.replay import Area, Replay
from gemmviz.analysis.replay.terms import OwnTerms, Terms, ThreadTerms, of_thread
from gemmviz.analysis.replay.tiles import ROWS_AT_ONCE, Flights, TileContent, Tiles, flights
from gemmviz.model.arrays import Bools, Floats, Ints, Longs
from gemmviz.model.messages import checkpoint
from gemmviz.model.problem import Problem
from gemmviz.model.sites import MemoryArray, Operand, Site, Space
from gemmviz.model.trace import Trace, VariableValue, Watched

# The reuse map: loads of each element up to a step, updated from step to step.

_LOADS_AT_ONCE = 1 << 20


class LoadCounts:
    """A cursor: loads of one array's elements by some threads of a trace, summed over the cells of a grid."""

    def __init__(self, trace: Trace, array: int, grid: Grid, threads: slice = slice(None)) -> None:
        self.trace = trace
        self.grid = grid
        self.threads = threads
        self.loads = trace.touches_of(array, "read")
        self._counts = np.zeros(grid.shape[0] * grid.shape[1], np.int64)
        self._at = -1

    def after(self, step: int) -> Longs:
        """Loads up to and including ``step``: (rows, columns) of the grid. Valid until the next call."""
        if step < self._at // 2:
            self._counts[:] = 0
            self._at = -1
        forwards = step >= self._at
        first, last = (self._at, step) if forwards else (step, self._at)
        for load in self.loads:
            start, stop = np.searchsorted(load.steps, [first, last], side="right")
            self._add(load.rows[start:stop], load.operand, 1 if forwards else -1)
        self._at = step
        return self._counts.reshape(self.grid.shape)

    def _add(self, rows: Longs, operand: Operand, times: int) -> None:
        most = max(1, _LOADS_AT_ONCE // max(1, self.trace.space.thread_count))
        for start in range(0, len(rows), most):
            checkpoint()
            touched = self.trace.element[rows[start : start + most], self.threads]
            self._count(self.trace.spread(operand, touched, self.threads), times)

    def _count(self, elements: Longs, times: int) -> None:
        """Adds loads. Equal elements are counted before their cells are looked up, which is most of the work."""
        often: Longs | int = 1
        if len(elements) * 8 >= self.grid.array.size:
            counts = np.bincount(elements)
            elements = np.flatnonzero(counts)
            often = counts[elements]
        np.add.at(self._counts, self.grid.cells(elements), times * often)


# Loads of the present contents of a shared array: each cell is counted from its latest store.


class TileLoads:
    """A cursor for one shared array of a scope's block, counting loads of the chosen threads."""

    def __init__(self, trace: Trace, number: int, scope: Scope) -> None:
        self.trace, self.scope = trace, scope
        size = trace.arrays[number].size
        self._counts = np.zeros(size, np.int64)
        self._reads = trace.touches_of(number, "read")
        writes = trace.touches_of(number, "write")
        stores = ((int(s), int(r), t.operand) for t in writes for s, r in zip(t.steps, t.rows, strict=True))
        self._stores = sorted(stores, key=lambda each: each[:2])
        self._store_steps = np.array([step for step, _, _ in self._stores], np.int64)
        self._at = -1

    def after(self, step: int) -> Longs:
        """Loads of each cell, flat, since the latest store there. Valid until the next call. Raises Cancelled."""
        if step < self._at:
            self._counts[:] = 0
            self._at = -1
        first, last = np.searchsorted(self._store_steps, [self._at, step], side="right")
        for store_step, row, operand in self._stores[int(first) : int(last)]:
            self._read(self._at, store_step - 1)
            self._counts[self.trace.spread(operand, self.trace.element[row, self.scope.of_block], self.scope.of_block)] = 0
            self._at = store_step
        self._read(self._at, step)
        self._at = step
        return self._counts

    def _read(self, after: int, until: int) -> None:
        """Adds the loads of the steps from ``after`` + 1 to ``until``."""
        for touches in self._reads:
            first, last = np.searchsorted(touches.steps, [after, until], side="right")
            for start in range(int(first), int(last), ROWS_AT_ONCE):
                checkpoint()
                rows = touches.rows[start : min(start + ROWS_AT_ONCE, int(last))]
                cells = self.trace.spread(touches.operand, self.trace.element[rows, self.scope.in_block], self.scope.in_block)
                self._counts += np.bincount(cells, minlength=len(self._counts))


_StepValue = TypeVar("_StepValue")


class Reader:
    """Moments of a replay seen through a focus. Any number of threads may read from one reader. The next step is computed
    quickly, a distant one may take longer. The latest two moments are kept: the present one, and one that is prepared.
    """

    def __init__(self, replay: Replay, focus: Focus | None = None) -> None:
        self.replay = replay
        self.scope: Scope = scope_of(focus or Focus(), replay.trace)
        self._cursors = StepCursors(replay, self.scope)
        self._watched: Watched | None = None
        self._latest: tuple[Moment, ...] = ()

    @property
    def watched(self) -> Watched | None:
        """Variables of the first chosen thread, None as long as they are unknown."""
        return self._watched

    @watched.setter
    def watched(self, watched: Watched | None) -> None:
        if watched is not self._watched:
            self._watched, self._latest = watched, ()

    def at(self, step: int) -> "Moment":
        """The moment of a step; the same object if called again for one of the latest two steps."""
        latest = self._latest
        found = next((each for each in latest if each.step == step), None) or Moment(self._cursors, step, self._watched)
        if not latest or latest[0] is not found:
            self._latest = (found, *latest[:1])
        return found


class StepCursors:
    """Contents of tiles and numbers of loads after a step, computed from those after the step before.

    Every array returned is a copy. A lock protects the cursors; a cursor whose computation is cancelled is dropped.
    """

    def __init__(self, replay: Replay, scope: Scope) -> None:
        self.replay, self.scope = replay, scope
        self._lock = threading.RLock()
        self._cursors: dict[Any, Any] = {}
        self._own_terms: OwnTerms | None = None

    def _after(self, key: Any, make: Callable[[], Any], step: int, copy: Callable[[Any], _StepValue]) -> _StepValue:
        """A copy of the contents of the cursor ``key`` after ``step``."""
        with self._lock:
            cursor = self._cursors.get(key)
            if cursor is None:
                cursor = self._cursors[key] = make()
            try:
                return copy(cursor.after(step))
            except BaseException:
                del self._cursors[key]
                raise

    def tiles(self, step: int) -> dict[int, TileContent]:
        """Contents of every shared array of the block after ``step``, by array number; empty if the trace has no origins."""
        return self._tiles("tiles", step, step)

    def tiles_before(self, step: int) -> dict[int, TileContent]:
        """Contents of every shared array of the block before ``step``, by array number."""
        return self._tiles("tiles before", step, step - 1)

    def _tiles(self, key: str, step: int, after: int) -> dict[int, TileContent]:
        if self.replay.is_after_gap(step):
            return {}
        trace, block = self.replay.trace, self.scope.of_block
        return self._after(key, lambda: Tiles(trace, block, self.replay.value), after, _copied_contents)

    def loads(self, array: int, step: int, grid: Grid) -> Longs:
        """Loads of each element by the chosen threads (of a shared array: of the block) up to ``step``: (rows, columns) of the
        grid.
        """
        trace = self.replay.trace
        threads = self.scope.in_block if trace.arrays[array].space == "shared" else self.scope.threads
        return self._after((array, grid.factor), lambda: LoadCounts(trace, array, grid, threads), step, np.ndarray.copy)

    def tile_loads(self, array: int, step: int) -> Longs:
        """Loads of the present contents of each cell of a shared array after ``step``, flat."""
        return self._after(array, lambda: TileLoads(self.replay.trace, array, self.scope), step, np.ndarray.copy)

    @property
    def own_terms(self) -> OwnTerms | None:
        """The sums of the first chosen thread over all steps; None until computed, and if it has none."""
        replay, scope = self.replay, self.scope
        terms = replay.terms(scope) if self._own_terms is None and replay.knows_terms(scope) else None
        if terms is not None:
            self._own_terms = of_thread(terms, replay.owners, scope.first_thread)
        return self._own_terms

    @cached_property
    def homes(self) -> Floats:
        """Where the block's threads compute: the mean (row, column) of each one's elements of C, NaN for a thread
        without any.
        """
        return self.replay.owners.homes(self.scope.of_block)

    def so_far(self, step: int, space: Space) -> Counts:
        """Cost in one kind of memory of all steps up to and including ``step``."""
        return Counts(*self.replay.sums(self.scope)[space][step].tolist())


def _copied_contents(contents: dict[int, TileContent]) -> dict[int, TileContent]:
    return {number: content.copy() for number, content in contents.items()}


class TouchedOperand(Struct, frozen=True):
    """One operand at a moment: its array, the elements that the chosen threads touch, -1 inactive, and their lanes.
    ``in_block`` and ``block_lanes``: the same for the chosen threads of the block.
    """

    operand: Operand
    array: MemoryArray
    row: int
    elements: Ints
    in_block: Ints
    lanes: Ints
    block_lanes: Ints

    @property
    def cells(self) -> Longs:
        """All elements that active chosen threads touch, thread by thread."""
        return _spread(self.operand, self.elements, self.lanes)

    @property
    def block_cells(self) -> Longs:
        """All elements that active chosen threads of the block touch, thread by thread."""
        return _spread(self.operand, self.in_block, self.block_lanes)


def _spread(operand: Operand, elements: Ints, lanes: Ints) -> Longs:
    active = elements >= 0
    return operand.layout.spread(elements[active], lanes[active]).ravel()


class Request(Struct, frozen=True):
    """One warp of the block at a moment: its number, and the elements that its lanes touch (lanes,), -1 inactive."""

    warp: int
    lanes: Longs


class Moment:
    """One step of a replay seen through a focus: an immutable value, independent of its reader's later moments.

    ``main``: the array of the step's first operand; for a copy, the array that is read. ``watched``: variables of the first
    chosen thread, None if unknown.
    """

    def __init__(self, cursors: StepCursors, step: int, watched: Watched | None = None) -> None:
        self._cursors = cursors
        self.watched = watched
        self.replay: Replay = cursors.replay
        self.trace: Trace = cursors.replay.trace
        self.scope: Scope = cursors.scope
        self.focus: Focus = cursors.scope.focus
        self.step = step
        self._cache: dict[Any, Any] = {}
        self.site: Site = self.trace.site_of(step)
        self.phase = int(self.trace.phase[step])

    @property
    def problem(self) -> Problem:
        return self.trace.setup.problem

    @property
    def home(self) -> int | None:
        """The number of the array on which threads are drawn; None if there is none."""
        return self.replay.owners.home

    def cached(self, key: Any, make: Callable[[], _StepValue]) -> _StepValue:
        """The cached value for a key, computed by ``make`` if missing."""
        if key not in self._cache:
            self._cache[key] = make()
        found: _StepValue = self._cache[key]
        return found

    @cached_property
    def previous(self) -> "Moment | None":
        """The step before, seen through the same focus; None for the first step."""
        return Moment(self._cursors, self.step - 1, self.watched) if self.step else None

    @cached_property
    def touched(self) -> tuple[TouchedOperand, ...]:
        """The elements that each operand touches; empty if the site has no operands."""
        trace, first, operands = self.trace, int(self.trace.row[self.step]), []
        for place, operand in enumerate(self.site.operands):
            row = trace.element[first + place]
            parts = (each[part] for each in (row, trace.lane) for part in (self.scope.threads, self.scope.in_block))
            operands.append(TouchedOperand(operand, trace.arrays[operand.array], first + place, *parts))
        return tuple(operands)

    @property
    def main(self) -> TouchedOperand | None:
        return self.touched[0] if self.touched else None

    def of_array(self, number: int) -> tuple[TouchedOperand, ...]:
        """The operands in one array."""
        return tuple(each for each in self.touched if each.operand.array == number)

    @cached_property
    def arrived(self) -> Ints:
        """The chosen threads that take part: the element of each, or 0 at a barrier; -1 for the others."""
        return self.trace.element[self.trace.row[self.step], self.scope.threads]

    def touched_in(self, space: Space) -> TouchedOperand | None:
        """The first operand in one kind of memory, None if there is none."""
        return next((each for each in self.touched if each.array.space == space), None)

    @cached_property
    def request(self) -> Request | None:
        """The request of a warp for the first operand, as ``request_of`` gives it; at a site without operands, the lanes that
        take part.
        """
        return self.request_of(int(self.trace.row[self.step]))

    @property
    def shown_warp(self) -> int | None:
        """The chosen warp, else that of the request; None if no lane is active."""
        return self.focus.warp if self.focus.warp is not None else self.request.warp if self.request else None

    def request_of(self, row: int) -> Request | None:
        """One warp of the block and the elements that its lanes touch in a row of the record: the chosen warp, else the first
        with an active lane; None if no lane is active.
        """
        rows = warp_rows(self.trace.element[row : row + 1, self.scope.of_block], self.trace.rules.warp_size)
        active = np.flatnonzero((rows >= 0).any(axis=1))
        if self.focus.warp is not None:
            active = active[active == self.focus.warp]
        return Request(int(active[0]), rows[active[0]]) if len(active) else None

    @cached_property
    def cost(self) -> Counts:
        """Cost of the step for the chosen block or warps; for one thread, of its warp."""
        if self.replay.knows_costs(self.scope):
            return Counts(*self.replay.costs(self.scope)[self.step].tolist())
        return self.cost_of(self.touched)

    def cost_of(self, touched: Iterable[TouchedOperand]) -> Counts:
        """The same of some of its operands."""
        costs = (count_rows(self.requests_of(each), each.operand, each.array, self.trace.rules) for each in touched)
        return sum(costs, Counts())

    def requests_of(self, touched: TouchedOperand) -> Longs:
        """The requests for an operand by the chosen block or warps, as ``rows_of_warps``."""
        return self.replay.rows_of_warps(self.trace.element[touched.row : touched.row + 1], self.scope)

    @property
    def takes_part(self) -> Bools:
        """Whether each thread of the watched block takes part in the step."""
        return self.trace.element[int(self.trace.row[self.step]), self.scope.of_block] >= 0

    @cached_property
    def tiles(self) -> dict[int, TileContent]:
        """Contents of every shared array of the block after the step, by array number."""
        return self._cursors.tiles(self.step)

    @cached_property
    def tiles_before(self) -> dict[int, TileContent]:
        """Contents of every shared array of the block before the step, by array number."""
        return self._cursors.tiles_before(self.step)

    def loads(self, array: int, grid: Grid) -> Longs:
        """Loads of each element by the chosen threads up to now: (rows, columns) of the grid."""
        return self.cached(("loads", array, grid.factor), lambda: self._cursors.loads(array, self.step, grid))

    def tile_loads(self, array: int) -> Longs:
        """Loads of the present contents of each cell of a shared array, flat."""
        return self.cached(("tile loads", array), lambda: self._cursors.tile_loads(array, self.step))

    def area(self, array: int) -> Area | None:
        return self.replay.area(array, self.step, self.scope)

    def reach(self, array: int) -> Longs:
        """The elements of an array that the chosen block or warp touches in this phase, ascending."""
        return self.cached(("reach", array), lambda: self.replay.reach(array, self.step, self.scope))

    def areas(self, name: str) -> dict[int, Area]:
        """Rows and columns of a matrix that the chosen block or warp touches, by phase; empty if the trace has no such
        matrix.
        """
        number = self.trace.number_of(name)
        return {} if number is None else self.replay.areas(number, self.scope)

    @cached_property
    def terms(self) -> Terms | None:
        """The sums of the block, term by term; None until computed, and if they can't be."""
        return self.replay.terms(self.scope) if self.replay.knows_terms(self.scope) else None

    @cached_property
    def done(self) -> Longs:
        """Number of finished terms of each of the block's elements; empty if ``terms`` are unknown."""
        return np.zeros(0, np.int64) if self.terms is None else self.terms.done(self.step)

    @cached_property
    def thread_terms(self) -> ThreadTerms | None:
        """The sums of the first chosen thread; None if unknown."""
        return self.thread_terms_after(self.step)

    def thread_terms_after(self, step: int) -> ThreadTerms | None:
        """The sums of the first chosen thread after another step, -1 for before the first; None if unknown."""
        own = None if self.terms is None else self._cursors.own_terms  # both or neither, though another thread computes them
        return None if own is None else own.after(step)

    def factors(self, terms: ThreadTerms) -> tuple[Floats, Floats]:
        """Values of a thread's factors of A (rows,) and of B (columns,), NaN if unknown."""
        a, b = (np.full(len(each), np.nan) for each in (terms.rows, terms.columns))
        for place, has, steps, values in ((0, terms.has_a, terms.steps_a, a), (1, terms.has_b, terms.steps_b, b)):
            for at in np.flatnonzero(has).tolist():
                values[at] = self._value_read(int(steps[at]), "AB"[place])
        return a, b

    def _value_read(self, step: int, matrix: str) -> float:
        """The value that the first chosen thread read at a step, from a matrix or a copy of it."""
        value, column = self.replay.value, self.scope.of_block.start + self.scope.first_thread
        for place, operand in enumerate(self.trace.site_of(step).operands):
            array = self.trace.arrays[operand.array]
            if operand.access == "read" and operand.width == 1 and (array.name == matrix or array.space == "shared"):
                return float("nan") if value is None else float(value[int(self.trace.row[step]) + place, column])
        return float("nan")

    def variables_after(self, step: int) -> dict[str, VariableValue]:
        """The known variables of the first chosen thread, after this or another step."""
        return {} if self.watched is None else self.watched.after(step, self.trace.site_of(step))

    @property
    def homes(self) -> Floats:
        """Where the block's threads compute: the mean (row, column) of each one's elements of C, NaN for a thread
        without any.
        """
        return self._cursors.homes

    def so_far(self, space: Space) -> Counts:
        """Cost in one kind of memory of all steps up to and including this one."""
        return self._cursors.so_far(self.step, space)

    @cached_property
    def flights(self) -> list[Flights]:
        """Movements of elements by the chosen threads of the block."""
        return flights(self.trace, self.step, self.scope)
