"""Diagonal lines within boxes: a pattern that every renderer draws, and that is readable without colour."""

import numpy as np

from gemmviz.model.arrays import Floats
from gemmviz.scenes.kit.primitives import Lines

_FEW, _MANY = 1, 3  # lines in a box
_LARGE = 26.0  # units: side of a box with several lines
_WIDTH = 0.07  # of a box's side


def hatching(key: str, boxes: Floats, colour: str) -> Lines:
    """Return rising diagonals within boxes (n, 4), more in boxes that are longer than wide."""
    side = float(boxes[:, 2:].min()) if len(boxes) else 0.0
    each = _MANY if side >= _LARGE else _FEW
    half = boxes[:, 2:].sum(axis=1) / 2
    counts = np.maximum(each, np.rint(each * half / np.maximum(boxes[:, 2:].min(axis=1), 1.0))).astype(np.int64)
    x, y, wide, high = np.repeat(boxes, counts, axis=0).T
    place = np.arange(len(x)) - np.repeat(np.cumsum(counts) - counts, counts)
    along = (place + 0.5) / np.repeat(counts, counts) * (wide + high)  # where a diagonal meets the left or lower edge
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
