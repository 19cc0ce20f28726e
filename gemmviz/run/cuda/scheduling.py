"""The schedule of a kernel, from a probe at its beginning and end: SM and time of each block."""

import cupy
import numpy as np

from gemmviz.model.schedule import Schedule
from gemmviz.run.cuda.compiling import Nvrtc
from gemmviz.run.cuda.launches import check_resources, launch, wait
from gemmviz.run.cuda.workload import Workload, real_unit
from gemmviz.source.program import macros_of
from gemmviz.source.twin.real import probed_source

_BOOK = np.dtype([("start", "u8"), ("stop", "u8"), ("sm", "u8")])


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
    facts = np.array((start.data.ptr, stop.data.ptr, sm.data.ptr), _BOOK)
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
