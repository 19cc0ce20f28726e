"""Counts a whole launch of any size on the GPU: its record passes through one buffer there, some blocks at a time, and only the
sums come back.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cupy
import numpy as np

from gemmviz.model.errors import Cancelled, DeviceError
from gemmviz.model.kernel import Launch
from gemmviz.model.lanes import LaneSpace, Window
from gemmviz.model.trace import MemoryArray, Site, trips
from gemmviz.run.cuda.compiling import Compiler, free_memory
from gemmviz.run.cuda.launching import launch, wait
from gemmviz.run.cuda.tracing import MOST_ROWS, Record, TwinRunner, bands
from gemmviz.run.cuda.workload import Workload

_TEXT = Path(__file__).with_name("counting.cu")
_MOST_BYTES = 8 << 30
_THREADS = 256
_LEAST_CAPABILITY = 7.0  # __match_any_sync
_COLUMNS = 9
_STEP = np.dtype([("bucket", "i4"), ("itemsize", "i4"), ("width", "i4"), ("kind", "i4")])


@dataclass(frozen=True)
class DeviceCounts:
    """For each site and phase (-1 outside of phases) the sums that ``gemmviz.analysis.counts.Counts`` names, in its order."""

    arrays: tuple[MemoryArray, ...]
    sums: dict[tuple[Site, int], tuple[int, ...]]


def count_on_device(
    compiler: Compiler, work: Workload, patience_s: float, progress: Callable[[int, int], None], cancelled: Callable[[], bool]
) -> DeviceCounts:
    """The counts of all blocks. Raises Cancelled, KernelFault for an access outside of its array, or DeviceError."""
    if float(compiler.gpu.compute_capability) < _LEAST_CAPABILITY:
        raise DeviceError(f"counting on the GPU needs compute capability {_LEAST_CAPABILITY}", file=work.spec.file)
    runner = TwinRunner(compiler, work, None, False, patience_s)
    budget = min(_MOST_BYTES, free_memory() // 8)
    steps = max(1, *(len(runner.run(block, budget // (4 * work.launch.threads)).alignment.site) for block in _corners(work)))
    sums: dict[tuple[Site, int], np.ndarray] = {}
    done = 0
    for window in bands(work.launch, max(work.launch.threads, budget // (4 * steps))):
        if cancelled():
            raise Cancelled
        space = LaneSpace(work.launch, window)
        record = runner.run(window, budget // (4 * space.lanes))
        for key, found in _counted(compiler, work, record, space, patience_s).items():
            sums[key] = sums.get(key, 0) + found
        done += window.blocks
        progress(done, work.launch.blocks)
    cupy.get_default_memory_pool().free_all_blocks()
    return DeviceCounts(work.binding.arrays, {key: tuple(int(each) for each in found) for key, found in sums.items()})


def _corners(work: Workload) -> list[Window]:
    """The first and the last block: what the others do lies, for most kernels, between what these do."""
    ends = [tuple((at, at + 1) for at in corner) for corner in ((0, 0, 0), tuple(extent - 1 for extent in work.launch.grid))]
    return [Window(*end) for end in ends]


def _counted(
    compiler: Compiler, work: Workload, record: Record, space: LaneSpace, patience_s: float
) -> dict[tuple[Site, int], np.ndarray]:
    kernel = compiler(_TEXT.read_text(encoding="utf-8"), _TEXT.name, "count_steps")
    lined_up = record.alignment
    phases = trips(work.binding.phase_loop, lined_up.sites, lined_up.site, lined_up.visits)
    pairs, bucket = np.unique(np.stack([lined_up.site, phases], axis=1), axis=0, return_inverse=True)
    steps = np.zeros(len(lined_up.site), _STEP)
    steps["bucket"] = bucket.ravel()
    for number, site in enumerate(lined_up.sites):
        here, array = lined_up.site == number, work.binding.arrays[site.array]
        if site.is_barrier:
            continue
        if site.width not in (1, 2, 4):
            raise DeviceError(
                f"accesses {site.width} elements wide are not counted on the GPU", site.place, file=work.spec.file
            )
        steps["itemsize"][here], steps["width"][here] = array.itemsize, site.width
        steps["kind"][here] = (array.space == "shared") + 2 * (site.kind == "load")
    sums = cupy.zeros((len(pairs), _COLUMNS), cupy.uint64)
    across = max(1, min(256, space.blocks * space.warps // (_THREADS // 32 * 8)))
    for start in range(0, len(steps), MOST_ROWS):
        some = cupy.asarray(steps[start : start + MOST_ROWS].view(np.int32))
        grid = Launch((across, len(some) // 4, 1), (_THREADS, 1, 1))
        numbers = [np.int32(each) for each in (space.lanes, space.threads, space.warps)]
        launch(kernel, grid, [record.element[start:].data.ptr, some.data.ptr, sums.data.ptr, *numbers])
        wait(patience_s, work.spec.file)
    found = sums.get()
    return {
        (lined_up.sites[site], phase): found[row].astype(object)
        for row, (site, phase) in enumerate(pairs.tolist())
        if not lined_up.sites[site].is_barrier
    }
