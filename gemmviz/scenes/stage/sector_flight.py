"""Sectors on their way from the address line to where they are drawn large: each as one piece, those of a line together."""

import numpy as np

from gemmviz.analysis.memory.moved_sectors import MovedSectors
from gemmviz.model.arrays import Bools, Floats, Longs
from gemmviz.scenes.kit.frame import eased
from gemmviz.scenes.kit.primitives import Primitive, Rects
from gemmviz.scenes.kit.theme import Theme

_FLIGHT = 0.6  # share of the time that one line's sectors take, if there are others
_EDGE = 2.0  # units that an outline reaches beyond its sector


def sector_flight(
    moved: MovedSectors, lines: Longs, start: Floats, end: Floats, share: float, colours: tuple[str, str], theme: Theme
) -> list[Primitive]:  # fmt: skip
    """Draw sectors at a share of the time, over a picture in which all have arrived. ``lines`` (sectors,): the rank of the
    line of each; ``start``, ``end`` (sectors, 4): boxes; ``colours``: of elements that are requested, and of those that aren't.
    """
    last = int(lines.max())
    flight = _FLIGHT if last else 1.0
    passed = np.clip((share - (1.0 - flight) * lines / max(1, last)) / flight, 0.0, 1.0)
    along = eased(passed)[:, None]
    now, open_ = start + (end - start) * along, passed < 1.0
    cover = end[open_] + (-_EDGE, -_EDGE, 2 * _EDGE, 2 * _EDGE)
    flying = open_ & (passed > 0.0)
    asked = moved.is_asked[: len(end)]
    return [
        Rects("sectors-cover", cover, theme.background),
        Rects("flying-along", _elements(now, flying, ~asked), colours[1]),
        Rects("flying-asked", _elements(now, flying, asked), colours[0]),
        Rects("flying-sectors", now[flying], None, theme.faint, 1.5),
    ]


def _elements(boxes: Floats, flying: Bools, chosen: Bools) -> Floats:
    """Return the boxes of the chosen elements (sectors, elements) of the sectors that fly."""
    row, column = np.nonzero(chosen & flying[:, None])
    wide = boxes[row, 2] / chosen.shape[1]
    return np.column_stack([boxes[row, 0] + column * wide, boxes[row, 1], wide, boxes[row, 3]])
