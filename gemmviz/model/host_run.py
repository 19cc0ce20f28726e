"""The host's part of a multiplication: calls to allocate, copy, launch, copy back and free, and their times."""

from typing import Literal

from msgspec import Struct

from gemmviz.model.problem import Problem
from gemmviz.model.recording import Recorded
from gemmviz.model.translation import tr

HostMemory = Literal["pageable", "pinned"]
_MATRICES = ("A", "B", "C")


class HostCall(Struct, frozen=True):
    """One call: ``name`` in the runtime's API, ``what`` it applies to, and its median time in microseconds; None if it was
    not measured.
    """

    name: str
    what: str
    us: float | None = None

    @property
    def target(self) -> str:
        """The array that a call allocates, copies to or frees: "Ad" of the device, "A" of the host."""
        return self.what.partition(" from ")[0]


def calls_of(copies_c: bool, sizes: str = "N") -> tuple[HostCall, ...]:
    """The calls of a multiplication, without times. ``copies_c``: the kernel reads C, so that it is copied to the device;
    ``sizes``: the kernel's last arguments.
    """
    inputs = _MATRICES if copies_c else _MATRICES[:2]
    return (
        *(HostCall("Malloc", f"{name}d") for name in _MATRICES),
        *(HostCall("Memcpy", f"{name}d from {name}") for name in inputs),
        HostCall("launch", f"Ad, Bd, Cd, {sizes}"),
        HostCall("Memcpy", "C from Cd"),
        *(HostCall("Free", f"{name}d") for name in _MATRICES),
    )


class HostRun(Struct, frozen=True):
    """All calls of one multiplication of n x n matrices, in order. ``memory``: the kind of memory of the host's matrices."""

    n: int
    memory: HostMemory
    calls: tuple[HostCall, ...]

    def total(self, *names: str) -> float:
        """Microseconds of the calls with these names; without names, of all calls. Calls that were not measured count 0."""
        return sum(call.us or 0.0 for call in self.calls if not names or call.name in names)

    @property
    def is_whole(self) -> bool:
        """Whether all calls were measured."""
        return all(call.us is not None for call in self.calls)


class HostRuns(Recorded[HostRun], frozen=True):
    """All runs on one GPU. ``kernel``: the kernel that was launched; ``repeats``: samples behind each median."""

    kernel: str = ""
    repeats: int = 0

    @property
    def short_source(self) -> str:
        """Device, date and number of samples."""
        return tr("recorded on {gpu}, {date}; medians of {repeats}", gpu=self.gpu.name, date=self.date, repeats=self.repeats)


class TransferCase(Struct, frozen=True):
    """The ``calls`` that a launch needs. ``runs``: the recorded ones at this size, for both kinds of host memory; none if they
    were not recorded on the ``device`` or at this size, and ``unmeasured`` says which. ``source``: of the times. ``prefix``:
    CUDA's or HIP's. ``copies_c``: C is copied in, too.
    """

    calls: tuple[HostCall, ...]
    problem: Problem
    device: str
    runs: tuple[HostRun, ...] = ()
    source: str = ""
    unmeasured: str = ""
    prefix: str = "cuda"
    copies_c: bool = False
