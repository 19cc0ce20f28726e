"""Times the multiplication on the CPU: NumPy's BLAS on one thread, and plain loops if Numba is installed."""

import os
import time
from collections.abc import Callable
from functools import cache
from statistics import median
from typing import Any

import numpy as np

from gemmviz.model.errors import DeviceError
from gemmviz.model.timing import Timing

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
