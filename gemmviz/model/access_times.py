"""Measured times of accesses to the memories of a GPU, each of which has to wait for the one before."""

from typing import Literal

from msgspec import Struct

from gemmviz.model.recording import Recorded
from gemmviz.model.translation import tr

MemoryPlace = Literal["register", "shared", "constant", "L1", "L2", "DRAM"]


class AccessTime(Struct, frozen=True):
    """Cycles from one access of a memory to the next one, which depends on it: the median, least and greatest of ``repeats``
    chains of ``loads`` accesses. ``what``: what was measured.
    """

    memory: MemoryPlace
    what: str
    cycles: float
    low: float
    high: float
    loads: int
    repeats: int


class AccessTimes(Recorded[AccessTime], frozen=True):
    """Access times on one GPU. ``rows``: the nearest memory first."""

    clock_khz: int = 0

    @property
    def source(self) -> str:
        return tr(
            "cycles until an access that depends on this one, measured on {device}, {date}",
            device=self.gpu.name,
            date=self.date,
        )

    def cycles(self, memory: str) -> float | None:
        """Cycles of a memory, None if it was not measured."""
        return next((row.cycles for row in self.rows if row.memory == memory), None)


class AccessTimesCase(Struct, frozen=True):
    """Access times for a launch on a device. ``device``: the name of the launch's device, which may be another one."""

    times: AccessTimes
    device: str


class StrideTime(Struct, frozen=True):
    """A chain of ``elements`` that are ``stride`` bytes apart: the median ``cycles`` of a load, and their quartiles. ``cache``:
    the nearest one that the loads may use, "L1" or "L2".
    """

    stride: int
    elements: int
    cache: str
    cycles: float
    low: float
    high: float
    loads: int
    repeats: int


class StrideTimes(Recorded[StrideTime], frozen=True):
    """All chains on one GPU."""

    clock_khz: int = 0

    def of(self, cache: str) -> dict[int, list[StrideTime]]:
        """The chains of one cache by stride, those with the fewest elements first."""
        found: dict[int, list[StrideTime]] = {}
        for row in sorted(self.rows, key=lambda row: (row.stride, row.elements)):
            if row.cache == cache:
                found.setdefault(row.stride, []).append(row)
        return found
