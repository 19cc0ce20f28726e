"""Pictures that are painted again only where they change."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPoint, QRect, QRectF
from PySide6.QtGui import QColor, QPainter, QPixmap

from gemmviz.model.records import replace
from gemmviz.render.qt.painter import ScenePainter, Viewport
from gemmviz.scenes.kit.primitives import ANCHORED, Cells, Labels, Lines, Primitive, Rects, Scene, Squares, boxes
from gemmviz.scenes.kit.text import text_width

_SMOOTH_EDGE = 2.0  # pixels beyond a shape that its smooth edge may touch


class RetainedLayer:
    """Primitives that lie over each other, and the rectangle of pixels that each covers: an immutable value."""

    def __init__(self, items: Sequence[tuple[Primitive, QRect]] = (), view: Viewport | None = None) -> None:
        self._items, self._view = items, view

    def then(self, primitives: Sequence[Primitive], view: Viewport) -> tuple["RetainedLayer", QRect | None]:
        """Return the layer of other primitives, and a rectangle around the pixels that differ; None if all may.

        It is one rectangle: several take longer than what lies between them, and Qt stretches images differently, and more
        slowly, in a clip that is no rectangle.
        """
        before, items = self._items, list[tuple[Primitive, QRect]]()
        if view != self._view:
            return RetainedLayer([(each, area_of(each, view)) for each in primitives], view), None
        known: dict[tuple[type, str], list[int]] = {}
        for place, (old, _) in enumerate(before):
            known.setdefault((type(old), old.key), []).append(place)
        damage, last, is_sorted = QRect(), -1, True
        for each in primitives:
            places = known.get((type(each), each.key))
            if not places:
                area = area_of(each, view)
                damage |= area
                items.append((each, area))
                continue
            place = places.pop(0)
            is_sorted = is_sorted and place > last
            last = place
            old, area = before[place]
            if each is old or each == old:
                items.append(before[place])
                continue
            cells = _changed_cells(old, each, view)
            now = area_of(each, view) if cells is None else area
            damage |= area | now if cells is None else cells
            items.append((each, now))
        for places in known.values():
            for place in places:
                damage |= before[place][1]
        return RetainedLayer(items, view), damage if is_sorted else None

    def paint(self, scene_painter: ScenePainter, painter: QPainter, rect: QRect) -> None:
        """Draw what lies in a rectangle over the present content, and nothing outside of it."""
        seen = [primitive for primitive, area in self._items if area.intersects(rect)]
        if seen and self._view is not None:
            painter.setClipRect(rect)
            scene_painter.paint_over(painter, seen, self._view, QRectF(rect))


class Layers(NamedTuple):
    """The layers of a picture that don't move: the ground, and what lies over all that moves."""

    below: RetainedLayer = RetainedLayer()
    above: RetainedLayer = RetainedLayer()
    over: RetainedLayer = RetainedLayer()

    def then(self, scene: Scene, view: Viewport, whole: Viewport) -> tuple["Layers", list[QRect | None]]:
        """Return the layers of another picture, and what differs in each, as ``RetainedLayer.then`` does. ``whole``: the view
        of what keeps its place.
        """
        below, ground = self.below.then(scene.primitives, view)
        above, words = self.above.then(scene.above, view), self.over.then(scene.words, whole)
        return Layers(below, above[0], words[0]), [ground, above[1], words[1]]


class Ground:
    """The lowest layer of a picture that fills ``area``, painted. ``ratio``: device pixels per pixel; ``outdated``: the part
    that shows an earlier picture, at first all of it.
    """

    def __init__(self, area: QRect, ratio: float) -> None:
        self.pixmap = QPixmap(round(area.width() * ratio), round(area.height() * ratio))
        self.pixmap.setDevicePixelRatio(ratio)
        self._whole, self.outdated = area, QRect(area)

    def add(self, changed: QRect | None) -> None:
        """Count another part as outdated, None for all of it."""
        self.outdated = self.outdated.united(self._whole if changed is None else changed)

    def paint(self, scene_painter: ScenePainter, layer: RetainedLayer, background: str, most: float = np.inf) -> None:
        """Paint what is outdated; of more than ``most`` device pixels only the upper part."""
        strip, ratio = QRect(self.outdated), self.pixmap.devicePixelRatio()
        if strip.isEmpty():
            return
        strip.setHeight(int(min(strip.height(), 1 + most / ratio**2 // strip.width())))
        painter = QPainter(self.pixmap)
        try:
            painter.setClipRect(strip)
            painter.fillRect(strip, QColor(background))
            layer.paint(scene_painter, painter, strip)
        finally:
            painter.end()
        self.outdated = QRect(strip.bottomLeft() + QPoint(0, 1), self.outdated.bottomRight())
        if self.outdated.isEmpty():
            self.outdated = QRect()  # an empty one elsewhere would count in a union


def area_of(primitive: Primitive, view: Viewport) -> QRect:
    """The rectangle around the pixels that a primitive may touch."""
    found, stroke = _shape_boxes(primitive, view)
    if not len(found):
        return QRect()
    (x, y), (right, bottom) = found[:, :2].min(axis=0).tolist(), (found[:, :2] + found[:, 2:]).max(axis=0).tolist()
    return _pixels(view, x, y, right - x, bottom - y, stroke)


def _shape_boxes(primitive: Primitive, view: Viewport) -> tuple[npt.NDArray[np.float64], float]:
    """The boxes (n, 4) of a primitive's shapes, in units, and the width of lines around them, in pixels."""
    match primitive:
        case Cells():
            beyond = _label_overhang(primitive)
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


def _label_overhang(cells: Cells) -> float:
    """How far a long label may leave its cell, in units."""
    return cells.size if cells.labels is not None else 0.0


def _pixels(view: Viewport, x: float, y: float, width: float, height: float, stroke: float = 0.0) -> QRect:
    beyond = stroke + _SMOOTH_EDGE
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
    x, beyond = new.x + first * new.size, _label_overhang(new)
    return _pixels(
        view, x - beyond, new.y + top * new.pitch, (last - first) * new.size + 2 * beyond, (bottom - top) * new.pitch
    )
