"""NVIDIA's reader and ours see the same accesses in every kernel of the tests, thread by thread, and compute the same C."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import legal_choices, setup_for
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.run.cpu.executor import bound, checked, inputs, trace_kernel, traced_space
from gemmviz.run.cpu.recorder import StepCounter
from gemmviz.run.cpu.simt.interpret import interpret
from tests.conftest import sampled
from tests.nvrtc import nvrtc
from tests.ptx_oracle.witness import same_accesses, witness
from tests.run.program_writer import Writer, kernel_text
from tests.run.test_kernels_people_bring import BROUGHT

pytestmark = pytest.mark.skipif(nvrtc() is None, reason="needs the wheel nvidia-cuda-nvrtc")
COURSE = (
    "sequential", "one_element", "early_return", "many_blocks", "column_first", "phases_by_ceil", "reads_c", "hip_form", "rolled",
    "unrolled", "linear_block", "cube_block", "piece_7",
)  # fmt: skip
MEASURED = sorted((Path(__file__).parents[1] / "data" / "kernels").glob("*.cu"))


def agrees(setup: Setup) -> None:
    trace, seen = trace_kernel(setup).whole, witness(setup)
    same_accesses(trace, seen)
    theirs = checked(trace, bound(setup), seen.matrices).check
    assert (theirs.compared, theirs.wrong, theirs.unwritten) == (trace.check.compared, trace.check.wrong, trace.check.unwritten)


@pytest.mark.parametrize("name", sampled(kernel_names(), 4))
@pytest.mark.parametrize("size", [(16, 8, 24), pytest.param((8, 8, 8), marks=pytest.mark.nightly)])
def test_shipped_kernels(name: str, size: tuple[int, int, int]) -> None:
    for setup in islice(legal_choices(load_kernel(name), Problem(*size)), 2):
        agrees(setup)


@pytest.mark.parametrize("name", sampled(sorted(BROUGHT), 2))
def test_kernels_people_bring(name: str) -> None:
    text, size = BROUGHT[name]
    agrees(setup_for(parse_kernel(text, f"{name}.cu"), Problem(*size)))


@pytest.mark.parametrize("name", sampled(COURSE, 5))
def test_kernels_of_the_course(name: str) -> None:
    agrees(setup_for(load_kernel(name)))


@pytest.mark.parametrize("path", sampled(MEASURED[::-1], 5), ids=lambda path: path.stem)
def test_measured_kernels(path: Path) -> None:
    agrees(setup_for(parse_kernel(path.read_text(encoding="utf-8"), path.name), Problem(64, 64, 32)))


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.nightly] * (seed >= 2)) for seed in range(40)])
def test_random_divergent_kernels(seed: int) -> None:
    agrees(setup_for(parse_kernel(kernel_text(*Writer(seed, reads_a=True).program()), f"random{seed}.cu")))


@pytest.mark.parametrize(
    "assignment",
    [
        "l[x++] += x * 10;", "s[t + 6 * (x++ & 1)] -= x * 7 + s[t];", "(++s[t]) += s[t] * 5;", "(x++, s[t]) += x * 9;",
        "(s[t] += 2) *= s[t];", "int* p = l; *p++ += *p * 2; l[3] = *p;", "s[t]++; (s[t]--, x) += s[t];",
    ],
)  # fmt: skip
def test_the_right_side_of_an_assignment_comes_first(assignment: str) -> None:
    """C++17's order, in which g++ doesn't evaluate compound assignments."""
    start = "int t = threadIdx.x, x = t & 1, l[4] = {1, 2, 3, 4}; __shared__ int s[12]; s[t] = t; s[t + 6] = 3;"
    end = "C[t * 2] = s[t] + 1000 * s[t + 6]; C[t * 2 + 1] = x + l[0] * 7 + l[1] * 70 + l[2] * 700 + l[3] * 7000;"
    setup = setup_for(parse_kernel(kernel_text("", f"{start} {assignment} {end}"), "order.cu"))
    ours = interpret(bound(setup), traced_space(bound(setup), None), StepCounter(), inputs(bound(setup)))["C"].data
    np.testing.assert_array_equal(witness(setup).matrices["C"].ravel(), ours)


def test_the_witness_sees_a_difference() -> None:
    setup = setup_for(load_kernel("04_tiled"), Problem(8, 8, 8))
    seen = witness(setup)
    seen.accesses[5][3, 3] += 4
    with pytest.raises(AssertionError):
        same_accesses(trace_kernel(setup).whole, seen)
    np.testing.assert_allclose(seen.matrices["C"].sum(), witness(setup).matrices["C"].sum())
