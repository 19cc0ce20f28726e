"""Measured times of one access to each memory of a GPU."""

from dataclasses import dataclass
from typing import Literal

from gemmviz.model.gpu import Gpu

MemoryPlace = Literal["register", "shared", "L1", "L2", "DRAM"]


@dataclass(frozen=True, slots=True)
class AccessTime:
    """Cycles from one access of a place to the next one that depends on it. ``how``: what was measured."""

    place: MemoryPlace
    cycles: float
    how: str = ""


@dataclass(frozen=True)
class AccessTimes:
    """Access times on one GPU, recorded on one day. ``rows``: the nearest place first."""

    gpu: Gpu
    date: str
    rows: tuple[AccessTime, ...]

    @property
    def source(self) -> str:
        return f"cycles until an access that depends on this one, measured on {self.gpu.name}, {self.date}"

    def cycles(self, place: str) -> float | None:
        """Cycles of a place, None if it was not measured."""
        return next((row.cycles for row in self.rows if row.place == place), None)


@dataclass(frozen=True)
class AccessTimesCase:
    """Access times for a launch on a device. ``device``: the name of the launch's device, which may be another one."""

    times: AccessTimes
    device: str
