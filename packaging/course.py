"""Records the GPU results that lessons show, on a machine with a GPU: make course. Each result is saved at once.

    python packaging/course.py [host] [speeds] [schedules]

Times of a host's calls are written to assets/measurements/host-*.json, speeds of the lessons' kernels to
benchmark-*-lessons.json, and schedules of the lessons' launches are added to the GPU's schedule file. Needs CuPy.
"""

import json
import platform
import re
import sys
import time
from collections.abc import Callable
from contextlib import closing
from datetime import date
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from gemmviz.cli.main import main as gemmviz
from gemmviz.files.checksums import seal, write_recording
from gemmviz.files.codec import to_plain
from gemmviz.files.schedule_file import RecordedLaunch, RecordedSchedules, read_schedules, write_schedules
from gemmviz.launch.catalog import lesson_names
from gemmviz.model.gpu import Gpu
from gemmviz.model.host_run import HostCall, HostRun, HostRuns
from gemmviz.model.schedule import GridCase
from gemmviz.run.worker.remote import RemoteGpu
from gemmviz.scenes.catalog import view_named
from gemmviz.teaching.lesson_file import shipped_lesson

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "measurements"
SIZES, REPEATS, TILE = (512, 1024, 2048, 4096), 15, 32
SPEEDS = ("many_blocks", "rolled", "unrolled")
_TILED = r"""
extern "C" __global__ void tiled(const float* A, const float* B, float* C, int n) {
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


def record_host(gpu: Gpu, path: Path) -> None:
    """Times each host call, synchronised: allocate three matrices, copy A, B and C, launch, copy C back, free."""
    import cupy
    import numpy as np

    runtime, kernel = cupy.cuda.runtime, cupy.RawKernel(_TILED, "tiled")
    runs: list[HostRun] = []
    for n in SIZES:
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
            for _ in range(REPEATS + 2):
                _once(runtime, kernel, host, n, times, np)
            calls = tuple(HostCall(name, what, median(taken[2:])) for (name, what), taken in times.items())
            runs.append(HostRun(n, memory, calls))  # type: ignore[arg-type]
            record = HostRuns(gpu, _cpu(), str(date.today()), "tiled, 32 wide", REPEATS, tuple(runs))
            write_recording(path, json.dumps(to_plain(record), indent=0) + "\n")
            print(n, memory, {f"{c.name} {c.what}": round(c.us or 0.0, 1) for c in calls}, flush=True)


def _once(runtime: Any, kernel: Any, host: list[Any], n: int, times: dict[tuple[str, str], list[float]], np: Any) -> None:
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
    arguments = (*(np.uintp(pointers[name]) for name in names), np.int32(n))
    timed("launch", "Ad, Bd, Cd, N", lambda: kernel(grid, block, arguments))
    timed("Memcpy", "C from Cd", partial(runtime.memcpy, host[2].ctypes.data, pointers["Cd"], size, up))
    for name in names:
        timed("Free", name, partial(runtime.free, pointers[name]))


def _cpu() -> str:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").is_file() else ""
    match = re.search(r"model name\s*:\s*(.+)", text)
    return match[1] if match else platform.processor()


def record_schedules(remote: RemoteGpu, path: Path) -> None:
    """Adds the schedules of all launches on this GPU that a lesson shows block by block and that aren't recorded yet."""
    schedules = read_schedules(path)
    for name in lesson_names():
        for stop in shipped_lesson(name).stops:
            setup = stop.shot.setup
            if (
                view_named(stop.shot.view).subject is not GridCase
                or setup.device != "h200"
                or schedules.find(setup) is not None
            ):
                continue
            schedule = remote.schedule(setup)
            parameters = dict(setup.parameters)
            row = RecordedLaunch(setup.kernel.name, setup.kernel.text_hash, setup.problem, schedule.tick_ns, parameters)
            schedules = RecordedSchedules(
                schedules.gpu, schedules.date, (*schedules.launches, row), (*schedules.schedules, schedule)
            )
            write_schedules(schedules, path)
            seal(path)
            print(f"{name}/{stop.id}: {schedule.blocks} blocks", flush=True)


def main() -> int:
    what = sys.argv[1:] or ["host", "speeds", "schedules"]
    with closing(RemoteGpu(timeout_s=60)) as remote:
        gpu = remote.gpu()
        name = re.sub(r"\W+", "-", gpu.name.lower())
        if "schedules" in what:
            record_schedules(remote, FOLDER / f"schedules-{name}.npz")
    if "host" in what:
        record_host(gpu, FOLDER / f"host-{name}.json")
    if "speeds" in what:
        path = FOLDER / f"benchmark-{name}-lessons.json"
        with TemporaryDirectory() as folder:  # files that ship with gemmviz are not overwritten by its commands
            code = gemmviz(["bench", *SPEEDS, "--sizes", "768,1536,3072", "-o", str(Path(folder, path.name))])
            write_recording(path, Path(folder, path.name).read_text("utf-8"))
        return code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
