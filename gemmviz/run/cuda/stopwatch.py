"""Timing of the real kernel and of cuBLAS: device events around so many launches that the host's share is negligible."""

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import cupy
import numpy as np
from cupy.cuda import driver, runtime
from cupy_backends.cuda.libs import cublas

from gemmviz.model.errors import DeviceError, checkpoint
from gemmviz.model.kernel import Launch
from gemmviz.model.timing import Measured, Occupancy, Resources, Timing, Transfer
from gemmviz.model.trace import Check
from gemmviz.run.cpu.executor import contents_of
from gemmviz.run.cuda.compiling import Compiled, Nvrtc, Unit
from gemmviz.run.cuda.workload import Workload, check_resources, launch, launcher, wait
from gemmviz.run.data import Limit, check_result, rounding_in

_HOLD = Path(__file__).with_name("hold.cu")
_DEVICE_REPEATS = 15
_BATCH_MS = 4.0
_MOST_LAUNCHES = 400
_LONG_KERNEL_MS = 400.0
_CHECKED_ROWS_FLOPS = 1 << 36
_CUBLAS_TYPES = {"float32": runtime.CUDA_R_32F, "float16": runtime.CUDA_R_16F, "bfloat16": runtime.CUDA_R_16BF}
_COMPUTE_IN_FLOAT, _ANY_ALGORITHM = 68, -1  # CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT


class Stopwatch:
    """Times launches, in milliseconds of the GPU: all are queued before the GPU starts the first. Raises Cancelled."""

    def __init__(self, nvrtc: Nvrtc, timeout_s: float, file: str) -> None:
        self._hold = nvrtc(Unit(_HOLD.read_text(encoding="utf-8"), _HOLD.name, "hold"))
        self._timeout_s, self._file = timeout_s, file
        self._memory = cupy.cuda.alloc_pinned_memory(4)
        self._go = np.frombuffer(self._memory, np.int32, 1)

    def ms(self, start: Callable[[], None], launches: int) -> float:
        checkpoint()
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        self._go[0] = 0
        launch(self._hold, Launch((1, 1, 1), (1, 1, 1)), [self._memory.ptr])
        try:
            begin.record()
            for _ in range(launches):
                start()
            end.record()
        finally:
            self._go[0] = 1
        wait(self._timeout_s, self._file)
        return float(cupy.cuda.get_elapsed_time(begin, end))

    def time(self, start: Callable[[], None]) -> Timing:
        """The time of one launch: the median over repeats, each of many launches back to back, after a warm-up."""
        once = self.ms(start, 1)
        once = self.ms(start, 1) if once < _LONG_KERNEL_MS else once
        launches = int(min(_MOST_LAUNCHES, max(1, _BATCH_MS / max(once, 1e-4))))
        repeats = _DEVICE_REPEATS if once * launches < _LONG_KERNEL_MS / 4 else 5 if once < _LONG_KERNEL_MS else 3
        self.ms(start, launches)
        times = sorted(self.ms(start, launches) / launches for _ in range(repeats))
        quarter = len(times) // 4
        return Timing(median(times), times[quarter], times[-1 - quarter], repeats, launches)


def time_kernel(nvrtc: Nvrtc, work: Workload, timeout_s: float) -> Measured:
    """Checks and times the real kernel, as it stands in its file."""
    compiled = nvrtc(work.unit)
    check_resources(compiled, work.launch, work.setup.kernel.file)
    arguments = work.real_arguments
    check, reads_c = _checked_outputs(compiled, work, arguments, timeout_s)
    timing = Stopwatch(nvrtc, timeout_s, work.setup.kernel.file).time(launcher(compiled, work.launch, arguments))
    shared = compiled.shared_bytes + work.launch.shared_bytes
    resources = Resources(compiled.registers, shared, compiled.local_bytes, occupancy(compiled, work))
    setup, kernel, inputs = work.setup, work.setup.kernel, work.binding.element_types[next(iter(work.data))].name
    return Measured(
        kernel.name, setup.problem, timing, dict(setup.parameters), kernel.text_hash, resources, check, reads_c,
        inputs="" if inputs == "float32" else inputs,
    )  # fmt: skip


def _checked_outputs(compiled: Compiled, work: Workload, arguments: list[Any], timeout_s: float) -> tuple[Check, bool]:
    """The outputs compared with float64, poisoned by NaN before; if that fails, with zeros instead. The flag is true if the
    kernel reads an output that holds nothing before the run.
    """
    checks = []
    for value in (np.nan, 0.0):
        work.reset_outputs(value)
        work.fill_symbols(compiled)
        launch(compiled, work.launch, arguments)
        wait(timeout_s, work.setup.kernel.file)
        work.fetch_symbols(compiled)
        checks.append(check_on_device(work))
        if checks[-1].passed or not work.can_be_poisoned:
            break
    sizes = [work.data[name].size for name in work.setup.problem.output_names]
    reads_c = len(checks) > 1 and checks[1].passed and checks[0].unwritten == sum(sizes)
    return checks[reads_c], reads_c


def check_on_device(work: Workload) -> Check:
    """The comparison of all outputs with float64, as in ``check_result``: of a plain multiplication on the GPU, of another
    problem on the host. Elements that are NaN count as unwritten.
    """
    problem = work.setup.problem
    work.restore_inputs()
    if problem.is_multiply and not problem.factors:
        return _product_on_device(work)
    data = {name: work.matrix(name).get() for name in work.data}
    contents = contents_of(work.binding, data)
    written = {name: np.flatnonzero(~np.isnan(contents.numbers(name))) for name in problem.output_names}
    return check_result(contents, written, True)


def _product_on_device(work: Workload) -> Check:
    """The comparison of all of C with A . B in float64, on the GPU, some rows at a time."""
    problem = work.setup.problem
    shapes = {"A": (problem.M, problem.K), "B": (problem.K, problem.N), "C": (problem.M, problem.N)}
    types, column_major = work.binding.element_types, work.setup.kernel.column_major
    a, b, c = (_shaped(work.matrix(name), shape, name in column_major) for name, shape in shapes.items())
    limit = Limit(problem.K + 1, types["C"], rounding_in(problem, types, work.binding.program))
    right = types["B"].numbers(b)
    size = max(1, _CHECKED_ROWS_FLOPS // (problem.N * problem.K))
    wrong, unwritten, worst = 0, 0, (-np.inf, 0.0, 0.0, (0, 0))
    for start in range(0, problem.M, size):
        left, got = types["A"].numbers(a[start : start + size]), types["C"].numbers(c[start : start + size])
        error = limit.error(left @ right - got)
        allowed = limit.factor * (cupy.abs(left) @ cupy.abs(right)) + limit.least
        missing = cupy.isnan(got)
        unwritten += int(missing.sum())
        excess = cupy.where(missing, -cupy.inf, error - allowed)
        wrong += int((excess > 0).sum())
        row, column = divmod(int(cupy.argmax(excess)), problem.N)
        here = float(excess[row, column]), float(error[row, column]), float(allowed[row, column]), (start + row, column)
        worst = max(worst, here)
    _, error, bound, at = worst
    largest = error if np.isfinite(error) else None
    return Check(problem.M * problem.N - unwritten, wrong, unwritten, largest, bound, at)


def _shaped(flat: Any, shape: tuple[int, int], column_major: bool) -> Any:
    return flat.reshape(shape[::-1]).T if column_major else flat.reshape(shape)


def occupancy(compiled: Compiled, work: Workload) -> Occupancy:
    """Theoretical occupancy, computed by the driver."""
    launched = work.launch
    blocks = driver.occupancyMaxActiveBlocksPerMultiprocessor(
        compiled.handle, launched.threads_per_block, launched.shared_bytes
    )
    facts = cupy.cuda.runtime.getDeviceProperties(0)
    warp = facts["warpSize"]
    return Occupancy(blocks, -(-launched.threads_per_block // warp), facts["maxThreadsPerMultiProcessor"] // warp)


def time_cublas(nvrtc: Nvrtc, work: Workload, timeout_s: float) -> Timing:
    """Times cuBLAS on the same matrices, which it adds up in float32 (TF32 off). Raises DeviceError for types that it lacks."""
    if not work.setup.problem.is_multiply:
        raise DeviceError("cuBLAS multiplies matrices only", file=work.setup.kernel.file)
    types = tuple(work.binding.element_types[name].name for name in "ABC")
    if types[0] != types[1] or types[2] not in (types[0], "float32") or not set(types) <= _CUBLAS_TYPES.keys():
        raise DeviceError(f"cuBLAS doesn't multiply {types[0]} by {types[1]} to {types[2]}", file=work.setup.kernel.file)
    problem, handle = work.setup.problem, cupy.cuda.device.get_cublas_handle()
    of_a, of_b, of_c = map(_CUBLAS_TYPES.__getitem__, types)
    numbers = np.array([1.0, 0.0], np.float32)
    one, zero = (numbers.ctypes.data + 4 * at for at in range(2))
    pointers = [work.base + work.offsets[name] for name in "BAC"]
    before = cublas.getMathMode(handle)
    cublas.setMathMode(handle, cublas.CUBLAS_DEFAULT_MATH)

    def start() -> None:
        # Row-major C = A B is column-major C' = B' A'.
        cublas.gemmEx(
            handle, cublas.CUBLAS_OP_N, cublas.CUBLAS_OP_N, problem.N, problem.M, problem.K, one, pointers[0], of_b,
            problem.N, pointers[1], of_a, problem.K, zero, pointers[2], of_c, problem.N, _COMPUTE_IN_FLOAT, _ANY_ALGORITHM,
        )  # fmt: skip

    try:
        work.reset_outputs(np.nan)
        start()  # cuBLAS initialises itself
        return Stopwatch(nvrtc, timeout_s, "cuBLAS").time(start)
    finally:
        cublas.setMathMode(handle, before)


def time_transfer(work: Workload) -> Transfer:
    """Times the copies of the inputs to the GPU and of the outputs back, with pageable memory as cudaMemcpy uses it."""
    problem, host = work.setup.problem, {name: np.array(array) for name, array in work.data.items()}
    inputs = [name for name in host if problem.holds_before(name)]

    def to_device() -> None:
        for name in inputs:
            work.matrix(name).set(host[name])

    def to_host() -> None:
        for name in problem.output_names:
            work.matrix(name).get(out=host[name])

    return Transfer(_wall(to_device), _wall(to_host))


def _wall(copy: Callable[[], None]) -> float:
    times = []
    for _ in range(6):
        cupy.cuda.get_current_stream().synchronize()
        start = time.perf_counter()
        copy()
        cupy.cuda.get_current_stream().synchronize()
        times.append((time.perf_counter() - start) * 1e3)
    return median(times[1:])
