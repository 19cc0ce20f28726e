"""What we count of files in every style is what an H200's hardware counters counted, where the compiler keeps what is written."""

from functools import cache
from typing import Any

import pytest

from gemmviz.analysis.costs import profiled_wavefronts
from gemmviz.analysis.counts import LaunchCounter, totals
from gemmviz.analysis.merging import MergingCounter, explained
from gemmviz.cuda.launch.catalog import pattern_kernel_names
from gemmviz.cuda.launch.launch_form import GivenLaunch
from gemmviz.cuda.launch.legality import device_for, setup_for
from gemmviz.files.codec import read_json
from gemmviz.model.setup import Setup
from gemmviz.model.timing import LaunchCounters, RecordedCounters
from gemmviz.run.choosing import engine_for
from gemmviz.run.loader import open_kernel
from gemmviz.run.worker.tools import METRICS
from tests.conftest import DATA

RECORD = read_json(DATA / "device" / "h200-styles-counters.json", RecordedCounters).rows
GIVEN = {"pipeline_memcpy": GivenLaunch(args=("C", "A", "B", "K", "N"), block=("16", "16"), grid=("N / 16", "M / 16"))}
COPIES = ("cp_async_ptx", "pipeline_memcpy")


@cache
def own_setup(name: str) -> Setup:
    path = name if name in pattern_kernel_names() else str(DATA / "kernels" / "styles" / f"{name}.cu")
    return setup_for(open_kernel(path, GIVEN.get(name, GivenLaunch())))


SLOW = ("split_k_atomic", "extern_pool")  # seconds each


def setup_of(launch: LaunchCounters) -> Setup:
    own = own_setup(launch.kernel)
    assert own.kernel.text_hash == launch.source_hash, "the kernel has changed: record its counters anew"
    return own.changed(**launch.problem.sizes, **launch.parameters)


def counted(launch: LaunchCounters) -> dict[str, int]:
    setup = setup_of(launch)
    counter = LaunchCounter(device_for(setup).rules, passes=profiled_wavefronts)
    engine_for("cpu").count(setup, counter)
    return totals(counter.counts)


def launches(*, written: bool) -> list[Any]:
    """The last size of every fifth kernel; the others, and all of slow kernels, are for the nightly tests."""
    chosen = [each for each in RECORD if (each.as_compiled == "as written") == written]
    some = sorted({each.kernel for each in chosen})[::5]
    last = {each.kernel: number for number, each in enumerate(chosen) if each.kernel in some and each.kernel not in SLOW}
    return [
        pytest.param(
            x,
            id="-".join(map(str, [x.kernel, *x.problem.sizes.values()])),
            marks=[pytest.mark.nightly] * (last.get(x.kernel) != number),
        )
        for number, x in enumerate(chosen)
    ]


@pytest.mark.parametrize("launch", launches(written=True))
def test_as_written(launch: LaunchCounters) -> None:
    found = counted(launch)
    measured = {name: value for name, value in launch.counters.items() if name in METRICS and name in found}
    assert len(measured) == 8
    assert {name: found[name] for name in measured} == measured


@pytest.mark.parametrize("launch", launches(written=False))
def test_as_compiled(launch: LaunchCounters) -> None:
    setup = setup_of(launch)
    counter = MergingCounter(device_for(setup).rules)
    engine_for("cpu").count(setup, counter)
    assert str(explained(counter, launch.counters)) == launch.as_compiled


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("sizes", [slice(1, 2), pytest.param(slice(0, 1), marks=pytest.mark.nightly)], ids=["small", "large"])
def test_an_asynchronous_copy_is_no_store_instruction(name: str, sizes: slice) -> None:
    rows = [each for each in RECORD if each.kernel == name]
    assert len(rows) == 2
    for launch in rows[sizes]:
        found, counters = counted(launch), launch.counters
        for counter in ("shared_store_instructions", "global_load_requests", "global_load_sectors"):
            assert found[counter] == counters[counter], counter


def test_additions_without_a_result_are_counted_as_atomics() -> None:
    launch = next(each for each in RECORD if each.kernel == "split_k_atomic")
    found, counters = counted(launch), launch.counters
    assert found["global_atomic_requests"] == counters["l1tex__t_requests_pipe_lsu_mem_global_op_red"] == 1000
    assert found["global_atomic_sectors"] == counters["l1tex__t_sectors_pipe_lsu_mem_global_op_red"]
