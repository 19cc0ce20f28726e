"""On a machine with an NVIDIA GPU: its record is the interpreter's trace, its counts are ours, and the worker survives everything."""

import contextlib
import gc
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.counts import LaunchCounter
from gemmviz.analysis.models import occupancy_limits
from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import device_for, legal_choices, setup_for
from gemmviz.files.devices import device_names, device_of
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import Cancelled, DeviceError, GemmvizError, KernelFault, SourceError, cancelled_after
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.trace import Trace
from gemmviz.run.cpu.executor import stream_launch, trace_kernel
from gemmviz.run.engine import CannotAnswer, Recording
from gemmviz.run.worker.remote import RemoteGpu
from gemmviz.run.worker.tools import find_profiler
from gemmviz.shots.occupancy import needs_of
from tests.conftest import kernel_from, sure
from tests.run.program_writer import Writer, kernel_text
from tests.run.test_kernels_people_bring import BROUGHT
from tests.run.test_matrix_instructions import MMA, MOVED, TILES, wmma_kernel
from tests.run.test_pipelines import RIGHT, body_of, setup_of

pytestmark = pytest.mark.gpu
COUNTED = """#include <cuda_pipeline.h>
#define INDICES int x = threadIdx.x, y = threadIdx.y, r = blockIdx.y * 16 + y, c = blockIdx.x * 16 + x; float s = 0;
namespace ns {
__global__ void plain(const float* A, const float* B, float* C, int n)
{ INDICES for (int k = 0; k < n; ++k) s += A[r * n + k] * B[k * n + c]; C[r * n + c] = s; }
}
template <int T> __global__ void copies(const float* A, const float* B, float* C, int n)
{ __shared__ float a[T][T], b[T][T]; INDICES
  for (int k0 = 0; k0 < n; k0 += T) {
    __pipeline_memcpy_async(&a[y][x], &A[r * n + k0 + x], 4);
    __pipeline_memcpy_async(&b[y][x], &B[(k0 + y) * n + c], 4);
    __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();
    for (int k = 0; k < T; ++k) s += a[y][k] * b[k][x];
    __syncthreads();
  }
  C[r * n + c] = s; }
__global__ void atomics(const float* A, const float* B, float* C, int n)
{ __shared__ float sums[256]; INDICES sums[y * 16 + x] = 0; __syncthreads();
  for (int k = 0; k < n; ++k) atomicAdd(&sums[y * 16 + x], A[r * n + k] * B[k * n + c]);
  C[r * n + c] = sums[y * 16 + x]; }
void run(float* A, float* B, float* C, int n)
{ dim3 grid(n / 16, n / 16), block(16, 16);
  ns::plain<<<grid, block>>>(A, B, C, n); copies<16><<<grid, block>>>(A, B, C, n); atomics<<<grid, block>>>(A, B, C, n); }
"""
SIZES = [(8, 8, 8), (16, 32, 16), (5, 7, 3), (33, 17, 9), (64, 16, 32), (100, 70, 50)]


@pytest.fixture(scope="module")
def gpu() -> Iterator[RemoteGpu]:
    with contextlib.closing(RemoteGpu(timeout_s=3.0)) as made:
        yield made


@pytest.mark.parametrize(
    "kernel", [MOVED, *(wmma_kernel(*each) for each in TILES), parse_kernel(MMA.replace("PITCH", "24"), "tile.cu")]
)
def test_matrix_instructions(gpu: RemoteGpu, kernel: KernelSpec) -> None:
    """Traces are equal step for step, and values in every bit."""
    setup = setup_for(kernel, Problem(32, 32, 32))
    ours, theirs = (engine(setup, recording=Recording(values=True)) for engine in (trace_kernel, gpu.trace))
    for name in ("site", "visits", "epoch", "element", "origin_step", "origin_array", "origin", "value"):
        assert np.array_equal(getattr(ours.whole, name), getattr(theirs.whole, name)), name


@pytest.mark.parametrize("name", RIGHT)
def test_pipelines(gpu: RemoteGpu, name: str) -> None:
    """Warps that wait for each other at barriers make the interpreter's steps, with its results."""
    setup = setup_of(*body_of(name))
    ours, theirs = trace_kernel(setup).whole, gpu.trace(setup).whole
    assert_same(theirs, ours)
    np.testing.assert_array_equal(theirs.completes, ours.completes)


def has_profiler() -> bool:
    try:
        return find_profiler().is_file()
    except DeviceError:
        return False


def legal(name: str) -> list[Setup]:
    kernel = load_kernel(name)
    problems = [*(Problem(*size) for size in SIZES), kernel.problem]
    return [setup for problem in problems for setup in legal_choices(kernel, problem)]


def assert_same(got: Trace, want: Trace) -> None:
    assert got.sites == want.sites
    for name in ("site", "visits", "epoch", "element", "origin_step", "origin_array", "origin"):
        np.testing.assert_array_equal(getattr(got, name), getattr(want, name), err_msg=name)
    assert got.check.passed == want.check.passed
    assert (got.check.compared, got.check.unwritten) == (want.check.compared, want.check.unwritten)


@pytest.mark.parametrize("name", kernel_names())
def test_every_step_thread_and_address(gpu: RemoteGpu, name: str) -> None:
    for setup in legal(name):
        got = gpu.trace(setup).whole
        assert "NVIDIA" in got.by
        assert_same(got, trace_kernel(setup).whole)


@pytest.mark.parametrize("name", kernel_names())
def test_values(gpu: RemoteGpu, name: str) -> None:
    setup, recording = legal(name)[-1], Recording(values=True)
    got, want = gpu.trace(setup, recording=recording).whole, trace_kernel(setup, recording=recording).whole
    assert_same(got, want)
    assert got.value is not None
    assert want.value is not None
    active = got.element >= 0
    np.testing.assert_allclose(sure(got.value)[active], sure(want.value)[active], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "name",
    ["sequential", "one_element", "early_return", "many_blocks", "column_first", "phases_by_ceil", "reads_c", "hip_form",
     "rolled", "unrolled", "linear_block", "cube_block", "piece_7"],
)  # fmt: skip
def test_kernels_of_the_lessons(gpu: RemoteGpu, name: str) -> None:
    for setup in (setup_for(load_kernel(name)), setup_for(load_kernel(name), Problem(12, 12, 12))):
        assert_same(gpu.trace(setup).whole, trace_kernel(setup).whole)


@pytest.mark.skipif(not has_profiler(), reason="needs Nsight Compute")
def test_counters_of_kernels_in_namespaces_of_copies_and_of_shared_atomics(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "k.cu").write_text(COUNTED, encoding="utf-8")
    for kernel in ("ns::plain", "copies", "atomics"):
        assert main(["verify", f"{tmp_path / 'k.cu'}:{kernel}", "--sizes", "64"]) == 0, capsys.readouterr()


def test_some_blocks_and_phases(gpu: RemoteGpu) -> None:
    setup = setup_for(load_kernel("04_tiled"), Problem(70, 50, 41), {"TILE_WIDTH": 8})
    for blocks, text, phases in (("1:3,4:7", "", None), ("0:2,0:1", "2-3", (1, 3)), ("all", "6", (5, 6))):
        chosen = structs.replace(setup, blocks=blocks, phases=text)
        got = gpu.trace(chosen).whole
        assert got.phases == phases
        assert_same(got, trace_kernel(chosen).whole)


def test_random_divergent_kernels(gpu: RemoteGpu) -> None:
    for seed in range(40):
        setup = setup_for(parse_kernel(kernel_text(*Writer(seed, reads_a=True).program()), f"random{seed}.cu"))
        assert_same(gpu.trace(setup).whole, trace_kernel(setup).whole)


@pytest.mark.parametrize("name", BROUGHT)
def test_kernels_people_bring(gpu: RemoteGpu, name: str) -> None:
    text, size = BROUGHT[name]
    setup = setup_for(parse_kernel(text, f"{name}.cu"), Problem(*size))
    assert_same(gpu.trace(setup).whole, trace_kernel(setup).whole)


@pytest.mark.parametrize("name", kernel_names())
def test_the_twin_computes_bit_for_bit_what_the_kernel_does(name: str) -> None:
    from gemmviz.run.cuda.discovery import open_runner

    runner = open_runner()
    for setup in legal(name):

        def both(work: Any) -> tuple[Any, Any]:
            runner.trace(work, None, Recording(limit_bytes=1 << 30), timeout_s=10.0)
            twin = work.matrix("C").get()
            work.reset_outputs(np.nan)
            runner.launch_real(work, 1)
            return twin.view(np.uint32), work.matrix("C").get().view(np.uint32)

        np.testing.assert_array_equal(*runner.use(setup, both))


@pytest.mark.parametrize("name", kernel_names())
def test_counts_of_whole_launches(gpu: RemoteGpu, name: str) -> None:
    for setup in legal(name)[-4:]:
        ours, theirs = (LaunchCounter(device_for(setup).rules) for _ in range(2))
        stream_launch(setup, ours)
        gpu.count(setup, theirs)
        assert theirs.counts.accesses == ours.counts.accesses
        assert theirs.counts.branches == ours.counts.branches
        assert theirs.counts.phases == ours.counts.phases


@pytest.mark.alone
def test_the_real_kernel_is_checked_and_timed(gpu: RemoteGpu) -> None:
    setup = setup_for(load_kernel("04_tiled"), Problem(256, 256, 256), {"TILE_WIDTH": 16})
    found = gpu.time_kernel(setup)
    assert found.check is not None
    assert found.check.passed
    assert found.check.compared == 256 * 256
    assert found.timing is not None
    assert 0.001 < found.timing.median_ms < 1
    assert found.resources is not None
    assert found.resources.shared_bytes == 2 * 16 * 16 * 4
    assert found.resources.occupancy.share == 1.0
    assert gpu.time_cublas(setup).median_ms < found.timing.median_ms


@pytest.mark.alone
def test_times_are_those_of_the_chosen_device_or_of_none(gpu: RemoteGpu) -> None:
    setup = setup_for(load_kernel("04_tiled"))
    here = device_of(gpu.gpu())
    if here is not None:
        speed = gpu.time(structs.replace(setup, device=here))
        assert speed.source.startswith("measured here on")
        assert speed.share_of_cublas is not None
    other = next(name for name in device_names() if name != here)
    with pytest.raises(CannotAnswer, match="a different device"):
        gpu.time(structs.replace(setup, device=other))


def test_a_kernel_that_reads_c_is_given_zeros_and_it_is_said(gpu: RemoteGpu) -> None:
    body = "int i = threadIdx.x; float s = 0; for (int k = 0; k < 8; ++k) s += A[i / 8 * 8 + k] * B[k * 8 + i % 8]; C[i] = s + 0.0f * C[i];"
    found = gpu.time_kernel(setup_for(kernel_from(body, block='["64"]')))
    assert found.check is not None
    assert found.check.passed
    assert found.reads_c


@pytest.mark.alone
def test_where_and_when_each_block_ran(gpu: RemoteGpu) -> None:
    found = gpu.schedule(setup_for(load_kernel("04_tiled"), Problem(512, 512, 512), {"TILE_WIDTH": 32}))
    assert found.blocks == 256
    assert (found.stop_ns > found.start_ns).all()
    assert found.start_ns.min() == 0
    assert found.resident().max() <= 2
    assert len(set(found.sm.tolist())) <= gpu.gpu().sms


@pytest.mark.parametrize("name", kernel_names())
def test_occupancy_is_what_the_driver_says(gpu: RemoteGpu, name: str) -> None:
    """Of every choice of every kernel's parameters, with the registers that this very driver's compiler gave it."""
    device = device_of(gpu.gpu())
    if device is None:
        pytest.skip("gemmviz has no file of this device")
    for size in (64, 512):
        for setup in legal_choices(load_kernel(name), Problem(size, size, size), device=device):
            said = sure(gpu.time_kernel(setup).resources)
            needs, _ = needs_of(setup)
            assert needs.shared_bytes == said.shared_bytes
            found = occupancy_limits(device_for(setup), structs.replace(needs, registers=said.registers))
            assert found.blocks_per_sm == said.occupancy.blocks_per_sm, setup.parameters
            assert found.warps_percent == pytest.approx(100 * said.occupancy.share)


ENDLESS = "while (A[0] < 5.0f) { C[0] += 0.0f; }"
WRONG = {
    "compiler's complaint": ("#if __CUDA_ARCH__ >= 500 && defined(__CUDACC_RTC__)\n#error not here\n#endif\nC[0] = A[0] + B[0];", SourceError, "not here", False),
    "illegal address": ("C[(long long)M << 36] = A[0] + B[0];", DeviceError, "outside of its arrays|wrong kind", True),
    "misaligned": ("float4 v = *(const float4*)(A + 1 + M - 8); C[threadIdx.x] = v.x + v.y + v.z + v.w;", DeviceError, "not aligned", True),
    "endless": (ENDLESS, DeviceError, "did not end within 3 s", True),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_goes_wrong_is_an_answer(gpu: RemoteGpu, what: str) -> None:
    body, kind, words, loses = WRONG[what]
    spec = kernel_from(body)
    lost = gpu.link.lost
    with pytest.raises(kind, match=words) as caught:
        gpu.time_kernel(setup_for(spec))
    assert "kernel.cu" in str(caught.value)
    if kind is SourceError:
        assert caught.value.place is not None
        assert sure(caught.value.place).line == 11
    assert gpu.link.lost == lost + loses
    good = load_kernel("02_naive")
    assert gpu.trace(setup_for(good)).whole.check.passed  # a fresh worker where the old one was lost


def test_outside_of_a_matrix_is_said_with_line_block_and_thread(gpu: RemoteGpu) -> None:
    spec = kernel_from("C[threadIdx.x + 62] = A[0] + B[0];")
    with pytest.raises(
        KernelFault, match=r"C\[64\] is out of range: it has 64 elements, by thread \(2, 0, 0\) of block"
    ) as caught:
        gpu.trace(setup_for(spec))
    assert caught.value.place is not None
    assert sure(caught.value.place).line == 10


@pytest.mark.alone
def test_matrices_beyond_the_memory_are_refused_at_once(gpu: RemoteGpu) -> None:
    spec = load_kernel("04_tiled")
    with _no_memory_left(), pytest.raises(DeviceError, match="MiB free"):
        gpu.time_kernel(setup_for(spec, Problem(40000, 40000, 40000), {"TILE_WIDTH": 32}))


@contextlib.contextmanager
def _no_memory_left() -> Iterator[None]:
    """All but 2 GiB of the GPU's memory is taken."""
    import cupy

    taken = cupy.cuda.alloc(cupy.cuda.runtime.memGetInfo()[0] - (2 << 30))
    try:
        yield
    finally:
        del taken
        cupy.get_default_memory_pool().free_all_blocks()


def test_too_many_registers_are_refused_with_the_figures(gpu: RemoteGpu) -> None:
    many = "float s[150]; for (int i = 0; i < 150; ++i) s[i] = A[(i * 7 + M) % 64];\n" + (
        "#pragma unroll\nfor (int j = 0; j < 4; ++j)\n#pragma unroll\nfor (int i = 0; i < 150; ++i) s[i] = s[i] * B[j] + s[(i + 7) % 150];\n"
        "for (int i = 0; i < 150; ++i) C[(threadIdx.x + i) % 64] = s[i];"
    )
    spec = kernel_from(many, block='["1024"]')
    with pytest.raises(DeviceError, match="registers, so a block can have at most"):
        gpu.time_kernel(setup_for(spec))


@pytest.mark.alone
def test_a_worker_killed_from_outside_is_replaced(gpu: RemoteGpu) -> None:
    name = gpu.gpu().name
    spec = kernel_from(ENDLESS)
    killer = threading.Timer(0.5, lambda: os.kill(gpu.link.process_id or 0, signal.SIGKILL))
    killer.start()
    with pytest.raises(DeviceError, match="was terminated by signal 9"):
        gpu.time_kernel(setup_for(spec))
    assert gpu.gpu().name == name


@pytest.mark.alone
@pytest.mark.parametrize("what", ["illegal address", "misaligned", "endless", "compiler's complaint", "memory", "kill", "stop"])
def test_failures_in_a_row_leave_nothing_behind(what: str) -> None:
    """Folders, processes, threads, memory here and on the GPU stay what they were."""
    gpu, good = RemoteGpu(timeout_s=1.0), setup_for(load_kernel("02_naive"))
    for _ in range(2):
        _fail(gpu, what)
    assert gpu.trace(good).whole.check.passed
    before, rounds = _held(), _ROUNDS[what]
    for _ in range(rounds):
        _fail(gpu, what)
    assert gpu.trace(good).whole.check.passed
    after = _held()
    gpu.close()
    print(f"{what}: {rounds} failures, {gpu.link.lost} workers lost; before {before}, after {after}")
    assert after["processes"] <= before["processes"]
    assert after["threads"] <= before["threads"] + 2
    assert after["folders"] <= before["folders"]
    assert after["files"] <= before["files"] + 2
    assert after["MiB"] <= before["MiB"] + 64
    assert after["GPU MiB"] <= before["GPU MiB"] + 64


_ROUNDS = {
    "illegal address": 30,
    "misaligned": 30,
    "endless": 15,
    "compiler's complaint": 60,
    "memory": 40,
    "kill": 15,
    "stop": 10,
}


def _fail(gpu: RemoteGpu, what: str) -> None:
    if what == "memory":
        with _no_memory_left(), pytest.raises(DeviceError, match="MiB free"):
            gpu.time_kernel(setup_for(load_kernel("04_tiled"), Problem(40000, 40000, 40000), {"TILE_WIDTH": 32}))
        return
    if what in ("kill", "stop"):
        number = signal.SIGKILL if what == "kill" else signal.SIGSTOP
        gpu.gpu()
        os.kill(gpu.link.process_id or 0, number)
        with cancelled_after(0.3), pytest.raises((DeviceError, Cancelled)):
            gpu.trace(setup_for(load_kernel("02_naive")))
        return
    with pytest.raises((DeviceError, SourceError)):
        gpu.time_kernel(setup_for(kernel_from(WRONG[what][0])))


def _held() -> dict[str, int]:
    """What this process holds now."""
    gc.collect()
    own = Path("/proc/self")
    status = dict(line.split(":", 1) for line in (own / "status").read_text().splitlines())
    children = [each for each in Path("/proc").glob("[0-9]*/stat") if _parent(each) == os.getpid()]
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    return {
        "processes": len(children),
        "threads": int(status["Threads"]),
        "folders": sum(1 for place in ("/dev/shm", tempfile.gettempdir()) for _ in Path(place).glob("gemmviz-*/*")),
        "files": len(list((own / "fd").iterdir())),
        "MiB": int(status["VmRSS"].split()[0]) >> 10,
        "GPU MiB": int(subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]),
    }  # fmt: skip


def _parent(stat: Path) -> int:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except OSError:
        return -1


def test_a_record_beyond_the_budget_says_how_much_it_is(gpu: RemoteGpu) -> None:
    setup = setup_for(load_kernel("04_tiled"), Problem(256, 256, 256), {"TILE_WIDTH": 16})
    with pytest.raises(GemmvizError, match="MiB"):
        gpu.trace(setup, recording=Recording(limit_bytes=1 << 20))
