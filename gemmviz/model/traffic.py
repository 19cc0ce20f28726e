"""Reads from global memory by tile width."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WidthCount:
    """A launch with tiles of this width: elements that its threads read of A and B, and sectors that that moves."""

    width: int
    elements: int
    sectors: int


@dataclass(frozen=True)
class TrafficCase:
    """``what``: the kernel and its sizes; ``parameter``: the one that is varied; ``rows``: by width, ascending; ``untiled``:
    what the multiplication reads without any tiles, 2 M N K; ``here``: the width of the setup.
    """

    what: str
    parameter: str
    rows: tuple[WidthCount, ...]
    untiled: int
    here: int
