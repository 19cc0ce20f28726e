"""The benchmark: its charts, its curves, its files; and who there is to measure."""

import importlib.util
import json
import threading
from pathlib import Path
from types import ModuleType

import numpy as np
import pyqtgraph
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QTreeWidgetItem
from pytestqt.qtbot import QtBot

from gemmviz.files.recordings import benchmark_text, recorded
from gemmviz.files.trace_file import write_trace
from gemmviz.gui.benchmark_page import BenchmarkPage
from gemmviz.gui.chart_plot import ChartPlot
from gemmviz.gui.export_dialog import ExportDialog
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.model.chart import Curve
from gemmviz.model.device import Gpu
from gemmviz.model.messages import DeviceError
from gemmviz.model.timing import Benchmark
from gemmviz.scenes.catalog import views_of
from tests.conftest import sampled, trace_of
from tests.files.test_benchmark_file import BENCHMARK
from tests.gui.conftest import choice_of, line_of, metrics_of, open_file, pictured, settings_of, shown_of, spin_of, write_here
from tests.gui.shared_window import settled

H200 = Gpu("NVIDIA H200", "9.0", "580.1", "NVRTC 13.0", 132, 62914560, 1 << 37)


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot) -> BenchmarkPage:
    window.model.commands.toggle_benchmark()
    qtbot.waitUntil(lambda: window.benchmark.isVisible() and bool(curves(window.benchmark)))
    return window.benchmark


def plot_of(page: BenchmarkPage) -> ChartPlot:
    assert page.plot is not None
    return page.plot


def curves(page: BenchmarkPage) -> tuple[Curve, ...]:
    """Those that are plotted."""
    return () if page.plot is None or page.plot.chart is None else page.plot.chart.curves


def entry(page: BenchmarkPage, name: str) -> QTreeWidgetItem:
    return page.list.findItems(name, Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchRecursive)[0]


def check(page: BenchmarkPage, name: str, on: bool, qtbot: QtBot) -> None:
    before = page.session.shot
    entry(page, name).setCheckState(0, Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
    qtbot.waitUntil(lambda: page.session.shot != before)
    qtbot.wait(100)


def test_what_draws_charts_is_loaded_beside_the_window(
    new_window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    def load() -> ModuleType:
        threads.append(threading.current_thread())
        return pyqtgraph  # type: ignore[no-any-return]

    monkeypatch.setattr("gemmviz.gui.window_model._load_charts", load)
    assert not new_window.model.plotting.is_loaded
    new_window.model.commands.toggle_benchmark()
    qtbot.waitUntil(lambda: bool(curves(new_window.benchmark)))
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()


def test_without_a_gpu_it_shows_what_was_recorded_and_says_so(page: BenchmarkPage) -> None:
    assert page.source.currentText() == "Recorded on NVIDIA H200"
    assert page.origin.text().startswith("Recorded on NVIDIA H200, driver 580.")
    assert "another version" not in page.origin.text()
    assert not page.start.isEnabled()
    assert "no GPU" in page.start.toolTip()
    assert "NVIDIA H200 – gemmviz" in page.window().windowTitle()


@pytest.mark.parametrize("first", sampled((0, 1)))
def test_every_chart_has_its_curves(page: BenchmarkPage, qtbot: QtBot, first: int) -> None:
    for name, view in list(views_of(Benchmark).items())[first::2]:
        page.model.commands.show_view(name)
        qtbot.waitUntil(lambda: page.chart is not None and plot_of(page).chart == page.chart.showing({}))
        assert page.what.currentText() == view.title
        assert {curve.label for curve in curves(page)} == {curve.label for curve in page.list.curves if curve.shown}, name


def test_shares_that_the_course_reports_are_rings_beside_the_curves(page: BenchmarkPage, qtbot: QtBot) -> None:
    page.model.commands.show_view("share")
    qtbot.waitUntil(lambda: page.chart is not None and plot_of(page).chart == page.chart.showing({}))
    plot = plot_of(page)
    rings = [
        item for item in plot.items() if isinstance(item, pyqtgraph.TextItem) and item.toPlainText() in ("1 %", "9 %", "12 %")
    ]
    assert {ring.toPlainText() for ring in rings} == {"1 %", "9 %", "12 %"}
    assert all(ring.pos().x() > np.log10(8192) for ring in rings)
    before = len(plot.items())
    plot.fit()
    assert len(plot.items()) == before, "they are replaced, not added"


def test_curves_are_toggled_by_kernel_and_by_choice_and_that_is_undone(page: BenchmarkPage, qtbot: QtBot) -> None:
    check(page, "04_tiled", False, qtbot)
    assert "04_tiled" not in {curve.family for curve in curves(page)}
    check(page, "(TILE_WIDTH = 8)", True, qtbot)
    assert "04_tiled, fastest choice" not in {curve.label for curve in curves(page)}
    check(page, "(TILE_WIDTH = 8)", False, qtbot)
    check(page, "04_tiled", True, qtbot)
    assert [curve.label for curve in curves(page) if curve.family == "04_tiled"] == ["04_tiled, fastest choice"]
    check(page, "(TILE_WIDTH = 8)", True, qtbot)
    assert any("TILE_WIDTH = 8)" in curve.label for curve in curves(page))
    page.session.undo()
    qtbot.waitUntil(lambda: not any("TILE_WIDTH = 8)" in curve.label for curve in curves(page)))
    page.model.commands.show_view("copy_cost")
    qtbot.wait(100)
    check(page, "02_naive", True, qtbot)
    assert len([curve for curve in curves(page) if curve.family == "02_naive"]) == 2


def test_a_point_says_its_own_value_first(page: BenchmarkPage, qtbot: QtBot) -> None:
    page.model.commands.show_view("share")
    qtbot.waitUntil(lambda: page.what.currentData() == "share")
    curve = next(curve for curve in curves(page) if curve.family == "04_tiled")
    plot = plot_of(page)
    found = plot.nearest(plot.where(*curve.points[-1]))
    assert found is not None
    assert found[0].endswith("µs")
    assert "% of cuBLAS: " in found[0]


def test_pictures_curves_and_the_whole_are_saved(
    page: BenchmarkPage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    menu = page.save.menu()
    assert menu is not None
    export, *others = menu.actions()
    export.trigger()
    (dialog,) = page.findChildren(ExportDialog)
    dialog.kind.setCurrentIndex(dialog.kind.findData("svg"))
    write_here(dialog, tmp_path / "b.svg")
    for action, suffix in zip(others, ("csv", "json"), strict=True):
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, s=suffix: (str(tmp_path / f"b.{s}"), ""))
        action.trigger()
        qtbot.waitUntil((tmp_path / f"b.{suffix}").exists)
    assert "Recorded on NVIDIA H200" in (tmp_path / "b.svg").read_text(encoding="utf-8")
    lines = (tmp_path / "b.csv").read_text(encoding="utf-8").splitlines()
    assert "Recorded on NVIDIA H200" in lines[0]
    assert any(line.startswith('"04_tiled, fastest choice",4096,') for line in lines)
    assert json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))["gpu"]["name"] == "NVIDIA H200"
    open_file(page.model, tmp_path / "b.json")
    qtbot.waitUntil(lambda: page.source.currentText().startswith("b.json, NVIDIA H200"))


def test_a_damaged_file_is_refused_and_nothing_changes(page: BenchmarkPage, window: MainWindow, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{")
    open_file(page.model, tmp_path / "x.json")
    assert any("x.json" in text for text in window.banner.texts)
    assert len(page.benchmarks.all) == len(recorded())  # those that ship


def test_the_benchmark_has_the_window_for_itself_and_gives_it_back(window: MainWindow) -> None:
    docks = window.docks
    before = {name for name, dock in docks.all.items() if not dock.isHidden()}
    window.model.commands.toggle_benchmark()
    assert all(dock.isHidden() for dock in docks.all.values())
    assert not window.menus.all["next-warp"].isEnabled()
    assert "go back to the replay" in window.menus.all["next-warp"].toolTip()
    assert not window.menus.all["stage-only"].isEnabled()  # nothing to hide
    window.model.commands.toggle_benchmark()
    assert {name for name, dock in docks.all.items() if not dock.isHidden()} == before
    window.menus.all["stage-only"].trigger()
    window.model.commands.toggle_benchmark()
    window.model.commands.toggle_benchmark()
    assert all(dock.isHidden() for dock in docks.all.values())  # it was alone before


def test_closing_on_the_benchmark_keeps_the_docks_for_the_next_time(qtbot: QtBot, window: MainWindow) -> None:
    window.model.commands.toggle_benchmark()
    window.close()
    again = MainWindow(window.preferences.store)
    qtbot.addWidget(again)
    again.start()
    again.show()
    assert again.benchmark.isVisible()  # what was seen last
    again.model.commands.toggle_benchmark()
    assert not again.docks.all["source"].isHidden()
    again.close()


def test_files_lead_to_the_page_that_shows_them(window: MainWindow, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(benchmark_text(BENCHMARK), encoding="utf-8")
    open_file(window.model, tmp_path / "b.json")
    assert window.benchmark.isVisible()
    assert isinstance(window.session.display.subject, Benchmark)
    assert window.session.shot.chart.source.startswith("b.json")
    write_trace(trace_of("02_naive", BLOCK=2), tmp_path / "t.gvt")
    open_file(window.model, tmp_path / "t.gvt")
    assert window.replay.isVisible()


# Who runs kernels


def test_a_trace_from_a_file_stays_when_a_gpu_is_found_later(window: MainWindow, tmp_path: Path) -> None:
    write_trace(trace_of("02_naive", BLOCK=2), tmp_path / "t.gvt")
    open_file(window.model, tmp_path / "t.gvt")
    shown = shown_of(window).trace
    engines = window.session.engines
    engines.on_gpu_found(H200)
    assert engines.chosen == "gpu"
    assert settings_of(window).runner.runner.currentData() == "gpu"
    assert shown_of(window).trace is shown
    assert window.benchmark.start.isEnabled()


def test_without_a_gpu_the_panel_says_why(window: MainWindow, qtbot: QtBot) -> None:
    engines, form = window.session.engines, settings_of(window).runner
    engines.on_gpu_missing(DeviceError("CuPy is not installed", remedy="pip install it"))
    assert engines.chosen == "cpu"
    assert "CuPy is not installed (pip install it)" in form.runner.toolTip()
    assert not form.timeout.isEnabled()
    assert window.status.recorder.text() == "Run by the interpreter on the CPU"
    assert not window.banner.isVisible()  # nobody expects one here
    engines.has_cupy = True
    engines.on_gpu_missing(DeviceError("the NVIDIA driver is too old", remedy="install a newer one"))
    assert window.banner.texts == ["the NVIDIA driver is too old (install a newer one)"]


def test_the_real_kernel_is_told_as_recorded_on_the_chosen_device_or_not_at_all(window: MainWindow, qtbot: QtBot) -> None:
    speed, session = metrics_of(window).speed, window.session
    assert speed.text() == ""
    for name in "MNK":
        spin_of(window, name).setValue(128)
    qtbot.waitUntil(lambda: speed.text().startswith("Real kernel, recorded on NVIDIA H200, driver"), timeout=20_000)
    assert "% of cuBLAS" in speed.text()
    assert "theoretical occupancy" in speed.text()
    device = choice_of(window, "device")
    device.setCurrentIndex(device.findData("rtx4090"))
    qtbot.waitUntil(lambda: "it has no record on NVIDIA GeForce RTX 4090" in shown_of(window).no_speed, timeout=20_000)
    qtbot.waitUntil(lambda: speed.text() == "")
    assert not any("sm_90" in line for line in settings_of(window).setup.launch.text().splitlines())
    assert session.shown is not None


def test_some_phases_only(window: MainWindow, qtbot: QtBot) -> None:
    line = line_of(window, "phases")
    line.setFocus()
    qtbot.keyClicks(line, "2")
    pictured(window, qtbot, lambda: qtbot.keyClick(line, Qt.Key.Key_Return))
    assert shown_of(window).trace.phases == (1, 2)
    session = window.session
    session.navigation.go_to_step(session.navigation.run_steps - 1)
    assert session.now is not None
    assert session.now.tiles == {}  # what later phases left there is not known
    line.setFocus()
    qtbot.keyClicks(line, "-1")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "is not a range of phases" in str(session.error))


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="there is CuPy here")
def test_what_the_gpu_can_not_do_the_interpreter_does_and_the_banner_says_so(window: MainWindow, qtbot: QtBot) -> None:
    window.session.engines.on_gpu_found(H200)
    pictured(window, qtbot, lambda: spin_of(window, "M").setValue(12))
    qtbot.waitUntil(lambda: settled(window), timeout=30_000)
    assert window.banner.isVisible()
    assert any(
        "CuPy is not installed" in text and "The interpreter ran the kernel instead" in text for text in window.banner.texts
    )
    assert shown_of(window).setup.problem.M == 12
    assert shown_of(window).counts is not None  # counted, by the interpreter
    assert "CuPy is not installed" in shown_of(window).no_speed


@pytest.mark.nightly
@pytest.mark.parametrize("width", [760, pytest.param(1600, marks=pytest.mark.nightly)])
def test_no_control_is_squeezed(page: BenchmarkPage, qtbot: QtBot, width: int) -> None:
    page.setParent(None)
    page.resize(width, 640)
    page.show()
    qtbot.wait(50)
    for control in (page.what, page.source, page.width_):
        assert control.width() >= control.fontMetrics().horizontalAdvance("0" * control.minimumContentsLength()), (
            control.currentText()
        )
    rows = {control.y() for control in (page.what, page.start)}
    assert len(rows) == (1 if width == 1600 else 2)
