"""The worker's interface to the GPU, with caches of compiled functions and uploaded matrices."""

from collections import OrderedDict
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TypeVar

import cupy
import numpy as np
from msgspec import Struct

from gemmviz.cuda.launch.catalog import DEFAULT_KERNEL, load_kernel
from gemmviz.cuda.launch.legality import other_choices, setup_for
from gemmviz.cuda.program import macros_of
from gemmviz.cuda.twin.units import probed_source
from gemmviz.files.codec import to_json
from gemmviz.model.arrays import SCALAR, vector
from gemmviz.model.device import Gpu
from gemmviz.model.kernel import Launch
from gemmviz.model.messages import DeviceError, checkpoint
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import COST_COLUMNS, SumKey
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import BlockRange, ThreadSpace
from gemmviz.model.timing import MachineCode, Measured, Schedule, Timing, TraceCost, Transfer
from gemmviz.model.trace import Trace, trips
from gemmviz.run.cpu.executor import requests_phases
from gemmviz.run.cuda.compiling import Nvrtc, NvrtcUnit, free_memory
from gemmviz.run.cuda.tracing import MOST_ROWS, Record, TwinRunner, bands, trace_on_device, twin_unit
from gemmviz.run.cuda.workload import (
    Workload,
    check_resources,
    launch,
    real_unit,
    spoken_errors,
    time_cublas,
    time_kernel,
    time_transfer,
    wait,
    workload,
)
from gemmviz.run.engine import Recording
from gemmviz.run.protocol import TIMEOUT_S

# The schedule of a kernel, from a probe at its beginning and end: SM and time of each block.

_BLOCK_ROW = np.dtype([("start", "u8"), ("stop", "u8"), ("sm", "u8")])


def schedule_on_device(nvrtc: Nvrtc, work: Workload, timeout_s: float) -> Schedule:
    """The schedule of the second of two runs; the first one warms up."""
    kernel = work.setup.kernel
    compiled = nvrtc(
        real_unit(work.setup, probed_source(kernel, work.binding.program, macros_of(kernel, work.setup.definitions)))
    )
    check_resources(compiled, work.launch, work.setup.kernel.file)
    blocks, runtime = work.launch.block_count, cupy.cuda.runtime
    stop, sm = cupy.empty(blocks, cupy.uint64), cupy.empty(blocks, cupy.uint32)
    start = cupy.empty(blocks, cupy.uint64)
    facts = np.array((start.data.ptr, stop.data.ptr, sm.data.ptr), _BLOCK_ROW)
    runtime.memcpy(compiled.address_of("gv_book"), facts.ctypes.data, facts.nbytes, runtime.memcpyHostToDevice)
    work.fill_symbols(compiled)
    for _ in range(2):
        start.fill(2**64 - 1)
        stop.fill(0)
        launch(compiled, work.launch, work.real_arguments)
        wait(timeout_s, work.setup.kernel.file)
    begins, ends = start.get(), stop.get()
    first = begins.min()
    steps = np.diff(np.unique(np.concatenate([begins, ends])))
    tick = int(steps.min()) if len(steps) else 0
    return Schedule(sm.get().astype(np.int32), (begins - first).astype(np.int64), (ends - first).astype(np.int64), tick)


# Counts of a whole launch of any size on the GPU: its record passes through one buffer there, some blocks at a time, and
# only the sums are copied back.

_COUNTING_TEXT = Path(__file__).with_name("counting.cu")
_MOST_BUDGET = 8 << 30
_COUNTING_THREADS = 256
_LEAST_CAPABILITY = 7.0  # __match_any_sync
_COUNTED_LAYOUTS = (SCALAR, *map(vector, (2, 4, 8, 16)))  # kinds of costs that counting.cu supports
_MOST_LANE_BYTES = 16  # of an access of one lane that counting.cu supports
_BRANCH = 4  # the kind of a step in counting.cu
_STEP_ROW = np.dtype([("bucket", "i4"), ("itemsize", "i4"), ("width", "i4"), ("kind", "i4")])


class DeviceCounts(Struct, frozen=True):
    """The sums named by COST_COLUMNS, for each site, index of its operand and phase (-1 outside of phases)."""

    arrays: tuple[MemoryArray, ...]
    sums: dict[SumKey, tuple[int, ...]]


def count_on_device(nvrtc: Nvrtc, work: Workload, timeout_s: float, progress: Callable[[int, int], None]) -> DeviceCounts:
    """The counts of all blocks. Raises Cancelled, KernelFault for an access outside of its array, or DeviceError."""
    if float(nvrtc.gpu.compute_capability) < _LEAST_CAPABILITY:
        raise DeviceError(f"counting on the GPU needs compute capability {_LEAST_CAPABILITY}", file=work.setup.kernel.file)
    runner = TwinRunner(nvrtc, work, None, False, timeout_s)
    budget = min(_MOST_BUDGET, free_memory() // 8)
    steps = max(
        1, *(runner.run(block, budget // (4 * work.launch.threads_per_block)).alignment.rows for block in _corner_blocks(work))
    )
    sums: dict[SumKey, np.ndarray] = {}
    done = 0
    for window in bands(work.launch, max(work.launch.threads_per_block, budget // (4 * steps))):
        checkpoint()
        space = ThreadSpace(work.launch, window)
        record = runner.run(window, budget // (4 * space.thread_count))
        for key, counted in _summed(nvrtc, work, record, space, timeout_s).items():
            sums[key] = sums.get(key, 0) + counted
        done += window.count
        progress(done, work.launch.block_count)
    cupy.get_default_memory_pool().free_all_blocks()
    return DeviceCounts(work.binding.arrays, {key: tuple(int(each) for each in counted) for key, counted in sums.items()})


def _corner_blocks(work: Workload) -> list[BlockRange]:
    """The first and the last block. For most kernels, the accesses of the others lie between theirs."""
    ends = [tuple((at, at + 1) for at in corner) for corner in ((0, 0, 0), tuple(extent - 1 for extent in work.launch.grid))]
    return [BlockRange(*end) for end in ends]


def _summed(nvrtc: Nvrtc, work: Workload, record: Record, space: ThreadSpace, timeout_s: float) -> dict[SumKey, np.ndarray]:
    kernel = nvrtc(NvrtcUnit(_COUNTING_TEXT.read_text(encoding="utf-8"), _COUNTING_TEXT.name, "count_steps"))
    lined_up = record.alignment
    phases = trips(work.binding.phase_loop, lined_up.sites, lined_up.site, lined_up.visits)
    rows = np.array([site.rows for site in lined_up.sites], np.int64)[lined_up.site]
    place = np.arange(lined_up.rows) - np.repeat(np.cumsum(rows) - rows, rows)
    keys = np.stack([np.repeat(lined_up.site, rows), place, np.repeat(phases, rows)], axis=1)
    buckets, bucket = np.unique(keys, axis=0, return_inverse=True)
    steps = np.zeros(lined_up.rows, _STEP_ROW)
    steps["bucket"] = bucket.ravel()
    for number, site in enumerate(lined_up.sites):
        if site.kind == "branch":
            steps["width"][keys[:, 0] == number], steps["kind"][keys[:, 0] == number] = 1, _BRANCH
        for place_of_operand, operand in enumerate(site.operands):
            here = (keys[:, 0] == number) & (keys[:, 1] == place_of_operand)
            array = work.binding.arrays[operand.array]
            if operand.layout not in _COUNTED_LAYOUTS or operand.width * array.itemsize > _MOST_LANE_BYTES:
                what = f"accesses {operand.width} elements wide are not counted on the GPU"
                raise DeviceError(what, site.place, file=work.setup.kernel.file)
            steps["itemsize"][here], steps["width"][here] = array.itemsize, operand.width
            steps["kind"][here] = (array.space == "shared") + 2 * (operand.access == "read")
    sums = cupy.zeros((len(buckets), len(COST_COLUMNS)), cupy.uint64)
    across = max(1, min(256, space.blocks.count * space.warps_per_block // (_COUNTING_THREADS // 32 * 8)))
    for start in range(0, len(steps), MOST_ROWS):
        some = cupy.asarray(steps[start : start + MOST_ROWS].view(np.int32))
        grid = Launch((across, len(some) // 4, 1), (_COUNTING_THREADS, 1, 1))
        numbers = [np.int32(each) for each in (space.thread_count, space.threads_per_block, space.warps_per_block)]
        launch(kernel, grid, [record.element[start:].data.ptr, some.data.ptr, sums.data.ptr, *numbers])
        wait(timeout_s, work.setup.kernel.file)
    totals, found = sums.get(), dict[SumKey, np.ndarray]()
    for row, (number, place, phase) in enumerate(buckets.tolist()):
        site = lined_up.sites[number]
        if (site.operands and not site.is_of_mbarrier) or site.kind == "branch":
            key = site, place, phase  # several accesses of an inlined function may be at one site
            found[key] = found.get(key, 0) + totals[row].astype(object)
    return found


_MOST_WORKLOADS = 2
_MOST_AHEAD = 8
_WARM_BYTES = 1 << 20
Result = TypeVar("Result")


class CudaRunner:
    """One GPU. ``use`` passes the workload of a setup to a task; the other methods are such tasks. ``timeout_s``: time limit of
    a launch.
    """

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.nvrtc = Nvrtc(gpu)
        self._workloads: OrderedDict[bytes, Workload] = OrderedDict()

    def close(self) -> None:
        """Stops compiling ahead."""
        self.nvrtc.close()

    def use(self, setup: Setup, task: Callable[[Workload], Result]) -> Result:
        """The result of ``task`` for the workload. Raises LostContext if this process can't use the GPU any more."""
        with spoken_errors(setup.kernel.file):
            return task(self._workload(setup))

    def trace(
        self, work: Workload, blocks: BlockRange | None, recording: Recording, timeout_s: float
    ) -> tuple[Trace, TraceCost]:
        return trace_on_device(self.nvrtc, work, blocks, recording, timeout_s)

    def compile_ahead(self, setup: Setup) -> None:
        """Compiles, in the background, the code for tracing the nearest other choices of the kernel's parameters."""
        nearest = islice(other_choices(setup), _MOST_AHEAD)
        self.nvrtc.compile_ahead(twin_unit(changed, False, requests_phases(setup)) for _, _, changed in nearest)

    def time(self, work: Workload, timeout_s: float) -> Measured:
        return time_kernel(self.nvrtc, work, timeout_s)

    def machine_code(self, work: Workload) -> MachineCode | None:
        return self.nvrtc.machine_code(work.unit)

    def cublas(self, work: Workload, timeout_s: float) -> Timing:
        return time_cublas(self.nvrtc, work, timeout_s)

    def copy(self, work: Workload) -> Transfer:
        return time_transfer(work)

    def count(self, work: Workload, timeout_s: float, progress: Callable[[int, int], None]) -> DeviceCounts:
        return count_on_device(self.nvrtc, work, timeout_s, progress)

    def schedule(self, work: Workload, timeout_s: float) -> Schedule:
        return schedule_on_device(self.nvrtc, work, timeout_s)

    def warm_up(self) -> None:
        """Traces a small kernel, which loads compilers and libraries before the first request."""

        def once(work: Workload) -> None:
            self.trace(work, None, Recording(limit_bytes=_WARM_BYTES), TIMEOUT_S)

        self.use(setup_for(load_kernel(DEFAULT_KERNEL)), once)

    def launch_real(self, work: Workload, times: int) -> None:
        """Launches the real kernel ``times`` times."""
        file = work.setup.kernel.file
        compiled = self.nvrtc(work.unit)
        check_resources(compiled, work.launch, file)
        work.fill_symbols(compiled)
        for _ in range(times):
            launch(compiled, work.launch, work.real_arguments)
        wait(TIMEOUT_S, file)

    def _workload(self, setup: Setup) -> Workload:
        """The cached workload, which is the same for setups that differ only in what is recorded."""
        key = to_json([setup.kernel, setup.problem, dict(sorted(setup.parameters.items())), setup.filling, setup.device])
        cached = self._workloads.pop(key, None)
        while cached is None and len(self._workloads) >= _MOST_WORKLOADS:
            self._workloads.popitem(last=False)
        self._workloads[key] = cached = cached or workload(setup)
        return cached.of(setup)
