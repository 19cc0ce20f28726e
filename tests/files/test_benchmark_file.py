from pathlib import Path

import pytest
from msgspec import structs

from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import parse_sizes, setup_for, square_problems
from gemmviz.files.recordings import benchmark_text, read_benchmark, recordings
from gemmviz.files.resources import chart_csv
from gemmviz.model.chart import Axis, Bars, Chart
from gemmviz.model.device import Gpu
from gemmviz.model.kernel import text_hash
from gemmviz.model.messages import GemmvizError, UsageError
from gemmviz.model.problem import Problem
from gemmviz.model.recording import row_of
from gemmviz.model.timing import CUBLAS, Benchmark, Measured, Occupancy, Resources, Timing, Transfer
from gemmviz.model.trace import Check

GPU = Gpu("NVIDIA H200", "9.0", "580.1", "NVRTC 13.0", 132, 62914560, 1 << 37)
KERNEL = Measured(
    "04_tiled", Problem(64, 64, 64), Timing(0.5, 0.49, 0.53, 15, 20), {"TILE_WIDTH": 16}, "abc",
    Resources(32, 2048, 0, Occupancy(8, 8, 64)), Check(4096, 0, 0, 1e-6, 1e-4, (1, 2)), transfer=Transfer(0.25, 0.25),
)  # fmt: skip
LIBRARY = Measured(CUBLAS, Problem(64, 64, 64), Timing(0.25, 0.25, 0.25, 15, 20))
FAILED = Measured("04_tiled", Problem(128, 128, 128), None, {"TILE_WIDTH": 16}, "abc", failure="left out")
BENCHMARK = Benchmark(GPU, "2026-11-21", (KERNEL, LIBRARY, FAILED), "a CPU")


def test_rates_and_shares() -> None:
    assert KERNEL.gflops == pytest.approx(2 * 64**3 / 0.5e-3 / 1e9)
    assert KERNEL.gflops_with_transfer == pytest.approx(2 * 64**3 / 1e-3 / 1e9)
    assert BENCHMARK.share_of_cublas(KERNEL) == pytest.approx(0.5)
    assert BENCHMARK.share_of_cublas(FAILED) is None
    assert KERNEL.timing is not None
    assert KERNEL.timing.spread == pytest.approx(0.04)
    assert Occupancy(2, 22, 64).share == pytest.approx(44 / 64)


def test_the_row_of_a_setup_is_of_its_text_sizes_and_parameters() -> None:
    setup = setup_for(load_kernel("04_tiled"), Problem(64, 64, 64), {"TILE_WIDTH": 16})
    own = structs.replace(KERNEL, source_hash=setup.kernel.text_hash)
    assert row_of(setup, (*BENCHMARK.rows, own)) is own
    assert row_of(setup, BENCHMARK.rows) is None
    assert row_of(setup.changed(TILE_WIDTH=8), (own,)) is None
    assert row_of(setup.changed(M=32), (own,)) is None


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_text(benchmark_text(BENCHMARK), encoding="utf-8")
    assert read_benchmark(path) == BENCHMARK
    assert read_benchmark(path).source.startswith("recorded on NVIDIA H200, driver 580.1")


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"format": "gemmviz benchmark"}', '{"format": "gemmviz benchmark", "version": 99, "rows": []}',
     '{"format": "gemmviz benchmark", "version": 1, "gpu": {}, "host": "", "date": "", "rows": [{"x": 1}]}', "\x00",
     '{"format": "gemmviz benchmark", "version": 1e400}', "[" * 100_000],
)  # fmt: skip
def test_damaged_files_are_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(GemmvizError, match=r"b\.json"):
        read_benchmark(path)
    with pytest.raises(UsageError, match="no such file"):
        read_benchmark(tmp_path / "none.json")


def test_sizes() -> None:
    assert parse_sizes("128:1024") == (128, 256, 512, 1024)
    assert parse_sizes("100,300:700,100") == (100, 300, 600)
    assert [problem.N for problem in square_problems((3, 4))] == [3, 4]
    for text in ("", "0", "8:4", "a", "1:", ":1", "8-9"):
        with pytest.raises(UsageError, match="128:8192"):
            parse_sizes(text)


def test_what_ships_is_an_h200s_and_says_so() -> None:
    (found,) = recordings("benchmark", Benchmark)
    assert found.recorded
    assert found.source.startswith("recorded on NVIDIA H200")
    timed = [row for row in found.rows if row.timing is not None]
    assert len(timed) > 300
    assert all(row.check is None or row.check.passed for row in timed)
    assert all(row.timing is not None or row.failure for row in found.rows)
    texts = {name: text_hash(load_kernel(name).text) for name in kernel_names()}
    assert all(texts.get(row.kernel, "") == row.source_hash for row in found.rows), (
        "a kernel has changed: make record WHAT=speeds"
    )
    assert structs.replace(found, recorded=False).source.startswith("measured on NVIDIA H200")


def test_the_table_of_bars_has_both_ends_of_each() -> None:
    chart = Chart("T", Axis("N"), Axis("ms"), bars=(Bars("needed", (1.0, 2.0), (0.0, 3.0), (3.0, 4.0)),))
    assert chart_csv(chart).splitlines()[1:] == ["part,N,from,to,ms", "needed,1,0,3", "needed,2,3,7"]
