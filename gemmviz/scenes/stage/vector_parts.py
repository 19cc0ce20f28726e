"""Parts of a vector that stands in rows: the elements of a phase with an outline along their edge, and, hatched behind the end
of the vector, the places of the threads for which there is no element.
"""

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.sites import MemoryArray
from gemmviz.model.translation import tr
from gemmviz.model.words import many
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, points
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.stage.cell_grid import CellGrid
from gemmviz.scenes.stage.layout import Plan

_EDGE, _AIR = 4.0, 14.0  # width of an outline; from a vector to the words on its right


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
    x, y = table.x + table.box[2] + _AIR, float(corner[-1, 1]) + side / 2
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
