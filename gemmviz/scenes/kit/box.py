"""A region of a frame."""

from msgspec import Struct


class Box(Struct, frozen=True):
    """A rectangle from (x, y) to the right and down, in scene units."""

    x: float
    y: float
    width: float
    height: float
