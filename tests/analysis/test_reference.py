"""What we count is what an H200's hardware counters counted."""

import json
from typing import Any

import numpy as np
import pytest

from gemmviz.analysis.counts import LaunchCounter, totals
from gemmviz.analysis.merging import MergingCounter, explained
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import device_for, setup_for
from gemmviz.files.recordings import recordings
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.timing import LaunchCounters, RecordedCounters
from gemmviz.run.cpu.executor import stream_launch
from tests.conftest import DATA, sampled, sure, trace_of

REFERENCE = json.loads((DATA / "h200-counters.json").read_text())


def counted(setup: Setup) -> dict[str, int]:
    counter = LaunchCounter(device_for(setup).rules)
    stream_launch(setup, counter)
    return totals(counter.counts)


@pytest.mark.parametrize(
    "launch",
    sampled(REFERENCE["launches"], every=5),
    ids=lambda x: "-".join(map(str, [x["kernel"], *x["problem"].values(), *x["defines"].values()])),
)
def test_whole_launch_equals_hardware(launch: dict[str, Any]) -> None:
    spec = load_kernel(str(DATA / "kernels" / f"{launch['kernel']}.cu"))
    found = counted(setup_for(spec, Problem(**launch["problem"]), launch["defines"]))
    assert {name: found[name] for name in launch["as_written"]} == launch["as_written"]
    if launch["as_written"]["shared_wavefronts"] == launch["counters"]["shared_wavefronts"]:
        assert found["shared_wavefronts_ideal"] == launch["counters"]["shared_wavefronts_ideal"]


def test_reference_is_whole() -> None:
    assert len(REFERENCE["launches"]) == 22


@pytest.mark.parametrize("name", ["naive", "tiled"])
def test_streamed_counts_equal_those_of_the_full_trace(name: str) -> None:
    from gemmviz.analysis.counts import count_steps

    spec = load_kernel(str(DATA / "kernels" / f"{name}.cu"))
    trace = trace_of(spec, 40, 24, 20)
    launch, steps = counted(trace.setup), totals(count_steps(trace, range(trace.steps)))
    for each in (launch, steps):
        each.pop("branch_executions", None)  # branches at which no warp parts are no steps
        each.setdefault("divergent_branches", 0)
    assert launch == steps


SHIPPED = next(each for each in recordings("counters", RecordedCounters) if each.gpu.name == "NVIDIA H200").rows
SMALL = 200  # larger problems repeat what these show


@pytest.mark.nightly
@pytest.mark.parametrize("kernel", sorted({launch.kernel for launch in SHIPPED}))
def test_every_recorded_kernel_counts_as_the_hardware_does(kernel: str) -> None:
    """Every choice of parameters, sizes that the tile divides and that it doesn't: what Nsight Compute read on an H200. Where it
    is not what is written, it is what a compiler made of it: neighbours merged, by arrays, and stores switched off.
    """
    spec = load_kernel(kernel)
    for launch in (each for each in SHIPPED if each.kernel == kernel):
        assert launch.source_hash == spec.text_hash, "the kernel has changed: record its counters anew"
        assert sure(launch.largest_error) < 1e-4
        counters, ours = launch.counters, launch.ours
        if max(launch.problem.sizes.values()) > SMALL:
            continue
        setup = setup_for(spec, launch.problem, launch.parameters)
        counter = MergingCounter(device_for(setup).rules)
        stream_launch(setup, counter)
        found = totals(counter.written.counts)
        assert {name: found[name] for name in ours} == ours
        explanation = explained(counter, counters)
        assert explanation is not None, (launch.problem, launch.parameters)
        assert all(merging.access == "read" for merging in explanation.merged)


(TENSOR,) = (each.rows for each in recordings("tensor-counters", RecordedCounters))
PRODUCTS = 2048  # of one matrix instruction of an H100
MATRIX_LOADS, MATRIX_PRODUCTS = "smsp__sass_inst_executed_op_ldsm", "smsp__inst_executed_pipe_tensor_op_hmma"


@pytest.mark.parametrize(
    "launch",
    sampled((each for each in TENSOR if each.problem.M <= SMALL), every=16),  # the others of every size
    ids=lambda x: "-".join(map(str, [x.kernel, *x.parameters.values()])),
)
def test_kernels_of_tensor_cores_count_as_an_h100_does(launch: LaunchCounters) -> None:
    """Instructions that load and multiply matrices, too. Where shared memory is as compiled, the recording says how."""
    spec, counters = load_kernel(launch.kernel), launch.counters
    assert launch.source_hash == spec.text_hash, "the kernel has changed: record its counters anew"
    setup = setup_for(spec, launch.problem, launch.parameters)
    counter = MergingCounter(device_for(setup).rules)
    stream_launch(setup, counter)
    found = totals(counter.written.counts)
    assert {name: found[name] for name in launch.ours} == launch.ours
    assert str(explained(counter, counters)) == launch.as_compiled
    if "ldmatrix" in spec.text:
        assert counters[MATRIX_LOADS] == found["matrix_load_instructions"]


def test_every_launch_of_the_tensor_kernels_is_explained() -> None:
    assert len(TENSOR) == 32
    assert all(launch.as_compiled and launch.passed for launch in TENSOR)
    for launch in (each for each in TENSOR if each.kernel >= "13"):
        products = launch.counters[MATRIX_PRODUCTS]
        assert products == launch.problem.M * launch.problem.N * launch.problem.K // PRODUCTS


def test_store_instructions_beyond_ours_take_no_wavefront() -> None:
    """Where every access is served at once, wavefronts are loads and those stores that store."""
    more = [x for x in SHIPPED if x.counters["shared_store_instructions"] > x.ours["shared_store_instructions"]]
    small = [x for x in more if x.parameters["TILE_WIDTH"] == 8]
    assert small
    for launch in small:
        counters = launch.counters
        assert counters["shared_wavefronts"] == counters["shared_load_instructions"] + launch.ours["shared_store_instructions"]


@pytest.mark.parametrize("size", [128, 512])
def test_our_times_are_the_profilers(size: int) -> None:
    """Half of all launches within 2 %; the profiler's own readings of a launch of some microseconds differ by more."""
    square = [x for x in SHIPPED if set(x.problem.sizes.values()) == {size}]
    off = [abs(x.measured_ns / x.duration_ns - 1) for x in square]
    assert len(off) > 50
    assert np.median(off) < 0.02
