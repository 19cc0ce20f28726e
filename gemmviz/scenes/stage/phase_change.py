"""The beginning of a phase: the tiles glide, with what they still hold, from where the last phase had them to the rows and
columns that they become copies of.
"""

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.records import replace
from gemmviz.scenes.kit.frame import ViewOptions, eased
from gemmviz.scenes.kit.primitives import Cells, Primitive, Rects, boxes
from gemmviz.scenes.kit.theme import mixed
from gemmviz.scenes.stage.cell_grid import CellGrid
from gemmviz.scenes.stage.corner import GROUND
from gemmviz.scenes.stage.layout import Plan, tile_grids
from gemmviz.scenes.stage.tile_cells import tile_primitives

GLIDE = 0.35  # share of the step
_MOST_LABELS = 256
_EDGE = 1.5  # units that a frame reaches beyond its tile


def gliding_tiles(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the tiles on their way in the first step of a phase, over the still picture, in which they have arrived."""
    if plan.lanes is None or options.moment >= GLIDE:
        return []
    gone = moment.cached(("gone", plan), lambda: _gone(moment, plan))
    if not gone:
        return []
    key = ("gliding", plan, options.theme, options.layer, options.zoom)
    cells = moment.cached(key, lambda: _cells(moment, plan, options))
    theme, left = options.theme, 1.0 - float(eased(options.moment / GLIDE))
    pieces: list[Primitive] = []
    for number, (before, now) in gone.items():
        name, (x, y, wide, high) = moment.trace.arrays[number].name, now.box
        cover = boxes((x - _EDGE, y - _EDGE, wide + 2 * _EDGE, high + 2 * _EDGE))
        pieces.append(Rects(f"gliding-{name}-cover", cover, mixed(theme.background, theme.slate, GROUND)))
        x, y = x + (before.x - x) * left, y + (before.y - y) * left
        pieces.append(replace(cells[f"tile-{name}"], key=f"gliding-{name}", x=x, y=y))
        pieces.append(Rects(f"gliding-{name}-frame", boxes((x, y, wide, high)), None, theme.line, _EDGE))
    return pieces


def _gone(moment: Moment, plan: Plan) -> dict[int, tuple[CellGrid, CellGrid]]:
    """Return the tiles that the step before had elsewhere, with both places; none within a phase, and before the first."""
    last = moment.previous
    if last is None or last.phase == moment.phase or last.phase < 0:
        return {}
    before, now = tile_grids(last, plan), tile_grids(moment, plan)
    return {each: (before[each], now[each]) for each in now if not np.allclose(before[each].box, now[each].box)}


def _cells(moment: Moment, plan: Plan, options: ViewOptions) -> dict[str, Cells]:
    """Return the cells of each tile, those of large ones without labels, which would be painted anew in each frame."""
    drawn = (each for each in tile_primitives(moment, plan, replace(options, moment=0.0)) if isinstance(each, Cells))
    return {each.key: each if each.fill.size <= _MOST_LABELS else replace(each, labels=None) for each in drawn}
