"""Loops that bring nothing into shared memory are run once where only what tiles hold is asked for; what is found stays."""

import numpy as np
import pytest

from gemmviz.cuda.granularity import carriers
from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import legal_choices, setup_for
from gemmviz.model.problem import Problem
from gemmviz.model.trace import Trace
from gemmviz.run.cpu.executor import bound, origins, origins_of, trace_kernel, traced_space
from gemmviz.run.cpu.recorder import OriginRecorder
from tests.conftest import kernel_from, sampled

THROUGH = """
    __shared__ float tile[8];
    int x = threadIdx.x;
    float kept[1] = {0.0f};
    float *to = kept;
    for (int k = 0; k < K; ++k) {
        tile[x] = kept[0];
        __syncthreads();
        for (int i = 0; i < 2; ++i) { WRITES }
        __syncthreads();
    }
    C[x] = kept[0];
"""


def traced(body: str) -> Trace:
    spec = kernel_from(THROUGH.replace("WRITES", body), block='["8"]', grid='["1"]')
    return trace_kernel(setup_for(spec, Problem(1, 8, 3))).whole


@pytest.mark.parametrize("body", ["kept[0] = B[k * N + x];", "*to = B[k * N + x];", "float v = B[k * N + x]; kept[0] = v;"])
def test_a_loop_that_changes_what_is_stored_later_runs_each_time(body: str) -> None:
    trace = traced(body)
    stored = [trace.origin[row].tolist() for row in range(len(trace.origin_step))]
    assert stored[1:] == [list(range(8)), list(range(8, 16))]  # rows 0 and 1 of B


def test_an_array_is_given_what_it_begins_with() -> None:
    body = """
    __shared__ float tile[8];
    int x = threadIdx.x;
    float next = 0.0f;
    for (int k = 0; k < K; ++k) {
        float fetched = B[k * N + x];
        for (int i = 0; i < 2; ++i) next = fetched;
        float staged[2] = {next, 0.0f};
        tile[x] = staged[0];
        __syncthreads();
    }
    C[x] = next;
    """
    trace = trace_kernel(setup_for(kernel_from(body, block='["8"]', grid='["1"]'), Problem(1, 8, 3))).whole
    assert trace.origin.tolist() == [list(range(8 * k, 8 * k + 8)) for k in range(3)]


@pytest.mark.parametrize("choices", [2, pytest.param(6, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", sampled(kernel_names(), 5))
def test_the_same_is_found_as_by_running_everything(name: str, choices: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for setup in list(legal_choices(load_kernel(name), Problem(32, 32, 32)))[:choices]:
        quick = origins(setup, None)
        binding = bound(setup)
        with monkeypatch.context() as patch:
            patch.setattr(OriginRecorder, "wants", "all")
            whole, steps = origins_of(binding, traced_space(binding, None), None, 1 << 30)
        assert quick.keys() == whole.keys()
        for field, array in whole.items():
            np.testing.assert_array_equal(quick[field], array)
        assert steps == trace_kernel(setup).whole.steps


def test_registers_of_the_multiplication_carry_nothing() -> None:
    program = bound(setup_for(load_kernel("08_register_tiled"))).program
    named = {parameter.slot for parameter in program.parameters}
    assert carriers(program) <= named  # the fetch goes straight from A and B into the tiles
