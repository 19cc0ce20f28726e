"""Recordings of times on a machine with a GPU: accesses to each memory, other precisions, and calls of a host. Needs CuPy."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import cupy
import numpy as np
from cupy_backends.cuda.libs import cublas
from msgspec import structs

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.kernel_file import read_kernel
from gemmviz.files.recordings import benchmark_text, read_benchmark, recording_text, write_recording
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.problem import Problem
from gemmviz.model.recording import (
    AccessTime,
    AccessTimes,
    HostCall,
    HostRun,
    HostRuns,
    MemoryPlace,
    StreamCall,
    StreamRuns,
    StreamWork,
    StrideTime,
    StrideTimes,
)
from gemmviz.model.setup import Setup
from gemmviz.model.timing import CUBLAS, Benchmark, Measured, Timing
from gemmviz.run.benchmarking import processor_name
from gemmviz.run.cuda.compiling import Nvrtc
from gemmviz.run.cuda.discovery import open_gpu
from gemmviz.run.cuda.runner import CudaRunner
from gemmviz.run.cuda.workload import Stopwatch
from gemmviz.run.worker.tools import METHODS, one_thread_environment
from recording import ROOT, measurement
from recording.launches import gpu_here, lesson_schedules, lesson_speeds


def course() -> int:
    """Record all that lessons show of a GPU. Each result is saved at once."""
    lesson_schedules()
    host_calls()
    code = lesson_speeds()
    access_times()
    return code or precision()


# Accesses to each memory: one thread follows a chain of pointers, each load's address being the value of the load before, so
# that nothing overlaps. Chains of different lengths stay in a cache or exceed it.

ACCESSES, LOADS, WARM = 15, 4096, 2
LINE = 128
_CHASES = r"""
typedef unsigned int word;
// Follow the chain for `loads` steps; cycles[i] are those of repetition i. The first repetitions warm the caches.
#define CHASE(NAME, LOAD)                                                                       \
extern "C" __global__ void NAME(const word* chain, int loads, int repeats, long long* cycles, word* last) \
{                                                                                               \
    word at = 0;                                                                                \
    for (int i = 0; i < repeats; ++i) {                                                         \
        long long began = clock64();                                                            \
        _Pragma("unroll 16")                                                                    \
        for (int step = 0; step < loads; ++step) { LOAD; }                                      \
        cycles[i] = clock64() - began + (at == 0xffffffffu);                                    \
    }                                                                                           \
    *last = at;                                                                                 \
}
CHASE(chase_l1, asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(at) : "l"(chain + at)))
CHASE(chase_l2, asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at) : "l"(chain + at)))

extern "C" __global__ void chase_shared(int loads, int repeats, long long* cycles, word* last)
{
    __shared__ word chain[1024];
    for (int i = 0; i < 1024; ++i)
        chain[i] = 4 * ((i + 33) % 1024);
    word base = (word)__cvta_generic_to_shared(chain), at = 0;
    for (int i = 0; i < repeats; ++i) {
        long long began = clock64();
        #pragma unroll 16
        for (int step = 0; step < loads; ++step)
            asm volatile("ld.shared.u32 %0, [%1];" : "=r"(at) : "r"(base + at));
        cycles[i] = clock64() - began + (at == 0xffffffffu);
    }
    *last = at;
}

__constant__ word table[1024];
extern "C" __global__ void chase_constant(int loads, int repeats, long long* cycles, word* last)
{
    word at = 0;
    for (int i = 0; i < repeats; ++i) {
        long long began = clock64();
        #pragma unroll 16
        for (int step = 0; step < loads; ++step)
            at = table[at];
        cycles[i] = clock64() - began + (at == 0xffffffffu);
    }
    *last = at;
}

extern "C" __global__ void multiply_add(int loads, int repeats, long long* cycles, float* last, float a, float b)
{
    float x = a;
    for (int i = 0; i < repeats; ++i) {
        long long began = clock64();
        #pragma unroll 16
        for (int step = 0; step < loads; ++step)
            asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
        cycles[i] = clock64() - began + (x == 1e30f);
    }
    *last = x;
}
"""


def ring(places: Any) -> Any:
    """A chain through ``places`` (indices of words) in a random order, as an array that holds each place's successor."""
    order = np.random.default_rng(0).permutation(places)
    chain = np.zeros(int(places.max()) + 1, np.uint32)
    chain[order] = np.roll(order, -1)
    return cupy.asarray(chain)


def every(bytes_: int, count: int) -> Any:
    """Indices of ``count`` words that are ``bytes_`` apart."""
    return np.arange(count, dtype=np.int64) * (bytes_ // 4)


class Lab:
    """Runs chains on the GPU and returns the cycles of one access: median and quartiles over the repetitions."""

    def __init__(self) -> None:
        self.module = cupy.RawModule(code=_CHASES, options=("--std=c++17",))
        self.last = cupy.zeros(1, np.uint32)

    def cycles(
        self, name: str, *, first: tuple[Any, ...] = (), rest: tuple[Any, ...] = (), loads: int = LOADS, warm: int = WARM
    ) -> dict[str, Any]:
        taken = cupy.zeros(warm + ACCESSES, np.int64)
        kernel = self.module.get_function(name)
        kernel((1,), (1,), (*first, np.int32(loads), np.int32(warm + ACCESSES), taken, self.last, *rest))
        each = np.sort(taken.get()[warm:]) / loads
        quarter = len(each) // 4
        return {
            "cycles": round(float(np.median(each)), 2), "low": round(float(each[quarter]), 2),
            "high": round(float(each[-1 - quarter]), 2), "loads": loads, "repeats": ACCESSES,
        }  # fmt: skip


def memories(lab: Lab) -> list[AccessTime]:
    """Rows of the table: memory, how it was measured, and cycles of one access."""
    numbers = (np.float32(0.999), np.float32(0.001))
    small, middle = ring(every(LINE, 256)), ring(every(LINE, 128 * 1024))
    large = ring(every(LINE, 32 * 1024 * 1024))
    near = lab.cycles("chase_l2", first=(middle,), loads=131072)
    far = lab.cycles("chase_l2", first=(large,), loads=65536, warm=0)
    return [
        row("register", "a multiply-add that needs the result of the one before", lab.cycles("multiply_add", rest=numbers)),
        row("shared", "a load from shared memory", lab.cycles("chase_shared")),
        row("constant", "a load from constant memory, 1 KiB, in its cache", constant(lab, 256)),
        row("L1", "a load from global memory, 32 KiB, in the cache of the SM", lab.cycles("chase_l1", first=(small,))),
        row("L2", "a load from global memory, 16 MiB, in the cache of the GPU", near),
        row("DRAM", "a load from global memory, 4 GiB, in no cache", far),
    ]  # fmt: skip


def constant(lab: Lab, words: int) -> dict[str, Any]:
    """Cycles of a load from the first ``words`` words of constant memory."""
    table = np.zeros(1024, np.uint32)
    table[:words] = (np.arange(words) + 17) % words
    cupy.ndarray(1024, np.uint32, lab.module.get_global("table")).set(table)
    return lab.cycles("chase_constant")


def row(memory: MemoryPlace, what: str, cycles: dict[str, Any]) -> AccessTime:
    return AccessTime(memory, what, **cycles)


def strides(lab: Lab) -> list[StrideTime]:
    """Cycles of a load in a chain of ``elements`` addresses that are ``stride`` bytes apart, by the L1 cache and by L2."""
    rows = []
    for stride in (128, 4096, 16384, 16384 + 128, 65536, 65536 + 128):
        for elements in (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096):
            chain = ring(every(stride, elements))
            for cache, name in (("L1", "chase_l1"), ("L2", "chase_l2")):
                rows.append(StrideTime(stride, elements, cache, **lab.cycles(name, first=(chain,))))
    return rows


def access_times() -> None:
    """Record the cycles of an access to each memory, and of loads with strides."""
    gpu, lab = open_gpu(), Lab()
    today, clock = str(date.today()), cupy.cuda.Device().attributes["ClockRate"]
    method = "one thread; each load's address is the value of the load before; cycles of the SM's clock (clock64)"
    times = AccessTimes(gpu, today, tuple(memories(lab)), method=method, clock_khz=clock)
    chains = StrideTimes(gpu, today, tuple(strides(lab)), method=method, clock_khz=clock)
    for name, record in (("access-times-GPU.json", times), ("strides-GPU.json", chains)):
        text = recording_text(record)
        write_recording(measurement(name, gpu), text)
        print(text, flush=True)


# Speeds in float, in double and on tensor cores, and of plain loops on the CPU

SIZES = (128, 256, 512, 1024, 2048, 4096)
WIDTHS = {"03_coalesced": {"BLOCK": 32}, "04_tiled": {"TILE_WIDTH": 32}}
TIMEOUT_S = 60.0
LONGEST_LOOP = {"Triple loop, one thread": 1024, "Flattened loop, one thread": 1024, "Flattened loop, 12 threads": 2048}
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
    measured = runner.use(setup, lambda work: runner.time(work, TIMEOUT_S))
    assert measured.check is not None
    assert measured.check.passed, label
    transfer = runner.use(setup, runner.copy)
    return structs.replace(measured, kernel=label, transfer=transfer)


def host_rows() -> Iterator[Row]:
    """The loops on the CPU, up to sizes that take seconds."""
    for n in SIZES:
        for name in METHODS:
            if n <= LONGEST_LOOP.get(name, SIZES[-1]):
                yield name, Problem(n, n, n), partial(host_row, name, n)


def host_row(name: str, n: int) -> Measured:
    return Measured(name, Problem(n, n, n), METHODS[name](n, n, n))


def precision(*parts: str) -> int:
    """Record the rows of the ``gpu`` and of the ``host``, each as it comes, in a process whose NumPy has one thread."""
    if dict(os.environ) != one_thread_environment():
        command = [sys.executable, str(ROOT / "packaging" / "record.py"), "precision", *parts]
        return subprocess.run(command, env=one_thread_environment(), check=False).returncode
    gpu = open_gpu()
    path = measurement("precision-speeds-GPU.json", gpu)
    benchmark = read_benchmark(path) if path.is_file() else Benchmark(gpu, str(date.today()), (), processor_name())
    runner, watch = CudaRunner(gpu), Stopwatch(Nvrtc(gpu), TIMEOUT_S, CUBLAS)
    chosen = parts or ("gpu", "host")
    done = {(row.kernel, row.problem) for row in benchmark.rows}
    with TemporaryDirectory() as folder:
        rows: list[Row] = []
        rows += [*cublas_rows(watch), *kernel_rows(runner, Path(folder))] if "gpu" in chosen else []
        rows += host_rows() if "host" in chosen else []
        for name, problem, measure in rows:
            if (name, problem) not in done:
                benchmark = benchmark.with_row(measure())
                write_recording(path, benchmark_text(benchmark))
                print(name, problem, round(benchmark.rows[-1].gflops or 0.0, 2), flush=True)
    return 0


# Calls of a host

HOST_SIZES, HOST_REPEATS, TILE = (512, 1024, 2048, 4096), 15, 32
_TILED = r"""
typedef unsigned long long ticks;
static __device__ ticks nanoseconds() { ticks now; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); return now; }
extern "C" __global__ void stamp(ticks* began) { *began = nanoseconds(); }
// began: when the first block began, unless it is null
extern "C" __global__ void tiled(const float* A, const float* B, float* C, int n, ticks* began) {
    if (began && threadIdx.x + threadIdx.y == 0) atomicMin(began, nanoseconds());
    __shared__ float a[32][32], b[32][32];
    int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < n; k0 += 32) {
        a[threadIdx.y][threadIdx.x] = A[row * n + k0 + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < 32; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        __syncthreads();
    }
    C[row * n + col] = sum;
}
"""


def host_calls() -> None:
    """Time each call of a host, synchronised: allocate three matrices, copy A, B and C, launch, copy C back, free."""
    gpu = gpu_here()
    runtime, kernel = cupy.cuda.runtime, cupy.RawKernel(_TILED, "tiled")
    runs: list[HostRun] = []
    for n in HOST_SIZES:
        for memory in ("pageable", "pinned"):
            size = 4 * n * n
            host = []
            for _ in range(3):
                if memory == "pinned":
                    host.append(np.frombuffer(cupy.cuda.alloc_pinned_memory(size), np.float32, n * n))
                else:
                    host.append(np.empty(n * n, np.float32))
                host[-1][:] = np.random.default_rng(0).random(n * n, np.float32)
            times: dict[tuple[str, str], list[float]] = {}
            for _ in range(HOST_REPEATS + 2):
                _once(runtime, kernel, host, n, times)
            calls = tuple(HostCall(name, what, median(taken[2:])) for (name, what), taken in times.items())
            runs.append(HostRun(n, memory, calls))  # type: ignore[arg-type]
            today, cpu = str(date.today()), processor_name()
            record = HostRuns(gpu, today, tuple(runs), cpu, kernel="tiled, 32 wide", repeats=HOST_REPEATS)
            write_recording(measurement("host-GPU.json", gpu), recording_text(record))
            print(n, memory, {f"{c.name} {c.what}": round(c.us or 0.0, 1) for c in calls}, flush=True)


def _once(runtime: Any, kernel: Any, host: list[Any], n: int, times: dict[tuple[str, str], list[float]]) -> None:
    size, names = 4 * n * n, ("Ad", "Bd", "Cd")
    pointers: dict[str, int] = {}

    def timed(name: str, what: str, call: Callable[[], Any]) -> Any:
        runtime.deviceSynchronize()
        began = time.perf_counter()
        result = call()
        runtime.deviceSynchronize()
        times.setdefault((name, what), []).append((time.perf_counter() - began) * 1e6)
        return result

    for name in names:
        pointers[name] = timed("Malloc", name, partial(runtime.malloc, size))
    down, up = runtime.memcpyHostToDevice, runtime.memcpyDeviceToHost
    for name, matrix in zip(names, host, strict=True):
        timed("Memcpy", f"{name} from {name[0]}", partial(runtime.memcpy, pointers[name], matrix.ctypes.data, size, down))
    grid, block = (n // TILE, n // TILE), (TILE, TILE)
    arguments = (*(np.uintp(pointers[name]) for name in names), np.int32(n), np.uintp(0))
    timed("launch", "Ad, Bd, Cd, N", lambda: kernel(grid, block, arguments))
    timed("Memcpy", "C from Cd", partial(runtime.memcpy, host[2].ctypes.data, pointers["Cd"], size, up))
    for name in names:
        timed("Free", name, partial(runtime.free, pointers[name]))


# Copies under kernels: the rows of A and C in pieces, each copied in, multiplied and copied back, in one stream and in two.

STREAM_SIZE, PIECES, STREAM_COUNTS = 4096, 8, (1, 2)


def streams() -> None:
    """Record when each piece is copied and computed, with pinned memory, in the run with the median time."""
    gpu, n = gpu_here(), STREAM_SIZE
    host = [np.frombuffer(cupy.cuda.alloc_pinned_memory(4 * n * n), np.float32, n * n) for _ in "AC"]
    host[0][:] = np.random.default_rng(0).random(n * n, np.float32)
    device = [cupy.empty(n * n, np.float32), cupy.random.random((n, n), np.float32), cupy.empty(n * n, np.float32)]
    kernels = cupy.RawKernel(_TILED, "tiled"), cupy.RawKernel(_TILED, "stamp")
    rows: list[StreamCall] = []
    for count in STREAM_COUNTS:
        runs = [_in_pieces(kernels, host, device, count) for _ in range(HOST_REPEATS + 2)][2:]
        runs.sort(key=lambda run: max(row.stop_us for row in run))
        rows += runs[len(runs) // 2]
        print(count, "streams:", *rows[-len(runs[0]) :], sep="\n", flush=True)
    facts: dict[str, Any] = {"n": n, "pieces": PIECES, "memory": "pinned", "kernel": "tiled, 32 wide", "repeats": HOST_REPEATS}
    record = StreamRuns(gpu, str(date.today()), tuple(rows), processor_name(), **facts)
    write_recording(measurement("streams-GPU.json", gpu), recording_text(record))


def _in_pieces(kernels: tuple[Any, Any], host: list[Any], device: list[Any], count: int) -> list[StreamCall]:
    """The copies and kernels of one run. Where kernels wait for each other, the clock of the device tells when one begins."""
    kernel, stamp = kernels
    runtime, n, part = cupy.cuda.runtime, STREAM_SIZE, STREAM_SIZE * STREAM_SIZE // PIECES
    lanes = [cupy.cuda.Stream(non_blocking=True) for _ in range(count)]
    down, up, size = runtime.memcpyHostToDevice, runtime.memcpyDeviceToHost, 4 * part
    clocks = cupy.asarray(np.full(PIECES + 1, 1 << 63, np.uint64))
    began, stamped, marks = cupy.cuda.Event(), cupy.cuda.Event(), list[tuple[int, StreamWork, Any, Any]]()
    runtime.deviceSynchronize()
    began.record(lanes[0])
    with lanes[0]:
        stamp((1,), (1,), (np.uintp(clocks.data.ptr + 8 * PIECES),))
    stamped.record(lanes[0])
    for piece in range(PIECES):
        lane, at = lanes[piece % count], 4 * part * piece
        of_matrices = np.uintp(device[0].data.ptr + at), device[1], np.uintp(device[2].data.ptr + at), np.int32(n)
        arguments = (*of_matrices, np.uintp(clocks.data.ptr + 8 * piece))
        steps: tuple[tuple[StreamWork, Callable[[], Any]], ...] = (
            ("copy in", partial(runtime.memcpyAsync, device[0].data.ptr + at, host[0].ctypes.data + at, size, down, lane.ptr)),
            ("kernel", partial(kernel, (n // TILE, n // PIECES // TILE), (TILE, TILE), arguments)),
            ("copy back", partial(runtime.memcpyAsync, host[1].ctypes.data + at, device[2].data.ptr + at, size, up, lane.ptr)),
        )
        for what, call in steps:
            first, last = cupy.cuda.Event(), cupy.cuda.Event()
            first.record(lane)
            with lane:
                call()
            last.record(lane)
            marks.append((piece, what, first, last))
    runtime.deviceSynchronize()

    def since(event: Any) -> float:
        return round(1e3 * float(cupy.cuda.get_elapsed_time(began, event)), 1)

    ticks, calls = clocks.get().astype(np.int64), list[StreamCall]()
    for piece, what, first, last in marks:
        first_block = round(since(stamped) + float(ticks[piece] - ticks[PIECES]) / 1e3, 1)
        ready, stop = since(first), since(last)
        calls.append(StreamCall(count, piece % count, piece, what, ready, first_block if what == "kernel" else ready, stop))
    return calls
