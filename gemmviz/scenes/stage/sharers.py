"""Brackets in a table of reads that join the threads which read the same element for one k."""

from itertools import pairwise

import numpy as np

from gemmviz.scenes.kit.primitives import Cells, Lines, Primitive

_NOSE, _APART, _INSET = 12.0, 10.0, 12.0  # length of a bracket's ends; between brackets; from the cell's edge
_WIDTH = 4.0


def brackets(key: str, column: Cells, groups: list[list[int]], colours: list[str]) -> list[Primitive]:
    """Draw a bracket for each group of rows of a column at its right edge, side by side where they would cross."""
    primitives: list[Primitive] = []
    lanes: list[list[tuple[int, int]]] = []
    for place, (rows, colour) in enumerate(zip(groups, colours, strict=True)):
        span = rows[0], rows[-1]
        lane = next((at for at, taken in enumerate(lanes) if all(_is_apart(span, each) for each in taken)), len(lanes))
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append(span)
        x = column.x + column.size - _INSET - lane * _APART
        middle = [column.y + (row + 0.5) * column.pitch for row in rows]
        noses = [(x - _NOSE, y, x, y) for y in middle]
        spine = [(x, a, x, b) for a, b in pairwise(middle)]
        primitives.append(Lines(f"{key}-{place}", np.array([*noses, *spine], np.float64), colour, _WIDTH))
    return primitives


def _is_apart(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[1] < other[0] or other[1] < one[0]
