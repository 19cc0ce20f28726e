"""Measurements by other means than events: the multiplication on the CPU, and hardware counters from Nsight Compute."""

import csv
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from gemmviz.files.codec import to_json
from gemmviz.files.resources import child_environment, gemmviz_command
from gemmviz.model.messages import DeviceError
from gemmviz.model.setup import Setup
from gemmviz.model.timing import Counters, Timing
from gemmviz.run.protocol import PROFILED_LAUNCHES

# Times the multiplication on the CPU: NumPy's BLAS on one thread, and plain loops if Numba is installed.

_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_LEAST_MS = 2.0
_HOST_REPEATS = 7
_LONG_ENOUGH_MS = 1000.0
_LOOP_THREADS = 12


def one_thread_environment() -> dict[str, str]:
    """Environment variables that limit NumPy's BLAS to one thread. They take effect only before NumPy is imported."""
    return {**os.environ, **dict.fromkeys(_THREAD_VARIABLES, "1")}


def numpy_one_thread(m: int, n: int, k: int) -> Timing:
    """Time of NumPy's float32 product. Raises DeviceError unless the environment limits its BLAS to one thread."""
    if any(os.environ.get(name) != "1" for name in _THREAD_VARIABLES):
        raise DeviceError("NumPy's BLAS is not limited to one thread in this process")
    a, b, c = _random_matrices(m, n, k)
    return _timed_loop(lambda: np.matmul(a, b, out=c))


def numba_triple_loop(m: int, n: int, k: int) -> Timing:
    """Time of three loops over rows, columns and k, compiled by Numba. Raises DeviceError if Numba is not installed."""
    return _numba_time(_triple_loop, m, n, k)


def numba_flattened_loop(m: int, n: int, k: int) -> Timing:
    """Time of one loop over the elements of C with a loop over k in it, compiled by Numba. Raises DeviceError if Numba is not
    installed.
    """
    return _numba_time(lambda: _flattened_loop(False), m, n, k)


def numba_flattened_loop_threads(m: int, n: int, k: int) -> Timing:
    """Time of ``numba_flattened_loop`` with the elements of C divided among 12 threads. Raises DeviceError if Numba is not
    installed or this machine has fewer processors.
    """
    processors = os.cpu_count() or 1
    if processors < _LOOP_THREADS:
        raise DeviceError(f"{_LOOP_THREADS} threads need {_LOOP_THREADS} processors; this machine has {processors}")
    return _numba_time(lambda: _flattened_loop(True), m, n, k)


METHODS: dict[str, Callable[[int, int, int], Timing]] = {
    "NumPy, one thread": numpy_one_thread,
    "Triple loop, one thread": numba_triple_loop,
    "Flattened loop, one thread": numba_flattened_loop,
    f"Flattened loop, {_LOOP_THREADS} threads": numba_flattened_loop_threads,
}
_LOOP = "void(float32[:,::1], float32[:,::1], float32[:,::1])"


def _numba_time(compiled: Callable[[], Any], m: int, n: int, k: int) -> Timing:
    try:
        multiply = compiled()
    except ImportError:
        raise DeviceError("Numba is not installed", remedy='pip install "gemmviz[bench]"') from None
    a, b, c = _random_matrices(m, n, k)
    return _timed_loop(lambda: multiply(a, b, c))


@cache
def _triple_loop() -> Any:
    import numba

    @numba.njit(_LOOP)
    def multiply(a, b, c):  # type: ignore[no-untyped-def]
        for row in range(a.shape[0]):
            for column in range(b.shape[1]):
                total = np.float32(0.0)
                for k in range(a.shape[1]):
                    total += a[row, k] * b[k, column]
                c[row, column] = total

    return multiply


@cache
def _flattened_loop(is_parallel: bool) -> Any:
    import numba

    @numba.njit(_LOOP, parallel=is_parallel)
    def multiply(a, b, c):  # type: ignore[no-untyped-def]
        for element in numba.prange(c.size):  # as range() in a loop of one thread
            row, column = element // c.shape[1], element % c.shape[1]
            total = np.float32(0.0)
            for k in range(a.shape[1]):
                total += a[row, k] * b[k, column]
            c[row, column] = total

    if is_parallel:
        numba.set_num_threads(_LOOP_THREADS)
    return multiply


def _random_matrices(m: int, n: int, k: int) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(0)
    a, b = (random.random(shape, np.float32) * 2 - 1 for shape in ((m, k), (k, n)))
    return a, b, np.empty((m, n), np.float32)


def _timed_loop(run: Callable[[], Any]) -> Timing:
    def elapsed_ms(times: int) -> float:
        start = time.perf_counter()
        for _ in range(times):
            run()
        return (time.perf_counter() - start) * 1e3

    once = elapsed_ms(1)
    times = max(1, int(_LEAST_MS / max(once, 1e-3)))
    repeats = _HOST_REPEATS if once * times < _LONG_ENOUGH_MS else 3
    times_ms = sorted(elapsed_ms(times) / times for _ in range(repeats))
    quarter = len(times_ms) // 4
    return Timing(median(times_ms), times_ms[quarter], times_ms[-1 - quarter], repeats, times)


# Hardware counters of real launches from Nsight Compute, with which gemmviz's counts are compared.

DURATION = "gpu__time_duration.sum"
METRICS = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_instructions": "smsp__inst_executed_op_shared_ld.sum",
    "shared_store_instructions": "smsp__inst_executed_op_shared_st.sum",
    "shared_wavefronts": "memory_l1_wavefronts_shared",
    "shared_wavefronts_ideal": "memory_l1_wavefronts_shared_ideal",
    "registers_per_thread": "launch__registers_per_thread",
}
LEVELS = {
    "dram_bytes_read": "dram__bytes_read.sum",
    "dram_bytes_written": "dram__bytes_write.sum",
    "l2_sectors_read": "lts__t_sectors_op_read.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "registers_per_thread": "launch__registers_per_thread",
    "shared_config_bytes": "launch__shared_mem_config_size",
    "occupancy_limit_blocks": "launch__occupancy_limit_blocks",
    "occupancy_limit_warps": "launch__occupancy_limit_warps",
    "occupancy_limit_registers": "launch__occupancy_limit_registers",
    "occupancy_limit_shared_mem": "launch__occupancy_limit_shared_mem",
}
_NSIGHT_PLACES = (
    "/usr/local/cuda/bin",
    "/opt/nvidia/nsight-compute",
    "/opt/nvidia/nsight-compute/*",
    "/usr/local/cuda/nsight-compute*",
)
_TIMEOUT_S = 1800
_SCALES = {"Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "s": 1e9}


def find_profiler() -> Path:
    """Path of Nsight Compute's command line, ncu. Raises DeviceError if it is not installed."""
    on_path = shutil.which("ncu")
    if on_path:
        return Path(on_path)
    for place in _NSIGHT_PLACES:
        for folder in sorted(Path("/").glob(place.lstrip("/")), reverse=True):
            if (folder / "ncu").is_file():
                return folder / "ncu"
    raise DeviceError(
        "Nsight Compute is not installed: ncu was not found",
        remedy="install it from https://developer.nvidia.com/nsight-compute, or add ncu to PATH",
    )


def profiler_version() -> str:
    """Name and version of the profiler, such as "Nsight Compute 2025.1.0.0"."""
    output = subprocess.run([str(find_profiler()), "--version"], capture_output=True, text=True, check=False).stdout
    versions = [word for word in output.split() if word[0].isdigit() and word.count(".") >= 2]
    return f"Nsight Compute {versions[0]}" if versions else "Nsight Compute"


def counters_of(setups: Sequence[Setup], metrics: Mapping[str, str] = METRICS) -> list[Counters]:
    """Counters of each setup's unmodified kernel, by the names in ``metrics``.

    Raises DeviceError if the profiler is missing, not permitted to read counters, or fails.
    """
    profiler = find_profiler()
    names = sorted({setup.kernel.function.rpartition("::")[2] for setup in setups})  # the profiler omits namespaces
    with tempfile.TemporaryDirectory(prefix="gemmviz-") as folder:
        listed, log = Path(folder) / "launches.json", Path(folder) / "counters.csv"
        listed.write_bytes(to_json(list(setups)))
        command = [
            str(profiler), "--clock-control", "none", "--cache-control", "none", "--csv", "--page", "raw",
            "--log-file", str(log), "--kernel-name", f"regex:^({'|'.join(names)})$",
            "--metrics", ",".join([*metrics.values(), DURATION]),
            *gemmviz_command("launches", str(listed)),
        ]  # fmt: skip
        try:
            environment = child_environment()
            process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise DeviceError(f"Nsight Compute failed: {error}") from None
        text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
        return _read_report(text, process.stdout + process.stderr, len(setups), metrics)


def _read_report(log: str, output: str, setups: int, metrics: Mapping[str, str]) -> list[Counters]:
    if "ERR_NVGPUCTRPERM" in log + output:
        raise DeviceError(
            "Nsight Compute is not permitted to read this GPU's counters",
            remedy="see https://developer.nvidia.com/ERR_NVGPUCTRPERM or ask your administrator",
        )
    units, *rows = [*csv.DictReader(line for line in log.splitlines() if line and not line.startswith("=="))] or [{}]
    if len(rows) != setups * PROFILED_LAUNCHES:
        errors = [line for line in (log + output).splitlines() if line.startswith(("==ERROR==", "gemmviz:"))]
        why = errors[0] if errors else (output.strip().splitlines() or ["it printed nothing"])[-1]
        raise DeviceError(f"Nsight Compute profiled {len(rows)} of {setups * PROFILED_LAUNCHES} launches: {why}")
    return [
        _averaged(rows[start : start + PROFILED_LAUNCHES], units, metrics) for start in range(0, len(rows), PROFILED_LAUNCHES)
    ]


def _averaged(rows: list[dict[str, str]], units: dict[str, str], metrics: Mapping[str, str]) -> Counters:
    def number(row: dict[str, str], metric: str) -> float:
        return float(row[metric].replace(",", "")) * _SCALES.get(units[metric], 1.0)

    counters = {name: round(number(rows[-1], metric)) for name, metric in metrics.items()}
    return Counters(counters, round(min(number(row, DURATION) for row in rows[1:])))
