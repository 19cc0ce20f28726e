"""A trace as something to play: what the chosen threads do at a step, what their tiles hold, and what each step costs."""

from functools import cached_property

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.counts import COST_COLUMNS, Counts, cost_table, count_rows
from gemmviz.analysis.flights import Flights, flights
from gemmviz.analysis.focus import Focus
from gemmviz.analysis.grid import Grid, spread
from gemmviz.analysis.hazards import Conflicts
from gemmviz.analysis.owners import Owners
from gemmviz.analysis.reuse import LoadCounts
from gemmviz.analysis.tiles import TileContent, Tiles
from gemmviz.analysis.warps import warp_rows
from gemmviz.model.trace import Ints, Space, Trace


class Replay:
    """One trace, looked at through a focus. What depends on the trace alone is shared with ``other``, a replay of it.

    ``conflicts`` and ``value`` (what was read and written, (steps, lanes)) may be found later than the trace, and set then.
    """

    def __init__(self, trace: Trace, focus: Focus | None = None, other: "Replay | None" = None) -> None:
        self.trace = trace
        shared = other if other is not None and other.trace is trace else None
        self.owners: Owners = shared.owners if shared else Owners(trace)
        self.conflicts: Conflicts = shared.conflicts if shared else Conflicts()
        self._value: npt.NDArray[np.float32] | None = shared.value if shared else trace.value
        self.focus = (focus or Focus()).within(trace)
        self.block, self.warp, self.thread = self.focus.block, self.focus.warp, self.focus.thread
        first = trace.space.lane(self.block, (0, 0, 0))
        self.block_lanes = slice(first, first + trace.space.threads)
        self._tiles, self._tiles_before = (Tiles(trace, self.block_lanes, self._value) for _ in range(2))
        self._steps: dict[int, npt.NDArray[np.int64]] = {}
        self._footprints: dict[tuple[int, int], tuple[int, int, int, int] | None] = {}
        self._loads: dict[tuple[int, int], LoadCounts] = {}
        self._flights: tuple[int, list[Flights]] = (-1, [])

    @property
    def value(self) -> npt.NDArray[np.float32] | None:
        """What was read and written at each step: (steps, lanes), None while that is not known."""
        return self._value

    @value.setter
    def value(self, value: npt.NDArray[np.float32] | None) -> None:
        self._value = value
        self._tiles, self._tiles_before = (Tiles(self.trace, self.block_lanes, value) for _ in range(2))

    @property
    def steps(self) -> int:
        return self.trace.steps

    @cached_property
    def warp_lanes(self) -> slice:
        """The lanes of the warps that pay: all traced ones, the block's, or those of the chosen warp or the thread's."""
        if self.focus.everyone:
            return slice(0, self.trace.space.lanes)
        if self.warp is None:
            return self.block_lanes
        first = self.block_lanes.start + self.warp * self.trace.warp_size
        return slice(first, min(first + self.trace.warp_size, self.block_lanes.stop))

    @cached_property
    def lanes(self) -> slice:
        """The chosen lanes."""
        if self.thread is None:
            return self.warp_lanes
        return slice(self.block_lanes.start + self.thread, self.block_lanes.start + self.thread + 1)

    @property
    def first_thread(self) -> int:
        """The followed thread, else the first of the chosen warp or block, by its number in the block."""
        return self.thread if self.thread is not None else (self.warp or 0) * self.trace.warp_size

    @property
    def seen_lanes(self) -> slice:
        """The chosen lanes of the block."""
        return self.block_lanes if self.focus.everyone else self.lanes

    def elements(self, step: int) -> Ints:
        """Elements that the chosen threads touch: int32 (lanes,), -1 inactive."""
        return self.trace.element[step, self.lanes]

    def seen_elements(self, step: int) -> Ints:
        """As ``elements``, of the block alone."""
        return self.trace.element[step, self.seen_lanes]

    def rows(self, step: int) -> npt.NDArray[np.int64]:
        """What the warps that pay touch: (warps, 32), -1 inactive."""
        return self._rows(self.trace.element[step : step + 1])

    def _rows(self, element: Ints) -> npt.NDArray[np.int64]:
        """Steps (steps, lanes of the trace) as rows of warps, step by step."""
        chosen = element[:, self.warp_lanes]
        if self.focus.everyone:
            chosen = chosen.reshape(-1, self.trace.space.threads)
        return warp_rows(chosen, self.trace.warp_size)

    def request(self, step: int) -> tuple[int, npt.NDArray[np.int64]] | None:
        """One warp of the block and what its lanes touch (32,): the chosen one, else the first with an active lane; None
        where no lane is active.
        """
        rows = warp_rows(self.trace.element[step : step + 1, self.block_lanes], self.trace.warp_size)
        active = np.flatnonzero((rows >= 0).any(axis=1))
        if self.warp is not None:
            active = active[active == self.warp]
        return (int(active[0]), rows[active[0]]) if len(active) else None

    def cost(self, step: int) -> Counts:
        """What the step costs the chosen block or warps; for one thread, its warp."""
        array = self.trace.array_of(step)
        return Counts() if array is None else count_rows(self.rows(step), self.trace.site_of(step), array)

    @cached_property
    def costs(self) -> npt.NDArray[np.int64]:
        """``cost`` of every step: int64 (steps, columns), columns as COST_COLUMNS names them."""
        table = np.zeros((self.steps, len(COST_COLUMNS)), np.int64)
        for number, site in enumerate(self.trace.sites):
            steps = np.flatnonzero(self.trace.site == number)
            if not site.is_barrier and len(steps):
                costs = cost_table(self._rows(self.trace.element[steps]), site, self.trace.arrays[site.array])
                table[steps] = costs.reshape(len(steps), -1, len(COST_COLUMNS)).sum(axis=1)
        return table

    @cached_property
    def _sums(self) -> dict[Space, npt.NDArray[np.int64]]:
        """Running sums of ``costs``, of steps that touch global and of those that touch shared memory."""
        spaces = np.array(["" if site.is_barrier else self.trace.arrays[site.array].space for site in self.trace.sites])
        of_step = spaces[self.trace.site]
        return {s: np.cumsum(self.costs * (of_step == s)[:, None], axis=0) for s in ("global", "shared")}

    def so_far(self, step: int, space: Space) -> Counts:
        """What all steps up to and with ``step`` cost in one kind of memory."""
        return Counts(*self._sums[space][step].tolist())

    @cached_property
    def phase_starts(self) -> Ints:
        """The first step of each phase, ascending, and 0."""
        changes = np.flatnonzero(np.diff(self.trace.phase)) + 1
        return np.unique(np.concatenate([[0], changes])).astype(np.int32)

    @cached_property
    def phases(self) -> int:
        """How many phases there are; of a trace of some phases, the number of its last one."""
        in_loop = np.array([self.trace.phase_loop in site.loops for site in self.trace.sites])[self.trace.site]
        return int(self.trace.phase[in_loop].max()) + 1 if in_loop.any() else 0

    def footprint(self, array: int, step: int) -> tuple[int, int, int, int] | None:
        """Rows and columns (half-open: r0, r1, c0, c1) of a matrix that the chosen block or warp touches in the phase of
        ``step``.
        """
        key = array, int(self.trace.phase[step])
        if key not in self._footprints:
            self._footprints[key] = self._footprint(*key)
        return self._footprints[key]

    def _footprint(self, array: int, phase: int) -> tuple[int, int, int, int] | None:
        steps = self._footprint_steps(array, phase)
        sites = np.unique(self.trace.site[steps]).tolist()
        parts = [
            spread(self.trace.element[steps[self.trace.site[steps] == s], self.warp_lanes].ravel(), self.trace.sites[s].width)
            for s in sites
        ]
        touched = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        if not touched.size:
            return None
        rows, columns = self.trace.arrays[array].row_column(touched)
        return int(rows.min()), int(rows.max()) + 1, int(columns.min()), int(columns.max()) + 1

    def _footprint_steps(self, array: int, phase: int) -> npt.NDArray[np.int64]:
        """The steps of the phase that touch the array; of an array that is stored into, but not in this phase, all of them."""
        of_array = self.steps_of(array)
        in_phase = of_array[self.trace.phase[of_array] == phase]
        stored = any(site.kind == "store" for site in self.trace.sites if site.array == array)
        return of_array if stored and not len(in_phase) else in_phase

    def next_step(self, sites: list[int], after: int) -> int | None:
        """The next step of one of these sites in which a chosen thread is active, from the beginning again after the last."""
        steps = np.flatnonzero(np.isin(self.trace.site, sites))
        steps = np.concatenate([steps[steps > after], steps[steps <= after]])
        return next((int(step) for step in steps if (self.elements(int(step)) >= 0).any()), None)

    def steps_of(self, array: int) -> npt.NDArray[np.int64]:
        """The steps that touch an array, ascending."""
        if array not in self._steps:
            numbers = [number for number, site in enumerate(self.trace.sites) if site.array == array]
            self._steps[array] = np.flatnonzero(np.isin(self.trace.site, numbers))
        return self._steps[array]

    def tiles(self, step: int) -> dict[int, TileContent]:
        """What every shared array of the block holds after ``step``, by array number; nothing where the trace doesn't say."""
        return {} if self._is_after_gap(step) else self._tiles.after(step)

    def tiles_before(self, step: int) -> dict[int, TileContent]:
        """As ``tiles``, before ``step``."""
        return {} if self._is_after_gap(step) else self._tiles_before.after(step - 1)

    def _is_after_gap(self, step: int) -> bool:
        """Whether phases that were not traced may lie between the traced ones and ``step``."""
        return self.trace.phases is not None and int(self.trace.phase[step]) >= self.phases

    @cached_property
    def homes(self) -> npt.NDArray[np.float64]:
        """Where the block's threads compute: the middle (row, column) of each one's elements of C, NaN for none."""
        return self.owners.homes(self.block_lanes)

    def flights(self, step: int) -> list[Flights]:
        """What the chosen threads of the block move at a step."""
        if self._flights[0] != step:
            self._flights = step, flights(self.trace, step, self.seen_lanes, self.block_lanes.start)
        return self._flights[1]

    def written(self, step: int) -> npt.NDArray[np.int64]:
        """The elements of C that the traced blocks have stored by ``step``."""
        return self.owners.elements[self.owners.steps <= step]

    def loads(self, array: int, step: int, grid: Grid) -> npt.NDArray[np.int64]:
        """How often the chosen threads (of a shared array: those of the block) have loaded each element by ``step``."""
        key = array, grid.factor
        if key not in self._loads:
            shared = self.trace.arrays[array].space == "shared"
            self._loads[key] = LoadCounts(self.trace, array, grid, self.seen_lanes if shared else self.lanes)
        return self._loads[key].after(step)
