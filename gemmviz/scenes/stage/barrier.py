"""A barrier: the threads of a block wait at a gate, which opens once all threads that are still running have arrived."""

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.scenes.kit.frame import ViewOptions, eased
from gemmviz.scenes.kit.groups import thread_colours
from gemmviz.scenes.kit.primitives import Primitive, Rects, Squares
from gemmviz.scenes.stage.layout import Plan

_ARRIVED, _OPEN = 0.45, 0.7  # shares of the step: all threads wait; the gate is open
_CROWD = 0.3  # distance from the gate of the threads of the farthest row
_HIGH, _AIR = 5.0, 3.0


def barrier_gate(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the gate above the block's part of the result, closed until all threads have arrived. Nothing for other steps."""
    box = _block(moment, plan) if moment.site.is_barrier else None
    if box is None:
        return []
    x, y, width, _ = box
    shut = 0.0 if options.arrived else 1.0
    half = width * (0.06 + 0.44 * shut)
    halves = np.array([[x, y - _HIGH - _AIR, half, _HIGH], [x + width - half, y - _HIGH - _AIR, half, _HIGH]])
    return [Rects("gate", halves, options.theme.warning if shut else options.theme.text, radius=2.0)]


def barrier_motion(moment: Moment, plan: Plan, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw a square for each thread that arrives: from its element of the result to the gate, and through it."""
    box = _block(moment, plan)
    if box is None:
        return ()
    row = moment.trace.element[int(moment.trace.row[moment.step]), moment.scope.of_block]
    threads = np.flatnonzero(row >= 0)
    homes, table = moment.homes[threads], plan.home(moment)
    if table is None:
        return ()
    visible = table.holds(homes[:, 0], homes[:, 1]) & ~np.isnan(homes).any(axis=1)
    middle, threads = table.middle(homes[visible, 0], homes[visible, 1]), threads[visible]
    if not len(middle):
        return ()
    come = min(1.0, options.moment / _ARRIVED)
    gone = min(1.0, max(0.0, (options.moment - _OPEN) / (1.0 - _OPEN)))
    near = eased(come) * (1 - gone)
    middle[:, 1] += (box[1] + (middle[:, 1] - box[1]) * _CROWD - middle[:, 1]) * near
    side = max(2.5, min(0.34 * table.cell, 14.0))
    palette, fill = thread_colours(
        moment.trace, threads + moment.scope.of_block.start, options.layer, options.theme, options.theme.text
    )
    squares = np.column_stack([middle - side / 2, np.full(len(middle), side)])
    return (Squares("arriving", squares, fill, palette, palette, None, 0.0, options.theme.background),)


def _block(moment: Moment, plan: Plan) -> tuple[float, float, float, float] | None:
    """Return the visible part of the block's area of the matrix on which threads are drawn."""
    area, home = None if moment.home is None else moment.area(moment.home), plan.home(moment)
    if area is None or home is None:
        return None
    box = home.part(area[:2], area[2:])
    return box if box[2] and box[3] else None
