"""What a host does around a kernel: allocate, copy, launch, copy back, free; and how long each call takes."""

from dataclasses import dataclass
from typing import Literal

from gemmviz.model.gpu import Gpu

HostMemory = Literal["pageable", "pinned"]


@dataclass(frozen=True, slots=True)
class HostCall:
    """One call: ``name`` as the runtime has it, ``what`` it is about, and its median time in microseconds."""

    name: str
    what: str
    us: float


@dataclass(frozen=True, slots=True)
class HostRun:
    """All calls of one multiplication of n x n matrices, in their order. ``memory``: what the host's matrices lie in."""

    n: int
    memory: HostMemory
    calls: tuple[HostCall, ...]

    def total(self, *names: str) -> float:
        """Microseconds of the calls with these names, of all where none is given."""
        return sum(call.us for call in self.calls if not names or call.name in names)


@dataclass(frozen=True)
class HostRuns:
    """All of one GPU, on one day. ``kernel``: which one was launched; ``repeats``: of how many each time is the median."""

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
    """The calls at one size, from both kinds of the host's memory; ``prefix``: CUDA's or HIP's. ``copies_c``: whether C is
    copied in, too.
    """

    runs: tuple[HostRun, ...]
    source: str
    wanted: int
    prefix: str = "cuda"
    copies_c: bool = False
