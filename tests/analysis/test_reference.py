"""What we count is what an H200's hardware counters counted."""

import json

import pytest

from gemmviz.analysis.counts import LaunchCounter, totals
from gemmviz.model.measurements import text_hash
from gemmviz.model.problem import Problem
from gemmviz.run.executor import stream_launch
from gemmviz.source.catalog import kernel_names, load_kernel, read_kernel
from gemmviz.source.launching import settings_for
from tests.conftest import DATA, trace_of

REFERENCE = json.loads((DATA / "h200-counters.json").read_text())


def counted(spec, settings) -> dict[str, int]:
    counter = LaunchCounter()
    stream_launch(spec, settings, counter.sink)
    return totals(counter.sites, counter.arrays)


@pytest.mark.parametrize(
    "launch",
    REFERENCE["launches"],
    ids=lambda x: "-".join(map(str, [x["kernel"], *x["problem"].values(), *x["defines"].values()])),
)
def test_whole_launch_equals_hardware(launch: dict) -> None:
    spec = read_kernel(DATA / "kernels" / f"{launch['kernel']}.cu")
    found = counted(spec, settings_for(spec, Problem(**launch["problem"]), launch["defines"]))
    assert {name: found[name] for name in launch["as_written"]} == launch["as_written"]
    if launch["as_written"]["shared_wavefronts"] == launch["counters"]["shared_wavefronts"]:
        assert found["shared_wavefronts_ideal"] == launch["counters"]["shared_wavefronts_ideal"]


def test_reference_is_whole() -> None:
    assert len(REFERENCE["launches"]) == 22


@pytest.mark.parametrize("name", ["naive", "tiled"])
def test_streamed_counts_equal_those_of_the_full_trace(name: str) -> None:
    from gemmviz.analysis.counts import count_steps

    spec = read_kernel(DATA / "kernels" / f"{name}.cu")
    trace = trace_of(spec, 40, 24, 20)
    assert counted(spec, trace.settings) == totals(count_steps(trace, range(trace.steps)), trace.arrays)


SHIPPED = json.loads((DATA / "h200-shipped-kernels.json").read_text())


@pytest.mark.parametrize("kernel", kernel_names())
def test_every_shipped_kernel_counts_as_the_hardware_does(kernel: str) -> None:
    """Every choice of parameters, sizes that the tile divides and that it doesn't: what Nsight Compute read on an H200."""
    launches = [launch for launch in SHIPPED["launches"] if launch["kernel"] == kernel]
    assert len(launches) >= 1
    spec = load_kernel(kernel)
    for launch in launches:
        assert launch["sha256"] == text_hash(spec.text), "the kernel has changed: record its counters anew"
        assert launch["largest_error"] < 1e-4
        found = counted(spec, settings_for(spec, Problem(**launch["problem"]), launch["parameters"]))
        measured = {name: count for name, count in launch["counters"].items() if name in found}
        if measured["shared_load_instructions"] != found["shared_load_instructions"]:
            assert measured["shared_load_instructions"] < found["shared_load_instructions"]  # the compiler merged some
            measured = {name: count for name, count in measured.items() if name.startswith(("global", "shared_store"))}
        assert {name: found[name] for name in measured} == measured, launch
