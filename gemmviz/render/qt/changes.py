"""What differs between two pictures: the places in pixels where the primitives of one are not those of the other.

Primitives are compared by value. Of cells at the same place in the same colours, only those that differ count.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from math import ceil, floor

import numpy as np
import numpy.typing as npt

from gemmviz.render.qt.bounds import Bounds, bounds, cells_bounds
from gemmviz.render.qt.painter import Viewport
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Squares

Look = tuple[Hashable, ...]
Place = tuple[int, int, int, int]  # left, top, right, bottom, in whole pixels
_LOOSE = 1.25  # two places become one that is at most so much larger than both


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A primitive, the values that its pixels follow from, and the pixels that it may paint."""

    primitive: Primitive
    look: Look
    bounds: Bounds


def look(primitive: Primitive) -> Look:
    """Return all values that the pixels of a primitive follow from: two with the same look are painted alike."""
    match primitive:
        case Cells():
            return (*_table(primitive), _values(primitive.fill), _values(primitive.labels))
        case Rects():
            stroke = (primitive.fill, primitive.stroke, primitive.stroke_width, primitive.radius)
            return Rects, primitive.boxes.tobytes(), *stroke
        case Lines():
            return Lines, primitive.segments.tobytes(), primitive.stroke, primitive.width, primitive.dashed
        case Labels(_, at, texts, size, colour, anchor, face):
            return Labels, at.tobytes(), texts, size, colour, anchor, face
        case Squares():
            inks = (primitive.palette, primitive.inks, primitive.label_size, primitive.line)
            return Squares, primitive.boxes.tobytes(), primitive.fill.tobytes(), _values(primitive.labels), *inks


def _table(cells: Cells) -> Look:
    """Return what the pixels of cells follow from besides what is in them."""
    return (
        Cells, cells.key, cells.x, cells.y, cells.size, cells.height, cells.palette, cells.inks, cells.label_size, cells.line,
        cells.fill.shape, cells.labels is None,
    )  # fmt: skip


def _values(array: npt.NDArray[np.generic] | None) -> Hashable:
    return None if array is None else (array.dtype.str, array.shape, array.tobytes())


def drawn(primitives: Iterable[Primitive], before: list[Drawn], view: Viewport) -> list[Drawn]:
    """Return what primitives look like; those that look as one of ``before`` are the same object."""
    seen, looks = {id(each.primitive): each for each in before}, {each.look: each for each in before}
    return [seen.get(id(each)) or _drawn(each, looks, view) for each in primitives]


def _drawn(primitive: Primitive, looks: dict[Look, Drawn], view: Viewport) -> Drawn:
    found = look(primitive)
    return looks.get(found) or Drawn(primitive, found, bounds(primitive, view))


def changed_places(before: list[Drawn], after: list[Drawn], view: Viewport) -> list[Bounds] | None:
    """Return where two pictures differ, given as from ``drawn``; None if the same primitives are in another order."""
    old, new = set(before), set(after)
    gone, come = [each for each in before if each not in new], [each for each in after if each not in old]
    tables = {_table(each.primitive): each for each in gone if isinstance(each.primitive, Cells)}
    altered = {
        tables[key]: each for each in come if isinstance(each.primitive, Cells) and (key := _table(each.primitive)) in tables
    }
    same = new & old | set(altered.values())
    if [altered.get(each, each) for each in before if each in new or each in altered] != [
        each for each in after if each in same
    ]:
        return None
    return [
        *(each.bounds for each in gone if each not in altered),
        *(each.bounds for each in come if each not in same),
        *(_changed_cells(each, other, view) for each, other in altered.items()),
    ]


def _changed_cells(before: Drawn, after: Drawn, view: Viewport) -> Bounds:
    """Return where a table differs in some of its cells."""
    old, new = before.primitive, after.primitive
    assert isinstance(old, Cells)
    assert isinstance(new, Cells)
    changed = old.fill != new.fill
    if old.labels is None or new.labels is None:
        return cells_bounds(new, changed, view)
    changed |= old.labels != new.labels
    widest = max((old, new), key=lambda cells: cells.labels.dtype.itemsize)
    return cells_bounds(widest, changed, view)


def merged(places: Iterable[Place]) -> list[Place]:
    """Return rectangles over all places that don't overlap."""
    separate: list[Place] = []
    for place in places:
        now = place
        while near := next((each for each in separate if _belong_together(each, now)), None):
            separate.remove(near)
            now = _around(now, near)
        separate.append(now)
    return separate


def _belong_together(one: Place, other: Place) -> bool:
    if one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]:
        return True
    return size_of(_around(one, other)) <= _LOOSE * (size_of(one) + size_of(other))


def _around(one: Place, other: Place) -> Place:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def size_of(place: Place) -> int:
    """Return the number of pixels of a place."""
    return (place[2] - place[0]) * (place[3] - place[1])


def whole_pixels(bounds: Bounds, width: int, height: int) -> Place:
    """Return the part of ``bounds`` within an area of this size, to whole pixels; empty beyond it."""
    left, top, right, bottom = max(0, floor(bounds[0])), max(0, floor(bounds[1])), ceil(bounds[2]), ceil(bounds[3])
    return left, top, max(left, min(width, right)), max(top, min(height, bottom))
