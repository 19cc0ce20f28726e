"""What moves during a step: copies of elements, and threads that meet at a barrier.

Copies of one element to many places travel as one chip with their number and fan out at arrival. Copies to one place arrive
side by side.
"""

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.flights import THREADS, Flights
from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.arrays import Floats
from gemmviz.model.labels import LabelStyle
from gemmviz.scenes.kit.frame import ARRIVAL, ViewOptions, eased
from gemmviz.scenes.kit.groups import thread_colours
from gemmviz.scenes.kit.primitives import Primitive, Rects, Squares
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.stage.barrier import barrier_motion
from gemmviz.scenes.stage.layout import Plan, cell_of, places, plan_of
from gemmviz.scenes.stage.matrix import label_size
from gemmviz.scenes.stage.tile_cells import tile_matrix

_SHARE_OF_CELL, _LEAST_SIDE = 0.78, 4.0
_MOST_LABELLED, _MOST_RINGS = 80, 600
_MOST_FANNED = 512
FAN = 0.55  # share of the way at which a chip of many begins to fan out
_HUB = 0.7  # distance from the target at that point


def stage_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the copies that travel at ``options.moment``; nothing after all have arrived.

    Copies that wait in a register stay visible until the end of the step. Without motion, rings around the accessed cells
    fade.
    """
    if options.moment >= 1.0:
        return ()
    plan = plan_of(moment, options)
    if moment.site.is_barrier:
        return barrier_motion(moment, plan, options) if options.shows_flights else ()
    if not options.shows_flights:
        return _rings(moment, plan, options)
    moving = (_squares(moment, each, plan, options) for each in moment.flights if len(each))
    waiting = tuple(squares for squares in moving if squares is not None)
    return (*_rings(moment, plan, options), *waiting) if options.arrived else waiting


def _rings(moment: Moment, plan: Plan, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw thinning rings around the accessed cells."""
    primitives = []
    left = (1.0 - options.moment) / (1.0 - ARRIVAL if options.shows_flights else 1.0)
    for touched in moment.touched:
        number = touched.operand.array
        cells = touched.cells if touched.array.space == "global" else touched.block_cells
        middle = places(moment, plan, number, np.unique(cells)[:_MOST_RINGS])
        middle, side = middle[~np.isnan(middle).any(axis=1)], cell_of(moment, plan, number)
        boxes = np.hstack([middle - side / 2, np.full((len(middle), 2), side)])
        width = max(1.0, 5.0 * left)
        primitives.append(Rects(f"fading-{number}", boxes, None, options.theme.text, width))
    return tuple(each for each in primitives if len(each.boxes))


def _squares(moment: Moment, group: Flights, plan: Plan, options: ViewOptions) -> Squares | None:
    start, end = places(moment, plan, group.source, group.start), places(moment, plan, group.target, group.end)
    known = ~(np.isnan(start).any(axis=1) | np.isnan(end).any(axis=1))
    first, last = group.way
    if not known.any() or (options.arrived and last == 1.0):
        return None
    sides = [max(_LEAST_SIDE, _SHARE_OF_CELL * cell_of(moment, plan, each)) for each in (group.source, group.target)]
    share = first + (last - first) * eased(min(1.0, options.moment / ARRIVAL))
    side = sides[0] + (sides[1] - sides[0]) * share
    start, end, texts, threads = start[known], end[known], _labels(moment, group, options.labels)[known], group.thread[known]
    _, firsts, which, count = np.unique(group.start[known], return_index=True, return_inverse=True, return_counts=True)
    which = which.ravel()
    if first == 0.0 and last == 1.0 and len(firsts) < len(start):
        hub = start + (_means(end, which) - start) * _HUB
        if share < FAN:
            middle = (start + (hub - start) * (share / FAN))[firsts]
            texts = np.array([_many(text, copies) for text, copies in zip(texts[firsts].tolist(), count.tolist(), strict=True)])
            threads = threads[firsts]
        elif len(start) > _MOST_FANNED:
            met = hub + (_means(end, which) - hub) * ((share - FAN) / (1 - FAN))
            middle, texts, threads = met[firsts], texts[firsts], threads[firsts]
        else:
            middle = hub + (_side_by_side(end, group.end[known], side) - hub) * ((share - FAN) / (1 - FAN))
    else:
        middle = start + (_side_by_side(end, group.end[known], side) - start) * share
    return _chips(moment, group, middle, side, texts, threads, options)


def _chips(
    moment: Moment, group: Flights, middle: Floats, side: float, texts: npt.NDArray[np.str_],
    threads: npt.NDArray[np.int64], options: ViewOptions,
) -> Squares:  # fmt: skip
    alone = _accent(moment, group, options.theme)
    palette, fill = thread_colours(moment.trace, threads + moment.scope.of_block.start, options.layer, options.theme, alone)
    size = 0.0
    if len(middle) <= _MOST_LABELLED:
        size = label_size(max(texts.tolist(), key=len) or "0", side, options.pixels, options.least)
    boxes = np.column_stack([middle - side / 2, np.full(len(middle), side)])
    inks = tuple(options.theme.ink_on(colour) for colour in palette)
    key = f"moving-{group.source}-{group.target}"
    return Squares(key, boxes, fill, palette, inks, texts if size else None, size, options.theme.background)


def _means(points: Floats, which: npt.NDArray[np.int64]) -> Floats:
    """Return for each point the mean of the points of its kind."""
    count = np.bincount(which)
    return np.stack([(np.bincount(which, points[:, axis]) / count)[which] for axis in (0, 1)], axis=1)


def _side_by_side(end: Floats, target: npt.NDArray[np.int64], side: float) -> Floats:
    """Return where copies come to rest: next to each other if several go to one place."""
    order = np.argsort(target, kind="stable")
    sorted_ = target[order]
    starts = np.flatnonzero(np.concatenate([[True], sorted_[1:] != sorted_[:-1]]))
    if len(starts) == len(target):
        return end
    length = np.diff([*starts.tolist(), len(target)])
    rank = np.arange(len(target)) - np.repeat(starts, length)
    moved = end.copy()
    moved[order, 0] += (rank - (np.repeat(length, length) - 1) / 2) * 0.5 * side
    return moved


def _many(text: str, copies: int) -> str:
    return text if copies == 1 else f"×{copies}"


def _accent(moment: Moment, group: Flights, theme: Theme) -> str:
    """Return the colour of the matrix that the copies are of; that of text for computed values."""
    if group.source == THREADS:
        return theme.text
    source = moment.trace.arrays[group.source]
    name = source.name if source.space == "global" else tile_matrix(moment)
    return theme.text if name is None else theme.accent(name)


def _labels(moment: Moment, group: Flights, labels: LabelStyle) -> npt.NDArray[np.str_]:
    """Return the indices of the element that each copy is of; none if there are too many to read."""
    starts, which = np.unique(group.start, return_inverse=True)
    if group.source == THREADS or len(starts) > _MOST_LABELLED:
        return np.full(len(group), "")
    matrix, element = np.full(len(starts), group.source), starts
    if moment.trace.arrays[group.source].space == "shared":
        content = moment.tiles.get(group.source)
        if content is None:
            return np.full(len(group), "")
        matrix, element = content.array[starts].astype(np.int64), content.element[starts].astype(np.int64)
    texts = []
    for number, each in zip(matrix.tolist(), element.tolist(), strict=True):
        texts.append(labels.indices(moment.trace.arrays[number], each) if number >= 0 else "")
    return np.array(texts)[which.ravel()]
