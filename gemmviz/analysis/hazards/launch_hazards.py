"""Hazards of a whole launch, found during the run."""

from collections.abc import Mapping

from gemmviz.analysis.hazards.epochs import EpochSink
from gemmviz.analysis.hazards.hazard import Hazard, HazardKey
from gemmviz.analysis.hazards.hazards import HazardSink
from gemmviz.model.records import replace
from gemmviz.model.sinks import AccessSink, SumKey
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import ThreadSpace


class LaunchHazards:
    """A ``LaunchSink`` that finds the hazards of a whole launch from its stream of accesses. Sums alone contribute none."""

    def __init__(self) -> None:
        self._groups: list[HazardSink] = []

    def sink(self, space: ThreadSpace, arrays: tuple[MemoryArray, ...], phase_loop: int) -> AccessSink:
        self._groups.append(HazardSink(arrays, space))
        return EpochSink(self._groups[-1])

    def add_sums(self, arrays: tuple[MemoryArray, ...], sums: Mapping[SumKey, tuple[int, ...]]) -> None:
        return

    @property
    def hazards(self) -> list[Hazard]:
        """One hazard of each kind between two sites, counted over all blocks."""
        total: dict[HazardKey, Hazard] = {}
        for group in self._groups:
            for key, hazard in group.hazards_by_pair().items():
                before = total[key].count if key in total else 0
                total[key] = replace(total.get(key, hazard), count=before + hazard.count)
        return list(total.values())
