"""Shares of cuBLAS that the course reports, from ``course-reported.toml``: neither measured by gemmviz nor modelled."""

from functools import cache

from msgspec import Struct

from gemmviz.files.codec import read_toml
from gemmviz.files.resources import resource


class ReportedShare(Struct, frozen=True):
    """Percent of cuBLAS's rate that a part of the course reports for a kernel, at large sizes on a device that it leaves
    unnamed. ``source``: where.
    """

    part: int
    kernel: str
    percent: float
    source: str


class _File(Struct, frozen=True):
    shares: tuple[ReportedShare, ...]


@cache
def reported_shares() -> tuple[ReportedShare, ...]:
    """All reported shares, in the order of the course."""
    return read_toml(resource("assets/measurements/course-reported.toml"), _File).shares
