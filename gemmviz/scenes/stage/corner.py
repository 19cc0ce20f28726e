"""The corner between A and B: the box of the block's shared memory, its title, and lines between each tile and what it is a
copy of.
"""

from collections.abc import Sequence

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.translation import tr
from gemmviz.model.words import many
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.text import text_width, wrap_text
from gemmviz.scenes.kit.theme import mixed
from gemmviz.scenes.stage.axes import is_clear_beside_numbers
from gemmviz.scenes.stage.cell_grid import CellGrid
from gemmviz.scenes.stage.lanes import Lanes
from gemmviz.scenes.stage.layout import Plan, tile_grids

_AROUND, _RADIUS, _INSET = 8.0, 12.0, 14.0
_MOST_LINES, _LEADING = 4, 1.25
GROUND = 0.4  # strength of the slate behind the tiles


def corner_primitives(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the box behind the tiles; nothing for a kernel without shared arrays."""
    lanes, theme = plan.lanes, options.theme
    if lanes is None:
        return []
    x, y, wide, high = lanes.corner.x, lanes.corner.y, lanes.corner.width, lanes.corner.height
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
    left = min((grids[each.number].x for each in lanes.tiles if each.side == "B"), default=corner.x + corner.width)
    low = min((grids[each.number].y for each in lanes.tiles if each.side != "B"), default=corner.y + corner.height)
    name = max(
        (text_width(moment.trace.arrays[each.number].name, options.theme.type.heading) for each in lanes.tiles), default=0.0
    )
    room = left - corner.x - 2 * _INSET - (name if left < corner.x + corner.width else 0.0)
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
