"""Floats of sizes: where a kernel goes by them, its tiles and counts are known all the same."""

import numpy as np
import pytest

from gemmviz.analysis.counts import LaunchCounter, count_steps
from gemmviz.cuda.granularity import number_slots
from gemmviz.cuda.launch.legality import device_for, setup_for
from gemmviz.model.trace import COMPUTED, CONSTANT
from gemmviz.run.cpu.executor import bound, stream_launch, trace_kernel
from tests.conftest import kernel_from, outcome_of

TILED = """__shared__ float s[4]; float sum = 0;
for (int p = 0; p < ceil((float)K / 4); ++p) {
    s[threadIdx.x] = A[p * 4 + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 4; ++k) sum += s[k] * B[k];
    __syncthreads();
}
C[threadIdx.x] = sum;"""
BODIES = {
    "a tile loop that rounds up": TILED,
    "in a variable": TILED.replace("ceil((float)K / 4)", "n").replace(
        "float sum", "float n = ceilf(float(K) / 4.0f); float sum"
    ),
    "a float counter": "for (float i = 0; i < sqrtf((float)K) + 1; i += 1.0f) C[(int)i] = A[(int)i];",
    "of threads": "float w = threadIdx.x * 0.5f; C[(int)w] = A[(int)(w + 1.0f)];",
    "changed under a condition": "float w = 1; if (threadIdx.x > 1) w = 2.5f; C[threadIdx.x] = A[(int)w];",
    "in a function": "C[threadIdx.x] = A[up((float)K / 3) + threadIdx.x];",
    "in a choice": "C[threadIdx.x] = A[(float)threadIdx.x > 1.5f ? 3 : 2];",
}
BEFORE = "__device__ int up(float x) { float y = ceilf(x); return (int)y; }"


@pytest.mark.parametrize("what", BODIES)
def test_tiles_and_counts_are_known(what: str) -> None:
    setup = setup_for(kernel_from(BODIES[what], before=BEFORE))
    trace = outcome_of(setup.kernel, 8, 8, 8).trace
    assert trace is not None
    assert trace.origin.shape[1] == trace.space.thread_count  # the run by tags went through
    if "__shared__" in BODIES[what]:
        assert len(trace.origin_step) == 2
        assert (trace.origin_array == 0).all()
    counter = LaunchCounter(device_for(setup).rules)
    stream_launch(setup, counter)
    whole = trace_kernel(setup).trace
    assert whole is not None
    assert counter.counts.accesses == count_steps(whole, range(whole.steps)).accesses


@pytest.mark.parametrize(
    "body",
    [
        "float x = A[0]; if (x > 0) C[0] = 1;",
        "float x = 1; x += A[0]; C[(int)x] = 1;",
        "__shared__ float s[4]; s[0] = 1; float x = s[0]; if (x > 0) C[0] = 1;",
        "float x = 1; x = __shfl_sync(0xffffffff, A[0], 0); if (x > 0) C[0] = 1;",
    ],
)
def test_what_has_something_of_a_matrix_is_no_number(body: str) -> None:
    program = bound(setup_for(kernel_from(body))).program
    assert not number_slots(program, frozenset())


def test_a_stored_number_says_which_it_is() -> None:
    body = (
        "__shared__ float s[4]; float z = K / 2; s[threadIdx.x] = z; __syncthreads(); C[threadIdx.x] = s[threadIdx.x] + A[0];"
    )
    trace = outcome_of(kernel_from(body), 8, 8, 8).trace
    assert trace is not None
    assert (trace.origin_array == CONSTANT).all()
    assert trace.origin.view(np.float32).tolist() == [[4.0] * 4]
    assert COMPUTED not in trace.origin_array


@pytest.mark.parametrize("index", ["threadIdx.x ^ 3", "3 - threadIdx.x"])
def test_the_mark_of_an_unwritten_read_is_where_the_banner_says(index: str) -> None:
    body = f"__shared__ float s[4]; if (threadIdx.x == 9) s[0] = A[0]; C[threadIdx.x] = s[{index}];"
    outcome = outcome_of(kernel_from(body))
    assert outcome.fault is not None
    assert outcome.trace is not None
    assert outcome.trace.stop is not None
    assert outcome.fault.message.startswith("s[3] is read before it is written")
    assert outcome.trace.stop.elements == (3, 0, 1, 2)
