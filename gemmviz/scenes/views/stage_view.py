"""The stage: B above C, A to its left, the block's shared tiles in the corner between, and words that say what happens.

On a slide a frame is 1600 units wide and 900 high, so that 22 units of text are readable from the last row. A window may ask
for another size, so that no room is lost.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.grid import Grid, spread
from gemmviz.analysis.moment import Moment, Touched
from gemmviz.model.sites import MemoryArray
from gemmviz.scenes.axes import axis_primitives
from gemmviz.scenes.code_lines import code_primitives
from gemmviz.scenes.frame import ViewOptions, time_strip, words_beside, words_between
from gemmviz.scenes.layout import CellGrid, Plan, plan_of
from gemmviz.scenes.legend import legend
from gemmviz.scenes.lens import lens_primitives
from gemmviz.scenes.matrix import counting_grid, grid_of, in_window, matrix_cells
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


def stage_scene(moment: Moment, options: ViewOptions) -> Scene:
    """The stage after a step, as the focus sees it; without what moves."""
    theme, plan = options.theme, plan_of(moment, options)
    found: list[Primitive] = []
    for number, array in enumerate(moment.trace.arrays):
        if array.space == "global":
            found += _matrix(moment, number, array, plan, options)
    found += _guides(moment, plan, theme)
    found += _wrong(moment, plan, theme)
    found += _followed(moment, plan, theme)
    found += lens_primitives(plan, options)
    found += tile_primitives(moment, plan, options)
    found += code_primitives(moment, plan.rooms["code"], theme) if "code" in plan.rooms else []
    found += stop_marks(moment, plan, theme)
    names = [_name(array, plan, theme) for array in moment.trace.arrays if array.space == "global"]
    above = (*names, *axis_primitives(plan, options), *legend(moment.trace, plan.rooms["legend"], options))
    return Scene(options.width, options.height, theme.background, tuple(found), above, _words(moment, plan, options))


def _words(moment: Moment, plan: Plan, options: ViewOptions) -> tuple[Primitive, ...]:
    if not options.words:
        return ()
    words = words_beside(moment, options, plan.column) if plan.has_column else words_between(moment, options)
    return (*words, *time_strip(moment, options))


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


def _matrix(moment: Moment, number: int, array: MemoryArray, plan: Plan, options: ViewOptions) -> list[Primitive]:
    theme, table = options.theme, plan.matrices[array.name]
    found: list[Primitive] = [_cells(moment, number, table, options)]
    found.append(Rects(f"{array.name}-frame", boxes(table.box), None, theme.line, 1.5))
    area = moment.area(number)
    if area is not None:
        box = table.part(area[:2], area[2:])
        if box[2] and box[3]:
            found.append(Rects(f"{array.name}-area", boxes(box), None, theme.accent(array.name), 4.0))
    return found


def _cells(moment: Moment, number: int, table: CellGrid, options: ViewOptions) -> Cells:
    array, theme = moment.trace.arrays[number], options.theme
    grid = grid_of(table, array, options)
    if options.layer != "reuse" or array.name == "C":
        state = matrix_state(moment, number, grid, options.layer == "warp")
        return matrix_cells(array.name, state, matrix_palette(theme, array.name), table, grid, options)
    counted = counting_grid(table, array, options)
    grid = in_window(counted, table)
    counts = moment.loads(number, counted)[grid.part]
    fill = heat_levels(counts, grid.factor**2, most_loads(moment.trace.setup.problem))
    touched = moment.of_array(number)
    if touched is not None:
        lit = grid.table()
        lit[grid.cells(touched.cells)] = 1
        fill[grid.shaped(lit) > 0] = HEAT_LIT
    labels = np.where(counts > 0, counts.astype("<U6"), "") if counts.size <= 64 * 64 else None
    return matrix_cells(array.name, fill, heat_palette(theme, theme.accent(array.name)), table, grid, options, labels)


def _name(array: MemoryArray, plan: Plan, theme: Theme) -> Labels:
    """Above A and C; B's at the left of its upper corner, for its column numbers stand above it."""
    (rows, columns), size, table = array.shape, theme.type.name, plan.matrices[array.name]
    text = f"{array.name}  {rows} × {columns}"
    x, y, wide, _ = table.box
    key, accent = f"{array.name}-name", theme.accent(array.name)
    if array.name == "B":
        return Labels(key, points((x - 16, y + 0.8 * size)), (text,), size, accent, "end", "semibold")
    if array.name == "A" and text_width(text, size, "semibold") > wide:
        return Labels(key, points((x + wide, y - 12)), (text,), size, accent, "end", "semibold")
    return Labels(key, points((x, y - 12)), (text,), size, accent, "start", "semibold")


def _guides(moment: Moment, plan: Plan, theme: Theme) -> list[Primitive]:
    """Faint lines from the block's area of C to its rows of A and its columns of B: why a block needs just these."""
    numbers = {array.name: n for n, array in enumerate(moment.trace.arrays) if array.space == "global"}
    if not {"A", "B", "C"} <= numbers.keys():
        return []
    areas = {name: moment.area(number) for name, number in numbers.items()}
    c_area = areas["C"]
    if c_area is None:
        return []
    x, y, wide, high = plan.matrices["C"].part(c_area[:2], c_area[2:])
    segments = []
    if areas["A"] is not None:
        left, _, across, _ = plan.matrices["A"].part(areas["A"][:2], areas["A"][2:])
        segments += [(left + across, at, x, at) for at in (y, y + high)]
    if areas["B"] is not None:
        _, top, _, down = plan.matrices["B"].part(areas["B"][:2], areas["B"][2:])
        segments += [(at, top + down, at, y) for at in (x, x + wide)]
    return [Lines("guides", np.asarray(segments, np.float64), theme.faint, 1.5, dashed=True)] if segments else []


def _wrong(moment: Moment, plan: Plan, theme: Theme) -> list[Primitive]:
    """Frames around the elements of C that are stored by now and wrong."""
    wrong = np.array(moment.trace.check.wrong_elements, np.int64)
    by_now = wrong[moment.replay.owners.steps_of(wrong) <= moment.step]
    return _rings("wrong", moment, by_now, plan, theme.warning)


def _rings(key: str, moment: Moment, elements: npt.NDArray[np.int64], plan: Plan, colour: str) -> list[Primitive]:
    """Around some elements of C; nothing around none."""
    array = moment.replay.owners.array
    if array is None or not len(elements):
        return []
    rows, columns = array.row_column(elements)
    table = plan.matrices["C"]
    seen = table.holds(rows, columns)
    corners = table.middle(rows[seen], columns[seen]) - table.cell / 2
    return [Rects(key, np.hstack([corners, np.full((len(corners), 2), table.cell)]), None, colour, 4.0)]


def _followed(moment: Moment, plan: Plan, theme: Theme) -> list[Primitive]:
    """A ring around what the followed thread computes."""
    if moment.focus.thread is None:
        return []
    elements, _ = moment.replay.owners.of(moment.scope.threads)
    return _rings("followed", moment, elements, plan, theme.text)


VIEW = View("Stage", Moment, stage_scene, stage_motion, order=1)
