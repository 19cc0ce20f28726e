"""Diagonal lines within boxes: a pattern that every renderer draws, and that is readable without colour."""

import numpy as np

from gemmviz.model.arrays import Floats
from gemmviz.scenes.kit.primitives import Lines

_FEW, _MANY = 1, 3  # lines in a box
_LARGE = 26.0  # units: side of a box with several lines
_WIDTH = 0.07  # of a box's side


def hatching(key: str, boxes: Floats, colour: str) -> Lines:
    """Return rising diagonals within boxes (n, 4) of about the same size."""
    side = float(boxes[:, 2:].min()) if len(boxes) else 0.0
    count = _MANY if side >= _LARGE else _FEW
    x, y, wide, high = (boxes[:, column, None] for column in range(4))
    along = (np.arange(count) + 0.5) / count * (wide + high)  # where a diagonal meets the left or lower edge
    segments = np.stack(
        [
            x + np.maximum(0, along - high),
            y + np.minimum(along, high),
            x + np.minimum(along, wide),
            y + np.maximum(0, along - wide),
        ],
        axis=-1,
    )
    return Lines(key, segments.reshape(-1, 4), colour, float(np.clip(_WIDTH * side, 1.0, 3.0)))
