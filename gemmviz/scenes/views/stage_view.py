"""The stage: B above C, A on its left, the block's shared tiles in the corner between them, and words that describe the
step.

A slide is 1600 units wide and 900 high, so that text of 22 units is readable from the last row. The window uses other sizes
to fill its space.
"""

import numpy as np

from gemmviz.analysis.replay.grid import Grid
from gemmviz.analysis.replay.moment import Moment, TouchedOperand
from gemmviz.model.arrays import AnyArray, Bools, Bytes, Longs
from gemmviz.model.messages import marked
from gemmviz.model.sites import MemoryArray
from gemmviz.scenes.kit.layout import BOLD, FINE, text_at
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.shapes import GROUPED, group_accents, group_colours, group_numbers
from gemmviz.scenes.kit.theme import (
    AREA,
    BASE,
    FILL_LEVELS,
    FIRST_FILL,
    FIRST_GROUP,
    FIRST_OWNER,
    HEAT_LIT,
    LIT,
    SEVERAL,
    SOURCE,
    Theme,
    heat_levels,
    heat_palette,
    matrix_palette,
    most_loads,
    shared_cells,
)
from gemmviz.scenes.kit.view import Layer, View, ViewOptions, named_timeline
from gemmviz.scenes.stage.cells import (
    BARRED,
    LEAST_BARRED,
    CellGrid,
    Texts,
    can_label,
    counting_grid,
    grid_of,
    in_window,
    matrix_cells,
    matrix_values,
    value_texts,
)
from gemmviz.scenes.stage.cost import sector_primitives
from gemmviz.scenes.stage.cross import title_text
from gemmviz.scenes.stage.layout import Plan, plan_of
from gemmviz.scenes.stage.marks import (
    apart_from_marks,
    axis_primitives,
    corner_primitives,
    ghost_primitives,
    is_clear_beside_numbers,
    lane_line,
    lens_primitives,
    part_outline,
    stop_marks,
    threads_beyond,
    waiting_threads,
)
from gemmviz.scenes.stage.motion import barrier_bar, stage_motion
from gemmviz.scenes.stage.tile_cells import collision_marks, tile_primitives
from gemmviz.scenes.stage.words import code_primitives, detail_motion, detail_primitives, legend, sentence_words

_LEAST_ORDERED, _LEAST_RING = 8, 10
_RING_AROUND = 4  # from a followed thread's cell to its ring
_MOST_BARRED = 1024  # bars of sums


def stage_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the stage after a step for the watched threads, without motion."""
    return planned_scene(moment, plan_of(moment, options), options)


def planned_scene(moment: Moment, plan: Plan, options: ViewOptions) -> Scene:
    """Draw the stage in a given layout."""
    theme = options.theme
    primitives: list[Primitive] = corner_primitives(moment, plan, options)
    for number, array in enumerate(moment.trace.arrays):
        if array.space == "global":
            primitives += _drawn_matrix(moment, number, array, plan, options)
    primitives += sector_primitives(moment, plan.matrices, options)
    primitives += _sum_bars(moment, plan, options)
    primitives += _guides(moment, plan, theme)
    primitives += _wrong(moment, plan, theme)
    primitives += _followed_ring(moment, plan, theme)
    primitives += _marked(plan, options)
    primitives += _lane_order(moment, plan, options)
    primitives += lens_primitives(plan, options)
    primitives += tile_primitives(moment, plan, options)
    primitives += ghost_primitives(moment, plan, options)
    primitives += collision_marks(moment, plan, options)
    primitives += _panels(moment, plan, options)
    primitives += waiting_threads(moment, plan, options)
    primitives += barrier_bar(moment, plan, options)
    marks = stop_marks(moment, plan, theme)
    primitives += marks
    name = _matrix_name if moment.trace.is_multiply else _name_above
    names = apart_from_marks([name(each, plan, theme) for each in moment.trace.arrays if each.space == "global"], marks)
    has_block = any("block" in each.tells for each in primitives if isinstance(each, Labels))
    above = (*names, *axis_primitives(plan, options), *_stage_legend(moment, plan, options))
    return Scene(
        options.width,
        options.height,
        theme.background,
        tuple(primitives),
        above,
        _stage_words(moment, plan, options, has_block),
    )


def _panels(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw what stands in the rooms around the matrices."""
    code = plan.rooms.get("code")
    return [*detail_primitives(moment, plan, options), *([] if code is None else code_primitives(moment, code, options))]


def _motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    return (*stage_motion(moment, options), *detail_motion(moment, options))


def _stage_legend(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    return legend(moment, plan.rooms["legend"], options) if "legend" in plan.rooms else []


def _stage_words(moment: Moment, plan: Plan, options: ViewOptions, has_block: bool) -> tuple[Primitive, ...]:
    if not options.words:
        return ()
    words = sentence_words(moment, plan, options, has_block)
    return (*words, *named_timeline(moment, options))


def matrix_state(
    moment: Moment, number: int, grid: Grid, layer: Layer = "matrix", arrived: bool = True
) -> Bytes:  # fmt: skip
    """Return the state of each cell of a matrix, uint8 (rows, columns): see ``gemmviz.scenes.kit.theme``.

    ``arrived``: whether all that moves in this step is where it goes to.
    """
    step = moment.step if arrived else moment.step - 1
    by_group = layer in GROUPED
    flat = grid.table()
    state = grid.shaped(flat)
    is_result = number == moment.trace.result
    if is_result:
        if by_group:
            threads = moment.replay.owner_threads(moment.scope, grid)
            state[threads >= 0] = FIRST_OWNER + group_colours(moment.trace, threads[threads >= 0], layer)
        else:
            _fill_sums(moment, step, flat, grid)
            state[moment.replay.first_stored(grid) <= step] = SOURCE
    area = moment.area(number)
    if area is not None and not is_result and len(grid.array.shape) == 1:
        flat[grid.cells(moment.reach(number))] = AREA
    elif area is not None and not is_result:
        f, (r0, c0) = grid.factor, grid.origin
        rows, columns = (
            slice(max(0, area[0] // f - r0), max(0, -(-area[1] // f) - r0)),
            slice(max(0, area[2] // f - c0), max(0, -(-area[3] // f) - c0)),
        )
        state[rows, columns] = AREA
    flat[grid.cells(_copied_elements(moment, number))] = SOURCE
    for touched in moment.of_array(number):
        if touched.operand.access == "write" and not arrived:
            continue
        if moment.focus.thread is not None:
            paid = moment.trace.element[touched.row, moment.scope.of_warps]
            flat[grid.cells(moment.trace.spread(touched.operand, paid, moment.scope.of_warps))] = SOURCE
        cells = grid.cells(touched.cells)
        flat[cells] = lit_by_group(moment, touched, cells, len(flat), layer) if by_group else LIT
    return state


def _fill_sums(moment: Moment, step: int, flat: Bytes, grid: Grid) -> None:
    """Set the states of incomplete sums in C by the share of their terms after a step."""
    terms = moment.terms
    if terms is not None:
        done = terms.done(step)
        levels = -(-done * FILL_LEVELS // max(1, terms.length))
        flat[grid.cells(terms.elements)] = np.where(done > 0, FIRST_FILL - 1 + levels, BASE)


def lit_by_group(moment: Moment, touched: TouchedOperand, cells: Longs, size: int, layer: Layer) -> Bytes:
    """Return for each accessed cell (in the order of ``spread``) the state of the group that accesses it, or SEVERAL."""
    active = np.repeat(np.flatnonzero(touched.elements >= 0) + moment.scope.threads.start, touched.operand.width)
    several = shared_cells(cells, group_numbers(moment.trace, active, layer), size)
    return np.where(several, SEVERAL, FIRST_GROUP + group_colours(moment.trace, active, layer)).astype(np.uint8)


def _copied_elements(moment: Moment, number: int) -> AnyArray:
    """Return the elements of a matrix whose copies in shared memory are accessed now."""
    elements = [np.zeros(0, np.int64)]
    for touched in moment.touched:
        content = moment.tiles.get(touched.operand.array) if touched.array.space == "shared" else None
        if content is not None:
            cells = touched.block_cells
            elements.append(content.element[cells][content.array[cells] == number])
    return np.concatenate(elements)


def _drawn_matrix(moment: Moment, number: int, array: MemoryArray, plan: Plan, options: ViewOptions) -> list[Primitive]:
    theme, table = options.theme, plan.matrices[array.name]
    primitives: list[Primitive] = [_matrix_state_cells(moment, number, table, options)]
    primitives.append(Rects(f"{array.name}-frame", boxes(table.box), None, theme.line, FINE))
    primitives += _cover_beyond(array, table, theme)
    primitives += threads_beyond(moment, array, plan, options)
    area = moment.area(number)
    if area is not None and len(array.shape) == 1:
        primitives += part_outline(array, moment.reach(number), table, theme)
    elif area is not None:
        box = table.part(area[:2], area[2:])
        if box[2] and box[3]:
            primitives.append(Rects(f"{array.name}-area", boxes(box), None, theme.accent(array.name), 4))
    return primitives


def _matrix_state_cells(moment: Moment, number: int, table: CellGrid, options: ViewOptions) -> Cells:
    array, theme = moment.trace.arrays[number], options.theme
    grid = grid_of(table, array, options)
    if options.layer != "reuse" or number == moment.trace.result:
        state = matrix_state(moment, number, grid, options.layer, options.arrived or not options.shows_flights)
        palette = matrix_palette(theme, array.name, group_accents(options.layer, theme))
        if not can_label(state, table, grid, options):
            return matrix_cells(state, palette, table, grid, options)
        labels = _cell_values(moment, number, table, grid, options) if options.values else None
        is_crossed = number == moment.home and _has_lane_order(moment, table, options)
        if is_crossed:
            labels = np.full(state.shape, "")
        shown = None if labels is not None else _in_phase(moment, number, state, grid)
        return matrix_cells(state, palette, table, grid, options, labels, shown)
    counted = counting_grid(table, array, options)
    grid = in_window(counted, table)
    counts = moment.loads(number, counted)[grid.part]
    fill = heat_levels(counts, grid.factor**2, most_loads(moment.trace.setup.problem))
    for touched in moment.of_array(number):
        lit = grid.table()
        lit[grid.cells(touched.cells)] = 1
        fill[grid.shaped(lit) > 0] = HEAT_LIT
    labels = np.where(counts > 0, counts.astype("<U6"), "") if counts.size <= 64 * 64 else None
    return matrix_cells(fill, heat_palette(theme, theme.accent(array.name)), table, grid, options, labels)


def _in_phase(moment: Moment, number: int, state: Bytes, grid: Grid) -> Bools:
    """Return which cells take part in this phase: (rows, columns)."""
    shown: Bools = state != BASE
    area = moment.area(number)
    if area is not None:
        rows, columns = (
            slice(max(0, low - first), max(0, high - first))
            for low, high, first in ((*area[:2], grid.origin[0]), (*area[2:], grid.origin[1]))
        )
        shown[rows, columns] = True
    return shown


def _cell_values(moment: Moment, number: int, table: CellGrid, grid: Grid, options: ViewOptions) -> Texts | None:
    """Return the known values of the cells as text: (rows, columns); empty if none is known, or none fits."""
    values, elements = matrix_values(moment, number), grid.elements()
    texts, inside = np.full(elements.shape, "", "<U12"), elements < grid.array.size  # the last row of a vector may be shorter
    found = None if values is None else value_texts(values[elements[inside]], table.cell, options.least)
    texts[inside] = "" if found is None else found
    return texts


def _matrix_name(array: MemoryArray, plan: Plan, theme: Theme) -> Labels:
    """Draw the name and the shape of a matrix at its outer corner."""
    title, text = plan.titles[array.name], title_text(array.name, array.shape)
    at, accent = points((title.x, title.y)), theme.accent(array.name)
    return Labels(f"{array.name}-name", at, (text,), theme.type.name, accent, title.anchor, "semibold")


def _name_above(array: MemoryArray, plan: Plan, theme: Theme) -> Labels:
    """Draw the name and the shape above an array of a problem that is no multiplication."""
    table = plan.matrices[array.name]
    text = f"{array.name}  {' × '.join(map(str, array.shape))}"
    at = (table.x, table.y - 12)
    return text_at(f"{array.name}-name", at, text, theme.type.name, theme.accent(array.name), "start", "semibold")


def _cover_beyond(array: MemoryArray, table: CellGrid, theme: Theme) -> list[Primitive]:
    """Cover the cells behind the end of a vector."""
    (rows, columns), size = array.extents, array.size
    if rows * columns == size:
        return []
    box = table.part((rows - 1, rows), (size - (rows - 1) * columns, columns))
    return [Rects(f"{array.name}-beyond", boxes(box), theme.background)] if box[2] and box[3] else []


def _sum_bars(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw in each cell of C with an incomplete sum a bar as long as the share of its terms."""
    terms, array = moment.terms, moment.replay.owners.array
    if terms is None or array is None:
        return []
    table = plan.matrices[array.name]
    if table.cell < LEAST_BARRED or len(terms.elements) > _MOST_BARRED:
        return []
    step = moment.step if options.arrived else moment.step - 1
    done = terms.done(step)
    on_the_way = (done > 0) & (moment.replay.owners.steps_of(terms.elements) > step)
    rows, columns = array.row_column(terms.elements[on_the_way])
    visible = table.holds(rows, columns)
    if not visible.any():
        return []
    inner, high = 0.8 * table.wide, max(2, 0.1 * table.cell)
    middle = table.middle(rows[visible], columns[visible])
    share = done[on_the_way][visible] / max(1, terms.length)
    left, top = middle[:, 0] - inner / 2, middle[:, 1] + (0.5 - BARRED) * table.cell
    bars = np.stack([left, top, inner * share, np.full(len(left), high)], axis=1)
    return [Rects("sums", bars, options.theme.accent("C"))]


def _guides(moment: Moment, plan: Plan, theme: Theme) -> list[Primitive]:
    """Draw faint lines from the block's area of C to its rows of A and columns of B."""
    arrays = enumerate(moment.trace.arrays)
    areas = {array.name: moment.area(n) for n, array in arrays if array.space == "global"} if moment.trace.is_multiply else {}
    c_area = areas.get("C")
    if c_area is None:
        return []
    x, y, wide, high = plan.matrices["C"].part(c_area[:2], c_area[2:])
    segments = []
    if areas["A"] is not None:
        left, _, across, _ = plan.matrices["A"].part(areas["A"][:2], areas["A"][2:])
        segments += [(left + across, at, x, at) for at in (y, y + high)]
    if areas["B"] is not None:
        _, top, _, down = plan.matrices["B"].part(areas["B"][:2], areas["B"][2:])
        low = y if is_clear_beside_numbers(plan.matrices["B"], theme) else plan.matrices["B"].bottom
        segments += [(at, top + down, at, low) for at in (x, x + wide)]
    return [Lines("guides", np.asarray(segments, np.float64), theme.faint, FINE, dashed=True)] if segments else []


def _wrong(moment: Moment, plan: Plan, theme: Theme) -> list[Primitive]:
    """Draw frames around the elements of the result that were stored with wrong values."""
    elements_ = np.array(moment.trace.check.wrong_elements, np.int64)
    by_now = elements_[moment.replay.owners.steps_of(elements_) <= moment.step]
    return _result_rings("wrong", moment, by_now, plan, theme.warning)


def _marked(plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw a ring around a marked element."""
    if options.marked is None or options.marked[0] not in plan.matrices:
        return []
    name, row, column = options.marked
    table = plan.matrices[name]
    if not bool(table.holds(row, column)):
        return []
    ring = table.boxes(np.array([row]), np.array([column]), max(0, (_LEAST_RING - table.cell) / 2))
    return [Rects("marked", ring, None, options.theme.warning, 5, radius=3)]


def _has_lane_order(moment: Moment, table: CellGrid, options: ViewOptions) -> bool:
    """Whether a line through the cells of C shows the order of a warp's lanes: then no number stands beneath it."""
    return (options.layer == "lane" or moment.focus.everyone) and table.cell >= _LEAST_ORDERED


def _lane_order(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw a line through the places of a warp's lanes in order, if colours mean lanes or all blocks are watched."""
    table, size = plan.home(moment), moment.trace.rules.warp_size
    if table is None or not _has_lane_order(moment, table, options):
        return []
    first = (moment.focus.warp or 0) * size
    homes = moment.homes[first : first + size]
    homes = homes[~np.isnan(homes).any(axis=1)]
    middle = table.middle(homes[:, 0], homes[:, 1])[table.holds(homes[:, 0], homes[:, 1])]
    if len(middle) < 2:
        return []
    return lane_line(middle, 0.3 * table.cell, options.theme.text, BOLD)


def _result_rings(key: str, moment: Moment, elements: Longs, plan: Plan, colour: str, around: float = 0) -> list[Primitive]:
    """Draw a ring around some elements of the result, ``around`` units from their cells; nothing for none."""
    array = moment.replay.owners.array
    if array is None or not len(elements):
        return []
    return [Rects(key, plan.matrices[array.name].of(array, elements, around), None, colour, 4)]


def _followed_ring(moment: Moment, plan: Plan, theme: Theme) -> list[Primitive]:
    """Draw a ring around what the followed thread computes."""
    if moment.focus.thread is None:
        return []
    elements, _ = moment.replay.owners.of(moment.scope.threads)
    return _result_rings("followed", moment, elements, plan, theme.accent("C"), _RING_AROUND)


_STAGE_PARTS = ("matrices", "request", "banks", "sum")
VIEW = View(marked("Stage"), Moment, stage_scene, _motion, has_title=False, parts=_STAGE_PARTS, order=101)
