"""Runs the instrumented twin on the GPU and lines its record up there: the trace of the real device."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cupy
import numpy as np
import numpy.typing as npt

from gemmviz.model.errors import DeviceError
from gemmviz.model.kernel import Launch
from gemmviz.model.lanes import LaneSpace, Window
from gemmviz.model.timing import TraceCost
from gemmviz.model.trace import Trace
from gemmviz.run.align import Alignment, PathBook, Region, Slots, alignment, check_hashes, outside
from gemmviz.run.cuda.compiling import Compiled, Compiler
from gemmviz.run.cuda.launching import check_resources, launch, wait
from gemmviz.run.cuda.workload import Workload
from gemmviz.run.executor import UNCHECKED, Phases, checked, checked_phases, origins_of
from gemmviz.source.instrument import Twin, shared_numbers, twin_for

_ALIGN = Path(__file__).with_name("align.cu")
_THREADS = 256
MOST_ROWS = 32768  # of a grid
_NOTHING_BAD = 2**64 - 1
_FIRST_EVENTS = 1 << 20
_MOST_RUNS = 6
_FIRST_STEPS = 4096
_REGISTER_FILE = 65536
_BOOK = np.dtype(
    [
        *((name, "u8") for name in ("words", "values", "events", "teller", "used", "told", "path", "shared_at", "arena")),
        ("arena_bytes", "u8"),
        *((name, "u4") for name in ("capacity", "event_capacity", "lanes", "shift")),
        ("first", "u4", 3), ("grid", "u4", 3), ("phase_start", "i4"), ("phase_stop", "i4"),
    ],
    align=True,
)  # fmt: skip


@dataclass(frozen=True)
class Record:
    """What the twin wrote about one window, lined up: ``element`` int32 and ``value`` float32 (steps, lanes), on the GPU."""

    alignment: Alignment
    element: Any
    value: Any


class TwinRunner:
    """The twin of one workload: compiled, run over windows of blocks, its paths learnt once."""

    def __init__(self, compiler: Compiler, work: Workload, phases: Phases, values: bool, patience_s: float) -> None:
        self.work, self.phases, self.values, self.patience_s = work, phases, values, patience_s
        self.twin: Twin = twin_for(work.spec, work.settings.parameters)
        self.book = PathBook(self.twin)
        threads = work.launch.threads
        most = min(255, _REGISTER_FILE // (-(-threads // 32) * 32) // 8 * 8)
        options = (f"--maxrregcount={most}", *(["-DGV_VALUES"] if values else []), *(["-DGV_PHASES"] if phases else []))
        self.compiled: Compiled = compiler(self.twin.text, work.spec.file, work.entry, options)
        check_resources(self.compiled, work.launch, work.spec.file)
        self.aligner = compiler(_ALIGN.read_text(encoding="utf-8"), _ALIGN.name, "align")
        self.expected = _FIRST_STEPS
        self.twin_ms = self.align_ms = 0.0
        self.runs = 0

    def run(self, window: Window, most: int) -> Record:
        """The record of a window. Raises DeviceError when a thread makes more than ``most`` accesses, KernelFault for an access
        outside of its array.
        """
        space = LaneSpace(self.work.launch, window)
        buffers = _Buffers(min(most, self.expected), space.lanes, self.values, max(1, len(self.work.binding.program.shared)))
        tellers = [] if self.book.paths else [0]
        for _ in range(_MOST_RUNS):
            self._launch(space, buffers, tellers)
            used, path = buffers.used.get(), buffers.path.get()
            needed = int(used.max())
            if needed > most:
                raise _too_small(needed, space, self.values, self.work.spec.file)
            if needed > len(buffers.words):
                self.expected = needed
                buffers.make_words(needed)
                continue
            first, inverse = _groups(path)
            check_hashes(used, path, first, inverse)
            longest = self._learn(buffers, tellers, path)
            if longest:
                buffers.make_events(len(tellers), longest)
                continue
            tellers = [int(lane) for lane in first if int(path[lane]) not in self.book.paths]
            if not tellers:
                paths = [self.book.paths[int(path[lane])] for lane in first]
                lined_up = alignment(
                    self.work.binding, paths, inverse, lambda lane, n: buffers.words[:n, lane].get(), self._regions(buffers)
                )
                return self._aligned(lined_up, space, buffers)
            buffers.make_events(len(tellers), max(64, 4 * needed))
        raise DeviceError("the kernel takes other paths each time it runs", file=self.work.spec.file, remedy="is there a race?")

    def _launch(self, space: LaneSpace, buffers: "_Buffers", tellers: list[int]) -> None:
        window, launched = space.window, self.work.launch
        teller = np.full(space.lanes, -1, np.int32)
        teller[tellers] = np.arange(len(tellers))
        buffers.teller.set(teller)
        facts = np.zeros((), _BOOK)
        for name in ("words", "values", "events", "teller", "used", "told", "path", "shared_at"):
            array = getattr(buffers, name)
            facts[name] = 0 if array is None else array.data.ptr
        facts["arena"], facts["arena_bytes"], facts["shift"] = self.work.base, self.work.arena.nbytes, self.work.shift
        facts["capacity"], facts["event_capacity"] = len(buffers.words), buffers.events.shape[1]
        facts["lanes"] = space.lanes
        facts["first"], facts["grid"] = [axis[0] for axis in (window.x, window.y, window.z)], launched.grid
        facts["phase_start"], facts["phase_stop"] = self.phases or (0, 0)
        runtime = cupy.cuda.runtime
        runtime.memcpy(self.compiled.address_of("gv_book"), facts.ctypes.data, facts.nbytes, runtime.memcpyHostToDevice)
        self.work.clear_c()
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        launch(self.compiled, Launch(window.extents, launched.block, launched.shared_bytes), self.work.arguments)
        end.record()
        wait(self.patience_s, self.work.spec.file)
        self.twin_ms += cupy.cuda.get_elapsed_time(begin, end)
        self.runs += 1

    def _learn(self, buffers: "_Buffers", tellers: list[int], path: npt.NDArray[np.uint64]) -> int:
        """Reads what the tellers told; how many events there were where they found no room, else 0."""
        if not tellers:
            return 0
        told = buffers.told.get()[tellers]
        if told.max() > buffers.events.shape[1]:
            return int(told.max())
        for row, lane in enumerate(tellers):
            if int(path[lane]) not in self.book.paths:
                self.book.learn(int(path[lane]), buffers.events[row, : told[row]].get())
        return 0

    def _aligned(self, lined_up: Alignment, space: LaneSpace, buffers: "_Buffers") -> Record:
        shape = len(lined_up.site), space.lanes
        element = cupy.empty(shape, cupy.int32)
        value = None if buffers.values is None else cupy.empty(shape, cupy.float32)
        if len(lined_up.slots) > 1:
            element.data.memset(0xFF, element.nbytes)
            if value is not None:
                value.data.memset(0, value.nbytes)
        begin, end, bad = cupy.cuda.Event(), cupy.cuda.Event(), cupy.empty(1, cupy.uint64)
        for slots in lined_up.slots:
            if not len(slots.step):
                continue  # threads that touch nothing
            table = cupy.asarray(_table(slots))
            lanes = cupy.asarray(slots.lanes.astype(np.uint32))
            bad.data.memset(0xFF, bad.nbytes)
            begin.record()
            grid = Launch((-(-len(slots.lanes) // _THREADS), min(len(slots.step), MOST_ROWS), 1), (_THREADS, 1, 1))
            pointers = [each.data.ptr for each in (buffers.words, element, table, lanes, bad)]
            values = [0 if each is None else each.data.ptr for each in (buffers.values, value)]
            numbers = [np.uint32(each) for each in (len(slots.step), len(slots.lanes), space.lanes)]
            launch(self.aligner, grid, [*pointers, *values, *numbers])
            end.record()
            wait(self.patience_s, self.work.spec.file)
            self.align_ms += cupy.cuda.get_elapsed_time(begin, end)
            first_bad = int(bad.get()[0])
            if first_bad != _NOTHING_BAD:
                slot, lane = first_bad >> 32, first_bad & 0xFFFFFFFF
                raise outside(self.work.binding, space, slots, slot, lane, int(buffers.words[slot, lane].get()))
        return Record(lined_up, element, value)

    def _regions(self, buffers: "_Buffers") -> dict[int, Region]:
        binding, first = self.work.binding, len(self.work.binding.matrices)
        found, starts = self.work.regions, buffers.shared_at.get()
        for number, same in enumerate(shared_numbers(binding.program)):
            if starts[same]:
                found[first + number] = Region(int(starts[same]), binding.arrays[first + number].itemsize)
        return found


class _Buffers:
    """Where the twin writes: see gv_record_book."""

    def __init__(self, capacity: int, lanes: int, values: bool, shared: int) -> None:
        self.lanes, self.has_values = lanes, values
        self.make_words(capacity)
        self.teller = cupy.empty(lanes, cupy.int32)
        self.used, self.told = cupy.empty(lanes, cupy.uint32), cupy.empty(lanes, cupy.uint32)
        self.path = cupy.empty(lanes, cupy.uint64)
        self.shared_at = cupy.zeros(shared, cupy.uint32)
        self.make_events(1, _FIRST_EVENTS)

    def make_words(self, capacity: int) -> None:
        self.words = cupy.empty((capacity, self.lanes), cupy.uint32)
        self.values = cupy.empty((capacity, self.lanes), cupy.float32) if self.has_values else None

    def make_events(self, tellers: int, events: int) -> None:
        self.events = cupy.empty((tellers, events), cupy.uint32)


def _table(slots: Slots) -> npt.NDArray[np.uint32]:
    """Step, base, unit and last element of each slot, (n, 4)."""
    return np.stack([each.astype(np.uint32) for each in (slots.step, slots.base, slots.unit, slots.last)], axis=1)


def _groups(path: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """One lane of each path, and which path each lane took."""
    if (path == path[0]).all():
        return np.zeros(1, np.int64), np.zeros(len(path), np.int64)
    _, first, inverse = np.unique(path, return_index=True, return_inverse=True)
    return first, inverse


def _too_small(accesses: int, space: LaneSpace, values: bool, file: str) -> DeviceError:
    needed = accesses * space.lanes * (8 if values else 4)
    return DeviceError(
        f"{space.blocks} blocks make {accesses} accesses a thread: {-(-needed >> 20)} MiB", file=file,
        remedy="trace fewer blocks or phases",
    )  # fmt: skip


def trace_on_device(
    compiler: Compiler,
    work: Workload,
    window: Window | None,
    *,
    phases: Phases = None,
    values: bool = False,
    origins: bool = True,
    limit_bytes: int,
    patience_s: float,
) -> tuple[Trace, TraceCost]:
    """The trace of ``window``, recorded by the GPU. What tiles hold copies of is worked out from the source.

    Raises KernelFault for an access outside of its array, DeviceError where the record outgrows ``limit_bytes``.
    """
    window = (window or Window.whole(work.launch)).checked(work.launch)
    phases = checked_phases(work.binding, phases)
    space = LaneSpace(work.launch, window)
    capacity = min(limit_bytes // (space.lanes * (8 if values else 4)), 1 << 24)
    runner = TwinRunner(compiler, work, phases, values, patience_s)
    record = runner.run(window, max(1, capacity))
    steps = record.alignment
    origin = origins_of(work.binding, space, phases)[0] if origins else {}
    trace = Trace(
        kernel=work.spec.name, file=work.spec.file, source=work.spec.text, settings=work.settings, launch=work.launch,
        window=window, warp_size=space.warp_size, arrays=work.binding.arrays, sites=steps.sites, loops=work.binding.loops,
        site=steps.site, visits=steps.visits, epoch=steps.epoch, element=record.element.get(),
        value=None if record.value is None else record.value.get(), check=UNCHECKED, notes=work.binding.program.notes,
        phases=phases, executor=compiler.gpu.label, **origin,
    )  # fmt: skip
    data = {name: work.matrix("C").get() if name == "C" else array for name, array in work.data.items()}
    return checked(trace, work.binding, data), TraceCost(runner.twin_ms, runner.align_ms, runner.runs)


def bands(launched: Launch, lanes_at_once: int) -> Iterator[Window]:
    """Windows that cover the grid, each of whole rows of blocks or of a piece of one row."""
    gx, gy, gz = launched.grid
    blocks = max(1, lanes_at_once // launched.threads)
    wide, high = min(gx, blocks), max(1, blocks // gx)
    for z in range(gz):
        for y in range(0, gy, high):
            for x in range(0, gx, wide):
                yield Window((x, min(gx, x + wide)), (y, min(gy, y + high)), (z, z + 1))
