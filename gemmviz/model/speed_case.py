"""What there is to say about why a kernel is as fast as it is."""

from dataclasses import dataclass

from gemmviz.model.device import Device
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup


@dataclass(frozen=True, slots=True)
class Traffic:
    """What passes one level of memory, in bytes; ``source`` says who counted it; ``is_dram``: the level is the last one."""

    level: str
    size_bytes: int
    source: str
    is_dram: bool = False


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change that may help: in words, and the setup that has it."""

    text: str
    setup: Setup


@dataclass(frozen=True, slots=True)
class Effect:
    """What was told of a run: whether C was right, sectors and wavefronts of the whole launch, and its time in ms; None for
    what nobody knows. ``time_source``: where the time is from.
    """

    label: str
    is_right: bool | None
    sectors: int | None
    wavefronts: int | None
    time_ms: float | None
    time_source: str = ""


@dataclass(frozen=True)
class SpeedCase:
    """``traffic``: by level, the nearest to the threads first, nothing as long as nobody has counted; ``rate``: GFLOP/s of the
    real kernel, None where nobody knows, ``share_of_cublas`` likewise; ``rate_source``: who says so. ``reason`` and ``proof``:
    what holds the kernel back, "" as long as that is not known. ``so_far``: flops and the bytes of each level that the watched
    threads have done. ``effects``: before and after a suggestion that was applied; ``no_counts``: why nobody counts the
    launch.
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

    @property
    def lacks_dram(self) -> bool:
        """Whether what the last level of memory moved is not known."""
        return not any(each.is_dram for each in self.traffic)
