"""A trace as something to play: what one block does at a step, what its tiles hold, and what each step costs."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.counts import COST_COLUMNS, Counts, cost_table, count_rows
from gemmviz.analysis.warps import warp_rows
from gemmviz.model.trace import Ints, MemoryArray, Site, Trace

Triple = tuple[int, int, int]
EMPTY = -3


@dataclass(frozen=True)
class TileContent:
    """What the cells of one shared array hold, flat: ``array`` is the number of the matrix (COMPUTED or CONSTANT for no
    element, EMPTY for never written), ``element`` the element there, ``phase`` the phase that stored it.
    """

    array: npt.NDArray[np.int8]
    element: Ints
    phase: Ints


class Replay:
    """One trace, looked at through one block (and, where a warp is chosen, through that warp)."""

    def __init__(self, trace: Trace, block: Triple | None = None, warp: int | None = None) -> None:
        self.trace = trace
        window = trace.window
        self.block = block if block is not None and _holds(trace, block) else (window.x[0], window.y[0], window.z[0])
        self.warp = warp if warp is not None and warp < trace.space.warps else None
        first = trace.space.lane(self.block, (0, 0, 0))
        self._lanes = slice(first, first + trace.space.threads)
        self._tiles: tuple[int, dict[int, TileContent]] = (-1, {})
        self._steps: dict[int, npt.NDArray[np.int64]] = {}
        self._footprints: dict[tuple[int, int], tuple[int, int, int, int] | None] = {}

    @property
    def steps(self) -> int:
        return self.trace.steps

    def block_elements(self, step: int) -> Ints:
        """Elements that the threads of the block touch: int32 (threads,), -1 inactive."""
        return self.trace.element[step, self._lanes]

    def elements(self, step: int) -> Ints:
        """As ``block_elements``, with the threads of other warps inactive where a warp is chosen."""
        found = self.block_elements(step)
        if self.warp is None:
            return found
        size = self.trace.warp_size
        chosen = np.full_like(found, -1)
        chosen[self.warp * size : (self.warp + 1) * size] = found[self.warp * size : (self.warp + 1) * size]
        return chosen

    def rows(self, step: int) -> npt.NDArray[np.int64]:
        """``elements`` as warps: (warps, 32)."""
        return warp_rows(self.elements(step)[None], self.trace.warp_size)

    def cost(self, step: int) -> Counts:
        """What the step costs the chosen block or warp."""
        array = self.trace.array_of(step)
        return Counts() if array is None else count_rows(self.rows(step), self.trace.site_of(step), array)

    @cached_property
    def costs(self) -> npt.NDArray[np.int64]:
        """Per step what the chosen block or warp pays: int64 (steps, 4): sectors, ideal sectors, wavefronts, ideal
        wavefronts.
        """
        columns = [COST_COLUMNS.index(name) for name in ("sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts")]
        table = np.zeros((self.steps, 4), np.int64)
        lanes = self._chosen_lanes()
        for number, site in enumerate(self.trace.sites):
            steps = np.flatnonzero(self.trace.site == number)
            if not site.is_barrier and len(steps):
                rows = warp_rows(self.trace.element[steps, lanes], self.trace.warp_size)
                costs = cost_table(rows, site, self.trace.arrays[site.array])[:, columns]
                table[steps] = costs.reshape(len(steps), -1, 4).sum(axis=1)
        return table

    def _chosen_lanes(self) -> slice:
        """The lanes of the block, or of its chosen warp."""
        if self.warp is None:
            return self._lanes
        first = self._lanes.start + self.warp * self.trace.warp_size
        return slice(first, min(first + self.trace.warp_size, self._lanes.stop))

    @cached_property
    def phase_starts(self) -> Ints:
        """The first step of each phase, ascending, and 0."""
        changes = np.flatnonzero(np.diff(self.trace.phase)) + 1
        return np.unique(np.concatenate([[0], changes])).astype(np.int32)

    @cached_property
    def phases(self) -> int:
        """How many phases there are."""
        inside = [step for step in range(self.steps) if self.trace.phase_loop in self.trace.site_of(step).loops]
        return int(self.trace.phase[inside].max()) + 1 if inside else 0

    def footprint(self, array: int, step: int) -> tuple[int, int, int, int] | None:
        """Rows and columns (half-open: r0, r1, c0, c1) of a matrix that the block, or its chosen warp, touches
        in the phase of ``step``.
        """
        key = array, int(self.trace.phase[step])
        if key not in self._footprints:
            self._footprints[key] = self._footprint(*key)
        return self._footprints[key]

    def _footprint(self, array: int, phase: int) -> tuple[int, int, int, int] | None:
        steps = self._footprint_steps(array, phase)
        touched = self.trace.element[steps, self._chosen_lanes()]
        touched = touched[touched >= 0]
        if not touched.size:
            return None
        width = max(self.trace.sites[s].width for s in np.unique(self.trace.site[steps]).tolist())
        rows, columns = self.trace.arrays[array].row_column(np.concatenate([touched, touched + width - 1]))
        return int(rows.min()), int(rows.max()) + 1, int(columns.min()), int(columns.max()) + 1

    def _footprint_steps(self, array: int, phase: int) -> npt.NDArray[np.int64]:
        """The steps of the phase that touch the array; for an array that only other phases touch, all of its steps."""
        of_array = self._steps_of(array)
        in_phase = of_array[self.trace.phase[of_array] == phase]
        kinds = {self.trace.site_of(int(step)).kind for step in of_array[:1]}
        return in_phase if len(in_phase) or kinds == {"load"} else of_array

    def _steps_of(self, array: int) -> npt.NDArray[np.int64]:
        if array not in self._steps:
            numbers = [number for number, site in enumerate(self.trace.sites) if site.array == array]
            self._steps[array] = np.flatnonzero(np.isin(self.trace.site, numbers))
        return self._steps[array]

    def tiles(self, step: int) -> dict[int, TileContent]:
        """What every shared array holds after ``step``, by array number; nothing where the trace doesn't say."""
        at, contents = self._tiles
        if not len(self.trace.origin_step):
            return {}
        if at > step or not contents:
            at, contents = -1, {n: _empty(info) for n, info in self._shared()}
        first, last = np.searchsorted(self.trace.origin_step, [at + 1, step + 1])
        for row in range(int(first), int(last)):
            self._apply(row, contents)
        self._tiles = (step, contents)
        return contents

    def _shared(self) -> list[tuple[int, MemoryArray]]:
        return [(n, info) for n, info in enumerate(self.trace.arrays) if info.space == "shared"]

    def _apply(self, row: int, contents: dict[int, TileContent]) -> None:
        step = int(self.trace.origin_step[row])
        component = row - int(np.searchsorted(self.trace.origin_step, step))
        site: Site = self.trace.site_of(step)
        cells = self.block_elements(step)
        active = cells >= 0
        content = contents[site.array]
        where = cells[active] + component
        content.array[where] = self.trace.origin_array[row, self._lanes][active]
        content.element[where] = self.trace.origin[row, self._lanes][active]
        content.phase[where] = self.trace.phase[step]

    def written(self, array: int, step: int) -> npt.NDArray[np.bool_]:
        """Which elements of a matrix the traced blocks have stored by ``step``: flat bool."""
        done = np.zeros(self.trace.arrays[array].size, bool)
        for each in self._steps_of(array):
            if each > step:
                break
            site = self.trace.site_of(int(each))
            if site.kind == "store":
                touched = self.trace.element[each]
                for component in range(site.width):
                    done[touched[touched >= 0] + component] = True
        return done


def _holds(trace: Trace, block: Triple) -> bool:
    ranges = (trace.window.x, trace.window.y, trace.window.z)
    return all(start <= at < stop for at, (start, stop) in zip(block, ranges, strict=True))


def _empty(info: MemoryArray) -> TileContent:
    return TileContent(np.full(info.size, EMPTY, np.int8), np.zeros(info.size, np.int32), np.full(info.size, -1, np.int32))
