"""The twin's own record, lined up, is the interpreter's trace: step for step, lane for lane, element for element."""

import itertools
from pathlib import Path

import pytest

from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import legal_choices, setup_for
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.threads import BlockRange
from gemmviz.model.trace import Trace
from gemmviz.run.cpu.executor import trace_kernel
from tests.conftest import kernel_from
from tests.run.program_writer import Writer, kernel_text
from tests.run.test_lvalues import twin_jobs
from tests.run.test_parameters import KERNELS, SIZE
from tests.run.test_pipelines import RIGHT, body_of, setup_of
from tests.run.twin_on_host import GXX, HostTwins, assert_same

pytestmark = pytest.mark.skipif(GXX is None, reason="needs g++")
SIZES = [(8, 8, 8), (5, 7, 3), (33, 17, 9), (64, 16, 32)]


def shipped() -> list[Setup]:
    pairs = itertools.product(kernel_names(), SIZES)
    return [setup for name, size in pairs for setup in legal_choices(load_kernel(name), Problem(*size))]


def traced(setup: Setup) -> Trace:
    return trace_kernel(setup).whole


@pytest.mark.nightly
def test_every_shipped_kernel(tmp_path: Path) -> None:
    jobs = shipped()
    twins = HostTwins(jobs, tmp_path)
    for number, setup in enumerate(jobs):
        assert_same(twins.run(number), traced(setup))


@pytest.mark.nightly
def test_random_divergent_kernels(tmp_path: Path) -> None:
    jobs = []
    for seed in range(120):
        functions, body = Writer(seed, reads_a=True).program()
        spec = parse_kernel(kernel_text(functions, body), f"random{seed}.cu")
        jobs.append(setup_for(spec))
    twins = HostTwins(jobs, tmp_path)
    for number, setup in enumerate(jobs):
        assert_same(twins.run(number), traced(setup))


def test_some_phases_only(tmp_path: Path) -> None:
    spec, some = load_kernel("04_tiled"), ((0, 1), (1, 3), (2, 9))
    jobs = [setup_for(spec, Problem(9, 7, 17), {"TILE_WIDTH": 4}, phases=f"{start + 1}-{stop}") for start, stop in some]
    twins = HostTwins(jobs, tmp_path, "-DGV_PHASES")
    for number, phases in enumerate(some):
        want = traced(jobs[number])
        assert set(want.phase.tolist()) - {-1, want.phase.max()} <= set(range(*phases))
        assert_same(twins.run(number, phases=phases), want)


FUNCTIONS = """
__device__ float at(const float* p, int i) { return p[i]; }
template <typename T> __device__ void add(T& to, float what) { to += what; }
__device__ float twice(const float* p, int i) { return at(p, i) + at(p, i + 1); }
"""
SPACES = {
    "a matrix, then a tile": "s[threadIdx.x] = at(A, threadIdx.x); __syncthreads(); C[threadIdx.x] = at(s, 3 - threadIdx.x);",
    "a tile, then a matrix": "s[threadIdx.x] = 1.0f; __syncthreads(); C[threadIdx.x] = at(s, threadIdx.x) + at(B, threadIdx.x);",
    "a matrix and a thread's own": "float own[2] = {1, 2}; s[0] = 0; C[threadIdx.x] = at(A, 1) + at(own, 1) + twice(own, 0) + twice(B, 2);",
    "references to all of them": "float x = 1; s[threadIdx.x] = 0; add(x, A[0]); add(s[threadIdx.x], x); add(C[threadIdx.x], s[threadIdx.x]);",
}


BEFORE_THEY_ARE_DEFINED = (
    "// at(p, i): an element\n__device__ float at(const float* p, int i); __device__ float twice(const float* p);",
    "C[threadIdx.x] = at(A, threadIdx.x) + twice(B);",
    "__device__ float twice(const float* p) { return at(p, 0) + at(p, 1); }\n"
    "__device__ float at(const float* p, int i)\n{ return p[i]; }\n",
)


def test_twins_of_each_kind(tmp_path: Path) -> None:
    """Functions that reach into every kind of memory, and some that are defined after their use; structs as parameters; what C++
    chooses first; pipelines; and a window of blocks. They share a library.
    """
    specs = [kernel_from(f"__shared__ float s[4]; {each}", before=FUNCTIONS) for each in SPACES.values()]
    before, body, after = BEFORE_THEY_ARE_DEFINED
    specs.append(parse_kernel(kernel_from(body, before=before).text + after, "kernel.cu"))
    window = setup_for(load_kernel("04_tiled"), Problem(20, 21, 9), {"TILE_WIDTH": 4}, blocks="1:3,4:5")
    pipelines = [setup_of(*body_of(name)) for name in list(RIGHT)[::18]]
    jobs = [*map(setup_for, specs), *(setup_for(each, SIZE) for each in KERNELS.values()), *twin_jobs(10), *pipelines, window]
    twins = HostTwins(jobs, tmp_path)
    for number, setup in enumerate(jobs):
        assert_same(twins.run(number, BlockRange((1, 3), (4, 5)) if setup is window else None), traced(setup))
