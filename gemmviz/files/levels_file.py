"""Recorded profiler counts of what launches moved between the levels of memory."""

from collections.abc import Mapping
from functools import cache

from msgspec import Struct, field

from gemmviz.files.codec import from_plain, json_to_plain
from gemmviz.files.resources import resources
from gemmviz.model.device import Gpu
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.translation import tr


class LevelCounters(Struct, frozen=True):
    """Counters of one launch by name, in the unit that the name states; ``sha256`` is the hash of the kernel's text."""

    kernel: str
    sha256: str
    problem: Problem
    counters: Mapping[str, int]
    duration_ns: int
    parameters: Mapping[str, int] = field(default_factory=dict)


class Levels(Struct, frozen=True):
    """Counters of launches on one GPU, recorded on one day with one profiler."""

    device: str
    driver: str
    compiler: str
    tool: str
    date: str
    gpu: Gpu
    metrics: Mapping[str, str]
    launches: tuple[LevelCounters, ...]

    @property
    def source(self) -> str:
        tool = self.tool.partition(",")[0]
        return tr("{tool} on {gpu}, {date}", tool=tool, gpu=self.gpu.label, date=self.date)

    def find(self, setup: Setup) -> LevelCounters | None:
        """The counters of a setup; None if this kernel text, problem and parameters were not recorded."""
        key = setup.kernel.text_hash, setup.problem, dict(setup.parameters)
        return next((row for row in self.launches if (row.sha256, row.problem, dict(row.parameters)) == key), None)


@cache
def recorded_levels() -> tuple[Levels, ...]:
    """The shipped memory-level counters, one record per GPU."""
    return tuple(
        from_plain(json_to_plain(path.read_bytes()), Levels) for path in resources("assets/measurements", "levels-*.json")
    )
