"""The stage: B above C, A to its left, the block's shared tiles in the corner between, and a line that says what happens.

One frame is 1600 units wide and, on a slide, 900 high, so that 22 units of text are readable from the last row. A window may
ask for another height, so that no room is lost.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.grid import Grid, spread
from gemmviz.analysis.moment import Moment, Touched
from gemmviz.model.sites import MemoryArray
from gemmviz.scenes.code_lines import code_primitives
from gemmviz.scenes.frame import ViewOptions, framed
from gemmviz.scenes.layout import CellGrid, Cross, code_room, cross_of, matrix_grid
from gemmviz.scenes.legend import legend
from gemmviz.scenes.matrix import counting_grid, grid_of, matrix_cells
from gemmviz.scenes.motion import stage_motion
from gemmviz.scenes.palette import (
    AREA,
    FIRST_OWNER,
    FIRST_WARP,
    HEAT_LIT,
    LIT,
    SEVERAL,
    SOURCE,
    heat_levels,
    heat_palette,
    matrix_palette,
    most_loads,
    shared_cells,
)
from gemmviz.scenes.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.stop_marks import stop_marks
from gemmviz.scenes.text import text_width
from gemmviz.scenes.theme import WARP_ACCENTS, Theme
from gemmviz.scenes.tile_cells import tile_primitives
from gemmviz.scenes.view import View

_NAME = 28.0


def stage_scene(moment: Moment, options: ViewOptions) -> Scene:
    """The stage after a step, as the focus sees it; without what moves."""
    theme, cross = options.theme, cross_of(moment.trace, options.height)
    found: list[Primitive] = []
    for number, array in enumerate(moment.trace.arrays):
        if array.space == "global":
            found += _matrix(moment, number, array, cross, options)
    found += _guides(moment, cross, theme)
    found += _wrong(moment, cross, theme)
    found += _followed(moment, cross, theme)
    found += tile_primitives(moment, cross.corner, options)
    found += code_primitives(moment, code_room(moment.trace, cross), theme)
    found += stop_marks(moment, cross, theme)
    found += legend(moment.trace, options)
    return framed(found, moment, options)


def matrix_state(moment: Moment, number: int, grid: Grid, by_warp: bool = False) -> npt.NDArray[np.uint8]:
    """What each cell of a matrix is, uint8 (rows, columns): see ``gemmviz.scenes.palette``."""
    flat = grid.table()
    state = grid.shaped(flat)
    if grid.array.name == "C":
        if by_warp:
            warps = moment.replay.owner_warps(moment.scope, grid)
            state[warps >= 0] = FIRST_OWNER + warps[warps >= 0] % len(WARP_ACCENTS)
        else:
            state[moment.stored(grid)] = AREA
    area = moment.area(number)
    if area is not None and grid.array.name != "C":
        f, (r0, c0) = grid.factor, grid.origin
        rows, columns = (
            slice(max(0, area[0] // f - r0), max(0, -(-area[1] // f) - r0)),
            slice(max(0, area[2] // f - c0), max(0, -(-area[3] // f) - c0)),
        )
        state[rows, columns] = AREA
    flat[grid.cells(_sources(moment, number))] = SOURCE
    touched = moment.of_array(number)
    if touched is not None:
        if moment.focus.thread is not None:
            paid = moment.trace.element[touched.row, moment.scope.of_warps]
            flat[grid.cells(spread(paid, touched.operand.offsets))] = SOURCE
        cells = grid.cells(touched.cells)
        flat[cells] = lit_by_warp(moment, touched, cells, len(flat)) if by_warp else LIT
    return state


def lit_by_warp(moment: Moment, touched: Touched, cells: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.uint8]:
    """For each touched cell (as ``spread`` orders them) the state of the warp that touches it, or SEVERAL."""
    active = np.flatnonzero(touched.elements >= 0) + moment.scope.threads.start
    warps = np.repeat(_warps(moment, active), touched.operand.width)
    return np.where(shared_cells(cells, warps, size), SEVERAL, FIRST_WARP + warps % len(WARP_ACCENTS)).astype(np.uint8)


def _warps(moment: Moment, threads: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The number, within its block, of the warp of each thread of the trace."""
    return threads % moment.trace.space.threads_per_block // moment.trace.rules.warp_size


def _sources(moment: Moment, number: int) -> npt.NDArray[Any]:
    """The elements of a matrix whose copies in shared memory are touched now."""
    found = [np.zeros(0, np.int64)]
    for touched in moment.touched:
        content = moment.tiles.get(touched.operand.array) if touched.array.space == "shared" else None
        if content is not None:
            cells = touched.block_cells
            found.append(content.element[cells][content.array[cells] == number])
    return np.concatenate(found)


def _matrix(moment: Moment, number: int, array: MemoryArray, cross: Cross, options: ViewOptions) -> list[Primitive]:
    theme, table = options.theme, matrix_grid(array, cross)
    found: list[Primitive] = [_cells(moment, number, table, options)]
    found.append(Rects(f"{array.name}-frame", boxes(table.box), None, theme.line, 1.5))
    area = moment.area(number)
    if area is not None:
        r0, r1, c0, c1 = area
        x, y, cell = table.x, table.y, table.cell
        box = (x + c0 * cell, y + r0 * cell, (c1 - c0) * cell, (r1 - r0) * cell)
        found.append(Rects(f"{array.name}-area", boxes(box), None, theme.accent(array.name), 4.0))
    found.append(_name(array, table.x, table.y, table.cell, theme))
    return found


def _cells(moment: Moment, number: int, table: CellGrid, options: ViewOptions) -> Cells:
    array, theme = moment.trace.arrays[number], options.theme
    if options.layer != "reuse" or array.name == "C":
        grid = grid_of(table, array, options)
        state = matrix_state(moment, number, grid, options.layer == "warp")
        return matrix_cells(array.name, state, matrix_palette(theme, array.name), table, grid, options)
    grid = counting_grid(table, array, options)
    counts = moment.loads(number, grid)
    fill = heat_levels(counts, grid.factor**2, most_loads(moment.trace.setup.problem))
    touched = moment.of_array(number)
    if touched is not None:
        fill.reshape(-1)[grid.cells(touched.cells)] = HEAT_LIT
    labels = np.where(counts > 0, counts.astype("<U6"), "") if counts.size <= 64 * 64 else None
    return matrix_cells(array.name, fill, heat_palette(theme, theme.accent(array.name)), table, grid, options, labels)


def _name(array: MemoryArray, x: float, y: float, cell: float, theme: Theme) -> Labels:
    rows, columns = array.shape
    text = f"{array.name}  {rows} × {columns}"
    if array.name == "A" and text_width(text, _NAME, "semibold") > columns * cell:
        return Labels("A-name", points((x + columns * cell, y - 12)), (text,), _NAME, theme.accent("A"), "end", "semibold")
    if array.name != "C":
        at = points((x, y - 12))
        return Labels(f"{array.name}-name", at, (text,), _NAME, theme.accent(array.name), "start", "semibold")
    at = points((x + columns * cell, y + rows * cell + _NAME + 4))
    return Labels("C-name", at, (text,), _NAME, theme.accent("C"), "end", "semibold")


def _guides(moment: Moment, cross: Cross, theme: Theme) -> list[Primitive]:
    """Faint lines from the block's area of C to its rows of A and its columns of B: why a block needs just these."""
    numbers = {array.name: n for n, array in enumerate(moment.trace.arrays) if array.space == "global"}
    if not {"A", "B", "C"} <= numbers.keys():
        return []
    areas = {name: moment.area(number) for name, number in numbers.items()}
    c_area = areas["C"]
    if c_area is None:
        return []
    (ax, _), (cx, cy), (_, by), s = cross.at["A"], cross.at["C"], cross.at["B"], cross.cell
    segments = []
    if areas["A"] is not None:
        x0 = ax + areas["A"][3] * s
        segments += [(x0, cy + r * s, cx + c_area[2] * s, cy + r * s) for r in c_area[:2]]
    if areas["B"] is not None:
        y0 = by + areas["B"][1] * s
        segments += [(cx + c * s, y0, cx + c * s, cy + c_area[0] * s) for c in c_area[2:]]
    return [Lines("guides", np.asarray(segments, np.float64), theme.faint, 1.5, dashed=True)] if segments else []


def _wrong(moment: Moment, cross: Cross, theme: Theme) -> list[Primitive]:
    """Frames around the elements of C that are stored by now and wrong."""
    wrong = np.array(moment.trace.check.wrong_elements, np.int64)
    by_now = wrong[moment.replay.owners.steps_of(wrong) <= moment.step]
    return _rings("wrong", moment, by_now, cross, theme.warning)


def _rings(key: str, moment: Moment, elements: npt.NDArray[np.int64], cross: Cross, colour: str) -> list[Primitive]:
    """Around some elements of C; nothing around none."""
    array = moment.replay.owners.array
    if array is None or not len(elements):
        return []
    rows, columns = array.row_column(elements)
    (x, y), side = cross.at["C"], cross.cell
    boxes = np.stack([x + columns * side, y + rows * side, *np.full((2, len(elements)), side)], axis=1)
    return [Rects(key, boxes, None, colour, 4.0)]


def _followed(moment: Moment, cross: Cross, theme: Theme) -> list[Primitive]:
    """A ring around what the followed thread computes."""
    if moment.focus.thread is None:
        return []
    elements, _ = moment.replay.owners.of(moment.scope.threads)
    return _rings("followed", moment, elements, cross, theme.text)


VIEW = View("Stage", Moment, stage_scene, stage_motion, order=1)
