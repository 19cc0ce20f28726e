"""Numbers and sentences of the metrics panel."""

import pytest
from msgspec import structs

from gemmviz.analysis.counts import Counts, totals
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.timing import KernelSpeed, Measured, Timing
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.shots.knowledge import FactAnswer, Knowledge
from gemmviz.shots.metrics import COSTS, LAUNCHES, check_line, search_line, speed_lines
from gemmviz.shots.runs import KnownRun, finished_run
from gemmviz.shots.shot import Shot
from tests.conftest import kernel_from

TILED = setup_for(load_kernel("04_tiled"), Problem(8, 16, 4), {"TILE_WIDTH": 4})


def ran(setup: Setup) -> KnownRun:
    return finished_run(Knowledge(Shot(setup), Interpreter(), with_values=False))


def test_each_cost_is_its_own_count() -> None:
    counts = Counts(1, 2, 3, 4, 50, 6, 8, 7, 80, 9)
    of_global = [cost.of(counts) for cost in COSTS if cost.space == "global"]
    of_shared = [cost.of(counts) for cost in COSTS if cost.space == "shared"]
    assert (of_global, of_shared) == ([1, 50, 6, 44, 8, 7], [1, 80, 9, 71])


def test_numbers_of_a_launch() -> None:
    """Each of the 4 blocks along a row of C loads all of A, and each of the 2 along a column all of B."""
    counts = Knowledge(Shot(TILED), Interpreter()).counts
    total = totals(counts)
    asked = 4 * (4 * 8 * 4 + 2 * 4 * 16 + 8 * 16)
    moved = 32 * (total["global_load_sectors"] + total["global_store_sectors"])
    flops = 2 * 8 * 16 * 4
    values = [metric.of(TILED, counts).value for metric in LAUNCHES]
    assert values[:4] == [total["global_load_sectors"], total["global_store_sectors"], asked, moved]
    assert values[4:8] == [flops / asked, flops / moved, 4.0, 2.0]
    assert values[8:] == [16.0, 0]  # blocks of 16 threads, no lanes part
    assert [metric.name_for(TILED) for metric in LAUNCHES[6:8]] == ["Loads per element of A", "Loads per element of B"]


def test_a_result_is_ticked_if_it_is_right() -> None:
    assert check_line(ran(TILED)).startswith("✓ C is right")
    assert check_line(ran(setup_for(kernel_from("C[threadIdx.x] = 1e9f;")))).startswith("✗ C is wrong")


def test_blocks_that_were_not_searched_are_named() -> None:
    known = ran(TILED)
    assert [search_line(structs.replace(known, searched=blocks)) for blocks in (None, 8)] == ["", ""]
    assert search_line(structs.replace(known, searched=3)).startswith("3 of the 8 traced blocks were searched")


@pytest.mark.parametrize(("median_ms", "words"), [(0.5, "500 µs"), (20.0, "20 ms")])
def test_times_are_in_microseconds_and_long_ones_in_milliseconds(median_ms: float, words: str) -> None:
    measured = Measured("04_tiled", TILED.problem, Timing(median_ms, None, None, 1, 1))
    known = structs.replace(ran(TILED), timed=FactAnswer(KernelSpeed(measured, None, "measured here", "measured here")))
    assert speed_lines(known)[1].partition(",")[0] == words
