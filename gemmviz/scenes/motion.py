"""What is on its way at a moment of a step: one square for each copy of an element that a thread moves."""

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.flights import THREADS, Flights
from gemmviz.analysis.moment import Moment
from gemmviz.scenes.frame import ARRIVAL, ViewOptions
from gemmviz.scenes.layout import Plan, cell_of, places, plan_of
from gemmviz.scenes.matrix import label_size
from gemmviz.scenes.primitives import Primitive, Squares
from gemmviz.scenes.theme import WARP_ACCENTS, Theme
from gemmviz.scenes.tile_cells import tile_matrix

_SHARE_OF_CELL, _LEAST_SIDE = 0.78, 4.0
_MOST_LABELLED = 80


def stage_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """The copies that travel at ``options.moment``; nothing once all have arrived. What waits in a register stays in sight
    until the step has passed.
    """
    if options.moment >= 1.0 or not options.flies:
        return ()
    plan = plan_of(moment, options)
    found = (_squares(moment, each, plan, options) for each in moment.flights if len(each))
    return tuple(squares for squares in found if squares is not None)


def _squares(moment: Moment, group: Flights, plan: Plan, options: ViewOptions) -> Squares | None:
    start, end = places(moment, plan, group.source, group.start), places(moment, plan, group.target, group.end)
    known = ~(np.isnan(start).any(axis=1) | np.isnan(end).any(axis=1))
    if not known.any():
        return None
    first, last = group.way
    if options.arrived and last == 1.0:
        return None
    way = min(1.0, options.moment / ARRIVAL)
    eased = way**2 * (3 - 2 * way)  # slow, quick, slow
    share = first + (last - first) * eased
    middle = (start + (end - start) * share)[known]
    sides = [max(_LEAST_SIDE, _SHARE_OF_CELL * cell_of(moment.trace, plan, each)) for each in (group.source, group.target)]
    side = sides[0] + (sides[1] - sides[0]) * share
    palette: tuple[str, ...] = (_accent(moment, group, options.theme),)
    fill = np.zeros(len(middle), np.uint8)
    if options.layer == "warp":
        palette = WARP_ACCENTS
        fill = (group.thread[known] // moment.trace.rules.warp_size % len(WARP_ACCENTS)).astype(np.uint8)
    labels = _labels(moment, group)[known] if len(middle) <= _MOST_LABELLED else None
    size = label_size(max(labels.tolist(), key=len), side, options.pixels) if labels is not None else 0.0
    boxes = np.column_stack([middle - side / 2, np.full(len(middle), side)])
    inks = tuple(options.theme.ink_on(colour) for colour in palette)
    key = f"moving-{group.source}-{group.target}"
    return Squares(key, boxes, fill, palette, inks, labels if size else None, size, options.theme.background)


def _accent(moment: Moment, group: Flights, theme: Theme) -> str:
    """That of the matrix which the copies are of; the text's for what was computed."""
    if group.source == THREADS:
        return theme.text
    source = moment.trace.arrays[group.source]
    name = source.name if source.space == "global" else tile_matrix(moment)
    return theme.text if name is None else theme.accent(name)


def _labels(moment: Moment, group: Flights) -> npt.NDArray[np.str_]:
    """The indices of the element that each copy is of."""
    matrix, element = np.full(len(group), group.source), group.start
    if group.source == THREADS:
        return np.full(len(group), "")
    if moment.trace.arrays[group.source].space == "shared":
        content = moment.tiles.get(group.source)
        if content is None:
            return np.full(len(group), "")
        matrix, element = content.array[group.start].astype(np.int64), content.element[group.start].astype(np.int64)
    texts = []
    for number, each in zip(matrix.tolist(), element.tolist(), strict=True):
        row, column = moment.trace.arrays[number].row_column(each) if number >= 0 else ("", "")
        texts.append(f"{int(row)},{int(column)}" if number >= 0 else "")
    return np.array(texts)
