"""What was recorded on GPUs: rows measured on one of them on one day, by one method; among them times of accesses and calls."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, Protocol, TypeVar

from msgspec import Struct

from gemmviz.model.device import Device, Gpu
from gemmviz.model.messages import tr
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup

_RecordedRow = TypeVar("_RecordedRow")


class Recorded(Struct, Generic[_RecordedRow], frozen=True):
    """Rows measured on one GPU on one day. ``host``: its CPU, where that matters; ``method``: how they were measured."""

    gpu: Gpu
    date: str
    rows: tuple[_RecordedRow, ...]
    host: str = ""
    method: str = ""

    @property
    def source(self) -> str:
        """Source of the figures, shown in every picture of them."""
        return tr("recorded on {label}, {date}", label=self.gpu.label, date=self.date)

    @property
    def short_source(self) -> str:
        """The source without versions and date."""
        return tr("recorded on {gpu}", gpu=self.gpu.name)


_Recording = TypeVar("_Recording", bound=Recorded[Any])


def recording_of(device: Device, recordings: Iterable[_Recording]) -> _Recording | None:
    """The recording of a device; None if there is none."""
    return next((each for each in recordings if device.is_of(each.gpu)), None)


def nearest_recording(device: Device, recordings: Sequence[_Recording]) -> _Recording:
    """The recording of a device, otherwise the first."""
    return recording_of(device, recordings) or recordings[0]


class LaunchRow(Protocol):
    """A row about one launch. ``source_hash``: of the kernel's text."""

    @property
    def source_hash(self) -> str: ...
    @property
    def problem(self) -> Problem: ...
    @property
    def parameters(self) -> Mapping[str, int]: ...


_L = TypeVar("_L", bound=LaunchRow)


def row_of(setup: Setup, rows: Iterable[_L]) -> _L | None:
    """The row with exactly the kernel text, problem and parameters of a setup; None if there is none."""
    key = setup.kernel.text_hash, setup.problem, dict(setup.parameters)
    return next((row for row in rows if (row.source_hash, row.problem, dict(row.parameters)) == key), None)


# Times of accesses to the memories of a GPU, each of which has to wait for the one before.

MemoryPlace = Literal["register", "shared", "constant", "L1", "L2", "DRAM"]


class AccessTime(Struct, frozen=True):
    """Cycles from one access of a memory to the next one, which depends on it: the median, least and greatest of ``repeats``
    chains of ``loads`` accesses. ``what``: what was measured.
    """

    memory: MemoryPlace
    what: str
    cycles: float
    low: float
    high: float
    loads: int
    repeats: int


class AccessTimes(Recorded[AccessTime], frozen=True):
    """Access times on one GPU. ``rows``: the nearest memory first."""

    clock_khz: int = 0

    @property
    def source(self) -> str:
        return tr(
            "cycles until an access that depends on this one, measured on {device}, {date}",
            device=self.gpu.name,
            date=self.date,
        )

    def cycles(self, memory: str) -> float | None:
        """Cycles of a memory, None if it was not measured."""
        return next((row.cycles for row in self.rows if row.memory == memory), None)


class AccessTimesCase(Struct, frozen=True):
    """Access times for a launch on a device. ``device``: the name of the launch's device, which may be another one."""

    times: AccessTimes
    device: str


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


class StrideTimes(Recorded[StrideTime], frozen=True):
    """All chains on one GPU."""

    clock_khz: int = 0

    def of(self, cache: str) -> dict[int, list[StrideTime]]:
        """The chains of one cache by stride, those with the fewest elements first."""
        found: dict[int, list[StrideTime]] = {}
        for row in sorted(self.rows, key=lambda row: (row.stride, row.elements)):
            if row.cache == cache:
                found.setdefault(row.stride, []).append(row)
        return found


# The host's part of a multiplication: calls to allocate, copy, launch, copy back and free.

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

    @property
    def source(self) -> str:
        """The array that a call copies from; "" for other calls."""
        return self.what.partition(" from ")[2]

    @property
    def is_to_device(self) -> bool:
        """Whether it copies from the host to the device."""
        return bool(self.source) and self.target == f"{self.source}d"


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


# Copies under kernels: a multiplication in pieces of A's rows, each copied in, multiplied by B and copied back.

StreamWork = Literal["copy in", "kernel", "copy back"]


class StreamCall(Struct, frozen=True):
    """A copy or a kernel of one piece, in one of the ``streams`` of its run: when it was next in its ``stream``, began and
    ended, in microseconds since the run began. Kernels of two streams wait for each other.
    """

    streams: int
    stream: int
    piece: int
    what: StreamWork
    ready_us: float
    start_us: float
    stop_us: float


class StreamRuns(Recorded[StreamCall], frozen=True):
    """Runs of n x n matrices in ``pieces``: for each number of streams the one with the median time of ``repeats``."""

    n: int = 0
    pieces: int = 0
    memory: HostMemory = "pinned"
    kernel: str = ""
    repeats: int = 0

    @property
    def counts(self) -> tuple[int, ...]:
        """The numbers of streams of the runs."""
        return tuple(dict.fromkeys(row.streams for row in self.rows))

    def of(self, streams: int) -> tuple[StreamCall, ...]:
        """The copies and kernels of the run with this number of streams."""
        return tuple(row for row in self.rows if row.streams == streams)

    def total_us(self, streams: int) -> float:
        """Microseconds until the last copy of that run has ended."""
        return max((row.stop_us for row in self.of(streams)), default=0.0)


class TransferCase(Struct, frozen=True):
    """The ``calls`` that a launch needs. ``runs``: the recorded ones at this size, for both kinds of host memory; none if they
    were not recorded on the ``device`` or at this size, and ``unmeasured`` says which. ``source``: of the times. ``prefix``:
    CUDA's or HIP's. ``copies_c``: C is copied in, too. ``pieces``: recorded runs in which the launch is that of one piece;
    None if there are none.
    """

    calls: tuple[HostCall, ...]
    problem: Problem
    device: str
    runs: tuple[HostRun, ...] = ()
    source: str = ""
    unmeasured: str = ""
    prefix: str = "cuda"
    copies_c: bool = False
    pieces: StreamRuns | None = None
