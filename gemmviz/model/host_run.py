"""The host's part of a multiplication: calls to allocate, copy, launch, copy back and free, and their times."""

from dataclasses import dataclass
from typing import Literal

from gemmviz.model.gpu import Gpu

HostMemory = Literal["pageable", "pinned"]


@dataclass(frozen=True, slots=True)
class HostCall:
    """One call: ``name`` in the runtime's API, ``what`` it applies to, and its median time in microseconds."""

    name: str
    what: str
    us: float


@dataclass(frozen=True, slots=True)
class HostRun:
    """All calls of one multiplication of n x n matrices, in order. ``memory``: the kind of memory of the host's matrices."""

    n: int
    memory: HostMemory
    calls: tuple[HostCall, ...]

    def total(self, *names: str) -> float:
        """Microseconds of the calls with these names; without names, of all calls."""
        return sum(call.us for call in self.calls if not names or call.name in names)


@dataclass(frozen=True)
class HostRuns:
    """All runs on one GPU on one day. ``kernel``: the kernel that was launched; ``repeats``: samples behind each median."""

    gpu: Gpu
    host: str
    date: str
    kernel: str
    repeats: int
    runs: tuple[HostRun, ...]

    @property
    def source(self) -> str:
        return f"kernel: {self.kernel}; recorded on {self.gpu.label}, host {self.host}, {self.date}; medians of {self.repeats}"


@dataclass(frozen=True)
class TransferCase:
    """The calls at one size, for both kinds of host memory. ``requested``: the size of the setup, which may not be recorded;
    ``prefix``: CUDA's or HIP's. ``copies_c``: C is copied in, too.
    """

    runs: tuple[HostRun, ...]
    source: str
    requested: int
    prefix: str = "cuda"
    copies_c: bool = False
