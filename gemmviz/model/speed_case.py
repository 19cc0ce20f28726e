"""Explanation of a kernel's speed: traffic, rate, ranked causes and their cures."""

from typing import Literal

from msgspec import Struct

from gemmviz.model.device import Device
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.sites import Site
from gemmviz.model.translation import marked

REQUESTED, MOVED, DRAM = (
    marked("requested"),
    marked("moved in sectors"),
    marked("to and from DRAM, caches warm"),
)  # levels of traffic
CauseKind = Literal["coalescing", "banks", "idle", "lanes", "reuse", "shared", "arithmetic", "occupancy", "nothing"]


class Traffic(Struct, frozen=True):
    """Bytes moved at one level of memory. ``source``: origin of the figure; ``is_dram``: the level is the last one."""

    level: str
    size_bytes: int
    source: str
    is_dram: bool = False


class Suggestion(Struct, frozen=True):
    """A change that may improve the speed: a description and the changed setup."""

    text: str
    setup: Setup


class Cause(Struct, frozen=True):
    """One cause of a kernel's time: a sentence, and the counts that support it.

    ``cost_ms``: the model's time minus its time without the cause, None if the model has no time for it; ``excess``: the ratio
    of actual to needed work; ``is_waste``: whether the same kernel could avoid it, as opposed to what its method demands.
    ``site``: the access that loses most. ``cure``: a change against it; ``view``: the view that shows it.
    """

    kind: CauseKind
    sentence: str
    proof: str
    cost_ms: float | None = None
    excess: float = 1.0
    is_waste: bool = False
    site: Site | None = None
    cure: Suggestion | None = None
    view: str = ""


class Effect(Struct, frozen=True):
    """Results of a run before or after a suggestion: whether C was right, sectors and wavefronts of the whole launch, and its
    time in ms; None if unknown. ``time_source``: origin of the time.
    """

    label: str
    is_right: bool | None
    sectors: int | None
    wavefronts: int | None
    time_ms: float | None
    time_source: str = ""


class SpeedCase(Struct, frozen=True):
    """Data for one explanation. ``traffic``: by level, nearest to the threads first, empty until counted; ``rate``: GFLOP/s of
    the real kernel and ``share_of_cublas``, None if unknown; ``rate_source``: origin of the rate; ``time_ms``: of the real
    kernel, None if unknown. ``causes``: the most expensive first, empty until known; ``model_ms``: the model's time of the
    launch, None if the model does not hold for the device. ``so_far``: flops and bytes of each level for the watched threads up
    to now. ``effects``: results before and after a suggestion was applied; ``no_counts``: why the launch can't be counted.
    ``least_bytes``: of all arrays together, 0 until known.
    """

    what: str
    device: Device
    problem: Problem
    traffic: tuple[Traffic, ...] = ()
    rate: float | None = None
    share_of_cublas: float | None = None
    rate_source: str = ""
    time_ms: float | None = None
    causes: tuple[Cause, ...] = ()
    model_ms: float | None = None
    so_far: tuple[float, tuple[float, ...]] | None = None
    effects: tuple[Effect, ...] = ()
    no_counts: str = ""
    least_bytes: int = 0

    @property
    def has_begun(self) -> bool:
        """Whether the watched threads have begun to compute: then the picture is one of many steps."""
        return self.so_far is not None and self.so_far[0] > 0

    @property
    def lacks_dram(self) -> bool:
        """Whether the traffic of the last level of memory is unknown."""
        return not any(each.is_dram for each in self.traffic)
