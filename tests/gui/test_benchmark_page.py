import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

from gemmviz.analysis.speeds import CHARTS
from gemmviz.files.benchmark_file import benchmark_text
from gemmviz.files.trace_file import write_trace
from gemmviz.gui.benchmark_page import BenchmarkPage
from gemmviz.gui.benchmark_plot import apart
from gemmviz.gui.main_window import MainWindow
from gemmviz.gui.session import Setup, measure
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.errors import DeviceError
from gemmviz.model.gpu import Gpu
from gemmviz.model.problem import Problem
from gemmviz.spec.catalog import load_kernel
from gemmviz.spec.legality import settings_for
from tests.conftest import trace_of
from tests.files.test_benchmark_file import BENCHMARK


@pytest.fixture
def page(qtbot) -> Iterator[BenchmarkPage]:
    made = BenchmarkPage()
    qtbot.addWidget(made)
    made.resize(1200, 700)
    made.show()
    made.draw()
    yield made
    made.shut()


def entry(page: BenchmarkPage, name: str):
    return page.list.findItems(name, Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchRecursive)[0]


def test_without_a_gpu_it_shows_what_was_recorded_and_says_so(page: BenchmarkPage) -> None:
    assert page.source.currentText() == "Recorded on NVIDIA H200"
    assert page.origin.text().startswith("Recorded on NVIDIA H200, driver 580.")
    assert "another version" not in page.origin.text()
    assert not page.start.isEnabled()
    assert "no GPU" in page.start.toolTip()


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_has_its_curves_and_names_that_do_not_touch(page: BenchmarkPage, name: str) -> None:
    page.show_chart(name)
    assert page.plot.shown
    assert {curve.label for curve in page.plot.shown} == {curve.label for curve in page.list.curves if curve.shown}


def test_curves_are_toggled_by_kernel_and_by_choice(page: BenchmarkPage, qtbot) -> None:
    with qtbot.waitSignal(page.list.toggled):
        entry(page, "04_tiled").setCheckState(0, Qt.CheckState.Unchecked)
    assert "04_tiled" not in {curve.family for curve in page.plot.shown}
    with qtbot.waitSignal(page.list.toggled):
        entry(page, "04_tiled").setCheckState(0, Qt.CheckState.Checked)
    assert [curve.label for curve in page.plot.shown if curve.family == "04_tiled"] == ["04_tiled, fastest choice"]
    with qtbot.waitSignal(page.list.toggled):
        entry(page, "(TILE_WIDTH = 8)").setCheckState(0, Qt.CheckState.Checked)
    assert sum(len(curve.points) > 0 for curve in page.plot.shown if "TILE_WIDTH = 8)" in curve.label) == 1
    page.show_chart("transfer")
    with qtbot.waitSignal(page.list.toggled):
        entry(page, "02_naive").setCheckState(0, Qt.CheckState.Checked)
    assert len([curve for curve in page.plot.shown if curve.family == "02_naive"]) == 2


def test_a_point_says_its_own_value_first(page: BenchmarkPage, qtbot) -> None:
    page.show_chart("share")
    curve = next(curve for curve in page.plot.shown if curve.family == "04_tiled")
    x, y = curve.points[-1]
    seen = page.plot.plotItem.vb.mapViewToScene(
        page.plot.plotItem.vb.mapToView(page.plot.plotItem.vb.mapFromView(_at(page, x, y)))
    )
    page.plot._on_pointed(seen)
    assert page.told.text().endswith("µs")
    assert "% of cuBLAS: " in page.told.text()


def _at(page: BenchmarkPage, x: float, y: float):
    import pyqtgraph as pg

    return pg.Point(*page.plot._place(x, y))


def test_pictures_curves_and_the_whole_are_saved(page: BenchmarkPage, tmp_path: Path) -> None:
    for kind in ("png", "svg", "csv", "json"):
        page.save_as(tmp_path / f"b.{kind}")
    picture = QImage(str(tmp_path / "b.png"))
    assert (picture.width(), picture.height()) == (1920, 1080)
    assert "recorded on NVIDIA H200" in (tmp_path / "b.svg").read_text(encoding="utf-8")
    lines = (tmp_path / "b.csv").read_text(encoding="utf-8").splitlines()
    assert "Recorded on NVIDIA H200" in lines[0]
    assert any(line.startswith('"04_tiled, fastest choice",4096,') for line in lines)
    assert json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))["gpu"]["name"] == "NVIDIA H200"
    page.open_file(tmp_path / "b.json")
    assert page.source.currentText().startswith("b.json, NVIDIA H200")


def test_a_damaged_file_is_refused_and_nothing_changes(page: BenchmarkPage, qtbot, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{")
    with qtbot.waitSignal(page.failed) as caught:
        page.open_file(tmp_path / "x.json")
    assert "x.json" in str(caught.args[0])
    assert len(page.benchmarks) == 1


def test_names_lie_apart_and_below_the_top() -> None:
    assert apart([1.0, 1.1, 5.0], 1.0, 9.0) == [1.0, 2.0, 5.0]
    assert apart([4.8, 4.9, 5.0], 1.0, 5.0) == [3.0, 4.0, 5.0]
    assert apart([], 1.0, 1.0) == []


@pytest.fixture
def window(qtbot) -> Iterator[MainWindow]:
    made = MainWindow()
    qtbot.addWidget(made)
    made.show()
    with qtbot.waitSignal(made.tracer.done, timeout=20_000):
        made.open_kernel("04_tiled")
    yield made
    made.close()


def test_the_benchmark_has_the_window_for_itself_and_gives_it_back(window: MainWindow) -> None:
    before = {name for name, dock in window.panels.docks.items() if not dock.isHidden()}
    window.panels.toggle_benchmark()
    assert all(dock.isHidden() for dock in window.panels.docks.values())
    assert not any(key.isEnabled() for key in window.menus.replay_keys)
    window.panels.toggle_alone()  # nothing to hide
    window.panels.toggle_benchmark()
    assert {name for name, dock in window.panels.docks.items() if not dock.isHidden()} == before
    window.panels.toggle_alone()
    window.panels.toggle_benchmark()
    window.panels.toggle_benchmark()
    assert all(dock.isHidden() for dock in window.panels.docks.values())  # it was alone before


def test_closing_on_the_benchmark_keeps_the_docks_for_the_next_time(window: MainWindow) -> None:
    window.panels.toggle_benchmark()
    window.panels.show_all()
    assert not window.panels.docks["Source"].isHidden()
    assert window.panels.pages.currentIndex() == 0


def test_files_lead_to_the_page_that_shows_them(window: MainWindow, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(benchmark_text(BENCHMARK), encoding="utf-8")
    window.open_file(tmp_path / "b.json")
    assert window.panels.pages.currentIndex() == 1
    assert isinstance(window.panels.benchmark.benchmark, Benchmark)
    assert window.panels.benchmark.source.currentText().startswith("b.json")
    write_trace(trace_of("02_naive", BLOCK=2), tmp_path / "t.gvt")
    window.open_file(tmp_path / "t.gvt")
    assert window.panels.pages.currentIndex() == 0


def test_a_trace_from_a_file_stays_when_a_gpu_is_found_later(window: MainWindow, tmp_path: Path) -> None:
    write_trace(trace_of("02_naive", BLOCK=2), tmp_path / "t.gvt")
    window.open_file(tmp_path / "t.gvt")
    shown = window.replay.trace
    window._on_gpu_known(Gpu("NVIDIA H200", "9.0", "580.1", "NVRTC 13.0", 132, 62914560, 1 << 37))
    assert window.panels.kernel.runs_on_gpu
    assert window.replay.trace is shown
    window.panels.kernel.show_gpu(DeviceError("gone"))


def test_without_a_gpu_the_panel_says_why(window: MainWindow, qtbot) -> None:
    window._on_gpu_known(DeviceError("CuPy is not installed", remedy="pip install it"))
    assert not window.panels.kernel.runs_on_gpu
    assert "CuPy is not installed (pip install it)" in window.panels.kernel.runner.toolTip()
    assert not window.panels.kernel.patience.isEnabled()
    assert window.recorder.text() == "Run by the interpreter on the CPU"
    assert not window.panels.banner.isVisible()  # nobody expects one here
    window.station.is_meant = True
    window._on_gpu_known(DeviceError("the NVIDIA driver is too old", remedy="install a newer one"))
    assert window.panels.banner.text() == "the NVIDIA driver is too old (install a newer one)"


def test_the_real_kernel_is_told_as_recorded_or_as_unknown(window: MainWindow) -> None:
    spec = load_kernel("04_tiled")
    known = measure(Setup(spec, settings_for(spec, Problem(4096, 4096, 4096), {"TILE_WIDTH": 32}), "h200"), None, lambda: False)
    window.panels.metrics.show_real(known)
    text = window.panels.metrics.real.text()
    assert text.startswith("Real kernel, recorded on NVIDIA H200, driver")
    assert f"{known.measured.timing.median_ms:,.1f} ms" in text
    assert "% of cuBLAS" in text
    assert "theoretical occupancy 100%" in text
    unknown = measure(Setup(spec, settings_for(spec), "h200"), None, lambda: False)
    window.panels.metrics.show_real(unknown)
    assert "no time of this kernel at 8 x 8 x 8; recorded are N = 128 to 8192" in window.panels.metrics.real.text()


def test_some_phases_only(window: MainWindow, qtbot) -> None:
    kernel = window.panels.kernel
    with qtbot.waitSignal(window.tracer.done, timeout=20_000):
        kernel.phases.setText("2")
        kernel.phases.editingFinished.emit()
    assert window.replay.trace.phases == (1, 2)
    from gemmviz.scene.sentence import step_title

    assert step_title(window.replay, 0) == "step 1 of 15, phase 2 · only phase 2 traced"
    last = window.replay.steps - 1
    assert window.replay.tiles(last) == {}  # what later phases left there is not known
    kernel.phases.setText("2-1")
    kernel.phases.editingFinished.emit()
    qtbot.waitUntil(lambda: "are no phases" in kernel.message.text())


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="there is CuPy here")
def test_what_the_gpu_can_not_do_the_interpreter_does_and_the_banner_says_so(window: MainWindow, qtbot) -> None:
    window.panels.kernel.show_gpu(Gpu("NVIDIA H200", "9.0", "580.1", "NVRTC 13.0", 132, 62914560, 1 << 37), chosen=True)
    with qtbot.waitSignals([window.tracer.done, window.afterwork.counted], timeout=30_000):
        window.panels.kernel.sizes["M"].setValue(12)
    assert window.panels.banner.isVisible()
    assert "CuPy is not installed. Shown is the interpreter's run" in window.panels.banner.text()
    assert window.replay.trace.settings.problem.M == 12
    assert window.afterwork.whole is not None  # counted, by the interpreter
    qtbot.waitUntil(lambda: "CuPy is not installed" in window.panels.metrics.real.text(), timeout=10_000)
