"""Work, span, bytes and what a cache holds, of multiplications that are not square."""

import pytest
from msgspec import structs

from gemmviz.analysis.models import data_bytes, largest_held, parallelism_of, span_of, work_of
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.devices import load_device
from gemmviz.model.problem import Problem
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.charts.models import work_chart
from gemmviz.shots.kinds.launches import SUBJECTS
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import ChartChoice, Shot
from gemmviz.teaching.quantities.catalog import quantity_value

SLIM = Problem(512, 300, 700)


def facts_of(problem: Problem, device: str = "h200", width: int = 0) -> Knowledge:
    setup = setup_for(load_kernel("03_coalesced"), problem, {"BLOCK": 16}, device=device)
    return Knowledge(Shot(setup, chart=ChartChoice(width=width)), Interpreter())


def test_all_three_sizes_count() -> None:
    assert (work_of(SLIM), span_of(SLIM), parallelism_of(SLIM)) == (215_040_000, 701, 215_040_000 / 701)
    assert data_bytes(SLIM) == 4 * (512 * 700 + 700 * 300 + 512 * 300)
    facts = facts_of(SLIM)
    assert quantity_value("work", facts) == 215_040_000
    assert quantity_value("span", facts) == 701
    assert quantity_value("parallelism", facts) == pytest.approx(306_761.8, abs=0.1)
    assert quantity_value("matrix_mebibytes", facts) == pytest.approx(2.7542, abs=1e-4)


def test_the_chart_is_of_the_same_sizes() -> None:
    facts = facts_of(SLIM)
    chart = work_chart(SUBJECTS["launch"].at(facts, 0))
    assert chart.curves[0].points[0] == (1.0, 215_040_000.0)
    assert chart.curves[2].points[1] == (2.0, 1401.0)
    assert "215\u202f040\u202f000 operations, the longest chain has 701" in chart.notes[0]
    square = work_chart(SUBJECTS["launch"].at(facts_of(Problem(96, 96, 96)), 0))
    assert (96.0, 2.0 * 96**3) in square.curves[0].points


@pytest.mark.parametrize(("device", "largest"), [("rx6800xt", 3344), ("h200", 2289), ("8800gtx", 0)])
def test_the_largest_size_that_a_cache_holds_is_no_plotted_one(device: str, largest: int) -> None:
    cache = load_device(device).last_level_cache
    assert largest_held(cache) == largest
    assert 12 * largest**2 <= cache < 12 * (largest + 1) ** 2
    assert quantity_value("largest_cached_size", facts_of(Problem(512, 512, 512), device)) == largest


@pytest.mark.parametrize(("n", "mebibytes"), [(2048, 0.0), (3344, 0.0), (3345, 0.0494), (4096, 64.0)])
def test_what_does_not_fit_is_counted(n: int, mebibytes: float) -> None:
    facts = facts_of(Problem(n, n, n), "rx6800xt")
    assert quantity_value("uncached_mebibytes", facts) == pytest.approx(mebibytes, abs=0.1)
    assert (quantity_value("uncached_mebibytes", facts) > 0) == (n > 3344)  # type: ignore[operator]


def test_blocks_for_each_sm_are_of_the_recorded_gpu_on_any_device() -> None:
    for device in ("h200", "a100"):
        facts = facts_of(Problem(4096, 4096, 4096), device, width=32)
        assert quantity_value("blocks_per_sm_at(n=4096)", facts) == pytest.approx(128**2 / 132)
        assert quantity_value("recorded_sms", facts) == 132


def test_reported_shares_are_those_of_their_part() -> None:
    facts = facts_of(Problem(64, 64, 64))
    assert quantity_value("reported_percent(part=2, kernel=02_naive)", facts) == 1.0
    assert quantity_value("reported_percent(part=3, kernel=04_tiled)", facts) == 12.0
    with pytest.raises(Exception, match="part 2 of the course reports no share of cuBLAS for 04_tiled"):
        quantity_value("reported_percent(part=2, kernel=04_tiled)", facts)


def test_rows_of_other_precisions_and_of_the_cpu_can_be_named() -> None:
    facts = facts_of(Problem(64, 64, 64))
    shot = structs.replace(facts.shot, chart=ChartChoice(source="Recorded on NVIDIA H200, float, double and CPU"))
    facts = Knowledge(shot, Interpreter())
    single, double = (quantity_value(f"gflops(kernel={name}, n=4096)", facts) for name in ("04_tiled", "04_tiled double"))
    assert single > double > 0  # type: ignore[operator]
    speed_up = quantity_value("speedup(kernel=Flattened loop 12 threads, base=Flattened loop one thread, n=1024)", facts)
    assert 8 < speed_up < 16  # type: ignore[operator]
    assert quantity_value("gflops_with_copies(kernel=04_tiled, n=4096)", facts) < single  # type: ignore[operator]
