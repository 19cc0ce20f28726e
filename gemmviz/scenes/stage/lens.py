"""Signs of the lens: torn edges where a matrix continues, and a small map of the cross with the visible part."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.sites import Access
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.layout import Box, text_at
from gemmviz.scenes.kit.primitives import Lines, Primitive, Rects, boxes
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.window import Window
from gemmviz.scenes.stage.layout import Plan
from gemmviz.scenes.stage.matrix import CellGrid, label_size, longest_of

_TOOTH, _DEPTH = 30.0, 8.0
_LEAST_MARK = 5.0
_CAPTION = 30.0


def lens_primitives(plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the signs; nothing without the lens."""
    return _cached_lens(plan, options.theme) if plan.window.is_lens else []


@lru_cache(maxsize=32)
def _cached_lens(plan: Plan, theme: Theme) -> list[Primitive]:
    """Return the signs, cached because they stay the same while the lens stays in place."""
    torn = [_torn(name, table, plan, theme) for name, table in plan.matrices.items()]
    primitives: list[Primitive] = [each for pair in torn for each in pair]
    if isinstance(plan.window, Window) and "map" in plan.rooms:
        primitives += _map(plan.window, plan.rooms["map"], theme)
    return primitives


def _torn(name: str, table: CellGrid, plan: Plan, theme: Theme) -> list[Primitive]:
    """Draw zigzags over the cut edges, on strips that cover the ends of the cells."""
    rows, columns = plan.window.extents(name)
    x, y, width, height = table.box
    beyond = (
        (table.first[1] > 0, y, height, x, False),
        (table.first[1] + table.columns < columns, y, height, x + width, False),
        (table.first[0] > 0, x, width, y, True),
        (table.first[0] + table.rows < rows, x, width, y + height, True),
    )
    edges = [(start, length, at, is_flat) for is_beyond, start, length, at, is_flat in beyond if is_beyond]
    if not edges:
        return []
    half, strips = _DEPTH / 2 + 1.5, []
    for start, length, at, is_flat in edges:
        along, across = (start - half, length + 2 * half), (at - half, 2 * half)
        (left, wide), (top, high) = (along, across) if is_flat else (across, along)
        strips.append((left, top, wide, high))
    teeth = np.concatenate([_zigzag(*edge) for edge in edges])
    return [Rects(f"{name}-tear", boxes(*strips), theme.background), Lines(f"{name}-torn", teeth, theme.faint, 1.5)]


def _zigzag(start: float, length: float, at: float, is_flat: bool) -> np.ndarray:
    """Return the segments (n, 4) along an edge."""
    count = max(2, round(length / _TOOTH))
    along = start + np.linspace(0.0, length, count + 1)
    across = at + np.where(np.arange(count + 1) % 2, _DEPTH / 2, -_DEPTH / 2)
    points_ = np.stack([along, across] if is_flat else [across, along], axis=1)
    return np.concatenate([points_[:-1], points_[1:]], axis=1)


def _map(window: Window, room: Box, theme: Theme) -> list[Primitive]:
    """Draw A, B and C as a whole, small, with the visible part of each."""
    m, n, k = window.whole
    gap = 8.0
    size = min(room.width - gap, 260.0) / (k + n), (room.height - _CAPTION - gap) / (k + m)
    scale = min(size)
    x, y = room.x, room.bottom - (k + m) * scale - gap
    corners = {"A": (x, y + k * scale + gap), "B": (x + k * scale + gap, y), "C": (x + k * scale + gap, y + k * scale + gap)}
    words = tr("visible part")
    primitives: list[Primitive] = [text_at("map-name", (x, y - 10), words, theme.type.note, theme.faint)]
    for name, (left, top) in corners.items():
        high, wide = (extent * scale for extent in window.extents(name))
        (r0, r1), (c0, c1) = window.of(name)
        x0, across = _marked(left + c0 * scale, (c1 - c0) * scale, left, wide)
        y0, down = _marked(top + r0 * scale, (r1 - r0) * scale, top, high)
        primitives.append(Rects(f"{name}-map", boxes((left, top, wide, high)), theme.tint(name, 0.22), theme.line, 1.0))
        primitives.append(Rects(f"{name}-place", boxes((x0, y0, across, down)), theme.accent(name)))
    return primitives


def _marked(start: float, length: float, low: float, extent: float) -> tuple[float, float]:
    """Return a stretch, widened so that it stays visible."""
    longer = min(max(length, _LEAST_MARK), extent)
    return min(max(low, start + (length - longer) / 2), low + extent - longer), longer


# The values of elements as text for cells: of inputs once they were read, of outputs once they were stored, of shared
# arrays what they hold. A value that the run does not tell is masked and left out, unlike a NaN that the run has stored.

_DIGITS = (3, 2, 1, 0)  # decimals, tried from the most
_NAN = "NaN"
_MOST = 1 << 22  # recorded values that are looked through

if TYPE_CHECKING:
    Known = np.ma.MaskedArray[tuple[int, ...], np.dtype[np.float64]]


def matrix_values(moment: Moment, number: int) -> Known | None:
    """Return the value of each element of a global array at a moment, flat, masked where unknown; None if none is known."""
    if moment.replay.value is None or moment.replay.value.size > _MOST:
        return None
    if moment.trace.arrays[number].name in moment.trace.setup.problem.output_names:
        return _held(moment, number, moment.step)
    known: Known = moment.replay.cached(("values", number, id(moment.replay.value)), lambda: _read(moment, number))
    return known


def final_values(moment: Moment, number: int) -> Known | None:
    """Return what the whole run stores in each element of a global array, flat, masked where nothing; None if none is
    known.
    """
    if moment.replay.value is None or moment.replay.value.size > _MOST:
        return None
    return _held(moment, number, moment.trace.steps, accesses=("write",))


def _read(moment: Moment, number: int) -> Known:
    """Return what any thread read from an input at any step: inputs don't change."""
    found = _unknown(moment, number)
    for touches in moment.trace.touches_of(number, "read"):
        _fill(moment, found, touches.rows)
    return found


def _held(moment: Moment, number: int, step: int, accesses: tuple[Access, ...] = ("read", "write")) -> Known:
    """Return what was last stored into an output up to a step, or what it held before and a thread has read."""
    found = _unknown(moment, number)
    for access in accesses:
        for touches in moment.trace.touches_of(number, access):
            _fill(moment, found, touches.rows[touches.steps <= step])
    return found


def _unknown(moment: Moment, number: int) -> Known:
    size = moment.trace.arrays[number].size
    return np.ma.MaskedArray(np.zeros(size), np.ones(size, bool))


def _fill(moment: Moment, found: Known, rows: npt.NDArray[np.int64]) -> None:
    assert moment.replay.value is not None
    elements, values = moment.trace.element[rows], moment.replay.value[rows]
    active = elements >= 0
    found[elements[active]] = values[active]


def value_texts(values: npt.NDArray[np.float64] | Known, cell: float, least: float) -> npt.NDArray[np.str_] | None:
    """Return numbers with as many decimals as fit a cell in the size ``least``, "" for unknown ones, which are masked or, in an
    array without a mask, NaN; None if none fits. If one decimal is too many, only numbers below 1 have one.
    """
    known = ~np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else ~np.isnan(values)
    data, found = np.ma.getdata(values), np.full(values.shape, "", "<U12")
    for digits in (*_DIGITS, None) if known.any() and label_size("0", cell, least=least) else ():
        texts = [_text(value, int(abs(value) < 1) if digits is None else digits) for value in data[known].tolist()]
        if label_size(longest_of(texts), cell, least=least) and (digits != 0 or _are_whole(data[known])):
            found[known] = texts
            return found
    return None if known.any() else found


def _are_whole(values: npt.NDArray[np.float64]) -> bool:
    return bool((values == np.round(values)).all()) or bool((np.abs(values) >= 1).all())


@lru_cache(maxsize=8192)
def _text(value: float, digits: int) -> str:
    """Return a number without zeros before its point and at its end, as in ".25"."""
    if np.isnan(value):
        return _NAN
    text = f"{abs(value):.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    text = text.removeprefix("0") if text.startswith("0.") else text
    return f"-{text}" if value < 0 and text != "0" else text
