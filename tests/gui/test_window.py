"""The window by hand: what a person clicks and types, and what must come of it."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, QSettings, Qt, QUrl
from PySide6.QtGui import QAction, QDropEvent, QGuiApplication, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QFileDialog,
    QLineEdit,
    QScrollBar,
    QTableWidget,
)

from gemmviz.analysis.focus import Focus
from gemmviz.files.devices import device_names, load_device
from gemmviz.files.trace_file import write_trace
from gemmviz.gui.about import about_text
from gemmviz.gui.main_window import MainWindow
from gemmviz.gui.session import Setup
from gemmviz.model.errors import TraceFileError
from gemmviz.model.kernel import Settings
from gemmviz.model.problem import Problem
from gemmviz.scene.hover import hover_lines
from gemmviz.scene.primitives import Hit
from gemmviz.scene.theme import DARK, LIGHT
from gemmviz.spec.catalog import load_kernel
from tests.conftest import kernel_from


@pytest.fixture
def window(qtbot):
    made = MainWindow()
    made.resize(1600, 960)
    qtbot.addWidget(made)
    with qtbot.waitSignals([made.tracer.done, made.afterwork.counted], timeout=20000):
        made.open_kernel("04_tiled")
    made.show()
    qtbot.waitExposed(made)
    QApplication.processEvents()  # the docks take their places
    made.activateWindow()
    return made


def test_the_first_picture_is_a_small_tiled_multiplication(window: MainWindow) -> None:
    assert window.replay.trace.settings.problem == Problem(8, 8, 8)
    assert window.stage.scene.find("tile-tileA") is not None
    assert "C is right: 64" in window.panels.metrics.check.text()
    assert "all 4 blocks" in window.panels.metrics.source.text()
    assert window.panels.metrics.launch_table.item(0, 1).data(Qt.ItemDataRole.UserRole) == 64  # global load sectors


def test_keys_move_through_the_replay(window: MainWindow, qtbot) -> None:
    last = window.replay.steps - 1
    phases = window.replay.phase_starts.tolist()
    for key, step in [
        (Qt.Key.Key_Right, 1), (Qt.Key.Key_Right, 2), (Qt.Key.Key_Left, 1), (Qt.Key.Key_PageDown, phases[1]),
        (Qt.Key.Key_PageUp, 0), (Qt.Key.Key_End, last), (Qt.Key.Key_Home, 0),
    ]:  # fmt: skip
        qtbot.keyClick(window, key)
        assert window.playback.step == step
        assert window.panels.timeline.slider.value() == step
        assert window.stage.scene.find("progress").texts[0].startswith(f"step {step + 1} of")


def test_space_plays_and_pauses_and_speed_keys_work(window: MainWindow, qtbot) -> None:
    window.playback.set_speed(240)
    with qtbot.waitSignals([window.playback.moved] * 3, timeout=5000):
        qtbot.keyClick(window, Qt.Key.Key_Space)
    assert window.playback.playing
    qtbot.keyClick(window, Qt.Key.Key_Space)
    assert not window.playback.playing
    qtbot.keyClick(window, Qt.Key.Key_Plus)
    assert window.playback.speed == 1000
    qtbot.keyClick(window, Qt.Key.Key_Minus)
    assert window.playback.speed == 240


def test_space_presses_what_has_the_focus(window: MainWindow, qtbot) -> None:
    window.panels.timeline.reverse.setFocus()
    qtbot.keyClick(window.panels.timeline.reverse, Qt.Key.Key_Space)
    assert window.panels.timeline.reverse.isChecked()
    assert not window.playback.playing
    window.panels.kernel.device.setFocus()
    qtbot.keyClick(window.panels.kernel.device, Qt.Key.Key_Space)
    assert window.panels.kernel.device.view().isVisible()
    window.panels.kernel.device.hidePopup()


def test_playing_backwards_wraps(window: MainWindow, qtbot) -> None:
    window.playback.set_speed(240)
    window.panels.timeline.reverse.setChecked(True)
    window.playback.go(1)
    with qtbot.waitSignal(window.playback.moved, check_params_cb=lambda step: step > 5, timeout=5000):
        window.playback.play(True)
    window.playback.play(False)


def test_a_changed_tile_width_gives_a_new_picture(window: MainWindow, qtbot) -> None:
    box = window.panels.kernel.parameters["TILE_WIDTH"]
    assert isinstance(box, QComboBox)
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        box.setCurrentText("2")
    assert window.replay.trace.parameters["TILE_WIDTH"] == 2
    assert window.stage.scene.find("tile-tileA").fill.shape == (2, 2)
    assert "4 threads" in window.panels.kernel.launch.text()


def test_illegal_settings_are_explained_never_run_and_mended(window: MainWindow, qtbot) -> None:
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        window.open_kernel("05_tiled_unguarded")
    before = window.replay
    window.panels.kernel.sizes["K"].setValue(9)
    qtbot.waitUntil(window.panels.kernel.message.isVisible)
    assert "multiples of TILE_WIDTH" in window.panels.kernel.message.text()
    assert window.panels.kernel.remedy.text() == "Use K = 8"
    assert "settings before" in window.stage.stale
    assert window.replay is before
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        qtbot.mouseClick(window.panels.kernel.remedy, Qt.MouseButton.LeftButton)
    assert not window.panels.kernel.message.isVisible()
    assert window.stage.stale == ""
    assert window.replay.trace.settings.problem.K == 8


def test_newer_settings_cancel_older_work(window: MainWindow, qtbot) -> None:
    results = []
    window.tracer.done.connect(results.append)
    for size in (512, 384, 24):
        window.panels.kernel.sizes["M"].setValue(size)
        window.run()
    qtbot.waitUntil(lambda: bool(results), timeout=20000)
    assert [run.replay.trace.settings.problem.M for run in results] == [24]


@pytest.mark.parametrize(
    ("body", "words", "line"),
    [
        ("C[threadIdx.x] = A[threadIdx.x * 30];", "out of range", 10),
        ("C[threadIdx.x] = sum;", "'sum' is not declared", 10),
        ("switch (M) {}", "switch is not supported", 10),
        ("__shared__ float s[4];\ns[threadIdx.x] = 1.0f;\nC[threadIdx.x] = s[3 - threadIdx.x];", "read after write", 12),
    ],
)
def test_faults_of_the_kernel_mark_their_line(
    window: MainWindow, qtbot, tmp_path: Path, body: str, words: str, line: int
) -> None:
    path = tmp_path / "mine.cu"
    path.write_text(kernel_from(body).text)
    window.open_file(path)
    qtbot.waitUntil(lambda: window.panels.banner.isVisible() and words in window.panels.banner.text(), timeout=10000)
    assert f"mine.cu:{line}:" in window.panels.banner.text()
    assert window.panels.source.marked_error.line == line


def test_a_run_that_ended_early_is_shown_up_to_there(window: MainWindow, qtbot, tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_text(kernel_from("float first = B[0]; C[threadIdx.x] = A[threadIdx.x * 30] + first;").text)
    window.open_file(path)
    qtbot.waitUntil(lambda: "out of range" in window.panels.banner.text(), timeout=10000)
    qtbot.waitUntil(lambda: window.afterwork.look is not None, timeout=10000)
    assert window.stage.stale == ""
    assert window.playback.step == window.replay.steps - 1 == 1
    assert window.stage.scene.find("stop") is not None
    assert "ended early" in window.panels.metrics.check.text()
    assert window.panels.metrics.table.item(1, 3).text() == "–"
    with pytest.raises(TraceFileError, match="before its time"):
        write_trace(window.replay.trace, tmp_path / "a.gvt")
    with qtbot.waitSignal(window.afterwork.counted, timeout=10000):
        window.open_kernel("04_tiled")
    assert not window.panels.banner.isVisible()


def test_a_file_without_header_is_shown_with_the_remedy(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "plain.cu"
    path.write_text("__global__ void k() {}\n")
    window.open_file(path)
    assert "no gemmviz header" in window.panels.banner.text()
    assert window.panels.source.toPlainText().startswith("__global__")
    assert window.replay is not None  # what was there stays


def test_watching_another_block_and_warp(window: MainWindow, qtbot) -> None:
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        window.adopt(Setup(load_kernel("04_tiled"), Settings(Problem(16, 16, 16), {"TILE_WIDTH": 8}), "h200"))
    window.panels.focus.block[0].setValue(1)
    assert window.replay.block == (1, 0, 0)
    qtbot.keyClick(window, Qt.Key.Key_W)
    assert window.replay.warp == 0
    assert "block (1, 0), warp 0" in window.stage.scene.find("action").texts[0]
    qtbot.keyClick(window, Qt.Key.Key_T)
    assert window.replay.thread == 0
    qtbot.keyClick(window, Qt.Key.Key_A)
    assert window.replay.focus.everyone
    assert "all 4 blocks" in window.stage.scene.find("action").texts[0]
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert window.replay.focus == Focus((1, 0, 0))


def test_zoom_keeps_what_is_under_the_mouse(window: MainWindow, qtbot) -> None:
    at = QPointF(100, 120)
    before = window.stage.view
    unit = ((at.x() - before.dx) / before.scale, (at.y() - before.dy) / before.scale)
    window.stage.zoom_by(4, at)
    after = window.stage.view
    assert after.scale == pytest.approx(before.scale * 4)
    assert unit[0] * after.scale + after.dx == pytest.approx(at.x())
    assert unit[1] * after.scale + after.dy == pytest.approx(at.y())
    qtbot.keyClick(window, Qt.Key.Key_F)
    assert window.stage.view == before


def test_traces_and_frames_are_saved_and_opened(window: MainWindow, qtbot, tmp_path: Path, monkeypatch) -> None:
    for name, action in {
        "a.gvt": window.files.ask_to_save_trace,
        "a.svg": lambda: window.files.ask_to_save_frame("svg", 1),
        "a.png": lambda: window.files.ask_to_save_frame("png", 2),
    }.items():
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, path=tmp_path / name: (str(path), ""))
        action()
        assert (tmp_path / name).stat().st_size > 1000
    with qtbot.waitSignal(window.afterwork.counted, timeout=10000):
        window.open_file(tmp_path / "a.gvt")
    assert window.replay.trace.kernel == "04_tiled"


def test_number_keys_change_the_view(window: MainWindow, qtbot) -> None:
    found = {
        Qt.Key.Key_2: "lines",
        Qt.Key.Key_3: "message",
        Qt.Key.Key_4: "lane-titles",
        Qt.Key.Key_5: "lines",
        Qt.Key.Key_1: "C",
    }
    for key, primitive in found.items():
        qtbot.keyClick(window, key)
        assert window.stage.scene.find(primitive) is not None


def test_both_themes(window: MainWindow) -> None:
    for name, theme in (("light", LIGHT), ("dark", DARK), ("system", DARK)):
        window.choose_theme(name)
        assert window.stage.scene.background == theme.background


def test_every_control_has_a_tooltip_a_name_and_can_be_reached(window: MainWindow) -> None:
    kinds = (QComboBox, QAbstractSpinBox, QAbstractButton, QAbstractSlider, QTableWidget, QLineEdit)
    roots = [dock.widget() for dock in window.panels.docks.values()] + [window.panels.timeline]
    controls = [each for root in roots for kind in kinds for each in root.findChildren(kind)]
    own = [
        each
        for each in controls
        if not each.objectName().startswith("qt_")
        and not isinstance(each, QScrollBar | QLineEdit)
        and not isinstance(each.parent(), QLineEdit)
    ]
    own += [window.panels.kernel.blocks]
    assert len(own) > 25
    for control in own:
        if isinstance(control, QTableWidget):
            assert control.accessibleName()
            continue
        assert control.toolTip(), control
        assert control.accessibleName() or isinstance(control, QAbstractButton), control
        assert control.focusPolicy() & Qt.FocusPolicy.TabFocus, control


def test_a_typed_number_is_one_change_and_gives_the_keys_back(window: MainWindow, qtbot) -> None:
    box = window.panels.kernel.sizes["N"]
    sizes = []
    window.tracer.done.connect(lambda run: sizes.append(run.replay.trace.settings.problem.N))
    box.setFocus()
    box.selectAll()
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        qtbot.keyClicks(box, "12")
        qtbot.keyClick(box, Qt.Key.Key_Return)
    assert sizes == [12]
    assert window.stage.hasFocus()
    qtbot.keyClick(window, Qt.Key.Key_End)
    assert window.playback.step == window.replay.steps - 1


def test_a_wrong_result_is_said_aloud(window: MainWindow, qtbot, tmp_path: Path) -> None:
    path = tmp_path / "wrong.cu"
    path.write_text(load_kernel("03_coalesced").text.replace("sum +=", "sum -="))
    window.open_file(path)
    qtbot.waitUntil(lambda: "C is wrong" in window.panels.banner.text() and window.panels.banner.isVisible(), timeout=10000)
    assert window.replay.trace.kernel == "wrong"  # and the picture is that of the wrong kernel
    window.playback.go(window.replay.steps - 1)
    assert len(window.stage.scene.find("wrong").boxes) == 1024
    cells = window.stage.scene.find("C")
    assert "wrong: not what the float64 product says" in hover_lines(window.replay, window.playback.step, Hit(cells, 0, 0))


def test_settings_that_cannot_run_are_not_clamped(window: MainWindow) -> None:
    window.open_kernel("04_tiled", Settings(Problem(8, 8, 8), {"TILE_WIDTH": 7}))
    assert "choose one of" in window.panels.kernel.message.text()
    assert window.panels.kernel.remedy.text() == "Use TILE_WIDTH = 8"


def test_the_frame_takes_the_shape_of_the_window_and_slides_do_not(window: MainWindow, qtbot) -> None:
    window.resize(1100, 900)
    qtbot.waitUntil(lambda: window.stage.scene.height == window.stage.frame_height)
    assert window.stage.scene.height > 900
    assert window.slide().height == 900


def test_the_menus_save_too(window: MainWindow, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "menu.png"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    frames = [action for action in window.findChildren(QAction) if action.text().startswith("PNG")]
    assert len(frames) == 3
    frames[0].trigger()
    assert path.stat().st_size > 1000


def cell_at(window: MainWindow, key: str, row: int, column: int) -> QPoint:
    """The pixel in the middle of a cell."""
    cells, view = window.stage.scene.find(key), window.stage.view
    x, y = cells.x + (column + 0.5) * cells.size, cells.y + (row + 0.5) * cells.size
    return QPointF(x * view.scale + view.dx, y * view.scale + view.dy).toPoint()


def test_a_click_on_c_follows_the_thread_that_computes_it(window: MainWindow, qtbot) -> None:
    with qtbot.waitSignal(window.afterwork.looked, timeout=10000):
        qtbot.mouseClick(window.stage, Qt.MouseButton.LeftButton, pos=cell_at(window, "C", 6, 1))
    assert window.replay.focus == Focus((0, 1, 0), 0, 9)
    qtbot.waitUntil(lambda: "thread (1, 2)" in window.panels.variables.title.text())
    table = window.panels.variables.table
    values = {table.item(row, 0).text(): table.item(row, 1).text() for row in range(table.rowCount())}
    assert (values["row"], values["col"]) == ("6", "1")
    qtbot.mouseClick(window.stage, Qt.MouseButton.LeftButton, pos=cell_at(window, "B", 0, 5))
    assert "No thread touches this now" in window.statusBar().currentMessage()


def test_a_second_click_lets_the_thread_go(window: MainWindow, qtbot) -> None:
    for thread in (9, None):
        qtbot.mouseClick(window.stage, Qt.MouseButton.LeftButton, pos=cell_at(window, "C", 6, 1))
        assert window.replay.thread == thread


def test_a_file_that_is_saved_runs_again(window: MainWindow, qtbot, tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    right = load_kernel("03_coalesced").text
    path.write_text(right.replace("sum +=", "summ +="))
    window.open_file(path)
    assert "summ" in window.panels.banner.text() or not window.panels.banner.isVisible()
    qtbot.waitUntil(lambda: "summ" in window.panels.banner.text(), timeout=10000)
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        path.write_text(right)
    assert window.replay.trace.kernel == "mine"
    assert not window.panels.banner.isVisible()
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        qtbot.keyClick(window, Qt.Key.Key_F5)


def test_the_wheel_changes_nothing_that_has_no_focus(window: MainWindow, qtbot) -> None:
    for box in (window.panels.kernel.sizes["M"], window.panels.kernel.parameters["TILE_WIDTH"]):
        before = window.panels.kernel.settings()
        window.stage.setFocus()
        turn_wheel(box)
        assert window.panels.kernel.settings() == before
        box.setFocus()
        turn_wheel(box)
        assert window.panels.kernel.settings() != before


def turn_wheel(widget) -> None:
    at = QPointF(widget.rect().center())
    event = QWheelEvent(
        at, widget.mapToGlobal(at), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(widget, event)


def test_sizes_that_nobody_chose_are_not_carried_to_the_next_kernel(window: MainWindow, qtbot) -> None:
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        window.open_kernel("02_naive")
    assert window.replay.trace.settings.problem == Problem(32, 32, 32)
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        window.panels.kernel.sizes["M"].setValue(64)
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        window.open_kernel("03_coalesced")
    assert window.replay.trace.settings.problem == Problem(64, 32, 32)
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        window.open_kernel("01_single_block")
    assert window.replay.trace.settings.problem == Problem(8, 8, 8)
    assert "64 x 32 x 32 can't run here" in window.statusBar().currentMessage()


def test_pointing_at_a_cell_tells_all_about_it(window: MainWindow, qtbot) -> None:
    told = []
    window.stage.hovered.connect(lambda hit: told.append(hit and hover_lines(window.replay, window.playback.step, hit)))
    qtbot.waitUntil(lambda: window.replay.value is not None, timeout=5000)
    qtbot.mouseMove(window.stage, cell_at(window, "A", 1, 2))
    qtbot.waitUntil(lambda: bool(told and told[-1]))
    lines = told[-1]
    assert lines[0] == "A[1, 2]"
    assert lines[1] == "element 10, byte 40: sector 1, line 0"
    lane = window.replay.trace.space.lane((0, 0, 0), (2, 1, 0))
    assert lines[2] == f"value {window.replay.value[0, lane]:.6g}, read at step 1"
    assert lines[3] == "now: threads (2, 1), (2, 1) of block (1, 0)"
    assert lines[4] == "loads so far: 1 by block (0, 0), 2 by all traced blocks (2 at the end)"


def test_a_click_in_the_source_goes_to_the_next_step_there(window: MainWindow, qtbot) -> None:
    sites = [window.replay.trace.site_of(step) for step in range(window.replay.steps)]
    lines = window.replay.trace.source.splitlines()
    line = next(n for n, text in enumerate(lines, 1) if "tileB[k][x]" in text)
    window.panels.source.place_clicked.emit(line, lines[line - 1].index("tileB") + 1)
    assert sites[window.playback.step].text == "tileB[k][x]"
    first = window.playback.step
    window.panels.source.place_clicked.emit(line, 1)
    assert window.playback.step == first + 1  # any access of the line
    window.panels.source.place_clicked.emit(1, 1)
    assert "line 1" in window.statusBar().currentMessage()


def test_a_row_of_the_sites_goes_to_its_step_and_headings_sort(window: MainWindow, qtbot) -> None:
    table = window.panels.metrics.site_table
    table.sortByColumn(3, Qt.SortOrder.DescendingOrder)
    took = [table.item(row, 3).data(Qt.ItemDataRole.UserRole) for row in range(table.rowCount())]
    assert took == sorted(took, reverse=True)
    assert len(set(took)) > 1
    row = next(row for row in range(table.rowCount()) if table.item(row, 1).text().startswith("C store"))
    table.cellClicked.emit(row, 0)
    assert window.replay.trace.site_of(window.playback.step).kind == "store"


def test_costs_so_far_and_of_the_launch_stand_beside_those_of_the_step(window: MainWindow, qtbot) -> None:
    table = window.panels.metrics.table
    window.playback.go(2)
    qtbot.waitUntil(lambda: table.item(1, 2) is not None and table.item(1, 2).text() == "8")
    assert [table.item(1, column).text() for column in range(4)] == ["Sectors", "4", "8", "80"]


def test_undo_and_redo_of_settings(window: MainWindow, qtbot) -> None:
    box = window.panels.kernel.parameters["TILE_WIDTH"]
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        box.setCurrentText("2")
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        window.panels.kernel.sizes["K"].setValue(12)
    assert window.history.stack.undoText() == "K = 12"
    for key, modifiers, tile, k in [
        (Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier, 2, 8), (Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier, 4, 8),
        (Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier, 2, 8),
    ]:  # fmt: skip
        with qtbot.waitSignal(window.tracer.done, timeout=10000):
            qtbot.keyClick(window, key, modifiers)
        settings = window.replay.trace.settings
        assert (settings.parameters["TILE_WIDTH"], settings.problem.K) == (tile, k)


def test_every_limit_of_a_device_is_a_sentence_with_a_remedy(window: MainWindow, qtbot) -> None:
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        window.panels.kernel.parameters["TILE_WIDTH"].setCurrentText("32")
    panel = window.panels.kernel
    panel.device.setCurrentIndex(device_names().index("8800gtx"))
    qtbot.waitUntil(panel.message.isVisible)
    assert "1024 threads" in panel.message.text()
    assert "512" in panel.message.text()
    assert panel.remedy.text() == "Use TILE_WIDTH = 16"
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        qtbot.mouseClick(panel.remedy, Qt.MouseButton.LeftButton)
    assert window.replay.trace.parameters["TILE_WIDTH"] == 16


def test_values_blocks_and_seed_reach_the_trace(window: MainWindow, qtbot) -> None:
    panel = window.panels.kernel
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        panel.pattern.setCurrentIndex(1)
    assert window.replay.trace.settings.filling.pattern == "index"
    assert not panel.seed.isEnabled()
    assert "Only random" in panel.seed.toolTip()
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        panel.blocks.setText("1:2,0:2")
        panel.blocks.editingFinished.emit()
    assert window.replay.trace.window.blocks == 2
    assert "2 of 4 blocks" in window.panels.metrics.check.text()
    panel.blocks.setText("nonsense")
    panel.blocks.editingFinished.emit()
    qtbot.waitUntil(panel.message.isVisible)
    assert "X0:X1,Y0:Y1" in panel.message.text()


def test_layout_and_setup_come_back(qtbot, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept.ini")
    first = MainWindow(QSettings(kept, QSettings.Format.IniFormat))
    qtbot.addWidget(first)
    first.show()
    with qtbot.waitSignal(first.tracer.done, timeout=10000):
        first.open_kernel("07_tiled_transposed", Settings(Problem(32, 32, 32), {"TILE_WIDTH": 16, "PAD": 1}), "a100")
    first.choose_theme("light")
    first.show_view("banks")
    first.panels.docks["Metrics"].close()
    first.close()
    second = MainWindow(QSettings(kept, QSettings.Format.IniFormat))
    qtbot.addWidget(second)
    second.show()
    with qtbot.waitSignal(second.tracer.done, timeout=10000):
        assert second.open_last()
    assert second.replay.trace.kernel == "07_tiled_transposed"
    assert dict(second.replay.trace.parameters) == {"TILE_WIDTH": 16, "PAD": 1}
    assert second.shown_setup.device_name == "a100"
    assert (second.theme, second.view) == (LIGHT, "banks")
    assert not second.panels.docks["Metrics"].isVisible()
    second.panels.reset()
    assert second.panels.docks["Metrics"].isVisible()


@pytest.mark.parametrize("kernel", ["gone.cu", "04_tiled"])
def test_what_was_kept_wrongly_is_forgotten(qtbot, tmp_path: Path, kernel: str) -> None:
    kept = QSettings(str(tmp_path / "kept.ini"), QSettings.Format.IniFormat)
    kept.setValue("setup/kernel", kernel)
    kept.setValue("setup/sizes", "what?")
    kept.setValue("layout", "torn")
    kept.setValue("layer", "none")
    kept.setValue("speed", "fast")
    window = MainWindow(kept)
    qtbot.addWidget(window)
    assert not window.open_last()


def test_files_are_dropped_remembered_and_offered_again(window: MainWindow, qtbot, tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_text(load_kernel("03_coalesced").text)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    event = QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        window.dropEvent(event)
    assert window.replay.trace.kernel == "mine"
    window.menus.recent.aboutToShow.emit()
    assert [action.text() for action in window.menus.recent.actions()] == [str(path)]
    path.unlink()
    window.menus.recent.aboutToShow.emit()
    assert not window.menus.recent.actions()[0].isEnabled()


def test_a_frame_is_copied(window: MainWindow, qtbot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    image = QGuiApplication.clipboard().image()
    assert (image.width(), image.height()) == (1920, 1080)
    assert image.pixelColor(5, 5).name().upper() == DARK.background


def test_the_tour_has_five_captions_and_ends(window: MainWindow, qtbot) -> None:
    window.start_tour()
    titles = []
    for _ in range(5):
        titles.append(window.tour.title.text())
        assert window.tour.rect().contains(window.tour.card.geometry())
        qtbot.keyClick(window.tour, Qt.Key.Key_Return)
    assert len(set(titles)) == 5
    qtbot.waitUntil(lambda: window.tour is None)
    assert window.memory.text("tour") == "seen"
    window.start_tour()
    qtbot.keyClick(window.tour, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.tour is None)


def test_the_about_box_names_versions_and_licences() -> None:
    text = about_text()
    for word in ("numpy", "PySide6", "BSD", "MIT", "Open Font License"):
        assert word in text


def test_a_step_by_hand_plays_itself_out(window: MainWindow, qtbot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_Right)
    assert window.playback.moment == 0.0
    assert window.stage.motion
    qtbot.waitUntil(lambda: window.playback.moment == 1.0, timeout=3000)
    assert window.stage.motion == ()
    assert window.playback.step == 1


def test_docks_show_the_request_and_the_warp(window: MainWindow, qtbot) -> None:
    request = window.panels.views["request"]
    qtbot.waitUntil(lambda: request.scene is not None)
    assert request.scene.find("memory-sentence") is not None
    step = next(s for s in range(window.replay.steps) if window.replay.trace.site_of(s).text == "tileA[y][k]")
    window.playback.go(step)
    qtbot.waitUntil(lambda: request.scene.find("banks") is not None)


@pytest.mark.parametrize("size", [(1024, 640), (1280, 720), (3840, 2160)])
def test_windows_of_all_sizes_leave_room_for_the_stage(window: MainWindow, qtbot, size: tuple[int, int]) -> None:
    window.resize(*size)
    qtbot.waitUntil(lambda: (window.width(), window.height()) == size)
    assert window.stage.width() >= size[0] * 0.4
    assert window.stage.height() >= size[1] * 0.4


def test_devices_have_a_source_for_every_figure() -> None:
    assert {"8800gtx", "rtx3090", "rtx4090", "a100", "h100", "h200", "rx6800xt"} <= set(device_names())
    for name in device_names():
        device = load_device(name)
        figures = {
            key
            for key in device.__dataclass_fields__
            if key not in ("name", "vendor", "architecture", "compute_capability", "sources")
        }
        assert figures <= set(device.sources), name


def test_a_focus_that_changes_while_a_kernel_runs_is_that_of_the_picture(window: MainWindow, qtbot) -> None:
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        window.panels.kernel.sizes["K"].setValue(64)
        window.run()
        qtbot.keyClick(window, Qt.Key.Key_T)
    assert window.replay.thread == 0
    assert window.replay.trace.settings.problem.K == 64


def test_what_is_worked_out_belongs_to_the_picture_and_not_to_the_settings_after_it(window: MainWindow, qtbot) -> None:
    window.panels.kernel.sizes["K"].setValue(64)
    window.run()
    window.panels.kernel.parameters["TILE_WIDTH"].setCurrentText("64")  # can't run
    window.run()
    with qtbot.waitSignal(window.afterwork.looked, timeout=10000):
        qtbot.keyClick(window, Qt.Key.Key_W)
    shown = window.replay.trace.settings
    assert window.shown_setup.settings == shown
    assert window.afterwork.whole.trace is window.replay.trace
    loads = {8: 64, 64: 512}[shown.problem.K]
    assert window.panels.metrics.launch_table.item(0, 1).data(Qt.ItemDataRole.UserRole) == loads


def test_a_block_that_was_not_to_be_traced_is_not_watched(window: MainWindow, qtbot) -> None:
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        window.panels.kernel.blocks.setText("0:1,0:1")
        window.panels.kernel.blocks.editingFinished.emit()
    window.panels.focus.block[0].setValue(1)
    assert "only blocks 0:1,0:1 are traced" in window.statusBar().currentMessage()
    assert window.panels.focus.focus.block == window.replay.block == (0, 0, 0)


def test_deep_zooms_stay_small_and_quick(window: MainWindow, qtbot) -> None:
    window.playback.go(1, 0.5)
    before = resident_mib()
    for factor in (8, 4, 8):
        window.stage.zoom_by(factor)
        for moment in (0.1, 0.3, 0.5, 0.7):
            window.playback.go(1, moment)
            window.stage.repaint()
    assert window.stage.zoom == 256
    assert resident_mib() - before < 150


def resident_mib() -> float:
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * 4096 / 2**20
