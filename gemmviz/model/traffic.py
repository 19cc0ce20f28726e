"""Reads from global memory by tile width."""

from msgspec import Struct


class WidthCount(Struct, frozen=True):
    """A launch with tiles of this width: elements of A and B that its threads read, and sectors moved for them."""

    width: int
    elements: int
    sectors: int


class TrafficCase(Struct, frozen=True):
    """Traffic by tile width. ``what``: the kernel and its sizes; ``parameter``: the parameter that is varied; ``rows``:
    ascending by width; ``untiled``: reads of the multiplication without tiles, 2 M N K; ``here``: the width of the setup.
    """

    what: str
    parameter: str
    rows: tuple[WidthCount, ...]
    untiled: int
    here: int
