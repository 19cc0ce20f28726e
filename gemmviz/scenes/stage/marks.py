"""Marks over the matrices: arrivals, places of errors, parts of vectors."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.tiles import TileContent
from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.records import replace
from gemmviz.model.sites import MemoryArray
from gemmviz.model.trace import CONSTANT
from gemmviz.model.translation import tr
from gemmviz.model.words import many
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions
from gemmviz.scenes.kit.primitives import ANCHORED, Anchor, Labels, Lines, Primitive, Rects, points
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.stage.layout import Plan, tile_grids
from gemmviz.scenes.stage.matrix import CellGrid

# Padding: what a tile holds as zero because it lies beyond the edge of its matrix, as hatched cells beyond that edge and in
# the tile. Where a cell would lie follows from the neighbours in the tile that are copies.

_OUTLINED = 9.0  # units: smallest cell with its own outline
_TINT, _HATCH = 0.34, 0.22  # of the matrix's colour in outlines and hatching
_Where = tuple[Longs, Longs]


def ghost_primitives(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the padding of this phase; nothing without any."""
    if plan.lanes is None:
        return []
    contents, grids = moment.tiles if options.arrived else moment.tiles_before, tile_grids(moment, plan)
    primitives: list[Primitive] = []
    for tile in plan.lanes.tiles:
        content = contents.get(tile.number)
        if content is None or not tile.side:
            continue
        cells = np.flatnonzero((content.array == CONSTANT) & (content.phase >= moment.phase))
        if not len(cells):
            continue
        primitives += _hatched(f"padding-{tile.number}", grids[tile.number], np.divmod(cells, tile.columns), tile.side, options)
        matrix, number = plan.matrices[tile.side], moment.trace.number_of(tile.side)
        outside = None if number is None else _outside(moment, number, content, cells, tile.columns)
        if outside is not None:
            primitives += _hatched(f"beyond-{tile.number}", matrix, _near(matrix, plan, tile.side, outside), tile.side, options)
    return primitives


def _outside(moment: Moment, number: int, content: TileContent, cells: Longs, columns: int) -> _Where | None:
    """Return the rows and columns, beyond the matrix, of the elements for which ``cells`` stand; None if they can't be told."""
    array = moment.trace.arrays[number]
    copies = np.flatnonzero((content.array == number) & (content.phase >= moment.phase))
    if not len(copies):
        return None
    rows, across = array.row_column(content.element[copies])
    place = _shift(np.divmod(copies, columns), (rows, across))
    if place is None:
        return None
    r, c = place(np.divmod(cells, columns))
    high, wide = array.extents
    beyond = (r >= high) | (c >= wide)
    return (r[beyond], c[beyond]) if beyond.any() else None


def _shift(at: _Where, elements: _Where) -> Callable[[_Where], _Where] | None:
    """Return what leads from cells of a tile to elements, if they lie in the same or the transposed order."""
    for first, second in ((0, 1), (1, 0)):
        down, across = elements[0] - at[first], elements[1] - at[second]
        if (down == down[0]).all() and (across == across[0]).all():
            by_row, by_column = int(down[0]), int(across[0])
            return lambda cells, a=first, b=second, r=by_row, c=by_column: (cells[a] + r, cells[b] + c)  # type: ignore[misc]
    return None


def _near(table: CellGrid, plan: Plan, side: str, place: _Where) -> _Where:
    """Return those of the places for which there is space beside the matrix."""
    rows, columns = place
    x, y = table.x + (columns + 1 - table.first[1]) * table.cell, table.y + (rows + 1 - table.first[0]) * table.cell
    c = plan.matrices["C"]
    right, low = (
        (c.x - 2, c.y + c.box[3] + plan.beyond[0] * c.cell)
        if side == "A"
        else (c.x + c.box[2] + plan.beyond[1] * c.cell, c.y - 2)
    )
    seen = (x <= right + 0.5) & (y <= low + 0.5)
    return rows[seen], columns[seen]


def _hatched(key: str, table: CellGrid, place: _Where, name: str, options: ViewOptions) -> list[Primitive]:
    """Hatch each cell, and draw its outline if there is space."""
    rows, columns = place
    if not len(rows):
        return []
    side, theme = table.cell, options.theme
    corner = table.middle(rows, columns) - side / 2
    hatch: Primitive = Lines(key, _strokes(corner, side), theme.tint(name, _HATCH + 0.1), max(1.0, 0.05 * side))
    if side < _OUTLINED:
        return [hatch]
    boxes = np.hstack([corner + 1.0, np.full((len(corner), 2), side - 2.0)])
    return [hatch, Rects(f"{key}-outline", boxes, None, theme.tint(name, _TINT), 1.0, min(3.0, 0.1 * side))]


def _strokes(corner: npt.NDArray[np.float64], side: float) -> npt.NDArray[np.float64]:
    """Return two diagonals in each cell, which leave its middle to a number."""
    ends = np.array([[0.1, 0.42, 0.42, 0.1], [0.58, 0.9, 0.9, 0.58]]) * side
    return (np.hstack([corner, corner])[:, None] + ends).reshape(-1, 4)


# Marks where a run ended early: the elements of the invalid access, inside or outside their array.

_LEAST_SIDE, _NAME = 10.0, 22.0
_GAP, _WIDE = 16.0, 1e6
_OUTSIDE, _AIR = 26.0, 4.0  # largest size of an element outside its array, and its distance from the edge
_Box = tuple[float, float, float, float]  # left, top, right, bottom
_Floats = npt.NDArray[np.float64]
_Name = tuple[_Floats, Anchor, str]


def stop_marks(moment: Moment, plan: Plan, theme: Theme) -> list[Primitive]:
    """Draw frames around the elements that ended the run, at its last step."""
    stop = moment.trace.stop
    if stop is None or stop.array < 0 or moment.step != moment.replay.steps - 1:
        return []
    array = moment.trace.arrays[stop.array]
    elements = np.array(stop.elements)
    if array.space == "global":
        table = plan.matrices[array.name]
        rows, columns = array.row_column(elements)
    elif stop.array in tile_grids(moment, plan):
        table = tile_grids(moment, plan)[stop.array]
        rows, columns = np.divmod(elements, table.columns)
    else:
        return []
    boxes = _boxes(table, rows, columns)
    inside = 0 <= stop.elements[0] < array.size
    name = _name_inside if inside else _name_outside
    at, anchor, written = name(array.subscripted(stop.elements[0]), boxes, table, array.space == "shared")
    label = Labels("stop-name", at, (written,), _NAME, theme.warning, anchor, "semibold")
    return [Rects("stop", boxes, None, theme.warning, 5.0), label]


def _name_inside(element: str, boxes: _Floats, table: CellGrid, is_tile: bool) -> _Name:
    """Return the name above the cell; above a tile, because below it are the numbers of A."""
    x, y, side, _ = boxes[0]
    return (points((table.x, table.y - 8)), "start", element) if is_tile else (points((x + side / 2, y - 8)), "middle", element)


def _name_outside(element: str, boxes: _Floats, table: CellGrid, is_tile: bool) -> _Name:
    """Return the name right of all elements in its row; left of them where it would cover the numbers of the matrix's rows."""
    _, y, side, _ = boxes[0]
    row = boxes[np.abs(boxes[:, 1] - y) < side]
    element += " …" if len(row) > 1 else ""
    end = float(row[:, 0].max()) + side + 8
    if is_tile or end + text_width(element, _NAME, "semibold") < table.x + table.box[2]:
        return points((end, y + side - 6)), "start", element
    return points((float(row[:, 0].min()) - 8, y + side - 6)), "end", element


def apart_from_marks(names: list[Labels], marks: Sequence[Primitive]) -> list[Labels]:
    """Move the names of matrices that stand on a mark, or on the text beside it, to the nearest free place."""
    taken = [box for each in marks for box in _marked_boxes(each)]
    moved: list[Labels] = []
    for place, name in enumerate(names):
        others = [*taken, *map(_text_box, (*moved, *names[place + 1 :]))]
        free = (each for each in _places(name, taken) if not any(_meet(_text_box(each), box) for box in others))
        moved.append(next(free, name))
    return moved


def _marked_boxes(mark: Primitive) -> list[_Box]:
    if isinstance(mark, Rects):
        return [(x, y, x + width, y + height) for x, y, width, height in mark.boxes.tolist()]
    return [_text_box(mark)] if isinstance(mark, Labels) else []


def _places(name: Labels, taken: list[_Box]) -> Iterator[Labels]:
    """The name where it is, right of the marks that it meets, left of them, and below them."""
    yield name
    near = [box for box in taken if _meet(_text_box(name), (-_WIDE, box[1], _WIDE, box[3]))]
    if near:
        y = name.at[0, 1]
        yield replace(name, at=points((max(box[2] for box in near) + _GAP, y)), anchor="start")
        yield replace(name, at=points((min(box[0] for box in near) - _GAP, y)), anchor="end")
        yield replace(name, at=points((name.at[0, 0], max(box[3] for box in near) + name.size)))


def _text_box(name: Labels) -> _Box:
    (x, y), width = name.at[0].tolist(), text_width(name.texts[0], name.size, name.face)
    left = x - ANCHORED[name.anchor] * width
    return left, y - name.size, left + width, y + 0.2 * name.size


def _meet(a: _Box, b: _Box) -> bool:
    return min(a[2], b[2]) > max(a[0], b[0]) and min(a[3], b[3]) > max(a[1], b[1])


def _boxes(table: CellGrid, rows: Longs, columns: Longs) -> _Floats:
    """Return the cells (x, y, width, height); those outside the table just beyond its edge."""
    x, y, width, height = table.box
    side = np.full(len(rows), max(_LEAST_SIDE, table.cell))
    side[~table.holds(rows, columns)] = min(max(_LEAST_SIDE, table.cell), _OUTSIDE)
    far = side / 2 + _AIR
    middle = table.middle(rows, columns)
    middle = np.clip(middle, np.stack([x - far, y - far], axis=1), np.stack([x + width + far, y + height + far], axis=1))
    return np.column_stack([middle - side[:, None] / 2, side, side])


# Parts of a vector that stands in rows: the elements of a phase with an outline along their edge, and, hatched behind the
# end of the vector, the places of the threads for which there is no element.

_EDGE, _BESIDE = 4.0, 14.0  # width of an outline; from a vector to the words on its right


def part_outline(array: MemoryArray, elements: Longs, table: CellGrid, theme: Theme) -> list[Primitive]:
    """Draw a line along the edge of the visible ones of some elements; nothing for none."""
    row, column = array.row_column(elements)
    seen = table.holds(row, column)
    inside = np.zeros((table.rows + 2, table.columns + 2), bool)
    inside[row[seen] - table.first[0] + 1, column[seen] - table.first[1] + 1] = True
    segments = _edges(inside) * table.cell + np.array([table.x, table.y, table.x, table.y])
    return [Lines(f"{array.name}-area", segments, theme.accent(array.name), _EDGE)] if len(segments) else []


def _edges(inside: np.ndarray) -> Floats:
    """Return the segments (n, 4) between cells that are inside and those that aren't, in cells from the first; the table has a
    margin of one cell. A segment is as long as the edge goes straight on, and as a line is wide at its corners.
    """
    found = []
    for across, table in ((True, inside), (False, inside.T)):
        change = table[1:] != table[:-1]  # (edges, cells along them)
        step = np.diff(change.astype(np.int8), axis=1, prepend=0, append=0)
        (edge, first), (_, last) = (np.nonzero(step == sign) for sign in (1, -1))
        edges = np.stack([first - 1.0, edge, last - 1.0, edge], axis=1)
        found.append(edges if across else edges[:, [1, 0, 3, 2]])
    return np.concatenate(found)


def threads_beyond(moment: Moment, array: MemoryArray, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw, hatched, the places behind the end of a vector where the threads of the block without an element would be, and say
    at the vector that is accessed now how many there are. Nothing if threads and elements aren't in the same order.
    """
    number, table = moment.trace.number_of(array.name), plan.matrices[array.name]
    if number is None or len(array.shape) != 1:
        return []
    beyond = _beyond(moment, number)
    if beyond is None or not len(beyond):
        return []
    theme, side = options.theme, table.cell
    row, column = np.divmod(beyond, array.extents[1])
    seen = table.holds(row, column)
    if not seen.any():
        return []
    corner = table.middle(row[seen], column[seen]) - side / 2
    inner = np.hstack([corner, corner]) + np.array([0.12, 0.88, 0.88, 0.12]) * side
    cells = np.hstack([corner + 1.0, np.full((len(corner), 2), side - 2.0)])
    primitives: list[Primitive] = [
        Rects(f"{array.name}-idle-outline", cells, None, theme.faint, 1.0, 2.0),
        Lines(f"{array.name}-idle", inner, theme.faint, max(1.5, 0.06 * side)),
    ]
    x, y = table.x + table.box[2] + _BESIDE, float(corner[-1, 1]) + side / 2
    text, size = tr("{threads} without", threads=many(len(beyond), "thread")), theme.type.words
    if any(moment.of_array(number)) and x + text_width(text, size, "semibold") <= _right(plan, options):
        at = points((x, y - 0.2 * size), (x, y + 0.95 * size))
        primitives.append(
            Labels(f"{array.name}-idle-words", at, (text, tr("an element")), size, theme.text, "start", "semibold")
        )
    return primitives


def _right(plan: Plan, options: ViewOptions) -> float:
    """Return the x up to which words may stand: the request's room, or the margin of the frame."""
    rights = [room.x for name, room in plan.rooms.items() if name in ("request", "code") and room.x > plan.box.x]
    return min([options.width - MARGIN, *rights])


def _beyond(moment: Moment, number: int) -> Longs | None:
    """Return the indices behind the end of a vector of the block's threads, if every thread's index is its number and a
    constant; None else.
    """
    trace, array = moment.trace, moment.trace.arrays[number]
    elements = next(
        (trace.element[each.rows[0], moment.scope.of_block] for each in trace.touches_of(number) if len(each.rows)), None
    )
    if elements is None or not (elements >= 0).any():
        return None
    threads = np.arange(len(elements))
    shift = (elements - threads)[elements >= 0]
    if (shift != shift[0]).any():
        return None
    place = threads[elements < 0] + int(shift[0])
    return place[place >= array.size]
