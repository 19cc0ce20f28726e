"""Records speeds in float, in double and on tensor cores, and of plain loops on the CPU, on a machine with a GPU.

    python packaging/precision.py [gpu] [host]

Written to assets/measurements/benchmark-*-precision.json, after each row. Needs CuPy; the loops on the CPU need Numba, and
NumPy's row needs the variables of host_speed.one_thread_environment.
"""

import re
import sys
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cupy
import numpy as np
from cupy_backends.cuda.libs import cublas

from gemmviz.files.benchmark_file import benchmark_text, read_benchmark
from gemmviz.files.checksums import write_recording
from gemmviz.files.kernel_file import read_kernel
from gemmviz.launch.catalog import load_kernel
from gemmviz.launch.legality import setup_for
from gemmviz.model.benchmark import CUBLAS, Benchmark
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.problem import Problem
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.model.timing import Measured, Timing
from gemmviz.run.cuda.compiling import Nvrtc
from gemmviz.run.cuda.discovery import open_gpu
from gemmviz.run.cuda.runner import CudaRunner
from gemmviz.run.cuda.stopwatch import Stopwatch
from gemmviz.run.measure.benchmarking import processor_name
from gemmviz.run.worker.host_speed import METHODS

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "measurements"
SIZES = (128, 256, 512, 1024, 2048, 4096)
WIDTHS = {"03_coalesced": {"BLOCK": 32}, "04_tiled": {"TILE_WIDTH": 32}}
TIMEOUT_S, LONGEST_LOOP = (
    60.0,
    {"Triple loop, one thread": 1024, "Flattened loop, one thread": 1024, "Flattened loop, 12 threads": 2048},
)
TF32 = 3  # CUBLAS_TF32_TENSOR_OP_MATH
Row = tuple[str, Problem, Callable[[], Measured]]


def cublas_rows(watch: Stopwatch) -> Iterator[Row]:
    """Rows of cuBLAS in float, in double, and in float with the multiplications on tensor cores in TF32."""
    kinds = ((CUBLAS, np.float32, 0), (f"{CUBLAS}, double", np.float64, 0), (f"{CUBLAS}, TF32 tensor cores", np.float32, TF32))
    for n in SIZES:
        for name, dtype, mode in kinds:
            yield name, Problem(n, n, n), partial(cublas_row, watch, name, n, dtype, mode)


def cublas_row(watch: Stopwatch, name: str, n: int, dtype: Any, mode: int) -> Measured:
    return Measured(name, Problem(n, n, n), cublas_time(watch, n, dtype, mode))


def cublas_time(watch: Stopwatch, n: int, dtype: Any, mode: int) -> Timing:
    """Time of cuBLAS for square matrices of this type in a math mode."""
    handle, numbers = cupy.cuda.device.get_cublas_handle(), np.array([1.0, 0.0], dtype)
    a, b, c = (cupy.random.random((n, n)).astype(dtype) for _ in range(3))
    multiply = cublas.dgemm if dtype is np.float64 else cublas.sgemm
    one, zero = (numbers.ctypes.data + numbers.itemsize * at for at in range(2))
    before = cublas.getMathMode(handle)
    cublas.setMathMode(handle, mode)

    def start() -> None:
        multiply(
            handle, cublas.CUBLAS_OP_N, cublas.CUBLAS_OP_N, n, n, n, one, b.data.ptr, n, a.data.ptr, n, zero, c.data.ptr, n
        )

    try:
        start()
        return watch.time(start)
    finally:
        cublas.setMathMode(handle, before)


def in_double(kernel: KernelSpec, folder: Path) -> KernelSpec:
    """The kernel with every float replaced by a double."""
    text = re.sub(r"\bfloat\b", "double", kernel.text)
    path = folder / f"{kernel.name}.cu"
    path.write_text(re.sub(r"(\d\.\d+)f\b", r"\1", text), encoding="utf-8")
    return read_kernel(path)


def kernel_rows(runner: CudaRunner, folder: Path) -> Iterator[Row]:
    """The coalesced and the tiled kernel in float and in double."""
    for n in SIZES:
        for name, parameters in WIDTHS.items():
            kernel = load_kernel(name)
            for label, spec in ((name, kernel), (f"{name}, double", in_double(kernel, folder))):
                setup = setup_for(spec, Problem(n, n, n), parameters, device="h200")
                yield label, setup.problem, partial(kernel_row, runner, setup, label)


def kernel_row(runner: CudaRunner, setup: Setup, label: str) -> Measured:
    result = runner.use(setup, lambda work: runner.time(work, TIMEOUT_S, is_cancelled))
    assert result.check.passed, label
    measured = Measured.of_kernel(setup, result.timing, result.resources, result.check, result.reads_c)
    transfer = runner.use(setup, runner.copy)
    return replace(measured, kernel=label, transfer=transfer)


def host_rows() -> Iterator[Row]:
    """The loops on the CPU, up to sizes that take seconds."""
    for n in SIZES:
        for name in METHODS:
            if n <= LONGEST_LOOP.get(name, SIZES[-1]):
                yield name, Problem(n, n, n), partial(host_row, name, n)


def host_row(name: str, n: int) -> Measured:
    return Measured(name, Problem(n, n, n), METHODS[name](n, n, n))


def main() -> int:
    what = sys.argv[1:] or ["gpu", "host"]
    gpu = open_gpu()
    path = FOLDER / f"benchmark-{re.sub(r'[^a-z0-9]+', '-', gpu.name.lower())}-precision.json"
    benchmark = read_benchmark(path) if path.is_file() else Benchmark(gpu, processor_name(), str(date.today()), ())
    runner, watch = CudaRunner(gpu), Stopwatch(Nvrtc(gpu), TIMEOUT_S, CUBLAS, is_cancelled)
    done = {(row.kernel, row.problem) for row in benchmark.rows}
    with TemporaryDirectory() as folder:
        rows: list[Row] = []
        rows += [*cublas_rows(watch), *kernel_rows(runner, Path(folder))] if "gpu" in what else []
        rows += host_rows() if "host" in what else []
        for name, problem, measure in rows:
            if (name, problem) not in done:
                benchmark = benchmark.with_row(measure())
                write_recording(path, benchmark_text(benchmark))
                print(name, problem, round(benchmark.rows[-1].gflops or 0.0, 2), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
