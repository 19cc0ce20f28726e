"""Measurements of kernels on a GPU: times, resources and the method; the SM and the time of each block; and benchmarks."""

from collections.abc import Container, Mapping
from functools import cached_property

import numpy as np
from msgspec import Struct, field, structs

from gemmviz.model.arrays import Ints, Longs
from gemmviz.model.messages import tr
from gemmviz.model.problem import Problem
from gemmviz.model.recording import Recorded, row_of
from gemmviz.model.setup import Setup
from gemmviz.model.trace import Check


class Timing(Struct, frozen=True):
    """Milliseconds of one launch: median and quartiles over ``repeats``, each the mean of ``launches`` back to back.

    Quartiles are None if only the median was recorded.
    """

    median_ms: float
    low_ms: float | None
    high_ms: float | None
    repeats: int
    launches: int

    @property
    def spread(self) -> float | None:
        """Half the distance between the quartiles, relative to the median; None without quartiles."""
        if self.low_ms is None or self.high_ms is None:
            return None
        return (self.high_ms - self.low_ms) / 2 / self.median_ms


class Occupancy(Struct, frozen=True):
    """Theoretical occupancy: blocks that an SM holds at once, warps of a block, and the largest number of warps of an SM."""

    blocks_per_sm: int
    warps_per_block: int
    warps_per_sm: int

    @property
    def share(self) -> float:
        return min(1.0, self.blocks_per_sm * self.warps_per_block / self.warps_per_sm)


class Transfer(Struct, frozen=True):
    """Milliseconds of the copies around a multiplication: A and B to the GPU, and C back."""

    to_device_ms: float
    to_host_ms: float

    @property
    def total_ms(self) -> float:
        return self.to_device_ms + self.to_host_ms


class TraceCost(Struct, frozen=True):
    """GPU time of a trace in milliseconds: the launches of the twin, and the alignment of their records."""

    twin_ms: float
    align_ms: float
    runs: int


class MachineCode(Struct, frozen=True):
    """The conditional branches in a kernel's machine code. ``source``: the compiler and the architecture. ``jumps``, ``exits``:
    the lines of the kernel's text that became conditional jumps, and those where lanes only end under a condition.
    """

    source: str
    jumps: tuple[int, ...] = ()
    exits: tuple[int, ...] = ()

    def on_lines(self, lines: Container[int]) -> "MachineCode":
        """The same, of these lines alone."""
        jumps, exits = (tuple(each for each in found if each in lines) for found in (self.jumps, self.exits))
        return MachineCode(self.source, jumps, exits)


class Resources(Struct, frozen=True):
    """The driver's figures for a compiled kernel: registers and spilled bytes of a thread, shared memory of a block in
    bytes. ``machine_code``: None without a disassembler.
    """

    registers: int
    shared_bytes: int
    local_bytes: int
    occupancy: Occupancy
    machine_code: MachineCode | None = None


CUBLAS = "cuBLAS"
DOUBLE, HALF = "double", "half"  # variants of rows in other types than float
_VARIANTS = {"float64": DOUBLE, "float16": HALF}


class Measured(Struct, frozen=True, dict=True):
    """One timed run of a kernel, or of a library's multiplication. ``kernel`` names either; ``source_hash`` is the hash of the
    kernel's text, ``inputs`` the type of the elements of A and B, "" for float32.

    Unknown figures are None: a kernel that could not be run has no timing, and ``failure`` is the reason.
    """

    kernel: str
    problem: Problem
    timing: Timing | None = None
    parameters: Mapping[str, int] = field(default_factory=dict)
    source_hash: str = ""
    resources: Resources | None = None
    check: Check | None = None
    reads_c: bool = False
    transfer: Transfer | None = None
    failure: str = ""
    inputs: str = ""

    @property
    def base(self) -> str:
        """The name of the kernel or of the library, without the ``variant``."""
        return self.kernel.partition(", ")[0]

    @property
    def variant(self) -> str:
        """How a GPU's run differs from one in float32, by its name: "double", "TF32 tensor cores"; "" if it doesn't."""
        return self.kernel.partition(", ")[2]

    @property
    def variant_of_inputs(self) -> str:
        """The variant of a library's run whose inputs have the same type."""
        return self.variant if self.variant in (DOUBLE, HALF) else _VARIANTS.get(self.inputs, self.inputs)

    @property
    def is_left_out(self) -> bool:
        """Whether it was not run because it would take too long."""
        return self.failure.startswith("left out")

    @cached_property
    def gflops(self) -> float | None:
        """10^9 floating-point operations a second, 2 M N K of a multiplication over the median time; None if the
        problem has none to count.
        """
        if self.timing is None or self.problem.flops is None:
            return None
        return self.problem.flops / self.timing.median_ms / 1e6

    @cached_property
    def gflops_with_transfer(self) -> float | None:
        """The rate including the copies of all arrays."""
        if self.timing is None or self.transfer is None or self.problem.flops is None:
            return None
        return self.problem.flops / (self.timing.median_ms + self.transfer.total_ms) / 1e6

    @cached_property
    def label(self) -> str:
        """The kernel's name with its parameters."""
        values = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        return f"{self.kernel} ({values})" if values else self.kernel


class KernelSpeed(Struct, frozen=True):
    """The measurement of a setup's real kernel, its rate relative to cuBLAS (None if unknown), and their source: "measured here
    on …" or "recorded on …", in short with the name of the GPU alone.
    """

    measured: Measured
    share_of_cublas: float | None
    source: str
    short_source: str

    @property
    def median_ms(self) -> float | None:
        """Median time of one launch; None if the kernel could not be timed."""
        return None if self.measured.timing is None else self.measured.timing.median_ms


class Counters(Struct, frozen=True):
    """Nsight Compute's counters for one launch of the real kernel, named as in ``totals``, and its duration; 0 if that was not
    recorded.
    """

    counters: Mapping[str, int]
    duration_ns: int = 0


class LaunchCounters(Counters, frozen=True, kw_only=True):
    """Counters of one launch by name, in the unit that the name states; ``source_hash`` is the hash of the kernel's text.

    A launch whose counters were compared with ours has the latter in ``ours``, what the compiler did if they differ in
    ``as_compiled``, the result's check in ``passed`` and ``largest_error``, and its time without the profiler in
    ``measured_ns``.
    """

    kernel: str
    source_hash: str
    problem: Problem
    parameters: Mapping[str, int] = field(default_factory=dict)
    ours: Mapping[str, int] = field(default_factory=dict)
    as_compiled: str | None = None
    passed: bool | None = None
    largest_error: float | None = None
    measured_ns: int = 0


class RecordedCounters(Recorded[LaunchCounters], frozen=True):
    """Counters of launches on one GPU. ``metrics``: the profiler's names by ours."""

    metrics: Mapping[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        tool = self.method.partition(",")[0]
        return tr("{tool} on {gpu}, {date}", tool=tool, gpu=self.gpu.label, date=self.date)


# Benchmarks: timed multiplications with their device, driver, compiler, host and date.


class Benchmark(Recorded[Measured], frozen=True, dict=True):
    """The rows of one benchmark run. ``recorded``: read from a file. ``host``: the CPU that ran the host's rows."""

    recorded: bool = field(default=True, name="")

    @property
    def source(self) -> str:
        """Source of the figures: "measured on GPU, driver, compiler, DATE"."""
        return super().source if self.recorded else tr("measured on {label}, {date}", label=self.gpu.label, date=self.date)

    @property
    def short_source(self) -> str:
        return super().short_source if self.recorded else tr("measured on {gpu}", gpu=self.gpu.name)

    def share_of_cublas(self, row: Measured) -> float | None:
        """Rate of a row relative to cuBLAS for the same problem and type of inputs; None if either is missing."""
        beside = self._cublas.get((row.variant_of_inputs, row.problem))
        return None if not beside or row.gflops is None else row.gflops / beside

    @cached_property
    def _cublas(self) -> dict[tuple[str, Problem], float | None]:
        return {(row.variant, row.problem): row.gflops for row in self.rows if row.base == CUBLAS}

    def with_row(self, row: Measured) -> "Benchmark":
        return structs.replace(self, rows=(*self.rows, row))


# The SM and the time of each block of a launch.


class Schedule(Struct, frozen=True):
    """SM of each block, int32 (blocks,), and its start and stop in nanoseconds after the first start, int64 (blocks,). Blocks
    are numbered with x fastest.

    ``tick_ns``: resolution of the GPU's clock, as observed.
    """

    sm: Ints
    start_ns: Longs
    stop_ns: Longs
    tick_ns: int

    @property
    def blocks(self) -> int:
        return len(self.sm)

    @property
    def duration_ns(self) -> int:
        return int(self.stop_ns.max())

    def resident(self) -> Longs:
        """The largest number of blocks that each SM held at once, by SM number."""
        most = np.zeros(int(self.sm.max()) + 1, np.int64)
        for number in np.unique(self.sm):
            here = self.sm == number
            times = np.concatenate([self.start_ns[here], self.stop_ns[here]])
            change = np.repeat([1, -1], here.sum())
            order = np.lexsort((change, times))  # a block that stops at a tick makes room for one that starts at it
            most[number] = np.cumsum(change[order]).max()
        return most


class RecordedLaunch(Struct, frozen=True):
    """The launch that a schedule was recorded of. ``source_hash``: of its text. ``tick_ns``: the clock's resolution."""

    kernel: str
    source_hash: str
    problem: Problem
    tick_ns: int
    parameters: Mapping[str, int] = field(default_factory=dict)


class RecordedSchedules(Recorded[RecordedLaunch], frozen=True):
    """Schedules recorded on one GPU; ``schedules[i]`` belongs to ``rows[i]``."""

    schedules: tuple[Schedule, ...] = field(default=(), name="")

    def find(self, setup: Setup) -> Schedule | None:
        """The schedule of a setup; None if this kernel text, problem and parameters were not recorded."""
        row = row_of(setup, self.rows)
        return None if row is None else self.schedules[self.rows.index(row)]


class GridCase(Struct, frozen=True, eq=False):
    """A launch as blocks that wait, run and finish. ``schedule``: SMs and times; ``source``: origin of the schedule;
    ``is_model``: the schedule is computed, not measured, and its times are not nanoseconds. ``grid``: blocks along x, y and z;
    ``what``: name of the launch; ``blocks_per_sm``: by occupancy, an upper bound unless ``is_certain``. ``beside``: the launch
    that this one is compared with.
    """

    what: str
    device: str
    sms: int
    blocks_per_sm: int
    grid: tuple[int, int, int]
    schedule: Schedule
    source: str
    is_model: bool
    is_certain: bool = True
    beside: "GridCase | None" = None

    @property
    def shares_time(self) -> bool:
        """Whether the times of both launches have the same unit, nanoseconds or that of a model, and can be compared."""
        return self.beside is not None and self.is_model == self.beside.is_model
