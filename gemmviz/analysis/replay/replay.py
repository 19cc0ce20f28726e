"""A trace prepared for replay: quantities derived from it once, for any number of readers; and the timeline of a run."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field, structs

from gemmviz.analysis.costs import cost_table, request_rows
from gemmviz.analysis.hazard import Conflicts, Hazard
from gemmviz.analysis.launch_hazards import Ordering
from gemmviz.analysis.replay.focus import Scope
from gemmviz.analysis.replay.grid import NEVER, Grid, Owners
from gemmviz.analysis.replay.terms import Terms, size_of, terms_of
from gemmviz.model.arrays import Floats, Ints, Longs, Singles
from gemmviz.model.messages import checkpoint, tr
from gemmviz.model.problem import Problem
from gemmviz.model.sinks import COST_COLUMNS
from gemmviz.model.sites import SPACES, Access, MemoryArray, Site, Space
from gemmviz.model.trace import Trace

# The timeline of a run: the track of every step, one of five kinds of work, with barriers between. LOAD_A stands for loads of
# the problem's first input, LOAD_B for those of its others, and STORE_C for accesses of its outputs.

LOAD_A, LOAD_B, STORE_TILE, COMPUTE, STORE_C = range(5)
BARRIER = TRACKS = 5
NOWHERE = 6


class Timeline(Struct, frozen=True, dict=True):
    """``track`` int8 (steps,): the track of each step, BARRIER for one at which threads wait, NOWHERE for a branch. ``starts``
    (n,) ascending: the first step of each segment, within which track and phase are constant.
    """

    track: npt.NDArray[np.int8]
    starts: Longs

    @cached_property
    def tracks(self) -> frozenset[int]:
        """The tracks that have a step."""
        return frozenset(np.unique(self.track).tolist())

    def segment(self, step: int) -> tuple[int, int]:
        """The steps of the segment that a step belongs to, half-open."""
        at = int(np.searchsorted(self.starts, step, side="right")) - 1
        stop = int(self.starts[at + 1]) if at + 1 < len(self.starts) else len(self.track)
        return int(self.starts[at]), stop

    def shares_over(self, columns: int) -> Floats:
        """Shares of the tracks: for each of ``columns`` intervals of the run, the share of its steps in each track, then of the
        barriers: (tracks + 1, columns). Every interval has at least one step.
        """
        steps = len(self.track)
        edges = np.linspace(0, steps, columns + 1)
        first = np.minimum(edges[:-1].astype(np.int64), steps - 1)
        last = np.maximum(first + 1, np.minimum(np.ceil(edges[1:] - 1e-9).astype(np.int64), steps))
        shares = np.zeros((BARRIER + 1, columns))
        for track in range(BARRIER + 1):
            counts = np.concatenate([[0], np.cumsum(self.track == track)])
            shares[track] = (counts[last] - counts[first]) / (last - first)
        return shares


def timeline_of(trace: Trace) -> Timeline:
    """The timeline of a trace."""
    problem = trace.setup.problem
    track = np.array([track_of(trace.arrays, site, problem) for site in trace.sites], np.int8)[trace.site]
    changes = np.flatnonzero((np.diff(track) != 0) | (np.diff(trace.phase) != 0)) + 1
    return Timeline(track, np.concatenate([[0], changes]).astype(np.int64))


def track_names(problem: Problem) -> tuple[str, ...]:
    """The tracks in words, in order: "load A", "load B", "store into a tile", "compute", "load, store C"."""
    first, *others = [array.name for array in problem.arrays if array.role == "input"] or [tr("inputs")]
    outputs = ", ".join(problem.output_names) or tr("outputs")
    return (
        tr("load {first}", first=first),
        tr("load {others}", others=", ".join(others) or "–"),
        tr("store into a tile"),
        tr("compute"),
        tr("load, store {outputs}", outputs=outputs),
    )


def short_track_names(trace: Trace) -> tuple[str, ...]:
    """The tracks in few words, in order: "load A", "load B", "into tile", "multiply", "store C"; the last one is
    "load, store C" of a kernel that also loads from C.
    """
    problem = trace.setup.problem
    first, *others = [array.name for array in problem.arrays if array.role == "input"] or [tr("inputs")]
    more = (
        (tr("load {others}, …", others=others[0]) if len(others) > 1 else tr("load {others}", others=others[0]))
        if others
        else ""
    )
    outputs = problem.output_names
    stored = (
        (tr("store {outputs}, …", outputs=outputs[0]) if len(outputs) > 1 else tr("store {outputs}", outputs=outputs[0]))
        if outputs
        else "store"
    )
    loads_outputs = any(not site.accesses("write") and track_of(trace.arrays, site, problem) == STORE_C for site in trace.sites)
    names = tr("load {first}", first=first), more, tr("into tile"), tr("multiply") if problem.is_multiply else tr("compute")
    return *names, tr("load, {stored}", stored=stored) if loads_outputs else stored


def track_of(arrays: Sequence[MemoryArray], site: Site, problem: Problem) -> int:
    """The track of a site: for a copy, which loads and stores, that of the store; "compute" for a load from shared memory or a
    matrix operation in registers, BARRIER for a site that only orders steps, and NOWHERE for a branch.
    """
    written = [arrays[operand.array] for operand in site.accesses("write")]
    if site.is_of_mbarrier:
        return BARRIER
    if written:
        return STORE_TILE if written[-1].space == "shared" else STORE_C
    for operand in site.accesses("read"):
        read = arrays[operand.array]
        return COMPUTE if read.space == "shared" else _load_of(read.name, problem)
    return {"product": COMPUTE, "matrix": COMPUTE, "branch": NOWHERE}.get(site.kind, BARRIER)


def _load_of(name: str, problem: Problem) -> int:
    """The track of a load from a matrix."""
    inputs = [array.name for array in problem.arrays if array.role == "input"]
    if name not in inputs:
        return STORE_C
    return LOAD_A if name == inputs[0] else LOAD_B


_ACCESSES_AT_ONCE, _MOST_KEPT, _MOST_THINGS = 1 << 20, 8, 32
_UNKNOWN = object()
_SOON = 60_000  # accesses that are processed within a frame
_Cached = TypeVar("_Cached")
Area = tuple[int, int, int, int]


class _Shared:
    """Quantities that depend on a trace alone: computed on first use, and shared by all replays of it."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.areas: dict[Any, Area | None] = {}
        self.costs: dict[Any, Longs] = {}
        self.sums: dict[Any, dict[Space, Longs]] = {}
        self.first_stored: dict[int, Longs] = {}
        self.cache: dict[Any, Any] = {}
        self.terms: dict[int, Terms | None] = {}
        self.owner_threads: dict[Any, Ints] = {}

    @cached_property
    def owners(self) -> Owners:
        return Owners(self.trace)

    @cached_property
    def timeline(self) -> Timeline:
        return timeline_of(self.trace)


class Replay(Struct, frozen=True, eq=False, dict=True):
    """An immutable replay, which several threads may read at once. ``value`` (values read and written, (rows, threads)) and
    ``ordering`` may become known later than the trace: ``replace`` gives a replay with them.
    """

    trace: Trace
    value: Singles | None = None
    ordering: Ordering = field(default_factory=Ordering)
    _shared: _Shared | None = None

    @classmethod
    def of(cls, trace: Trace) -> "Replay":
        return cls(trace, trace.value, _shared=_Shared(trace))

    @property
    def hazards(self) -> tuple[Hazard, ...]:
        return self.ordering.hazards

    @property
    def conflicts(self) -> Conflicts:
        return self.ordering.conflicts

    @property
    def _facts(self) -> _Shared:
        assert self._shared is not None
        return self._shared

    @property
    def steps(self) -> int:
        return self.trace.steps

    @property
    def owners(self) -> Owners:
        return self._facts.owners

    @property
    def timeline(self) -> Timeline:
        """The track of every step."""
        return self._facts.timeline

    @cached_property
    def phase_starts(self) -> Ints:
        """The first step of each phase, ascending, and 0."""
        changes = np.flatnonzero(np.diff(self.trace.phase)) + 1
        return np.unique(np.concatenate([[0], changes])).astype(np.int32)

    @cached_property
    def phases(self) -> int:
        """Number of phases; for a trace of some phases, the number of its last one."""
        in_loop = np.array([self.trace.phase_loop in site.loops for site in self.trace.sites])[self.trace.site]
        return int(self.trace.phase[in_loop].max()) + 1 if in_loop.any() else 0

    @property
    def has_phases(self) -> bool:
        """Whether the kernel has phases: trips of a loop in which the threads of a block wait for each other."""
        trace = self.trace
        return self.phases > 0 and 0 <= trace.phase_loop < len(trace.loops) and trace.loops[trace.phase_loop].holds_barrier

    def is_after_gap(self, step: int) -> bool:
        """Whether phases that were not traced may lie between the traced ones and ``step``."""
        return self.trace.phases is not None and int(self.trace.phase[step]) >= self.phases

    def rows_of_warps(self, element: Ints, scope: Scope) -> Longs:
        """Rows of the record (rows, threads of the trace) as requests of the chosen warps, row by row: (requests, lanes)."""
        chosen = element[:, scope.of_warps]
        if scope.focus.everyone:
            chosen = chosen.reshape(-1, self.trace.space.threads_per_block)
        return request_rows(chosen, self.trace.rules)

    def costs(self, scope: Scope) -> Longs:
        """Cost of every step for the warps of a scope: int64 (steps, columns), columns named by COST_COLUMNS."""
        key = _thread_range(scope)
        if key not in self._facts.costs:
            sums = sum(self.sums(scope).values(), self._nothing)  # which are computed in the background
            self._facts.costs[key] = np.diff(sums, axis=0, prepend=0)
        return self._facts.costs[key]

    def sums(self, scope: Scope) -> dict[Space, Longs]:
        """Running sums of the costs, by kind of memory."""
        key = _thread_range(scope)
        if key not in self._facts.sums:
            self._facts.sums[key] = {space: np.cumsum(self._costs(scope, space), axis=0) for space in SPACES}
        return self._facts.sums[key]

    def cached(self, key: Any, make: Callable[[], _Cached]) -> _Cached:
        """The cached value for a key, computed by ``make`` if missing. It lasts as long as the trace."""
        known = self._facts.cache
        value: _Cached | None = known.get(key)
        if value is None:
            value = make()
            if len(known) >= _MOST_THINGS:
                known.clear()  # another thread may compute it at the same time: nothing is read back from here
            known[key] = value
        return value

    def terms(self, scope: Scope) -> Terms | None:
        """The sums of a scope's block, term by term. Raises Cancelled."""
        known, key = self._facts.terms, scope.of_block.start
        terms = known.get(key, _UNKNOWN)
        if terms is _UNKNOWN:
            terms = terms_of(self.trace, self.owners, scope)
            if len(known) >= _MOST_KEPT:
                known.clear()
            known[key] = terms
        return terms  # type: ignore[return-value]

    def knows_terms(self, scope: Scope) -> bool:
        """Whether the terms are computed already or take very little time."""
        return scope.of_block.start in self._facts.terms or size_of(self.trace, scope) <= _SOON

    def knows_costs(self, scope: Scope) -> bool:
        """Whether the costs and their sums are computed already."""
        return _thread_range(scope) in self._facts.sums

    @property
    def _nothing(self) -> Longs:
        return np.zeros((self.trace.steps, len(COST_COLUMNS)), np.int64)

    def _costs(self, scope: Scope, space: Space) -> Longs:
        """Cost of every step in one kind of memory."""
        trace, table = self.trace, self._nothing
        at_once = max(1, _ACCESSES_AT_ONCE // trace.space.thread_count)
        for touches in trace.touches:
            if trace.arrays[touches.operand.array].space != space:
                continue
            for start in range(0, len(touches.steps), at_once):
                checkpoint()
                steps, some = touches.steps[start : start + at_once], touches.rows[start : start + at_once]
                rows = self.rows_of_warps(trace.element[some], scope)
                costs = cost_table(rows, touches.operand, trace.arrays[touches.operand.array], trace.rules)
                table[steps] += costs.reshape(len(steps), -1, len(COST_COLUMNS)).sum(axis=1)
        return table

    def area(self, array: int, step: int, scope: Scope) -> Area | None:
        """Rows and columns (half-open: r0, r1, c0, c1) of a matrix that the block or warp of a scope touches in the phase of
        ``step``.
        """
        return self._area_of_phase(array, int(self.trace.phase[step]), scope)

    def areas(self, array: int, scope: Scope) -> dict[int, Area]:
        """The ``area`` of each phase that has steps and touches the matrix. Raises Cancelled."""
        phases = np.unique(self.trace.phase).tolist()
        areas = {phase: self._area_of_phase(array, phase, scope) for phase in phases if 0 <= phase < self.phases}
        return {phase: area for phase, area in areas.items() if area is not None}

    def _area_of_phase(self, array: int, phase: int, scope: Scope) -> Area | None:
        key = array, phase, _thread_range(scope)
        if key not in self._facts.areas:
            checkpoint()
            self._facts.areas[key] = self._area(array, phase, scope)
        return self._facts.areas[key]

    def _area(self, array: int, phase: int, scope: Scope) -> Area | None:
        """The touched rows and columns of an array; for one that is stored into, but not in this phase, those of the
        whole run.
        """
        touched = self._touched(array, phase, scope)
        if not touched.size:
            return None
        rows, columns = self.trace.arrays[array].row_column(touched)
        return int(rows.min()), int(rows.max()) + 1, int(columns.min()), int(columns.max()) + 1

    def reach(self, array: int, step: int, scope: Scope) -> Longs:
        """The elements of an ``area``, ascending."""
        return np.unique(self._touched(array, int(self.trace.phase[step]), scope))

    def _touched(self, array: int, phase: int, scope: Scope) -> Longs:
        """The touched elements of an area, in the order of steps."""
        trace, touches = self.trace, self.trace.touches_of(array)
        inside = [each.rows[trace.phase[each.steps] == phase] for each in touches]
        if trace.touches_of(array, "write") and not any(map(len, inside)):
            inside = [each.rows for each in touches]
        parts = [
            trace.spread(each.operand, trace.element[rows, scope.of_warps], scope.of_warps)
            for each, rows in zip(touches, inside, strict=True)
        ]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def next_step(self, sites: list[int], after: int, scope: Scope) -> int | None:
        """The next step of one of these sites in which a chosen thread is active, starting over after the last step; None if
        there is none.
        """
        trace = self.trace
        steps = np.flatnonzero(np.isin(trace.site, sites))
        steps = np.concatenate([steps[steps > after], steps[steps <= after]])
        return next((int(s) for s in steps if (trace.element[trace.row[s], scope.threads] >= 0).any()), None)

    def first_stored(self, grid: Grid) -> Longs:
        """The step at which the traced blocks store the first element of each cell of C: (rows, columns), NEVER for none."""
        if grid.factor == 1:
            return self.owners.steps_of(grid.elements())
        known = self._facts.first_stored
        if grid.factor not in known:
            known[grid.factor] = self._first_stored(structs.replace(grid, crop=None))
        return known[grid.factor][grid.part]

    def owner_threads(self, scope: Scope, grid: Grid) -> Ints:
        """The thread of the trace, within the warps of a scope, that stores each cell of C: (rows, columns), -1 for none."""
        key = _thread_range(scope), grid.factor, grid.crop
        known = self._facts.owner_threads
        table = known.get(key)
        if table is None:
            elements, threads = self.owners.of(scope.of_warps)
            cells = np.full(grid.cell_count + 1, -1, np.int32)
            cells[grid.cells(elements)] = threads + scope.of_warps.start
            table = cells[: grid.cell_count].reshape(grid.shape)
            if len(known) >= _MOST_KEPT:
                known.clear()
            known[key] = table
        return table

    def _first_stored(self, grid: Grid) -> Longs:
        order = np.argsort(-self.owners.steps, kind="stable")
        table = np.full(grid.cell_count, NEVER)
        # the smallest step comes last and stays
        table[grid.cells(self.owners.elements[order])] = self.owners.steps[order]
        return table.reshape(grid.shape)


def _thread_range(scope: Scope) -> tuple[int, int]:
    """The threads of the trace on which costs and owners of a scope depend."""
    return scope.of_warps.start, scope.of_warps.stop


# The steps of a replay that stand for its phases: when its tiles are loaded, in use, and done with.


def steps_in_use(replay: Replay) -> list[int]:
    """Return one step of each phase: in the middle of the products, when the tiles are filled and in use. The last step of a
    phase that reads no shared memory, and of what comes before and after the phases.
    """
    return [_in_use(replay, steps) for steps in _steps_by_phase(replay)]


def beats_of_phases(replay: Replay) -> list[int]:
    """Return up to three steps of each phase: the last one that fills shared memory, the one in use, and the last one."""
    chosen: set[int] = set()
    for steps in _steps_by_phase(replay):
        filled = _touching(replay, steps, "write")
        chosen |= {_in_use(replay, steps), int(steps[-1]), *(int(step) for step in filled[-1:])}
    return sorted(chosen)


def _steps_by_phase(replay: Replay) -> list[Ints]:
    """Return the steps of each phase, and of what comes before and after them."""
    starts = replay.phase_starts
    return np.split(np.arange(replay.steps), starts[starts > 0].tolist())


def _in_use(replay: Replay, steps: Ints) -> int:
    reads, sites = _touching(replay, steps, "read"), replay.trace.site
    last = max((int(sites[step]) for step in reads), default=-1)  # the site that completes a product
    products = [step for step in reads if int(sites[step]) == last]
    return products[len(products) // 2] if products else int(steps[-1])


def _touching(replay: Replay, steps: Ints, access: Access) -> list[int]:
    """Return the steps that read or write shared memory."""
    trace = replay.trace
    sites = [
        any(operand.access == access and trace.arrays[operand.array].space == "shared" for operand in site.operands)
        for site in trace.sites
    ]
    return [int(step) for step in steps if sites[int(trace.site[step])]]
