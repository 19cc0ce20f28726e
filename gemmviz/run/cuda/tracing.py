"""Traces from the GPU: runs the instrumented twin and aligns its record on the device."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cupy
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.cuda.launch.legality import device_for, launch_for
from gemmviz.cuda.twin.units import TWIN_ENTRY, shared_numbers, twin_for
from gemmviz.model.arrays import Longs, Unsigned
from gemmviz.model.kernel import Launch
from gemmviz.model.messages import DeviceError
from gemmviz.model.setup import Setup
from gemmviz.model.threads import BlockRange, ThreadSpace
from gemmviz.model.timing import TraceCost
from gemmviz.model.trace import Trace
from gemmviz.run.align import Alignment, PathBook, Region, Slots, alignment, check_hashes, outside, without_agreement
from gemmviz.run.cpu.executor import Phases, checked, requested_phases, traced_space
from gemmviz.run.cuda.compiling import Compiled, Nvrtc, NvrtcUnit
from gemmviz.run.cuda.workload import Workload, check_resources, launch, wait
from gemmviz.run.data import UNCHECKED
from gemmviz.run.engine import Recording

_ALIGN = Path(__file__).with_name("align.cu")
_THREADS = 256
MOST_ROWS = 32768  # of a grid
_NOTHING_BAD = 2**64 - 1
_WORDS_AT_ONCE = 1 << 24  # words that are compared at once
_FIRST_EVENTS = 1 << 20
_MOST_RUNS = 6
_FIRST_STEPS = 4096
_REGISTER_FILE = 65536
_BOOK = np.dtype(
    [
        *((name, "u8") for name in ("words", "values", "events", "reporter", "used", "reported", "path", "shared_at", "arena")),
        ("arena_bytes", "u8"),
        *((name, "u4") for name in ("capacity", "event_capacity", "threads", "shift")),
        ("first", "u4", 3), ("grid", "u4", 3), ("phase_start", "i4"), ("phase_stop", "i4"),
    ],
    align=True,
)  # fmt: skip


def twin_unit(setup: Setup, values: bool, some_phases: bool) -> NvrtcUnit:
    """The unit to compile for recording a setup, or only some of its phases."""
    threads = launch_for(setup).threads_per_block
    most = min(255, _REGISTER_FILE // (-(-threads // 32) * 32) // 8 * 8)
    flags = {"-DGV_VALUES": values, "-DGV_PHASES": some_phases}
    options = (f"--maxrregcount={most}", *(flag for flag, is_set in flags.items() if is_set))
    return NvrtcUnit(twin_for(setup.kernel, setup.definitions).text, setup.kernel.file, TWIN_ENTRY, options)


class Record(Struct, frozen=True):
    """The aligned record of one window: ``element`` int32 and ``value`` float32 (steps, threads), on the GPU."""

    alignment: Alignment
    element: Any
    value: Any


class TwinRunner:
    """The twin of one workload: compiled once, run over windows of blocks, with a book of its known paths."""

    def __init__(self, nvrtc: Nvrtc, work: Workload, phases: Phases, values: bool, timeout_s: float) -> None:
        self.work, self.phases, self.values, self.timeout_s = work, phases, values, timeout_s
        self.book = PathBook(twin_for(work.setup.kernel, work.setup.definitions))
        self.compiled: Compiled = nvrtc(twin_unit(work.setup, values, phases is not None))
        check_resources(self.compiled, work.launch, work.setup.kernel.file)
        self.aligner = nvrtc(NvrtcUnit(_ALIGN.read_text(encoding="utf-8"), _ALIGN.name, "align"))
        self.expected = _FIRST_STEPS
        self.twin_ms = self.align_ms = 0.0
        self.runs = 0

    def run(self, window: BlockRange, most: int) -> Record:
        """The record of a window. Raises DeviceError if a thread makes more than ``most`` accesses, KernelFault for an access
        outside of its array.
        """
        space = ThreadSpace(self.work.launch, window)
        buffers = _Buffers(
            min(most, self.expected), space.thread_count, self.values, max(1, len(self.work.binding.program.shared))
        )
        reporters = [] if self.book.paths else [0]
        for _ in range(_MOST_RUNS):
            self._launch(space, buffers, reporters)
            used, path = buffers.used.get(), buffers.path.get()
            needed = int(used.max())
            if needed > most:
                raise _too_small(needed, space, self.values, self.work.setup.kernel.file)
            if needed > len(buffers.words):
                self.expected = needed
                buffers.make_words(needed)
                continue
            first, inverse = _by_path(path)
            check_hashes(used, path, first, inverse)
            longest = self._learn(buffers, reporters, path)
            if longest:
                buffers.make_events(len(reporters), longest)
                continue
            reporters = [int(thread) for thread in first if int(path[thread]) not in self.book.paths]
            if not reporters:
                paths = [self.book.paths[int(path[thread])] for thread in first]
                regions = self._regions(buffers)
                lined_up = alignment(self.work.binding, paths, inverse, buffers.least_words, regions, space)
                return self._aligned(lined_up, space, buffers)
            buffers.make_events(len(reporters), max(64, 4 * needed))
        raise DeviceError(
            "the kernel takes different paths in each run", file=self.work.setup.kernel.file, remedy="is there a race?"
        )

    def _launch(self, space: ThreadSpace, buffers: "_Buffers", reporters: list[int]) -> None:
        window, launched = space.blocks, self.work.launch
        reporter = np.full(space.thread_count, -1, np.int32)
        reporter[reporters] = np.arange(len(reporters))
        buffers.reporter.set(reporter)
        facts = np.zeros((), _BOOK)
        for name in ("words", "values", "events", "reporter", "used", "reported", "path", "shared_at"):
            array = getattr(buffers, name)
            facts[name] = 0 if array is None else array.data.ptr
        facts["arena"], facts["arena_bytes"], facts["shift"] = self.work.base, self.work.arena.nbytes, self.work.shift
        facts["capacity"], facts["event_capacity"] = len(buffers.words), buffers.events.shape[1]
        facts["threads"] = space.thread_count
        facts["first"], facts["grid"] = [axis[0] for axis in (window.x, window.y, window.z)], launched.grid
        facts["phase_start"], facts["phase_stop"] = self.phases or (0, 0)
        runtime = cupy.cuda.runtime
        runtime.memcpy(self.compiled.address_of("gv_book"), facts.ctypes.data, facts.nbytes, runtime.memcpyHostToDevice)
        self.work.reset_outputs()
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        launch(self.compiled, Launch(window.extents, launched.block, launched.shared_bytes), self.work.arguments)
        end.record()
        wait(self.timeout_s, self.work.setup.kernel.file)
        self.twin_ms += cupy.cuda.get_elapsed_time(begin, end)
        self.runs += 1

    def _learn(self, buffers: "_Buffers", reporters: list[int], path: npt.NDArray[np.uint64]) -> int:
        """Adds the paths that the reporters recorded. Returns the number of events if they exceeded the buffer, else 0."""
        if not reporters:
            return 0
        reported = buffers.reported.get()[reporters]
        if reported.max() > buffers.events.shape[1]:
            return int(reported.max())
        for row, thread in enumerate(reporters):
            if int(path[thread]) not in self.book.paths:
                self.book.learn(int(path[thread]), buffers.events[row, : reported[row]].get())
        return 0

    def _aligned(self, lined_up: Alignment, space: ThreadSpace, buffers: "_Buffers") -> Record:
        shape = lined_up.rows, space.thread_count
        element = cupy.empty(shape, cupy.int32)
        value = None if buffers.values is None else cupy.empty(shape, cupy.float32)
        if len(lined_up.slots) > 1:
            element.data.memset(0xFF, element.nbytes)
            if value is not None:
                value.data.memset(0, value.nbytes)
        begin, end, bad = cupy.cuda.Event(), cupy.cuda.Event(), cupy.empty(1, cupy.uint64)
        for slots in lined_up.slots:
            if not len(slots.row):
                continue  # threads that touch nothing
            table = cupy.asarray(_slot_table(slots))
            threads = cupy.asarray(slots.threads.astype(np.uint32))
            bad.data.memset(0xFF, bad.nbytes)
            begin.record()
            grid = Launch((-(-len(slots.threads) // _THREADS), min(len(slots.row), MOST_ROWS), 1), (_THREADS, 1, 1))
            pointers = [each.data.ptr for each in (buffers.words, element, table, threads, bad)]
            values = [0 if each is None else each.data.ptr for each in (buffers.values, value)]
            numbers = [np.uint32(each) for each in (len(slots.row), len(slots.threads), space.thread_count)]
            launch(self.aligner, grid, [*pointers, *values, *numbers])
            end.record()
            wait(self.timeout_s, self.work.setup.kernel.file)
            self.align_ms += cupy.cuda.get_elapsed_time(begin, end)
            first_bad = int(bad.get()[0])
            if first_bad != _NOTHING_BAD:
                slot, thread = first_bad >> 32, first_bad & 0xFFFFFFFF
                raise outside(self.work.binding, space, slots, slot, thread, int(buffers.words[slot, thread].get()))
        return Record(lined_up, element, value)

    def _regions(self, buffers: "_Buffers") -> dict[int, Region]:
        binding, first = self.work.binding, len(self.work.binding.matrices)
        regions, starts = self.work.regions, buffers.shared_at.get()
        for number, same in enumerate(shared_numbers(binding.program)):
            if starts[same]:
                regions[first + number] = Region(int(starts[same]), binding.arrays[first + number].itemsize)
        return regions


class _Buffers:
    """Buffers for the twin's output: see gv_record_book."""

    def __init__(self, capacity: int, threads: int, values: bool, shared: int) -> None:
        self.threads, self.has_values = threads, values
        self.make_words(capacity)
        self.reporter = cupy.empty(threads, cupy.int32)
        self.used, self.reported = cupy.empty(threads, cupy.uint32), cupy.empty(threads, cupy.uint32)
        self.path = cupy.empty(threads, cupy.uint64)
        self.shared_at = cupy.zeros(shared, cupy.uint32)
        self.make_events(1, _FIRST_EVENTS)

    def least_words(self, threads: Longs, slots: Longs) -> Unsigned:
        """The least word of some threads in each of some slots."""
        least, size, columns = np.empty(len(slots), np.uint32), max(1, _WORDS_AT_ONCE // len(threads)), cupy.asarray(threads)
        for start in range(0, len(slots), size):
            rows = cupy.asarray(slots[start : start + size])
            least[start : start + size] = self.words[rows[:, None], columns].min(axis=1).get()
        return least

    def make_words(self, capacity: int) -> None:
        self.words = cupy.empty((capacity, self.threads), cupy.uint32)
        self.values = cupy.empty((capacity, self.threads), cupy.float32) if self.has_values else None

    def make_events(self, reporters: int, events: int) -> None:
        self.events = cupy.empty((reporters, events), cupy.uint32)


def _slot_table(slots: Slots) -> Unsigned:
    """Row, base, unit and last element of each slot, (n, 4)."""
    return np.stack([each.astype(np.uint32) for each in (slots.row, slots.base, slots.unit, slots.last)], axis=1)


def _by_path(path: npt.NDArray[np.uint64]) -> tuple[Longs, Longs]:
    """One thread of each path, and the path of each thread."""
    if (path == path[0]).all():
        return np.zeros(1, np.int64), np.zeros(len(path), np.int64)
    _, first, inverse = np.unique(path, return_index=True, return_inverse=True)
    return first, inverse


def _too_small(accesses: int, space: ThreadSpace, values: bool, file: str) -> DeviceError:
    needed = accesses * space.thread_count * (8 if values else 4)
    return DeviceError(
        f"{space.blocks} blocks make {accesses} accesses per thread: {-(-needed >> 20)} MiB", file=file,
        remedy="trace fewer blocks or phases",
    )  # fmt: skip


def trace_on_device(
    nvrtc: Nvrtc, work: Workload, blocks: BlockRange | None, recording: Recording, timeout_s: float
) -> tuple[Trace, TraceCost]:
    """The trace of ``blocks`` (default: those of the setup), recorded by the GPU, without the origins of tiles.

    Raises KernelFault for an access outside of its array, DeviceError if the record outgrows its limit.
    """
    setup, launched = work.setup, work.launch
    phases = requested_phases(work.binding)
    space = traced_space(work.binding, blocks)
    capacity = min(recording.limit_bytes // (space.thread_count * (8 if recording.values else 4)), 1 << 24)
    runner = TwinRunner(nvrtc, work, phases, recording.values, timeout_s)
    record = runner.run(space.blocks, max(1, capacity))
    element, value = record.element.get(), None if record.value is None else record.value.get()
    steps, rows = without_agreement(record.alignment, space, element)
    trace = Trace(
        setup=setup, launch=launched, blocks=space.blocks, rules=device_for(setup).rules, arrays=work.binding.arrays,
        sites=steps.sites, loops=work.binding.loops, site=steps.site, visits=steps.visits, epoch=steps.epoch,
        completes=steps.completes,
        element=element[rows], value=None if value is None else value[rows], check=UNCHECKED,
        notes=work.binding.program.notes, phases=phases, by=nvrtc.gpu.label,
    )  # fmt: skip
    outputs = setup.problem.output_names
    data = {name: work.matrix(name).get() if name in outputs else array for name, array in work.data.items()}
    return checked(trace, work.binding, data), TraceCost(runner.twin_ms, runner.align_ms, runner.runs)


def bands(launched: Launch, threads_at_once: int) -> Iterator[BlockRange]:
    """Windows that cover the grid, each of whole rows of blocks or of a part of one row."""
    gx, gy, gz = launched.grid
    blocks = max(1, threads_at_once // launched.threads_per_block)
    wide, high = min(gx, blocks), max(1, blocks // gx)
    for z in range(gz):
        for y in range(0, gy, high):
            for x in range(0, gx, wide):
                yield BlockRange((x, min(gx, x + wide)), (y, min(gy, y + high)), (z, z + 1))
