"""A region of a frame."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle from (x, y) to the right and down, in scene units."""

    x: float
    y: float
    width: float
    height: float
