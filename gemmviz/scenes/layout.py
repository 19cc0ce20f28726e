"""Where things stand on the stage: the cross of the three matrices, the shared tiles, and the source lines."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.flights import THREADS
from gemmviz.analysis.moment import Moment
from gemmviz.model.sites import MemoryArray
from gemmviz.model.trace import Trace
from gemmviz.scenes.frame import BOTTOM, HEIGHT, MARGIN, TOP, WIDTH

GAP = 46.0
_LEAST_TILES = 150.0
_HEADING, _SPACE = 24.0, 36.0


@dataclass(frozen=True, slots=True)
class Box:
    """A region of the frame."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Cross:
    """Where the three matrices stand: side of a cell, and the top left corners; the room for tiles and for source lines."""

    cell: float
    at: dict[str, tuple[float, float]]
    corner: Box
    code: Box


@dataclass(frozen=True, slots=True)
class CellGrid:
    """A table of cells: its top left corner, the side of a cell, rows and columns."""

    x: float
    y: float
    cell: float
    rows: int
    columns: int

    @property
    def box(self) -> tuple[float, float, float, float]:
        return self.x, self.y, self.columns * self.cell, self.rows * self.cell

    def middle(self, row: Any, column: Any) -> npt.NDArray[np.float64]:
        """The middles of cells: (n, 2)."""
        return np.stack([self.x + (column + 0.5) * self.cell, self.y + (row + 0.5) * self.cell], axis=-1)


@lru_cache(maxsize=16)
def cross_layout(m: int, n: int, k: int, frame_height: float = HEIGHT) -> Cross:
    """The cross, as large as the frame allows, at the right; what is left of it belongs to tiles and source lines."""
    width, bottom = WIDTH - 2 * MARGIN, frame_height - BOTTOM
    height = bottom - TOP - MARGIN
    least_corner = 0.27 * width
    cell = min((height - GAP) / (k + m), (width - 2 * GAP) / (k + n), (width - least_corner - GAP) / n, 64.0)
    across, down = k * cell + GAP + n * cell, k * cell + GAP + m * cell
    c_x = WIDTH - MARGIN - n * cell - max(0.0, (width - across) / 12)
    top = TOP + MARGIN + max(0.0, (height - down) / 2)
    c_y, a_x = top + k * cell + GAP, c_x - GAP - k * cell
    corner = Box(MARGIN, TOP + MARGIN, c_x - GAP - MARGIN, c_y - GAP - TOP - MARGIN)
    beside = Box(MARGIN, c_y, a_x - GAP - MARGIN, bottom - c_y)
    below = Box(MARGIN, c_y + m * cell + 1.2 * GAP, c_x + n * cell - MARGIN, bottom - c_y - m * cell - 1.2 * GAP)
    code = max(beside, below, key=lambda box: min(box.width / 560, box.height / 200))
    if corner.height < _LEAST_TILES and code is beside:  # a short B leaves no room: tiles and lines share the left side
        corner = Box(MARGIN, TOP + MARGIN, beside.width, 0.42 * (bottom - TOP - MARGIN))
        code = Box(MARGIN, corner.y + corner.height + GAP, beside.width, bottom - corner.y - corner.height - GAP)
    return Cross(cell, {"A": (a_x, c_y), "B": (c_x, top), "C": (c_x, c_y)}, corner, code)


def cross_of(trace: Trace, height: float) -> Cross:
    problem = trace.setup.problem
    return cross_layout(problem.M, problem.N, problem.K, height)


def code_room(trace: Trace, cross: Cross) -> Box:
    """The source lines' place: all of the left side for a kernel without shared tiles."""
    if any(array.space == "shared" for array in trace.arrays) or cross.code.y > cross.at["A"][1]:
        return cross.code
    left = Box(cross.code.x, cross.corner.y, cross.code.width, cross.code.y + cross.code.height - cross.corner.y)
    return max(left, cross.corner, key=lambda box: min(box.width / 560, box.height / 320))


def shown_shape(array: MemoryArray) -> tuple[int, int]:
    """Rows and columns of a shared array: as declared; a flat one 32 elements, one pass over the banks, a row."""
    if len(array.shape) > 1:
        return array.size // array.shape[-1], array.shape[-1]
    columns = min(32, array.size)
    return -(-array.size // columns), columns


@lru_cache(maxsize=16)
def tile_grids(arrays: tuple[MemoryArray, ...], room: Box) -> dict[int, CellGrid]:
    """All shared arrays, by number, side by side in ``room`` with space for a name above each."""
    shapes = {number: shown_shape(array) for number, array in enumerate(arrays) if array.space == "shared"}
    if not shapes:
        return {}
    columns = sum(shape[1] for shape in shapes.values())
    rows = max(shape[0] for shape in shapes.values())
    wide = (room.width - _SPACE * len(shapes)) / columns
    cell = min(wide, (room.height - _HEADING - 14) / rows, 76.0)
    y = room.y + (room.height - _HEADING - 14 - rows * cell) / 2 + _HEADING + 14
    x = room.x + (room.width - columns * cell - _SPACE * (len(shapes) - 1)) / 2
    found = {}
    for number, shape in shapes.items():
        found[number] = CellGrid(x, y, cell, *shape)
        x += shape[1] * cell + _SPACE
    return found


def matrix_grid(array: MemoryArray, cross: Cross) -> CellGrid:
    return CellGrid(*cross.at[array.name], cross.cell, *array.shape)


def places(moment: Moment, cross: Cross, number: int, at: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The middles (n, 2) of elements of an array on the stage; of threads, where they compute C (NaN for those that don't)."""
    if number == THREADS:
        homes = moment.homes[at]
        return CellGrid(*cross.at["C"], cross.cell, 1, 1).middle(homes[:, 0], homes[:, 1])
    array = moment.trace.arrays[number]
    if array.space == "global":
        return matrix_grid(array, cross).middle(*array.row_column(at))
    table = tile_grids(moment.trace.arrays, cross.corner)[number]
    return table.middle(*np.divmod(at, table.columns))


def cell_of(trace: Trace, cross: Cross, number: int) -> float:
    """The side of a cell of an array; of a thread's place, a cell of C."""
    if number == THREADS or trace.arrays[number].space == "global":
        return cross.cell
    return tile_grids(trace.arrays, cross.corner)[number].cell
