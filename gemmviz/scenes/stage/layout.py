"""The layout of the stage: the cross of the matrices, or the arrays of another problem, as large as possible, and around it
words, tiles, the sum of a thread, the meter, the request, and source lines.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from gemmviz.analysis.replay.flights import THREADS
from gemmviz.analysis.replay.moment import Moment
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.window import Parts, Window, lens_of, lens_parts, whole_of, whole_parts
from gemmviz.scenes.stage.arrays_layout import parts_in
from gemmviz.scenes.stage.cell_grid import CellGrid
from gemmviz.scenes.stage.cross import StageFrame, Title, cross_in
from gemmviz.scenes.stage.lanes import Lanes, lane_grids, lane_tiles, padding_beyond, tiles_in

_READABLE_CELL = 14.0  # units
_LEAST_SEEN = 150.0  # units: smallest size of the watched area without the lens
_Window = TypeVar("_Window", Window, Parts)


class Plan(Struct, frozen=True):
    """The layout. ``matrices``: the grid of each matrix by name; ``lanes``: the corner for shared arrays, None without;
    ``beyond``: rows below A and C and columns on the right of B and C for padding; ``titles``: the places of the
    matrices' titles; ``rooms``: the places of other parts by name.

    Rooms: "sentence", "sum", "meter" (the words on the left, from top to bottom), "request", "code" (on the right, or below
    the words where a frame is narrow), "legend", "map" of the lens, "tiles" of a problem that is no multiplication. A part
    without a room is left out.
    """

    window: Window | Parts
    matrices: dict[str, CellGrid]
    rooms: dict[str, Box]
    lanes: Lanes | None = None
    beyond: tuple[int, int] = (0, 0)
    titles: dict[str, Title] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.window, self.lanes, self.beyond))

    @property
    def cell(self) -> float:
        return next(iter(self.matrices.values())).cell

    @property
    def box(self) -> Box:
        """The box around all matrices."""
        boxes = [grid.box for grid in self.matrices.values()]
        x, y = min(box[0] for box in boxes), min(box[1] for box in boxes)
        return Box(x, y, max(box[0] + box[2] for box in boxes) - x, max(box[1] + box[3] for box in boxes) - y)

    def home(self, moment: Moment) -> CellGrid | None:
        """The grid of the matrix on which threads are drawn, C of a multiplication; None if there is none."""
        return None if moment.home is None else self.matrices[moment.trace.arrays[moment.home].name]


def plan_of(moment: Moment, options: ViewOptions) -> Plan:
    """Return the layout at a moment. The lens is used on request, or if little would be visible without it."""
    key = (
        "plan", options.width, options.height, options.code, options.layer != "matrix", options.timeline_height,
        options.theme.type, options.lens,
    )  # fmt: skip
    return moment.cached(key, lambda: _plan_of(moment, _frame_of(moment, options), options))


def _frame_of(moment: Moment, options: ViewOptions) -> StageFrame:
    tiles = lane_tiles(moment.replay)
    beyond = padding_beyond(moment, tiles) if moment.trace.is_multiply else (0, 0)
    has_legend, foot = options.layer != "matrix", options.timeline_height
    return StageFrame(
        tiles, options.width, options.height, options.code, has_legend, foot, options.theme.type, beyond, _has_several(moment)
    )


def _has_several(moment: Moment) -> bool:
    """Whether a thread stores several elements of the result."""
    owners = moment.replay.owners
    return moment.replay.cached("several sums", lambda: len(owners.elements) > len(np.unique(owners.threads)))


def _plan_of(moment: Moment, frame: StageFrame, options: ViewOptions) -> Plan:
    if moment.trace.is_multiply:
        return _whole_or_lens(moment, options, lambda window: _plan(window, frame), whole_of, lens_of)
    inputs = frozenset(moment.trace.arrays[number].name for number in moment.trace.inputs)
    return _whole_or_lens(moment, options, lambda parts: _plan_of_parts(parts, inputs, frame), whole_parts, lens_parts)


def _whole_or_lens(
    moment: Moment,
    options: ViewOptions,
    plan: Callable[[_Window], Plan],
    all_of: Callable[[Moment], _Window],
    part_of: Callable[[Moment], _Window],
) -> Plan:
    whole = plan(all_of(moment))
    if options.lens == "whole" or (options.lens == "auto" and not needs_lens(moment, whole)):
        return whole
    window = part_of(moment)
    return plan(window) if window.is_lens else whole


def needs_lens(moment: Moment, whole: Plan) -> bool:
    """Whether the watched accesses and single elements would be too small to follow."""
    number = moment.home
    area = None if number is None or moment.focus.everyone else moment.area(number)
    if area is None or whole.cell >= _READABLE_CELL:
        return False
    return max(area[1] - area[0], area[3] - area[2]) * whole.cell < _LEAST_SEEN


@lru_cache(maxsize=64)
def _plan(window: Window, frame: StageFrame) -> Plan:
    cross = cross_in(window, frame)
    return Plan(window, cross.matrices, cross.rooms, cross.lanes, frame.beyond, cross.titles)


@lru_cache(maxsize=64)
def _plan_of_parts(parts: Parts, inputs: frozenset[str], frame: StageFrame) -> Plan:
    """Return the layout of the arrays of a problem that is no multiplication."""
    arranged, rooms = parts_in(parts, inputs, frame)
    return Plan(parts, arranged.grids, rooms)


def tile_grids(moment: Moment, plan: Plan) -> dict[int, CellGrid]:
    """Return the grids of all shared arrays by number at a moment; none if they have no place."""
    if plan.lanes is not None:
        lanes, a, b = plan.lanes, plan.matrices["A"], plan.matrices["B"]
        return moment.cached(("tiles", lanes, a), lambda: lane_grids(moment, lanes, a, b))
    room = plan.rooms.get("tiles")
    return {} if room is None else tiles_in(lane_tiles(moment.replay), room, plan.cell)


def places(moment: Moment, plan: Plan, number: int, at: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the centres (n, 2) of elements of an array on the stage; for threads, the place where they compute the result. NaN
    if not visible.
    """
    if number == THREADS:
        home = plan.home(moment)
        return np.full((len(at), 2), np.nan) if home is None else _seen(home, *moment.homes[at].T)
    array = moment.trace.arrays[number]
    if array.space == "global":
        return _seen(plan.matrices[array.name], *array.row_column(at))
    table = tile_grids(moment, plan).get(number)
    return np.full((len(at), 2), np.nan) if table is None else table.middle(*np.divmod(at, table.columns))


def _seen(table: CellGrid, rows: Any, columns: Any) -> npt.NDArray[np.float64]:
    found = table.middle(rows, columns)
    found[~table.holds(rows, columns)] = np.nan
    return found


def cell_of(moment: Moment, plan: Plan, number: int) -> float:
    """Return the side of a cell of an array; for a thread, that of a cell of C."""
    if number == THREADS or moment.trace.arrays[number].space == "global":
        return plan.cell
    grids = tile_grids(moment, plan)
    return grids[number].cell if number in grids else plan.cell
