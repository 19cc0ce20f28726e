"""Explanation of a kernel's speed: traffic, rate, limiting factor and suggestions."""

from dataclasses import dataclass

from gemmviz.model.device import Device
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes moved at one level of memory. ``source``: origin of the figure; ``is_dram``: the level is the last one."""

    level: str
    size_bytes: int
    source: str
    is_dram: bool = False


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change that may improve the speed: a description and the changed setup."""

    text: str
    setup: Setup


@dataclass(frozen=True, slots=True)
class Effect:
    """Results of a run before or after a suggestion: whether C was right, sectors and wavefronts of the whole launch, and its
    time in ms; None if unknown. ``time_source``: origin of the time.
    """

    label: str
    is_right: bool | None
    sectors: int | None
    wavefronts: int | None
    time_ms: float | None
    time_source: str = ""


@dataclass(frozen=True)
class SpeedCase:
    """Data for one explanation. ``traffic``: by level, nearest to the threads first, empty until counted; ``rate``: GFLOP/s of
    the real kernel and ``share_of_cublas``, None if unknown; ``rate_source``: origin of the rate. ``reason`` and ``proof``: the
    limiting factor and the evidence, "" until known. ``so_far``: flops and bytes of each level for the watched threads up to
    now. ``effects``: results before and after a suggestion was applied; ``no_counts``: why the launch can't be counted.
    ``least_bytes``: of all arrays together, 0 until known.
    """

    what: str
    device: Device
    problem: Problem
    traffic: tuple[Traffic, ...] = ()
    rate: float | None = None
    share_of_cublas: float | None = None
    rate_source: str = ""
    reason: str = ""
    proof: str = ""
    suggestions: tuple[Suggestion, ...] = ()
    so_far: tuple[float, tuple[float, ...]] | None = None
    effects: tuple[Effect, ...] = ()
    no_counts: str = ""
    least_bytes: int = 0

    @property
    def lacks_dram(self) -> bool:
        """Whether the traffic of the last level of memory is unknown."""
        return not any(each.is_dram for each in self.traffic)
