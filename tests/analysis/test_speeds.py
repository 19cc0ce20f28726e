import pytest

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.recordings import recordings
from gemmviz.model.device import Gpu
from gemmviz.model.messages import Cancelled, DeviceError
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.timing import CUBLAS, Benchmark, Measured, Timing, Transfer
from gemmviz.run.benchmarking import Case, run_benchmark
from gemmviz.scenes.catalog import views_of
from gemmviz.scenes.charts.speeds import (
    by_tile,
    cache_lines,
    narrowed,
    rate_chart,
    rates,
    share_chart,
    shares,
    speed_ups,
    widths_of,
    with_transfer,
)
from tests.conftest import sure
from tests.files.test_benchmark_file import GPU


def row(kernel: str, n: int, ms: float, **parameters: int) -> Measured:
    return Measured(kernel, Problem(n, n, n), Timing(ms, ms, ms, 3, 1), parameters, kernel, transfer=Transfer(ms, ms))


BENCHMARK = Benchmark(
    GPU, "2026-11-21",
    (
        row(CUBLAS, 64, 1.0), row(CUBLAS, 128, 2.0), row("03_coalesced", 64, 8.0, BLOCK=8), row("03_coalesced", 64, 4.0, BLOCK=16),
        row("04_tiled", 64, 2.0, TILE_WIDTH=8), row("04_tiled", 64, 1.0, TILE_WIDTH=16), row("04_tiled", 128, 4.0, TILE_WIDTH=16),
        Measured("04_tiled", Problem(128, 128, 128), None, {"TILE_WIDTH": 8}, failure="left out"),
    ), "a CPU", recorded=False,
)  # fmt: skip


def test_rates_show_each_kernel_at_its_fastest_at_first() -> None:
    found = {curve.label: curve for curve in rates(BENCHMARK)}
    assert [label for label, curve in found.items() if curve.shown] == [
        CUBLAS,
        "03_coalesced, fastest choice",
        "04_tiled, fastest choice",
    ]
    assert {label for label, curve in found.items() if not curve.main} == {
        "03_coalesced (BLOCK = 8)", "03_coalesced (BLOCK = 16)", "04_tiled (TILE_WIDTH = 8)", "04_tiled (TILE_WIDTH = 16)",
    }  # fmt: skip
    best = found["04_tiled, fastest choice"]
    assert dict(best.points) == pytest.approx({64.0: 2 * 64**3 / 1e6, 128.0: 2 * 128**3 / 4e6})
    assert "TILE_WIDTH = 16" in best.texts[0]
    assert "N = 64" in best.texts[0]


def test_shares_and_speed_ups() -> None:
    share = {curve.label: dict(curve.points) for curve in shares(BENCHMARK)}
    assert share[CUBLAS] == {64.0: 100.0, 128.0: 100.0}  # what the others are measured against
    assert share["04_tiled, fastest choice"] == {64.0: pytest.approx(100.0), 128.0: pytest.approx(50.0)}
    speed = {curve.label: dict(curve.points) for curve in speed_ups(BENCHMARK)}
    assert speed["04_tiled (TILE_WIDTH = 16)"] == {64.0: pytest.approx(4.0)}  # nothing untiled was measured at 128
    assert speed["03_coalesced, fastest choice"] == {64.0: pytest.approx(1.0)}


def test_by_tile_shows_the_size_with_most_choices() -> None:
    found = {curve.label: curve for curve in by_tile(BENCHMARK)}
    assert set(found) == {"03_coalesced, N = 64", "04_tiled, N = 64"}
    assert all(curve.shown for curve in found.values())
    assert [x for x, _ in found["04_tiled, N = 64"].points] == [8.0, 16.0]


def test_transfer_comes_in_pairs() -> None:
    found = {curve.label: curve for curve in with_transfer(BENCHMARK)}
    alone, both = found[CUBLAS], found[f"{CUBLAS} + copies"]
    assert both.dashed
    assert both.points[0][1] == pytest.approx(alone.points[0][1] / 3)
    assert "for the copies" in both.texts[0]


def test_caches_and_charts() -> None:
    three, one = cache_lines(BENCHMARK)
    assert three[0] == pytest.approx((62914560 / 12) ** 0.5)
    assert "60 MiB" in one[1]
    charts = {name: sure(view.chart)(BENCHMARK) for name, view in views_of(Benchmark).items()}
    assert set(charts) == {
        "rate",
        "share",
        "tile_size",
        "speed_up",
        "copy_cost",
        "growth",
        "cpu_and_gpu",
        "precision",
        "per_thread",
    }
    assert all(chart.curves and chart.notes[0].startswith("Measured on") for chart in charts.values())


def test_a_chart_says_where_another_version_was_measured() -> None:
    assert "measured with another version of 03_coalesced, 04_tiled" in rate_chart(BENCHMARK).notes


def test_all_kernels_at_one_width_without_the_cpu() -> None:
    recorded = recordings("benchmark", Benchmark)[0]
    assert 32 in widths_of(recorded)
    found = narrowed(recorded, 32, with_host=False)
    kernels = {row.kernel for row in found.rows}
    assert "NumPy, one thread" not in kernels
    assert "cuBLAS" in kernels
    assert {row.parameters.get("TILE_WIDTH", 32) for row in found.rows} == {32}
    assert {row.parameters.get("BLOCK", 32) for row in found.rows} == {32}
    share = next(curve for curve in share_chart(found).curves if curve.family == "02_naive" and curve.main)
    at_4096 = dict(share.points)[4096.0]
    assert at_4096 == pytest.approx(0.97, abs=0.02)  # per cent of cuBLAS: what the course compares


def test_points_know_their_launch() -> None:
    chart = rate_chart(recordings("benchmark", Benchmark)[0])
    for curve in chart.curves:
        assert len(curve.opens) == len(curve.points)
        for (size, _), opens in zip(curve.points, curve.opens, strict=True):
            assert (opens is None) == (curve.family in chart.beside)
            assert opens is None or (opens[0], opens[1]) == (curve.family, int(size))
    assert not chart.evenly().x.is_log


class _SlowGpu:
    """Times a kernel by its width; cuBLAS and the host take no time. Cancelled at the last of ``most`` kernels."""

    def __init__(self, most: int) -> None:
        self.left = most

    def gpu(self) -> Gpu:
        return GPU

    def time_copies(self, setup: Setup) -> Transfer:
        return Transfer(1.0, 1.0)

    def time_kernel(self, setup: Setup) -> Measured:
        self.left -= 1
        if self.left < 0:
            raise Cancelled
        ms = 1e6 if setup.parameters["BLOCK"] == 8 else 1.0
        return Measured(
            setup.kernel.name, setup.problem, Timing(ms, None, None, 1, 1), dict(setup.parameters), setup.kernel.text_hash
        )

    def time_host(self, method: str, problem: Problem) -> Timing:
        raise DeviceError("there is none")


def _benchmark_of(*sizes: int, most: int = 99) -> Benchmark:
    kernel = load_kernel("02_naive")
    cases = [
        Case(kernel.name, setup.problem, setup)
        for size in sizes
        for setup in (setup_for(kernel, Problem(size, size, size), {"BLOCK": width}) for width in (16, 8))
    ]
    return run_benchmark(_SlowGpu(most), cases, "h200")  # type: ignore[arg-type]


def test_a_time_is_predicted_from_the_same_width_at_a_smaller_size() -> None:
    rows = _benchmark_of(256, 512).rows
    assert [(row.problem.N, row.parameters["BLOCK"], row.timing is None) for row in rows] == [
        (256, 16, False), (256, 8, False), (512, 16, False), (512, 8, True),
    ]  # fmt: skip


def test_a_cancelled_benchmark_keeps_its_rows() -> None:
    assert [(row.problem.N, row.parameters["BLOCK"]) for row in _benchmark_of(256, 512, most=2).rows] == [(256, 16), (256, 8)]
