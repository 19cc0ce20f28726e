"""Counts of a whole launch of any size on the GPU: its record passes through one buffer there, some blocks at a time, and only
the sums are copied back.
"""

from collections.abc import Callable
from pathlib import Path

import cupy
import numpy as np
from msgspec import Struct

from gemmviz.model.errors import Cancelled, DeviceError
from gemmviz.model.kernel import Launch
from gemmviz.model.layouts import SCALAR, vector
from gemmviz.model.sinks import COST_COLUMNS, SumKey
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import BlockRange, ThreadSpace
from gemmviz.model.trace import trips
from gemmviz.run.cuda.compiling import Nvrtc, Unit, free_memory
from gemmviz.run.cuda.launches import launch, wait
from gemmviz.run.cuda.tracing import MOST_ROWS, Record, TwinRunner, bands
from gemmviz.run.cuda.workload import Workload

_TEXT = Path(__file__).with_name("counting.cu")
_MOST_BYTES = 8 << 30
_THREADS = 256
_LEAST_CAPABILITY = 7.0  # __match_any_sync
_COUNTED = (SCALAR, vector(2), vector(4))  # kinds of costs that counting.cu supports
_STEP = np.dtype([("bucket", "i4"), ("itemsize", "i4"), ("width", "i4"), ("kind", "i4")])


class DeviceCounts(Struct, frozen=True):
    """The sums named by COST_COLUMNS, for each site, index of its operand and phase (-1 outside of phases)."""

    arrays: tuple[MemoryArray, ...]
    sums: dict[SumKey, tuple[int, ...]]


def count_on_device(
    nvrtc: Nvrtc, work: Workload, timeout_s: float, progress: Callable[[int, int], None], cancelled: Callable[[], bool]
) -> DeviceCounts:
    """The counts of all blocks. Raises Cancelled, KernelFault for an access outside of its array, or DeviceError."""
    if float(nvrtc.gpu.compute_capability) < _LEAST_CAPABILITY:
        raise DeviceError(f"counting on the GPU needs compute capability {_LEAST_CAPABILITY}", file=work.setup.kernel.file)
    runner = TwinRunner(nvrtc, work, None, False, timeout_s)
    budget = min(_MOST_BYTES, free_memory() // 8)
    steps = max(
        1, *(runner.run(block, budget // (4 * work.launch.threads_per_block)).alignment.rows for block in _corners(work))
    )
    sums: dict[SumKey, np.ndarray] = {}
    done = 0
    for window in bands(work.launch, max(work.launch.threads_per_block, budget // (4 * steps))):
        if cancelled():
            raise Cancelled
        space = ThreadSpace(work.launch, window)
        record = runner.run(window, budget // (4 * space.thread_count))
        for key, counted in _counted(nvrtc, work, record, space, timeout_s).items():
            sums[key] = sums.get(key, 0) + counted
        done += window.count
        progress(done, work.launch.block_count)
    cupy.get_default_memory_pool().free_all_blocks()
    return DeviceCounts(work.binding.arrays, {key: tuple(int(each) for each in counted) for key, counted in sums.items()})


def _corners(work: Workload) -> list[BlockRange]:
    """The first and the last block. For most kernels, the accesses of the others lie between theirs."""
    ends = [tuple((at, at + 1) for at in corner) for corner in ((0, 0, 0), tuple(extent - 1 for extent in work.launch.grid))]
    return [BlockRange(*end) for end in ends]


def _counted(nvrtc: Nvrtc, work: Workload, record: Record, space: ThreadSpace, timeout_s: float) -> dict[SumKey, np.ndarray]:
    kernel = nvrtc(Unit(_TEXT.read_text(encoding="utf-8"), _TEXT.name, "count_steps"))
    lined_up = record.alignment
    phases = trips(work.binding.phase_loop, lined_up.sites, lined_up.site, lined_up.visits)
    rows = np.array([site.rows for site in lined_up.sites], np.int64)[lined_up.site]
    place = np.arange(lined_up.rows) - np.repeat(np.cumsum(rows) - rows, rows)
    keys = np.stack([np.repeat(lined_up.site, rows), place, np.repeat(phases, rows)], axis=1)
    buckets, bucket = np.unique(keys, axis=0, return_inverse=True)
    steps = np.zeros(lined_up.rows, _STEP)
    steps["bucket"] = bucket.ravel()
    for number, site in enumerate(lined_up.sites):
        for place_of_operand, operand in enumerate(site.operands):
            here = (keys[:, 0] == number) & (keys[:, 1] == place_of_operand)
            array = work.binding.arrays[operand.array]
            if operand.layout not in _COUNTED:
                what = f"accesses {operand.width} elements wide are not counted on the GPU"
                raise DeviceError(what, site.place, file=work.setup.kernel.file)
            steps["itemsize"][here], steps["width"][here] = array.itemsize, operand.width
            steps["kind"][here] = (array.space == "shared") + 2 * (operand.access == "read")
    sums = cupy.zeros((len(buckets), len(COST_COLUMNS)), cupy.uint64)
    across = max(1, min(256, space.blocks.count * space.warps_per_block // (_THREADS // 32 * 8)))
    for start in range(0, len(steps), MOST_ROWS):
        some = cupy.asarray(steps[start : start + MOST_ROWS].view(np.int32))
        grid = Launch((across, len(some) // 4, 1), (_THREADS, 1, 1))
        numbers = [np.int32(each) for each in (space.thread_count, space.threads_per_block, space.warps_per_block)]
        launch(kernel, grid, [record.element[start:].data.ptr, some.data.ptr, sums.data.ptr, *numbers])
        wait(timeout_s, work.setup.kernel.file)
    totals = sums.get()
    return {
        (lined_up.sites[site], operand, phase): totals[row].astype(object)
        for row, (site, operand, phase) in enumerate(buckets.tolist())
        if lined_up.sites[site].operands
    }
