"""What pictures beside the replay show, each as one value."""

from typing import Literal

from msgspec import Struct

from gemmviz.model.arrays import Longs
from gemmviz.model.device import Device, Needs
from gemmviz.model.kernel import Launch
from gemmviz.model.messages import listed, marked, tr
from gemmviz.model.problem import Problem
from gemmviz.model.recording import AccessTimes
from gemmviz.model.setup import Setup
from gemmviz.model.sites import Site, Space
from gemmviz.model.trace import Check

# Recorded times of kernels and of the copies around them, and what a faster kernel can gain beside those copies.


class AmdahlCase(Struct, frozen=True):
    """Kernels at one size ``n``, the slowest first: ``names``, and ``kernel_ms``, the time of each; ``copies_ms``: of the
    copies, the same for all. ``limits``: for each recorded size, how many times faster a program with the slowest kernel can
    get at most, when its kernel takes no time. ``source``: of the times.
    """

    n: int
    names: tuple[str, ...]
    kernel_ms: tuple[float, ...]
    copies_ms: float
    limits: tuple[tuple[int, float], ...]
    source: str

    def gain(self, place: int) -> float:
        """How many times faster the program is with a kernel than with the slowest one."""
        return (self.kernel_ms[0] + self.copies_ms) / (self.kernel_ms[place] + self.copies_ms)

    @property
    def limit(self) -> float:
        """How many times faster the program gets at most."""
        return (self.kernel_ms[0] + self.copies_ms) / self.copies_ms


# The included kernels as rungs of a ladder: what each reaches, and the counts that explain it.


class Rung(Struct, frozen=True):
    """A kernel's recorded share of cuBLAS, in percent; ``number`` and ``word`` tell it from the others. ``base``: the GPU, and
    the type of cuBLAS's inputs. ``sectors`` and ``wavefronts``: counted for each multiply-add of a warp's threads.
    """

    kernel: str
    number: str
    word: str
    percent: float
    base: str
    sectors: float
    wavefronts: float


class Ladder(Struct, frozen=True):
    """All rungs at one size ``n``. ``counted_at``: the size at which they were counted; ``sources``: of the rates."""

    n: int
    rungs: tuple[Rung, ...]
    counted_at: int
    sources: tuple[str, ...]


# Hardware counters of a launch beside its counts.


class ProfileRow(Struct, frozen=True):
    """``metric``: the profiler's name of a counter; ``name``: ours; ``hardware``: its value, ``ours``: that of the counts."""

    metric: str
    name: str
    hardware: int
    ours: int


class Profile(Struct, frozen=True):
    """The counters of a launch. ``source``: the profiler, the device and the date."""

    what: str
    rows: tuple[ProfileRow, ...]
    source: str

    def value(self, name: str) -> int | None:
        """The hardware's value of a counter; None for one that was not recorded."""
        return next((each.hardware for each in self.rows if each.name == name), None)


# The source of a kernel, alone or compared with another.


class Listing(Struct, frozen=True):
    """The ``lines`` of a source without its header; ``lit``: indices of highlighted lines, from 0; ``renamed``:
    those of them that differ from the compared source in names alone; ``parts``: line, start and end of what differs in a line
    (of no length where only the other source has something); a line without any differs as a whole.
    """

    name: str
    title: str
    lines: tuple[str, ...]
    lit: frozenset[int] = frozenset()
    renamed: frozenset[int] = frozenset()
    parts: tuple[tuple[int, int, int], ...] = ()


class Stop(Struct, frozen=True):
    """Where a run ended early: the index of the line, and a sentence that says why."""

    line: int
    why: str


class CodeCase(Struct, frozen=True):
    """``main`` and, in ``beside``, the source that it is compared with. ``is_grown``: ``main`` has every line of ``beside`` and
    more; the added lines are highlighted. ``pairs``: indices of equal lines, those of ``beside`` first. ``facts``: names and
    values of the counts of a launch of ``main``, as text. ``block``: the threads of a block along x, y and z of that launch;
    ``tiles``: name, rows and columns of each shared array; ``stop``: why that launch ended early, None if it didn't.
    """

    main: Listing
    beside: Listing | None = None
    is_grown: bool = False
    pairs: tuple[tuple[int, int], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    block: tuple[int, int, int] | None = None
    tiles: tuple[tuple[str, int, int], ...] = ()
    stop: Stop | None = None


# How a kernel uses its data: reads and writes of each array, and the variables of a thread.


class ArrayUse(Struct, frozen=True):
    """An array with the elements that lanes read from it and write to it in the whole launch. ``size_bytes``: its size, for
    shared memory in one block.
    """

    name: str
    space: Space
    reads: int
    writes: int
    size_bytes: int

    @property
    def is_only_read(self) -> bool:
        return self.reads > 0 and not self.writes


class DataUse(Struct, frozen=True):
    """The arrays of a launch, and the names of the variables that each thread has for itself. ``what``: its title."""

    what: str
    device: Device
    arrays: tuple[ArrayUse, ...]
    variables: tuple[str, ...]


# A launch on a device, without a run.


class LaunchCase(Struct, frozen=True):
    """A launch. ``what``: its name for titles. ``launch``: its grid and block, None if the device refuses it; ``refusal`` is
    the reason, and ``requested`` the refused grid and block, None if they are unknown. ``needs``: resources of a refused
    block, None if they are unknown. ``cure``: a launch with a tile of the tensor cores, if this one has none.
    """

    setup: Setup
    device: Device
    what: str
    launch: Launch | None
    refusal: str = ""
    requested: Launch | None = None
    needs: Needs | None = None
    cure: "Suggestion | None" = None

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a refused block, 0 if it is unknown."""
        return 0 if self.needs is None else self.needs.shared_bytes

    @property
    def problem(self) -> Problem:
        return self.setup.problem


# Kernels as loops: the lines of each, its counters at every step, and the step at which each element of C is stored.


class Counter(Struct, frozen=True):
    """An integer variable that changes while one thread runs: the place of its declaration among the shown lines, and its
    ``values`` during each step as text, "" where it has none.
    """

    name: str
    line: int
    values: tuple[str, ...]


class LoopRun(Struct, frozen=True, eq=False):  # arrays have no truth: one run's values are equal to themselves alone
    """The run of one kernel. ``lines``: its body, without closing braces; ``threads``: of the whole grid; ``stored`` int64
    (rows, columns): the step that stores each element of C, -1 if none does; ``steps``: of the run; ``counters``: of its
    first thread.
    """

    name: str
    title: str
    lines: tuple[str, ...]
    threads: int
    steps: int
    stored: Longs
    counters: tuple[Counter, ...]


class LoopsCase(Struct, frozen=True):
    """A run, and in ``before`` the run of the kernel that it is compared with, which is shown first."""

    problem: Problem
    main: LoopRun
    before: LoopRun | None = None

    @property
    def runs(self) -> tuple[LoopRun, ...]:
        """All runs in the order in which they play."""
        return (self.main,) if self.before is None else (self.before, self.main)


# Rounding errors of two runs of one problem.


class RoundedRun(Struct, frozen=True):
    """A run's output compared with float64. ``kernel``: its name; ``text``: its source; ``check``: the comparison."""

    kernel: str
    text: str
    check: Check

    @property
    def error(self) -> float:
        """The largest error of an element; 0 if nothing was compared."""
        return self.check.worst_error or 0.0


class RoundingCase(Struct, frozen=True):
    """Two runs of one problem: ``first`` is the one that the shot compares with."""

    problem: Problem
    first: RoundedRun
    second: RoundedRun


# Reads from global memory by tile width.


class WidthCount(Struct, frozen=True):
    """A launch with tiles of this width: elements of A and B that its threads read, and sectors moved for them."""

    width: int
    elements: int
    sectors: int


class TrafficCase(Struct, frozen=True):
    """Traffic by tile width. ``what``: the ``kernel`` and its sizes; ``parameter``: the parameter that is varied; ``rows``:
    ascending by width; ``here``: the width of the setup; ``untiled``: reads of the multiplication without tiles, 2 M N K, or
    with ``is_least`` those of a kernel that reads each element once.
    """

    kernel: str
    what: str
    parameter: str
    rows: tuple[WidthCount, ...]
    untiled: int
    here: int
    is_least: bool = False


# The trip of one word from memory to a thread, beside what memory delivers meanwhile.

_WORD_BYTES, _KHZ, _NS = 4, 1e3, 1e9


class TripCase(Struct, frozen=True):
    """``times``: measured access times; ``bandwidth_gb_s``: the published bandwidth of the same GPU's memory in GB/s."""

    times: AccessTimes
    cycles: float
    bandwidth_gb_s: float

    @property
    def trip_ns(self) -> float:
        """Time until a word from memory arrives, in nanoseconds."""
        return self.cycles / (self.times.clock_khz * _KHZ) * _NS

    @property
    def words(self) -> float:
        """Words of 4 bytes that memory delivers at its full bandwidth during that time."""
        return self.bandwidth_gb_s * self.trip_ns / _WORD_BYTES


# The tile that one instruction of the tensor cores multiplies.


class TensorTile(Struct, frozen=True):
    """``m`` × ``n`` elements of C gain ``k`` products each, by one instruction of a warp. ``element``: the type of A and B;
    ``since``: the first compute capability with it; ``source``: the publication of the shape.
    """

    m: int
    n: int
    k: int
    element: str
    since: tuple[int, int]
    source: str

    @property
    def products(self) -> int:
        """Products of one instruction."""
        return self.m * self.n * self.k

    @property
    def shape(self) -> str:
        """The name of the shape in PTX."""
        return f"m{self.m}n{self.n}k{self.k}"


TF32_TILE = TensorTile(16, 8, 8, "TF32", (8, 0), "PTX ISA, mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")


# What one block does in one phase of a tiled kernel: loads into shared memory, operations on them, and the blocks that fit.


class BlockPhase(Struct, frozen=True):
    """One phase of one block. ``what``: the launch for titles; ``block``: its threads along x and y; ``tiles``: name, rows and
    columns of each shared array; ``matrices``: the array that each is loaded from, "" if unknown; ``loads``: elements that the
    block reads from global memory; ``operations``: its multiplications and additions; ``shared_bytes``: of its tiles;
    ``taken_bytes``: the shared memory that it takes of an SM; ``fitting``: for shared memory and threads, the number of blocks
    in an SM that each of them alone allows.
    """

    what: str
    device: Device
    block: tuple[int, int]
    tiles: tuple[tuple[str, int, int], ...]
    matrices: tuple[str, ...]
    loads: int
    operations: int
    shared_bytes: int
    taken_bytes: int
    fitting: dict[str, int]

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1]


# What a thread reads from shared memory for the products that it adds in one turn of its innermost loop.


class LoadsRow(Struct, frozen=True):
    """``reads``: for A and B, the elements that a thread reads from their tiles for one k; ``products``: the multiply-adds that
    it makes with them.
    """

    reads: tuple[int, int]
    products: int

    @property
    def per_product(self) -> float:
        return sum(self.reads) / self.products


class LoadsCase(Struct, frozen=True):
    """Launches whose threads compute more and more elements, all of one problem."""

    rows: tuple[LoadsRow, ...]


# Launches below the roof of a device.


class RoofRow(Struct, frozen=True):
    """A launch: ``name`` of its kernel, ``what`` it is in words, and the operations for each byte that it requests."""

    name: str
    what: str
    flops_per_byte: float


class RoofCase(Struct, frozen=True):
    """Launches and their device, the compared one first."""

    device: Device
    rows: tuple[RoofRow, ...]


REQUESTED, MOVED, DRAM = (
    marked("requested"),
    marked("moved in sectors"),
    marked("to and from DRAM, caches warm"),
)  # levels of traffic
CauseKind = Literal[
    "coalescing", "banks", "divergence", "idle", "lanes", "reuse", "shared", "arithmetic", "occupancy", "nothing"
]  # fmt: skip


# Explanation of a kernel's speed: traffic, rate, ranked causes and their cures.


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

    ``cost_ms``: the model's time minus its time without the cause, None if the model has no time for it; ``spared``: the lines
    and wavefronts that fall away without it; ``excess``: the ratio of actual to needed work; ``is_waste``: whether the same
    kernel could avoid it, as opposed to what its method demands. ``site``: the access that loses most. ``cure``: a change
    against it; ``view``: the view that shows it.
    """

    kind: CauseKind
    sentence: str
    proof: str
    cost_ms: float | None = None
    spared: float = 0.0
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
    the real kernel and ``share_of_cublas``, None if unknown; ``rate_source``: origin of the rate; ``time_ms``: of
    the real kernel, None if unknown. ``causes``: the most expensive first, empty until known; ``model_ms``: the model's time of
    the launch, None if the model does not hold for the device; ``passes``: its lines and wavefronts. ``so_far``: flops and
    bytes of each level for the watched threads up to now. ``effects``: results before and after a suggestion was applied;
    ``no_counts``: why the launch can't be counted. ``least_bytes``: of all arrays together, 0 until known. ``variants``: DRAM's
    traffic with each recorded value of a parameter that changes nothing else; ``dram_on``: the GPUs on which it was recorded
    for this launch.
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
    passes: float = 0.0
    so_far: tuple[float, tuple[float, ...]] | None = None
    effects: tuple[Effect, ...] = ()
    no_counts: str = ""
    least_bytes: int = 0
    variants: tuple[Traffic, ...] = ()
    dram_on: tuple[str, ...] = ()

    @property
    def has_begun(self) -> bool:
        """Whether the watched threads have begun to compute: then the picture is one of many steps."""
        return self.so_far is not None and self.so_far[0] > 0

    @property
    def no_dram(self) -> str:
        """Why the traffic of the last level of memory is unknown; "" if it is known, or if nothing is."""
        if not self.traffic or any(each.is_dram for each in self.traffic):
            return ""
        if not self.dram_on:
            return tr("DRAM bytes: not recorded for this launch")
        return tr(
            "DRAM bytes: recorded for this launch on {gpus}, not on {device}",
            gpus=listed(self.dram_on),
            device=self.device.name,
        )
