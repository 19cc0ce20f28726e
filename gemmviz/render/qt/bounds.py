"""The pixels that a primitive may paint, as a rectangle that is never too small: what is painted again where a picture has
changed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.render.qt.painter import Viewport
from gemmviz.scenes.kit.primitives import ANCHORED, Cells, Labels, Lines, Primitive, Rects, Squares
from gemmviz.scenes.kit.text import text_width

Bounds = tuple[float, float, float, float]  # left, top, right, bottom, in pixels
NOWHERE: Bounds = (0.0, 0.0, 0.0, 0.0)
_SLACK = 2.0  # pixels: antialiasing and rounding
_ABOVE, _BELOW, _BESIDE = 1.2, 0.5, 0.3  # of a text's size: from its baseline, and beyond its ends


def bounds(primitive: Primitive, view: Viewport) -> Bounds:
    """Return the pixels that a primitive may paint; NOWHERE for an empty one."""
    return _BOUNDS[type(primitive)](primitive, view)


def cells_bounds(cells: Cells, changed: npt.NDArray[np.bool_], view: Viewport) -> Bounds:
    """Return the pixels that the chosen cells (rows, columns) may paint, with their labels; NOWHERE for none."""
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    if not len(rows):
        return NOWHERE
    left, right = cells.x + float(columns[0]) * cells.size, cells.x + float(columns[-1] + 1) * cells.size
    top, bottom = cells.y + float(rows[0]) * cells.pitch, cells.y + float(rows[-1] + 1) * cells.pitch
    return _around_labels((left, top, right, bottom), cells.labels, cells.label_size, (cells.size, cells.pitch), view)


def _pixels(units: Bounds, view: Viewport, beyond: float = 0.0) -> Bounds:
    """Return a rectangle in scene units as pixels, with ``beyond`` pixels on each side."""
    (left, top, right, bottom), more = units, beyond + _SLACK
    return (
        left * view.scale + view.dx - more, top * view.scale + view.dy - more,
        right * view.scale + view.dx + more, bottom * view.scale + view.dy + more,
    )  # fmt: skip


def _around_labels(
    units: Bounds, labels: npt.NDArray[np.str_] | None, size: float, room: tuple[float, float], view: Viewport
) -> Bounds:
    """Return a rectangle of cells, widened by what labels of this size may reach beyond a ``room`` (width, height)."""
    if labels is None:
        return _pixels(units, view)
    longest = labels.dtype.itemsize / 4 * size
    beyond = max(0.0, longest - room[0], 1.5 * size - room[1]) / 2
    return _pixels(units, view, beyond * view.scale)


def _of_cells(cells: Cells, view: Viewport) -> Bounds:
    left, top, width, height = cells.box
    units = (left, top, left + width, top + height)
    return _around_labels(units, cells.labels, cells.label_size, (cells.size, cells.pitch), view)


def _of_rects(rects: Rects, view: Viewport) -> Bounds:
    if not len(rects.boxes):
        return NOWHERE
    low, high = rects.boxes[:, :2].min(axis=0), (rects.boxes[:, :2] + rects.boxes[:, 2:]).max(axis=0)
    return _pixels((*low.tolist(), *high.tolist()), view, view.stroke(rects.stroke_width))


def _of_lines(lines: Lines, view: Viewport) -> Bounds:
    if not len(lines.segments):
        return NOWHERE
    ends = lines.segments.reshape(-1, 2)
    return _pixels((*ends.min(axis=0).tolist(), *ends.max(axis=0).tolist()), view, view.stroke(lines.width))


def _of_labels(labels: Labels, view: Viewport) -> Bounds:
    if not labels.texts:
        return NOWHERE
    widths = np.array([text_width(text, labels.size, labels.face) for text in labels.texts])
    left, base, size = labels.at[:, 0] - ANCHORED[labels.anchor] * widths, labels.at[:, 1], labels.size
    units = (
        float(left.min()) - _BESIDE * size, float(base.min()) - _ABOVE * size,
        float((left + widths).max()) + _BESIDE * size, float(base.max()) + _BELOW * size,
    )  # fmt: skip
    return _pixels(units, view)


def _of_squares(squares: Squares, view: Viewport) -> Bounds:
    if not len(squares.boxes):
        return NOWHERE
    sides = squares.boxes[:, 2:]
    low, high = squares.boxes[:, :2].min(axis=0), (squares.boxes[:, :2] + sides).max(axis=0)
    room = float(sides.min())
    return _around_labels((*low.tolist(), *high.tolist()), squares.labels, squares.label_size, (room, room), view)


_BOUNDS: dict[type, Callable[[Any, Viewport], Bounds]] = {
    Cells: _of_cells,
    Rects: _of_rects,
    Lines: _of_lines,
    Labels: _of_labels,
    Squares: _of_squares,
}
