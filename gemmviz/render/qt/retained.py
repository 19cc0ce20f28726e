"""Pictures that are painted again only where they change."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QPainter

from gemmviz.model.records import replace
from gemmviz.render.qt.painter import ScenePainter, Viewport
from gemmviz.scenes.kit.primitives import ANCHORED, Cells, Labels, Lines, Primitive, Rects, Squares, boxes
from gemmviz.scenes.kit.text import text_width

_EDGE = 2.0  # pixels beyond a shape that its smooth edge may touch


class RetainedLayer:
    """Primitives that lie over each other, and the rectangle of pixels that each covers."""

    def __init__(self) -> None:
        self._items: list[tuple[Primitive, QRect]] = []
        self._view: Viewport | None = None

    def change(self, primitives: Sequence[Primitive], view: Viewport) -> QRect | None:
        """Take other primitives, and return a rectangle around the pixels that differ; None if all may.

        It is one rectangle: several take longer than what lies between them, and Qt stretches images differently, and more
        slowly, in a clip that is no rectangle.
        """
        before, self._items = self._items, []
        if view != self._view:
            self._view = view
            self._items = [(each, area_of(each, view)) for each in primitives]
            return None
        known: dict[tuple[type, str], list[int]] = {}
        for place, (old, _) in enumerate(before):
            known.setdefault((type(old), old.key), []).append(place)
        damage, last, is_sorted = QRect(), -1, True
        for each in primitives:
            places = known.get((type(each), each.key))
            if not places:
                area = area_of(each, view)
                damage |= area
                self._items.append((each, area))
                continue
            place = places.pop(0)
            is_sorted = is_sorted and place > last
            last = place
            old, area = before[place]
            if each is old or each == old:
                self._items.append(before[place])
                continue
            cells = _changed_cells(old, each, view)
            now = area_of(each, view) if cells is None else area
            damage |= area | now if cells is None else cells
            self._items.append((each, now))
        for places in known.values():
            for place in places:
                damage |= before[place][1]
        return damage if is_sorted else None

    def paint(self, scene_painter: ScenePainter, painter: QPainter, rect: QRect) -> None:
        """Draw what lies in a rectangle over the present content, and nothing outside of it."""
        seen = [primitive for primitive, area in self._items if area.intersects(rect)]
        if seen and self._view is not None:
            painter.setClipRect(rect)
            scene_painter.paint_over(painter, seen, self._view, QRectF(rect))


def area_of(primitive: Primitive, view: Viewport) -> QRect:
    """The rectangle around the pixels that a primitive may touch."""
    found, stroke = _boxes(primitive, view)
    if not len(found):
        return QRect()
    (x, y), (right, bottom) = found[:, :2].min(axis=0).tolist(), (found[:, :2] + found[:, 2:]).max(axis=0).tolist()
    return _pixels(view, x, y, right - x, bottom - y, stroke)


def _boxes(primitive: Primitive, view: Viewport) -> tuple[npt.NDArray[np.float64], float]:
    """The boxes (n, 4) of a primitive's shapes, in units, and the width of lines around them, in pixels."""
    match primitive:
        case Cells():
            beyond = _beyond(primitive)
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


def _beyond(cells: Cells) -> float:
    """How far a long label may leave its cell, in units."""
    return cells.size if cells.labels is not None else 0.0


def _pixels(view: Viewport, x: float, y: float, width: float, height: float, stroke: float = 0.0) -> QRect:
    beyond = stroke + _EDGE
    return view.rect(x, y, width, height).adjusted(-beyond, -beyond, beyond, beyond).toAlignedRect()


def _changed_cells(old: Primitive, new: Primitive, view: Viewport) -> QRect | None:
    """The rectangle around the cells that differ, None if more than their contents does."""
    if not (isinstance(old, Cells) and isinstance(new, Cells)) or old.fill.shape != new.fill.shape:
        return None
    if (old.labels is None) != (new.labels is None) or replace(old, fill=new.fill, labels=new.labels) != new:
        return None
    differs = old.fill != new.fill
    if old.labels is not None and new.labels is not None and old.labels is not new.labels:
        differs |= old.labels != new.labels
    rows, columns = np.nonzero(differs)
    if not len(rows):
        return QRect()
    top, bottom, first, last = rows.min(), rows.max() + 1, columns.min(), columns.max() + 1
    x, beyond = new.x + first * new.size, _beyond(new)
    return _pixels(
        view, x - beyond, new.y + top * new.pitch, (last - first) * new.size + 2 * beyond, (bottom - top) * new.pitch
    )
