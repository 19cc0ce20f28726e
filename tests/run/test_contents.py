"""Integers of matrices, and copies by other types: a run by tags follows them where control flow doesn't depend on them."""

import numpy as np
import pytest

from gemmviz.analysis.counts import LaunchCounter, count_steps
from gemmviz.cuda.granularity import contents
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import device_for, setup_for
from gemmviz.model.problem import Problem
from gemmviz.run.cpu.executor import bound, inputs, stream_launch
from tests.conftest import kernel_from, outcome_of, sampled

TILED = """__shared__ {of} s[16][16]; {sum} sum = 0;
int row = threadIdx.x / 16, column = threadIdx.x % 16;
s[row][column] = A[row * K + column];
__syncthreads();
for (int k = 0; k < 16; ++k) sum += ({sum})s[row][k] * ({sum})B[k * N + column];
C[row * N + column] = sum;"""
BODIES = {
    "bytes": ("char*", TILED.format(of="char", sum="int")),
    "ints": ("int*", TILED.format(of="int", sum="int")),
    "bytes to floats": ("char*", TILED.format(of="float", sum="float")),
    "a guard": ("int*", TILED.format(of="int", sum="int").replace("A[row * K + column]", "row < M ? A[row * K + column] : 0")),
    "a rectifier": ("int*", TILED.format(of="int", sum="int").replace("= sum", "= sum > 0 ? sum : 0")),
    "a float rectifier": ("float*", TILED.format(of="float", sum="float").replace("= sum", "= sum > 0 ? sum : 0.0f")),
    "an unsigned choice": ("int*", "unsigned u = 7; C[threadIdx.x] = min(1ull, (unsigned long long)(threadIdx.x ? A[1] : u));"),
    "a target that is chosen": (
        "unsigned*",
        "__shared__ unsigned s[256]; s[threadIdx.x] = A[threadIdx.x]; (threadIdx.x & 1 ? s[threadIdx.x] : C[threadIdx.x]) = 5;",
    ),
    "halves as four words": (
        "half*",
        """__shared__ half s[256];
        if (threadIdx.x < 32) { int4 v = ((int4*)A)[threadIdx.x]; ((int4*)s)[threadIdx.x] = v; }
        __syncthreads();
        C[threadIdx.x] = s[threadIdx.x];""",
    ),
    "floats as four words": (
        "float*",
        """__shared__ float s[256];
        if (threadIdx.x < 64) ((int4*)s)[threadIdx.x] = ((int4*)A)[threadIdx.x];
        __syncthreads();
        C[threadIdx.x] = s[threadIdx.x];""",
    ),
    "through registers": (
        "int*",
        """__shared__ int s[256]; int own[2] = {};
        for (int i = 0; i < 2; ++i) own[i] = A[(threadIdx.x + i) % 256];
        s[threadIdx.x] = own[0];
        __syncthreads();
        C[threadIdx.x] = s[threadIdx.x] + own[1];""",
    ),
}


@pytest.mark.parametrize("what", sampled(BODIES))
def test_tags_follow(what: str) -> None:
    pointer, body = BODIES[what]
    spec = kernel_from(body, block='["256"]', pointer=pointer)
    setup = setup_for(spec, Problem(16, 16, 16))
    outcome = outcome_of(spec, 16, 16, 16)
    trace = outcome.whole
    assert trace.origin.shape[1] == trace.space.thread_count  # the run by tags went through
    assert set(np.unique(trace.origin_array[trace.origin_array != -1])) <= {0, 1, -2}
    counter = LaunchCounter(device_for(setup).rules)
    stream_launch(setup, counter)
    assert counter.counts.accesses == count_steps(trace, range(trace.steps)).accesses


@pytest.mark.parametrize("what", ["halves as four words", "floats as four words", "through registers", "ints", "bytes"])
def test_origins_name_each_element(what: str) -> None:
    """Every element of the tile is a copy of the element of A that was written there."""
    pointer, body = BODIES[what]
    trace = outcome_of(kernel_from(body, block='["256"]', pointer=pointer), 16, 16, 16).whole
    values = outcome_of(kernel_from(body, block='["256"]', pointer=pointer), 16, 16, 16, values=True).whole
    assert values.steps == trace.steps
    step = int(trace.origin_step[0])
    operand = trace.sites[trace.site[step]].operands[0]
    own = trace.element[step][trace.element[step] >= 0]
    for place in range(len(trace.origin_step)):
        active = trace.element[step] >= 0
        assert (trace.origin_array[place][active] == 0).all()
        assert trace.origin[place][active].tolist() == (own + place).tolist()
    assert operand.width == len(trace.origin_step)


@pytest.mark.parametrize(
    "body",
    [
        "int x = A[0]; if (x > 0) C[0] = 1;",
        "C[A[0]] = 1;",
        "int own[1]; own[0] = A[0]; C[own[0]] = 1;",
        "__shared__ int s[1]; s[0] = 3; __syncthreads(); for (int i = 0; i < s[0]; ++i) C[i] = 1;",
        "int x = 0; x += A[0]; int y = x; while (y-- > 0) C[0] = y;",
        "C[0] = A[0] > 0 ? B[0] : B[1];",
    ],
)
def test_control_by_contents_needs_values(body: str) -> None:
    trace = outcome_of(kernel_from(body, pointer="int*"), 4, 4, 4).whole
    assert trace.origin.shape[1] == 0


def test_what_follows_from_indices_holds_nothing() -> None:
    body = "int row = threadIdx.x / 2, at[2]; at[0] = row; at[1] = row + 1; for (int i = 0; i < at[1]; ++i) C[at[0]] = A[i];"
    program = bound(setup_for(kernel_from(body, pointer="int*"))).program
    assert not contents(program).slots


def test_matrices_of_one_size_hold_different_numbers() -> None:
    filled = inputs(bound(setup_for(load_kernel("04_tiled"))))
    assert not np.array_equal(filled["A"], filled["B"])
