"""The window by hand: what a person clicks and types, and what must come of it."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox, QFileDialog

from gemmviz.gui.main_window import MainWindow
from gemmviz.model.kernel import Settings
from gemmviz.model.problem import Problem
from gemmviz.source.catalog import load_kernel
from tests.conftest import kernel_from


@pytest.fixture
def window(qtbot):
    made = MainWindow()
    qtbot.addWidget(made, before_close_func=lambda w: (w.tracer.stop(), w.counter.stop()))
    with qtbot.waitSignals([made.tracer.done, made.counter.done], timeout=20000):
        made.open_kernel("04_tiled")
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    return made


def test_the_first_picture_is_a_small_tiled_multiplication(window: MainWindow) -> None:
    assert window.replay.trace.settings.problem == Problem(8, 8, 8)
    assert window.stage.scene.find("tile-tileA") is not None
    assert "C is right: 64" in window.metrics.check.text()
    assert "all 4 blocks" in window.metrics.launch_title.text()
    assert window.metrics.launch_table.item(1, 1).data(Qt.ItemDataRole.UserRole) == 64  # global load sectors


def test_keys_move_through_the_replay(window: MainWindow, qtbot) -> None:
    last = window.replay.steps - 1
    phases = window.replay.phase_starts.tolist()
    for key, step in [
        (Qt.Key.Key_Right, 1), (Qt.Key.Key_Right, 2), (Qt.Key.Key_Left, 1), (Qt.Key.Key_PageDown, phases[1]),
        (Qt.Key.Key_PageUp, 0), (Qt.Key.Key_End, last), (Qt.Key.Key_Home, 0),
    ]:  # fmt: skip
        qtbot.keyClick(window, key)
        assert window.playback.step == step
        assert window.timeline.slider.value() == step
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


def test_playing_backwards_wraps(window: MainWindow, qtbot) -> None:
    window.playback.set_speed(240)
    window.timeline.reverse.setChecked(True)
    window.playback.go(1)
    with qtbot.waitSignal(window.playback.moved, check_params_cb=lambda step: step > 5, timeout=5000):
        window.playback.play(True)
    window.playback.play(False)


def test_a_changed_tile_width_gives_a_new_picture(window: MainWindow, qtbot) -> None:
    box = window.panel.parameters["TILE_WIDTH"]
    assert isinstance(box, QComboBox)
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        box.setCurrentText("2")
    assert window.replay.trace.parameters["TILE_WIDTH"] == 2
    assert window.stage.scene.find("tile-tileA").fill.shape == (2, 2)
    assert "4 threads" in window.panel.launch.text()


def test_illegal_settings_are_explained_never_run_and_mended(window: MainWindow, qtbot) -> None:
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        window.open_kernel("05_tiled_unguarded")
    before = window.replay
    window.panel.sizes["K"].setValue(9)
    qtbot.waitUntil(window.panel.message.isVisible)
    assert "multiples of TILE_WIDTH" in window.panel.message.text()
    assert window.panel.remedy.text() == "Use K = 8"
    assert "settings before" in window.stage.stale
    assert window.replay is before
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        qtbot.mouseClick(window.panel.remedy, Qt.MouseButton.LeftButton)
    assert not window.panel.message.isVisible()
    assert window.stage.stale == ""
    assert window.replay.trace.settings.problem.K == 8


def test_newer_settings_cancel_older_work(window: MainWindow, qtbot) -> None:
    results = []
    window.tracer.done.connect(results.append)
    for size in (512, 384, 24):
        window.panel.sizes["M"].setValue(size)
        window.run()
    qtbot.waitUntil(lambda: bool(results), timeout=20000)
    assert [replay.trace.settings.problem.M for replay in results] == [24]


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
    qtbot.waitUntil(lambda: window.banner.isVisible() and words in window.banner.text(), timeout=10000)
    assert f"mine.cu:{line}:" in window.banner.text()
    assert window.source.marked_error.line == line


def test_a_file_without_header_is_shown_with_the_remedy(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "plain.cu"
    path.write_text("__global__ void k() {}\n")
    window.open_file(path)
    assert "no gemmviz header" in window.banner.text()
    assert window.source.toPlainText().startswith("__global__")
    assert window.replay is not None  # what was there stays


def test_watching_another_block_and_warp(window: MainWindow, qtbot) -> None:
    with qtbot.waitSignal(window.tracer.done, timeout=10000):
        window.panel.load(load_kernel("04_tiled"), Settings(Problem(16, 16, 16), {"TILE_WIDTH": 8}))
        window.run()
    window.panel.block[0].setValue(1)
    assert window.replay.block == (1, 0, 0)
    qtbot.keyClick(window, Qt.Key.Key_W)
    assert window.replay.warp == 0
    assert "block (1, 0), warp 0" in window.stage.scene.find("action").texts[0]


def test_zoom_keeps_what_is_under_the_mouse(window: MainWindow, qtbot) -> None:
    from PySide6.QtCore import QPointF

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
        "a.gvt": window.ask_to_save_trace,
        "a.svg": lambda: window.ask_to_save_frame("svg", 1),
        "a.png": lambda: window.ask_to_save_frame("png", 2),
    }.items():
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, path=tmp_path / name: (str(path), ""))
        action()
        assert (tmp_path / name).stat().st_size > 1000
    with qtbot.waitSignal(window.counter.done, timeout=10000):
        window.open_file(tmp_path / "a.gvt")
    assert window.replay.trace.kernel == "04_tiled"


def test_number_keys_change_the_view(window: MainWindow, qtbot) -> None:
    for key, primitive in ((Qt.Key.Key_2, "lines"), (Qt.Key.Key_3, "message"), (Qt.Key.Key_1, "C")):
        qtbot.keyClick(window, key)
        assert window.stage.scene.find(primitive) is not None


def test_both_themes(window: MainWindow) -> None:
    for dark in (False, True):
        window.set_theme(dark)
        assert window.stage.scene.background == window.theme.background


def test_every_control_has_a_tooltip_and_a_name(window: MainWindow) -> None:
    from PySide6.QtWidgets import QAbstractButton, QAbstractSlider, QAbstractSpinBox, QScrollBar

    kinds = (QComboBox, QAbstractSpinBox, QAbstractButton, QAbstractSlider)
    for root in (window.panel, window.timeline):
        for kind in kinds:
            for control in root.findChildren(kind):
                if (
                    not isinstance(control, QScrollBar)
                    and control.parent() is not None
                    and not control.objectName().startswith("qt_")
                ):
                    assert control.toolTip(), control


def test_a_typed_number_is_one_change_and_gives_the_keys_back(window: MainWindow, qtbot) -> None:
    box = window.panel.sizes["N"]
    sizes = []
    window.tracer.done.connect(lambda replay: sizes.append(replay.trace.settings.problem.N))
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
    qtbot.waitUntil(lambda: "C is wrong" in window.banner.text() and window.banner.isVisible(), timeout=10000)
    assert window.replay.trace.kernel == "wrong"  # and the picture is that of the wrong kernel


def test_settings_that_cannot_run_are_not_clamped(window: MainWindow) -> None:
    window.open_kernel("04_tiled", Settings(Problem(8, 8, 8), {"TILE_WIDTH": 7}))
    assert "choose one of" in window.panel.message.text()
    assert window.panel.remedy.text() == "Use TILE_WIDTH = 8"


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
