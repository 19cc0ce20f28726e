"""Measured times of one access to each memory of a GPU."""

from typing import Literal

from msgspec import Struct

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


class AccessTimes(Struct, frozen=True):
    """Access times on one GPU, recorded on one day. ``rows``: the nearest memory first; ``method``: how they were measured."""

    device: str
    driver: str
    compiler: str
    date: str
    clock_khz: int
    method: str
    rows: tuple[AccessTime, ...]

    @property
    def source(self) -> str:
        return tr(
            "cycles until an access that depends on this one, measured on {device}, {date}", device=self.device, date=self.date
        )

    def cycles(self, memory: str) -> float | None:
        """Cycles of a memory, None if it was not measured."""
        return next((row.cycles for row in self.rows if row.memory == memory), None)


class AccessTimesCase(Struct, frozen=True):
    """Access times for a launch on a device. ``device``: the name of the launch's device, which may be another one."""

    times: AccessTimes
    device: str
