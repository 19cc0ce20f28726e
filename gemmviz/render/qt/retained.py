"""Pictures that are painted again only where they change."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QPainter

from gemmviz.render.qt.painter import ScenePainter, Viewport
from gemmviz.scenes.kit.primitives import ANCHORED, Cells, Labels, Lines, Primitive, Rects, Squares, boxes
from gemmviz.scenes.kit.text import text_width

_EDGE = 2.0  # pixels beyond a shape that its smooth edge may touch
_SMALL, _MOST_RECTS = 4000, 6  # pixels that may be painted in vain, and rectangles of a picture
_MOST_CHANGES = 40  # rectangles beyond which a picture is painted as a whole
_MOST_PARTS = 4  # rectangles of a primitive that are told apart
_UNSEEN = frozenset({"tips", "ids", "origin", "factor"})  # fields of cells that are not painted
_Edges = tuple[int, int, int, int]  # left, top, right and bottom


class RetainedLayer:
    """Primitives that lie over each other, and the pixels that each covers."""

    def __init__(self) -> None:
        self._items: list[tuple[Primitive, list[QRect]]] = []
        self._view: Viewport | None = None

    def change(self, primitives: Sequence[Primitive], view: Viewport) -> list[QRect] | None:
        """Take other primitives, and return rectangles of pixels that differ; None if all may, or most do."""
        before, self._items = self._items, []
        if view != self._view:
            self._view = view
            self._items = [(each, area_of(each, view)) for each in primitives]
            return None
        known: dict[tuple[type, str], list[int]] = {}
        for place, (old, _) in enumerate(before):
            known.setdefault((type(old), old.key), []).append(place)
        damage, last, is_sorted = list[QRect](), -1, True
        for each in primitives:
            places = known.get((type(each), each.key))
            if not places:
                area = area_of(each, view)
                damage += area
                self._items.append((each, area))
                continue
            place = places.pop(0)
            is_sorted = is_sorted and place > last
            last = place
            old, area = before[place]
            if each is old or _is_same(old, each):
                self._items.append(before[place])
                continue
            now = area_of(each, view)
            cells = _changed_cells(old, each, view)
            damage += area + now if cells is None else cells
            self._items.append((each, now))
        for places in known.values():
            for place in places:
                damage += before[place][1]
        return damage if is_sorted and len(damage) <= _MOST_CHANGES else None

    def paint(self, scene_painter: ScenePainter, painter: QPainter, rect: QRect) -> None:
        """Draw what lies in a rectangle over the present content, and nothing outside of it."""
        seen = [primitive for primitive, area in self._items if any(each.intersects(rect) for each in area)]
        if seen and self._view is not None:
            painter.setClipRect(rect)
            scene_painter.paint_over(painter, seen, self._view, QRectF(rect))


def few_rects(rects: Iterable[QRect]) -> list[QRect]:
    """A few rectangles that hold many: those are joined that lose least. Qt stretches images differently, and more slowly, in a
    clip that is no rectangle.
    """
    found = list[_Edges]()
    for rect in rects:
        edges: _Edges = rect.getCoords()  # type: ignore[assignment]
        while (near := next((each for each in found if _lost(each, edges) <= _SMALL), None)) is not None:
            found.remove(near)
            edges = _joined(near, edges)
        found.append(edges)
        if len(found) > _MOST_RECTS:
            _, a, b = min((_lost(one, found[j]), i, j) for i, one in enumerate(found) for j in range(i))
            found.append(_joined(found.pop(a), found.pop(b)))
    return [QRect(left, top, right - left + 1, bottom - top + 1) for left, top, right, bottom in found]


def _joined(a: _Edges, b: _Edges) -> _Edges:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def _lost(a: _Edges, b: _Edges) -> int:
    """Pixels that would be painted in vain if two rectangles were one."""
    left, top, right, bottom = a
    x, y, x_end, y_end = b
    whole = ((right if right > x_end else x_end) - (left if left < x else x)) * (
        (bottom if bottom > y_end else y_end) - (top if top < y else y)
    )
    return whole - (right - left) * (bottom - top) - (x_end - x) * (y_end - y)


def area_of(primitive: Primitive, view: Viewport) -> list[QRect]:
    """Rectangles of the pixels that a primitive may touch; of many shapes, the one around all."""
    found, stroke = _boxes(primitive, view)
    if len(found) > _MOST_PARTS:
        low, high = found[:, :2].min(axis=0), (found[:, :2] + found[:, 2:]).max(axis=0)
        found = np.hstack([low, high - low])[None]
    return [_pixels(view, x, y, width, height, stroke) for x, y, width, height in found.tolist()]


def _boxes(primitive: Primitive, view: Viewport) -> tuple[npt.NDArray[np.float64], float]:
    """The boxes (n, 4) of a primitive's shapes, in units, and the width of lines around them, in pixels."""
    match primitive:
        case Cells():
            beyond = primitive.size if primitive.labels is not None else 0.0  # a long label
            x, y, width, height = primitive.box
            return boxes((x - beyond, y, width + 2 * beyond, height)), 0.0
        case Rects():
            return primitive.boxes, view.stroke(primitive.stroke_width) if primitive.stroke else 0.0
        case Lines():
            ends = primitive.segments
            low, high = np.minimum(ends[:, :2], ends[:, 2:]), np.maximum(ends[:, :2], ends[:, 2:])
            return np.hstack([low, high - low]), view.stroke(primitive.width)
        case Squares():
            return primitive.boxes[:, (0, 1, 2, 2)], 2.0
        case Labels():
            size, shift = primitive.size, ANCHORED[primitive.anchor]
            widths = np.array([text_width(text, size, primitive.face) for text in primitive.texts])
            left, top = primitive.at[:, 0] - shift * widths - size, primitive.at[:, 1] - 2 * size
            return np.stack([left, top, widths + 2 * size, np.full(len(widths), 3 * size)], axis=1), 0.0


def _pixels(view: Viewport, x: float, y: float, width: float, height: float, stroke: float = 0.0) -> QRect:
    beyond = stroke + _EDGE
    return view.rect(x, y, width, height).adjusted(-beyond, -beyond, beyond, beyond).toAlignedRect()


def _is_same(a: Primitive, b: Primitive) -> bool:
    """Whether two primitives of one type look the same."""
    mine, other = vars(a), vars(b)
    return all(value is other[name] or _equal(value, other[name]) for name, value in mine.items() if name not in _UNSEEN)


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    return bool(a == b)


def _changed_cells(old: Primitive, new: Primitive, view: Viewport) -> list[QRect] | None:
    """The pixels of the cells that differ, None if more than their contents does."""
    if not (isinstance(old, Cells) and isinstance(new, Cells)) or old.fill.shape != new.fill.shape:
        return None
    if (old.labels is None) != (new.labels is None):
        return None
    rest = {name: value for name, value in vars(old).items() if name not in (*_UNSEEN, "fill", "labels")}
    if any(value != vars(new)[name] for name, value in rest.items()):
        return None
    differs = old.fill != new.fill
    if old.labels is not None and new.labels is not None and old.labels is not new.labels:
        differs |= old.labels != new.labels
    rows, columns = np.nonzero(differs)
    if not len(rows):
        return []
    beyond = new.size if new.labels is not None else 0.0
    top, bottom, first, last = rows.min(), rows.max() + 1, columns.min(), columns.max() + 1
    x, y = new.x + first * new.size - beyond, new.y + top * new.pitch
    return [_pixels(view, x, y, (last - first) * new.size + 2 * beyond, (bottom - top) * new.pitch)]
