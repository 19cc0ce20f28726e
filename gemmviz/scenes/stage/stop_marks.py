"""Marks where a run ended early: the elements of the invalid access, inside or outside their array."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.arrays import Longs
from gemmviz.model.records import replace
from gemmviz.scenes.kit.primitives import ANCHORED, Anchor, Labels, Primitive, Rects, points
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.stage.cell_grid import CellGrid
from gemmviz.scenes.stage.layout import Plan, tile_grids

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
