"""Row and column numbers along the outer sides of the matrices, as many as fit."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.translation import tr
from gemmviz.model.words import many
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.primitives import Anchor, Labels, Lines, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.text import CAP_HEIGHT, label_step, text_width, wrap_text
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.window import Window
from gemmviz.scenes.stage.lanes import Lanes
from gemmviz.scenes.stage.layout import Plan, tile_grids
from gemmviz.scenes.stage.matrix import CellGrid

_AIR = 8.0
_OTHER_SIDES = ("left", "below")
_SIDES: dict[str, tuple[str, ...]] = {"A": ("left", "above"), "B": ("right",), "C": ("right", "above")}


Clip = tuple[float, float, float, float]


class _Look(Struct, frozen=True):
    """The options that axes depend on."""

    theme: Theme
    zoom: float
    clip: Clip | None
    counted_from: int = 0


def is_clear_beside_numbers(table: CellGrid, theme: Theme) -> bool:
    """Whether a line along the edge of a column misses the numbers of columns, which stand in the middle of theirs."""
    return text_width(str(table.first[1] + table.columns), theme.type.least) < table.cell


def axis_primitives(plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the numbers of A on its left and above, of B on its right, of C on its right and above, where they number B's
    columns too.

    In a zoomed view they stand at the edge of the visible part.
    """
    return _cached_axes(plan, options.theme, options.zoom, options.clip, options.labels.first)


@lru_cache(maxsize=32)
def _cached_axes(plan: Plan, theme: Theme, zoom: float, clip: Clip | None, counted_from: int) -> list[Primitive]:
    """Return the axes, cached because they stay the same from step to step."""
    look = _Look(theme, zoom, clip, counted_from)
    primitives: list[Primitive] = []
    for name, table in plan.matrices.items():
        for side in _SIDES.get(name, _OTHER_SIDES) if isinstance(plan.window, Window) else _OTHER_SIDES:
            primitives += _along(name, table, side, look, plan.beyond)
    return primitives


def _along(name: str, table: CellGrid, side: str, options: _Look, beyond: tuple[int, int]) -> list[Primitive]:
    size = options.theme.type.least / options.zoom
    is_row = side in ("left", "right")
    first, count = (table.first[0], table.rows) if is_row else (table.first[1], table.columns)
    start, length = (table.y, table.rows * table.cell) if is_row else (table.x, table.columns * table.cell)
    numbers = _numbers(first, count, table.cell, size, is_row)
    step = table.row_step if is_row else 1
    middle = (start + (numbers - first + 0.5) * table.cell).astype(np.float64)
    if options.clip is not None:
        low, extent = (options.clip[1], options.clip[3]) if is_row else (options.clip[0], options.clip[2])
        numbers, middle = numbers[(middle > low) & (middle < low + extent)], middle[(middle > low) & (middle < low + extent)]
    if not len(numbers) or not length:
        return []
    at = _beside(table, side, middle, size, options) + _shift(side, table.cell, beyond)
    anchor: Anchor = {"left": "end", "right": "start"}.get(side, "middle")  # type: ignore[assignment]
    return [
        Labels(
            f"{name}-axis-{side}",
            at,
            tuple(map(str, (numbers * step + options.counted_from).tolist())),
            size,
            options.theme.faint,
            anchor,
        )
    ]


def _shift(side: str, cell: float, beyond: tuple[int, int]) -> tuple[float, float]:
    """Return how far numbers stand from their matrix because of padding between."""
    return (beyond[1] * cell if side == "right" else 0.0), (beyond[0] * cell if side == "below" else 0.0)


def _beside(
    table: CellGrid, side: str, middle: npt.NDArray[np.float64], size: float, options: _Look
) -> npt.NDArray[np.float64]:
    x, y, width, height = table.box
    air, capital = _AIR / options.zoom, CAP_HEIGHT * size
    if options.clip is not None:
        left, top, wide, high = options.clip
        x0, x1 = max(x, left + 4 * size), min(x + width, left + wide - 4 * size)
        y0, y1 = max(y, top + 2 * size), min(y + height, top + high - 2 * size)
    else:
        x0, x1, y0, y1 = x, x + width, y, y + height
    match side:
        case "left":
            return np.stack([np.full_like(middle, x0 - air), middle + capital / 2], axis=1)
        case "right":
            return np.stack([np.full_like(middle, x1 + air), middle + capital / 2], axis=1)
        case "above":
            return np.stack([middle, np.full_like(middle, y0 - air)], axis=1)
    return np.stack([middle, np.full_like(middle, y1 + air + capital)], axis=1)


def _numbers(first: int, count: int, cell: float, size: float, is_row: bool) -> npt.NDArray[np.int64]:
    """Return multiples of a power of two with space between them."""
    needed = 1.35 * size if is_row else text_width(str(first + count - 1), size) + 0.7 * size
    step = label_step(cell, needed, 1 << 30)
    return np.arange(-(-first // step) * step, first + count, step)


# The corner between A and B: the box of the block's shared memory, its title, and lines between each tile and what it is a
# copy of.

_AROUND, _RADIUS, _INSET = 8.0, 12.0, 14.0
_MOST_LINES, _LEADING = 4, 1.25
GROUND = 0.4  # strength of the slate behind the tiles


def corner_primitives(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the box behind the tiles; nothing for a kernel without shared arrays."""
    lanes, theme = plan.lanes, options.theme
    if lanes is None:
        return []
    x, y, wide, high = lanes.corner
    box = boxes((x - _AROUND, y - _AROUND, wide + 1.5 * _AROUND, high + 1.5 * _AROUND))
    grids = tile_grids(moment, plan)
    return [
        Rects("corner", box, mixed(theme.background, theme.slate, GROUND), theme.line, 1.5, _RADIUS),
        *_title(moment, lanes, grids, options),
        *_ties(plan, lanes, grids, options),
    ]


def _title(moment: Moment, lanes: Lanes, grids: dict[int, CellGrid], options: ViewOptions) -> list[Primitive]:
    """Draw what the box is, in as many lines as its free part is wide."""
    size, corner = options.theme.type.least, lanes.corner
    left = min((grids[each.number].x for each in lanes.tiles if each.side == "B"), default=corner.right)
    low = min((grids[each.number].y for each in lanes.tiles if each.side != "B"), default=corner.bottom)
    name = max(
        (text_width(moment.trace.arrays[each.number].name, options.theme.type.heading) for each in lanes.tiles), default=0.0
    )
    room = left - corner.x - 2 * _INSET - (name if left < corner.right else 0.0)
    wrapped = (wrap_text(text, size, room, _MOST_LINES) for text in _titles(moment))
    lines = next((each for each in wrapped if _fits(each, size, low - corner.y)), ())
    if not lines:
        return []
    at = points(*((corner.x + 4, corner.y + 4 + (number + 0.8) * _LEADING * size) for number in range(len(lines))))
    return [Labels("corner-name", at, lines, size, options.theme.faint)]


def _titles(moment: Moment) -> list[str]:
    """Return what the box is, from the longest text; if all blocks are watched, that the others have a box of their own."""
    column, row = moment.scope.focus.block[:2]
    block, others = tr("block\u00a0({column},\u00a0{row})", column=column, row=row), moment.trace.launch.block_count - 1
    text = tr("shared memory of {block}", block=block)
    if not moment.focus.everyone or not others:
        return [text]
    return [
        (
            tr("{owner}; {other_blocks} has its own", owner=text, other_blocks=many(others, "other block"))
            if others == 1
            else tr("{owner}; {other_blocks} have their own", owner=text, other_blocks=many(others, "other block"))
        ),
        tr("{owner} only", owner=text),
        tr("only {block}", block=block),
    ]


def _fits(lines: Sequence[str], size: float, height: float) -> bool:
    return not any("…" in line for line in lines) and len(lines) * _LEADING * size <= height


def _ties(plan: Plan, lanes: Lanes, grids: dict[int, CellGrid], options: ViewOptions) -> list[Primitive]:
    """Draw lines from the edges of each tile to the rows or columns beside it."""
    segments = []
    a, b = plan.matrices["A"], plan.matrices["B"]
    for each in lanes.tiles:
        x, y, wide, high = grids[each.number].box
        if each.side == "A" and grids[each.number].cell == a.cell and is_clear_beside_numbers(a, options.theme):
            segments += [(at, y + high, at, a.y) for at in (x, x + wide)]
        elif each.side == "B" and grids[each.number].cell == b.cell:
            segments += [(x + wide, at, b.x, at) for at in (y, y + high)]
    return [Lines("ties", np.asarray(segments, np.float64), options.theme.line, 2.0)] if segments else []
