"""Recorded times of loads at a stride, each of which has to wait for the one before."""

from msgspec import Struct

from gemmviz.model.translation import tr


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


class StrideTimes(Struct, frozen=True):
    """All chains on one GPU on one day."""

    device: str
    driver: str
    compiler: str
    date: str
    clock_khz: int
    method: str
    rows: tuple[StrideTime, ...]

    @property
    def source(self) -> str:
        return tr(
            "recorded on {device}, driver {driver}, {compiler}, {date}",
            device=self.device,
            driver=self.driver,
            compiler=self.compiler,
            date=self.date,
        )

    def of(self, cache: str) -> dict[int, list[StrideTime]]:
        """The chains of one cache by stride, those with the fewest elements first."""
        found: dict[int, list[StrideTime]] = {}
        for row in sorted(self.rows, key=lambda row: (row.stride, row.elements)):
            if row.cache == cache:
                found.setdefault(row.stride, []).append(row)
        return found
