"""Shares of cuBLAS that the course reports, from ``course-reported.toml``: neither measured by gemmviz nor modelled."""

from dataclasses import dataclass
from functools import cache

from gemmviz.files.codec import read_toml
from gemmviz.files.resources import resource


@dataclass(frozen=True, slots=True)
class ReportedShare:
    """Percent of cuBLAS's rate that a part of the course reports for a kernel, at large sizes on a device that it leaves
    unnamed. ``source``: where.
    """

    part: int
    kernel: str
    percent: float
    source: str


@dataclass(frozen=True, slots=True)
class _File:
    shares: tuple[ReportedShare, ...]


@cache
def reported_shares() -> tuple[ReportedShare, ...]:
    """All reported shares, in the order of the course."""
    return read_toml(resource("assets/measurements/course-reported.toml"), _File).shares
