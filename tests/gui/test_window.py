"""The window by hand: what a person clicks and types, and what must come of it."""

import gc
import math
from pathlib import Path

import pytest
from msgspec import structs
from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QPointF, QRect, QSettings, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication, QMouseEvent, QPalette, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QFileDialog,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollBar,
    QTabBar,
    QTableWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gemmviz.analysis.replay.focus import Focus
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.trace_file import write_trace
from gemmviz.gui.export_dialog import ExportDialog
from gemmviz.gui.kernel_picker import KernelBox
from gemmviz.gui.preferences import InMemoryStore, Preferences
from gemmviz.gui.window.action import export_actions
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.gui.window.menus import about_text, actions, keys_text
from gemmviz.gui.window.view_actions import other_pictures
from gemmviz.model.messages import SettingError, TraceFileError
from gemmviz.model.problem import Problem
from gemmviz.scenes.catalog import view_named, views
from gemmviz.scenes.kit.primitives import Cells, Hit, Labels
from gemmviz.scenes.kit.theme import contrast_of, load_theme
from gemmviz.scenes.kit.timeline import timeline_primitives
from gemmviz.scenes.stage.hover import hover_lines
from gemmviz.scenes.stage.layout import plan_of
from gemmviz.session.playing import USUAL_SPEED
from gemmviz.shots.shot import Camera, default_shot, shot_text
from tests.conftest import kernel_from, sure
from tests.gui.conftest import (
    callout_of,
    cells_of,
    choice_of,
    costs_of,
    field,
    line_of,
    metrics_of,
    open_file,
    pictured,
    rects_of,
    scene_of,
    settings_of,
    shown_of,
    source_of,
    spin_of,
    text_in,
    write_here,
)
from tests.gui.shared_window import settled

DARK, LIGHT = load_theme("dark"), load_theme("light")


def test_the_first_picture_is_a_small_tiled_multiplication(window: MainWindow) -> None:
    metrics = metrics_of(window)
    assert shown_of(window).setup.problem == Problem(8, 8, 8)
    assert scene_of(window).find("tile-tileA") is not None
    assert "C is right: 64" in metrics.check.text()
    assert "all 4 blocks" in metrics.source.text()
    assert text_in(metrics.launch, 0, 1) == "64"  # global load sectors
    assert window.windowTitle() == "gemmviz"


def test_only_the_very_first_start_plays(qtbot: QtBot) -> None:
    first = MainWindow()
    qtbot.addWidget(first)
    first.start()
    qtbot.waitUntil(lambda: first.session.player.is_playing, timeout=20_000)
    first.close()
    again = MainWindow(first.preferences.store)
    qtbot.addWidget(again)
    pictured(again, qtbot, again.start)
    assert not again.session.player.is_playing
    again.close()


def test_keys_move_through_the_replay(window: MainWindow, qtbot: QtBot) -> None:
    session = window.session
    last, phases = session.navigation.run_steps - 1, shown_of(window).replay.phase_starts.tolist()
    for key, step in [
        (Qt.Key.Key_Right, 1), (Qt.Key.Key_Right, 2), (Qt.Key.Key_Left, 1), (Qt.Key.Key_PageDown, phases[1]),
        (Qt.Key.Key_PageUp, 0), (Qt.Key.Key_End, last), (Qt.Key.Key_Home, 0),
    ]:  # fmt: skip
        qtbot.keyClick(window, key)
        assert session.navigation.run_step == step
        assert window.replay.timeline.slider.value() == step
        assert window.replay.timeline.position.text() == f"{step + 1} / {last + 1}"


def test_space_plays_and_pauses_and_speed_keys_work(window: MainWindow, qtbot: QtBot) -> None:
    player = window.session.player
    player.set_speed(240)
    qtbot.keyClick(window, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: window.session.navigation.run_step > 3, timeout=5000)
    assert player.is_playing
    qtbot.keyClick(window, Qt.Key.Key_Space)
    assert not player.is_playing
    qtbot.keyClick(window, Qt.Key.Key_Plus)
    assert player.speed == 1000
    qtbot.keyClick(window, Qt.Key.Key_Minus)
    assert player.speed == 240


def test_space_presses_what_has_the_focus(window: MainWindow, qtbot: QtBot) -> None:
    reverse, device = window.replay.timeline.reverse, choice_of(window, "device")
    reverse.setFocus()
    qtbot.keyClick(reverse, Qt.Key.Key_Space)
    assert window.session.player.is_backwards
    assert not window.session.player.is_playing
    device.setFocus()
    qtbot.keyClick(device, Qt.Key.Key_Space)
    assert device.view().isVisible()
    device.hidePopup()


def test_after_a_choice_in_a_list_the_keys_are_the_stages_again(full_window: MainWindow, qtbot: QtBot) -> None:
    window = full_window
    lists = [box for box in window.findChildren(QComboBox) if box.isVisible() and box.isEnabled()]
    assert len(lists) >= 6
    for box in lists:
        box.setFocus()
        qtbot.keyClick(box, Qt.Key.Key_Space)
        opened = sure(box.picker) if isinstance(box, KernelBox) else box.view()
        assert opened.isVisible(), box.accessibleName()
        qtbot.keyClick(sure(box.picker).search if isinstance(box, KernelBox) else box.view(), Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: not window.session.is_busy)
        assert window.replay.stage.hasFocus(), box.accessibleName()
        qtbot.keyClick(window, Qt.Key.Key_Space)
        assert window.session.player.is_playing, box.accessibleName()
        qtbot.keyClick(window, Qt.Key.Key_Space)


def test_the_timeline_names_the_step(window: MainWindow) -> None:
    navigation = window.session.navigation
    for step in (0, navigation.run_steps - 1):
        navigation.go_to_step(step)
        assert window.replay.timeline.position.text() == f"{step + 1} / {navigation.run_steps}"


def test_playing_backwards_wraps(window: MainWindow, qtbot: QtBot) -> None:
    window.session.player.set_speed(240)
    window.replay.timeline.reverse.click()
    window.session.navigation.go_to_step(1)
    window.session.player.play(True)
    qtbot.waitUntil(lambda: window.session.navigation.run_step > 5, timeout=5000)
    window.session.player.play(False)


def test_a_changed_tile_width_gives_a_new_picture(window: MainWindow, qtbot: QtBot) -> None:
    box = choice_of(window, "TILE_WIDTH")
    pictured(window, qtbot, lambda: box.setCurrentText("2"))
    assert shown_of(window).setup.parameters["TILE_WIDTH"] == 2
    assert cells_of(window, "tile-tileA").fill.shape == (2, 2)
    assert "4 threads" in settings_of(window).setup.launch.text()


def test_illegal_settings_are_explained_never_run_and_mended(window: MainWindow, qtbot: QtBot) -> None:
    pictured(window, qtbot, lambda: window.model.opening.choose_kernel("05_tiled_unguarded"))
    qtbot.waitUntil(lambda: settled(window))
    qtbot.wait(60)  # the rows of the other kernel take their places
    before, form = shown_of(window), settings_of(window).setup
    rows = {name: control.geometry() for name, control in form.controls.items()}
    spin_of(window, "K").setValue(9)
    callout = callout_of(window)
    assert callout.isVisible()
    assert "multiples of TILE_WIDTH" in callout.text.text()
    qtbot.waitUntil(lambda: callout.remedy.text() == "Use K = 8")
    assert field(window, "K").property("invalid")
    assert "previous settings" in window.replay.stage.stale
    assert shown_of(window).replay is before.replay
    QApplication.processEvents()
    assert {name: control.geometry() for name, control in form.controls.items()} == rows  # the form didn't move
    middle = field(window, "K").mapTo(window, field(window, "K").rect().center())
    assert callout.geometry().right() < middle.x()
    assert callout.geometry().top() <= middle.y() <= callout.geometry().bottom()
    qtbot.mouseClick(callout.remedy, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not window.session.is_busy)
    assert not callout.isVisible()
    assert not field(window, "K").property("invalid")
    assert window.replay.stage.stale == ""
    assert shown_of(window).setup.problem.K == 8


_RACE = "__shared__ float s[4];\ns[threadIdx.x] = 1.0f;\nC[threadIdx.x] = s[3 - threadIdx.x];"


@pytest.mark.parametrize(
    ("body", "words", "line", "title", "view"),
    [
        ("C[threadIdx.x] = A[threadIdx.x * 30];", "out of range", 10, "Show the last step", "stage"),
        ("C[threadIdx.x] = sum;", "'sum' is not declared", 10, "", ""),
        ("goto end; end: return;", "goto is not supported", 10, "", ""),
        (_RACE, "read after write", 12, "Show the race", "race"),
    ],
)
def test_faults_of_the_kernel_mark_their_line_and_a_button_leads_to_the_view_that_answers_them(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, body: str, words: str, line: int, title: str, view: str
) -> None:
    path = tmp_path / "mine.cu"
    path.write_text(kernel_from(body).text)
    open_file(window.model, path)
    qtbot.waitUntil(lambda: any(words in text for text in window.banner.texts), timeout=10_000)
    assert window.banner.isVisible()
    assert any(f"mine.cu:{line}:" in text for text in window.banner.texts)
    marked = source_of(window).text.marked_error
    assert marked is not None
    assert marked.line == line
    if not title:
        return
    window.model.commands.show_view("warp")

    def button() -> QPushButton | None:
        return next((each for each in window.banner.findChildren(QPushButton) if each.text() == title), None)

    qtbot.waitUntil(lambda: button() is not None, timeout=10_000)
    qtbot.mouseClick(sure(button()), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: settled(window), timeout=10_000)
    assert window.session.shot.view == view
    assert view != "stage" or window.session.navigation.run_step == window.session.navigation.run_steps - 1


def test_a_run_that_ended_early_is_shown_up_to_there(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_text(kernel_from("float first = B[0]; C[threadIdx.x] = A[threadIdx.x * 30] + first;").text)
    pictured(window, qtbot, lambda: open_file(window.model, path))
    qtbot.waitUntil(lambda: settled(window), timeout=10_000)
    session, metrics = window.session, metrics_of(window)
    assert window.replay.stage.stale == ""
    assert session.navigation.run_step == session.navigation.run_steps - 1 == 1
    assert scene_of(window).find("stop") is not None
    qtbot.waitUntil(lambda: "ended early" in metrics.check.text())
    assert text_in(metrics.costs, 1, 3) == "–"
    with pytest.raises(TraceFileError, match="this run ended early"):
        write_trace(shown_of(window).trace, tmp_path / "a.gvt")
    pictured(window, qtbot, lambda: window.model.opening.choose_kernel("04_tiled"))
    assert not window.banner.isVisible()


def test_notices_can_be_closed_and_go_when_they_are_no_longer_true(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "x.gvt").write_bytes(b"no trace")
    open_file(window.model, tmp_path / "x.gvt")
    assert len(window.banner.texts) == 1
    close = next(button for button in window.banner.findChildren(QAbstractButton) if button.isVisible())
    qtbot.mouseClick(close, Qt.MouseButton.LeftButton)
    assert not window.banner.isVisible()
    open_file(window.model, tmp_path / "x.gvt")
    assert window.banner.isVisible()
    write_trace(shown_of(window).trace, tmp_path / "x.gvt")
    open_file(window.model, tmp_path / "x.gvt")
    assert window.banner.texts == ["Shown as it was recorded: nothing was run"]
    run = next(button for button in window.banner.findChildren(QPushButton) if button.isVisible())
    pictured(window, qtbot, lambda: qtbot.mouseClick(run, Qt.MouseButton.LeftButton))
    assert not window.banner.isVisible()
    assert not shown_of(window).from_file


_PLAIN = """__global__ void mm(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}
void multiply(const float* a, const float* b, float* c, int n) { mm<<<dim3(n / 8, n / 8), dim3(8, 8)>>>(a, b, c, n); }
"""


def test_a_file_without_header_opens(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "plain.cu"
    path.write_text(_PLAIN)
    pictured(window, qtbot, lambda: open_file(window.model, path))
    assert source_of(window).text.toPlainText().startswith("__global__ void mm")
    assert window.windowTitle() == "plain.cu – gemmviz"
    setup = shown_of(window).setup
    assert setup.kernel.args == ("A", "B", "C", "N")
    assert "64 threads" in settings_of(window).setup.launch.text()


def test_a_file_without_kernel_is_explained_and_what_was_there_stays(window: MainWindow, tmp_path: Path) -> None:
    path, before = tmp_path / "plain.cu", window.session.shown
    path.write_text("int main() { return 0; }\n")
    open_file(window.model, path)
    assert any("plain.cu" in text and "kernel" in text for text in window.banner.texts)
    assert window.session.shown is before is not None


def test_watching_another_block_and_warp(window: MainWindow, qtbot: QtBot) -> None:
    session = window.session
    setup = session.shot.setup.changed(M=16, N=16, K=16, TILE_WIDTH=8)
    pictured(window, qtbot, lambda: session.show(structs.replace(session.shot, setup=setup)))
    settings_of(window).focus.block_at[0].setValue(1)
    assert session.shot.focus.block == (1, 0, 0)
    for key, words, focus in [
        (Qt.Key.Key_W, ("shared memory of block (1, 0)", "warp 0"), Focus((1, 0, 0), 0)),
        (Qt.Key.Key_T, ("shared memory of block (1, 0)", "Thread (0, 0)"), Focus((1, 0, 0), 0, 0)),
        (Qt.Key.Key_A, ("all 4 blocks",), Focus((1, 0, 0), everyone=True)),
        (Qt.Key.Key_Escape, ("shared memory of block (1, 0)",), Focus((1, 0, 0))),
    ]:
        qtbot.keyClick(window, key)
        assert session.shot.focus == focus
        scene = window.replay.stage.scene
        assert scene is not None
        texts = [" ".join(each.texts).replace("\u00a0", " ") for each in scene.all if isinstance(each, Labels)]
        assert all(any(text.startswith(word) for text in texts) for word in words), words


def test_any_warp_and_thread_of_a_block_can_be_chosen(window: MainWindow, qtbot: QtBot) -> None:
    session, focus = window.session, settings_of(window).focus
    setup = setup_for(load_kernel("01_single_block"), Problem(6, 9, 4))
    pictured(window, qtbot, lambda: session.show(structs.replace(session.shot, setup=setup)))
    assert sure(session.state.launch).block == (9, 6, 1)
    assert focus.warp.maximum() == 1  # 54 threads
    focus.scope.setCurrentIndex(focus.scope.findData("thread"))
    focus.thread_at[0].setValue(7)
    focus.thread_at[1].setValue(2)
    assert session.shot.focus.thread == 7 + 9 * 2


def test_zoom_keeps_what_is_under_the_mouse(window: MainWindow, qtbot: QtBot) -> None:
    stage, at = window.replay.stage, QPointF(100, 120)
    before = stage.view
    unit = ((at.x() - before.dx) / before.scale, (at.y() - before.dy) / before.scale)
    stage.zoom_by(4, at)
    after = stage.view
    assert window.session.shot.camera.zoom == 4
    assert after.scale == pytest.approx(before.scale * 4)
    assert unit[0] * after.scale + after.dx == pytest.approx(at.x())
    assert unit[1] * after.scale + after.dy == pytest.approx(at.y())
    qtbot.keyClick(window, Qt.Key.Key_F)
    assert stage.view == before
    assert window.session.shot.camera == Camera()


def test_the_picture_follows_the_wheel_and_the_hand(window: MainWindow) -> None:
    """What is under the pointer stays there."""
    stage, at, to = window.replay.stage, QPointF(500, 320), QPointF(540, 290)

    def under(place: QPointF) -> tuple[float, float]:
        view = stage.view
        return (place.x() - view.dx) / view.scale, (place.y() - view.dy) / view.scale

    stage.setFixedSize(900, 600)
    stage.zoom_by(4)
    before = under(at)
    turn_wheel(stage, at)
    assert stage.camera.zoom > 4
    assert under(at) == pytest.approx(before)
    QTest.mousePress(stage, Qt.MouseButton.LeftButton, pos=at.toPoint())
    QTest.mouseMove(stage, to.toPoint())
    QTest.mouseRelease(stage, Qt.MouseButton.LeftButton, pos=to.toPoint())
    assert under(to) == pytest.approx(before)


def test_a_zoomed_frame_is_saved_as_seen(window: MainWindow, tmp_path: Path) -> None:
    window.resize(1100, 900)
    window.replay.stage.zoom_by(4)
    window.menus.complete("file")
    window.menus.all["export-svg"].trigger()
    (dialog,) = window.findChildren(ExportDialog)
    write_here(dialog, tmp_path / "a.svg")
    seen = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert 'font-size="112"' in seen  # the names of the matrices, four times as large
    words = seen[seen.index('<g id="title">') :].partition("</g></g>")[0]
    assert 'font-size="22"' in words  # the words stay as they are
    assert 'viewBox="0 0 1600 900"' in seen  # whatever the shape of the window


def test_traces_views_and_frames_are_saved_and_opened(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = window.session
    session.navigation.go_to_step(5)
    window.model.commands.show_view("banks")
    for name, action in [
        ("a.gvt", "save-trace"), ("v.toml", "save-view")
    ]:  # fmt: skip
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, path=tmp_path / name: (str(path), ""))
        window.menus.all[action].trigger()
        qtbot.waitUntil((tmp_path / name).exists)
        assert (tmp_path / name).stat().st_size > 100
    pictured(window, qtbot, lambda: window.model.opening.choose_kernel("02_naive"))
    pictured(window, qtbot, lambda: open_file(window.model, tmp_path / "a.gvt"))
    assert shown_of(window).setup.kernel.name == "04_tiled"
    session.navigation.go_to_step(0)
    window.model.commands.show_view("stage")
    open_file(window.model, tmp_path / "v.toml")
    assert (session.navigation.run_step, session.shot.view) == (5, "banks")


def test_the_command_that_makes_the_picture_is_copied(window: MainWindow, qtbot: QtBot) -> None:
    window.session.player.jump(1)
    qtbot.keyClick(window, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert QGuiApplication.clipboard().text() == "gemmviz export 04_tiled --step 2 --output frame.svg"


def test_number_keys_change_the_view(window: MainWindow, qtbot: QtBot) -> None:
    found = {
        Qt.Key.Key_2: "lane-titles",
        Qt.Key.Key_3: "line-bytes-0",
        Qt.Key.Key_4: "message",
        Qt.Key.Key_5: "line-bytes-0",
        Qt.Key.Key_6: "limit-registers-track",
        Qt.Key.Key_1: "C",
    }
    for key, primitive in found.items():
        qtbot.keyClick(window, key)
        assert scene_of(window).find(primitive) is not None


def test_both_themes(window: MainWindow) -> None:
    for name, theme in (("light", LIGHT), ("dark", DARK), ("system", DARK)):
        window.model.commands.choose_theme(name)
        assert scene_of(window).background == theme.background


def test_controls_have_the_colour_of_no_matrix(window: MainWindow) -> None:
    for name, theme in (("light", LIGHT), ("dark", DARK)):
        window.model.commands.choose_theme(name)
        role, palette = QPalette.ColorRole, QApplication.palette()
        used = {palette.color(each).name().upper() for each in (role.Highlight, role.Accent, role.Link)}
        assert used == {theme.chosen}
        assert theme.chosen not in {*theme.accents.values(), theme.warning}
        assert contrast_of(theme.chosen, theme.panel) >= 4.5


@pytest.mark.nightly
def test_titles_of_panels_grow_with_the_text(window: MainWindow, qtbot: QtBot) -> None:
    dock = window.docks.all["settings"]

    def letters() -> int:
        """Height of what is painted in the left part of the title, in pixels."""
        title = dock.grab(QRect(0, 0, 60, sure(dock.widget()).y() - 1)).toImage()
        ground = title.pixel(title.width() - 1, 0)
        return sum(any(title.pixel(x, y) != ground for x in range(title.width())) for y in range(title.height()))

    before = letters()
    window.model.commands.scale_type(2.0)
    qtbot.waitUntil(lambda: letters() >= 1.6 * before)


def test_every_control_has_a_tooltip_a_name_and_can_be_reached(full_window: MainWindow) -> None:
    window = full_window
    kinds = (QComboBox, QAbstractSpinBox, QAbstractButton, QAbstractSlider, QTableWidget, QLineEdit)
    roots = [*window.docks.widgets.values(), window.replay.timeline]
    controls: list[QWidget] = [each for root in roots for kind in kinds for each in root.findChildren(kind)]
    own = [
        each
        for each in controls
        if not each.objectName().startswith("qt_")
        and not isinstance(each, QScrollBar | QLineEdit)
        and not isinstance(each.parent(), QLineEdit)
    ]
    own += [field(window, "blocks"), field(window, "phases")]
    assert len(own) > 25
    for control in own:
        if isinstance(control, QTableWidget):
            assert control.accessibleName()
            continue
        assert control.toolTip(), control
        assert control.accessibleName() or isinstance(control, QAbstractButton), control
        assert control.focusPolicy() & Qt.FocusPolicy.TabFocus, control


def test_a_typed_number_is_one_change_and_gives_the_keys_back(window: MainWindow, qtbot: QtBot) -> None:
    box, sizes = spin_of(window, "N"), []
    window.session.run_changed.connect(lambda: sizes.append(shown_of(window).setup.problem.N))
    box.setFocus()
    box.selectAll()
    qtbot.keyClicks(box, "12")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(sizes), timeout=10_000)
    assert sizes == [12]
    assert window.replay.stage.hasFocus()
    qtbot.keyClick(window, Qt.Key.Key_End)
    assert window.session.navigation.run_step == window.session.navigation.run_steps - 1


def test_a_wrong_result_is_said_aloud(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "wrong.cu"
    path.write_text(load_kernel("03_coalesced").text.replace("sum +=", "sum -="))
    pictured(window, qtbot, lambda: open_file(window.model, path))
    session = window.session
    assert any("C is wrong" in text for text in window.banner.texts)
    assert shown_of(window).setup.kernel.name == "wrong"  # and the picture is that of the wrong kernel
    session.navigation.go_to_step(session.navigation.run_steps - 1)
    assert len(rects_of(window, "wrong").boxes) == 1024
    assert session.now is not None
    assert "wrong: differs from the float64 result" in hover_lines(session.now, Hit(cells_of(window, "C"), 0, 0))
    assert shown_of(window).setup.kernel.parameters != load_kernel("04_tiled").parameters
    pictured(window, qtbot, lambda: window.model.opening.choose_kernel("04_tiled"))
    qtbot.waitUntil(lambda: settled(window))
    assert not window.banner.texts  # another kernel doesn't mend this one


def test_settings_that_cannot_run_are_not_clamped(qtbot: QtBot) -> None:
    window = MainWindow()
    qtbot.addWidget(window)
    window.show()
    shot = window.session.shot
    window.start(shot=structs.replace(shot, setup=shot.setup.changed(TILE_WIDTH=7)))
    callout = callout_of(window)
    assert "choose one of" in callout.text.text()
    qtbot.waitUntil(lambda: callout.remedy.text() == "Use TILE_WIDTH = 8")
    window.close()


def test_the_frame_takes_the_shape_of_the_window(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1100, 900)
    stage = window.replay.stage
    qtbot.waitUntil(lambda: (scene_of(window).width, scene_of(window).height) == stage.frame_size)
    assert stage.frame_size[0] / stage.frame_size[1] == pytest.approx(stage.width() / stage.height(), rel=0.01)


def cell_at(window: MainWindow, key: str, row: int, column: int) -> QPoint:
    """The pixel in the middle of a cell."""
    cells, view = cells_of(window, key), window.replay.stage.view
    x, y = cells.x + (column + 0.5) * cells.size, cells.y + (row + 0.5) * cells.pitch
    return QPointF(x * view.scale + view.dx, y * view.scale + view.dy).toPoint()


def test_a_click_on_c_follows_the_thread_that_computes_it(window: MainWindow, qtbot: QtBot) -> None:
    stage = window.replay.stage
    qtbot.mouseClick(stage, Qt.MouseButton.LeftButton, pos=cell_at(window, "C", 6, 1))
    assert window.session.shot.focus == Focus((0, 1, 0), 0, 9)
    variables = source_of(window).variables
    qtbot.waitUntil(lambda: "thread (1, 2)" in variables.title.text())
    table = variables.table
    values = {text_in(table, row, 0): text_in(table, row, 1) for row in range(table.rowCount())}
    assert (values["row"], values["col"]) == ("6", "1")
    qtbot.mouseClick(stage, Qt.MouseButton.LeftButton, pos=cell_at(window, "B", 0, 5))
    assert "No thread touches this now" in window.statusBar().currentMessage()


def test_a_second_click_lets_the_thread_go(window: MainWindow, qtbot: QtBot) -> None:
    for thread in (9, None):
        qtbot.mouseClick(window.replay.stage, Qt.MouseButton.LeftButton, pos=cell_at(window, "C", 6, 1))
        assert window.session.shot.focus.thread == thread


def test_a_file_that_is_saved_runs_again_also_after_it_was_deleted(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    right = load_kernel("03_coalesced").text
    path.write_text(right.replace("sum +=", "summ +="))
    open_file(window.model, path)
    qtbot.waitUntil(lambda: any("summ" in text for text in window.banner.texts), timeout=10_000)
    pictured(window, qtbot, lambda: path.write_text(right))
    assert shown_of(window).setup.kernel.name == "mine"
    assert not window.banner.isVisible()
    path.unlink()
    qtbot.wait(500)
    assert not window.banner.isVisible()
    pictured(window, qtbot, lambda: path.write_text(right.replace("float sum = 0.0f", "float sum = 1.0f")))
    assert any("C is wrong" in text for text in window.banner.texts)
    assert window.menus.all["reload"].isEnabled()


def test_the_wheel_changes_nothing_that_has_no_focus(window: MainWindow) -> None:
    for name in ("M", "TILE_WIDTH"):
        box, before = field(window, name), window.session.shot.setup
        window.replay.stage.setFocus()
        turn_wheel(box)
        assert window.session.shot.setup == before
        box.setFocus()
        turn_wheel(box)
        assert window.session.shot.setup != before


def turn_wheel(box: QWidget, at: QPointF | None = None) -> None:
    at = at or QPointF(box.rect().center())
    event = QWheelEvent(
        at, box.mapToGlobal(at), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(box, event)


def test_pointing_at_a_cell_tells_all_about_it(window: MainWindow, qtbot: QtBot) -> None:
    found: list[list[str]] = []
    stage, session = window.replay.stage, window.session
    stage.hovered.connect(lambda hit: found.append(hover_lines(session.now, hit)) if hit and session.now else None)
    qtbot.waitUntil(lambda: shown_of(window).replay.value is not None, timeout=5000)
    qtbot.waitUntil(lambda: not window.warming._timer.isActive())  # a panel that is made moves the stage
    qtbot.wait(60)
    at, none = QPointF(cell_at(window, "A", 1, 2)), Qt.MouseButton.NoButton
    move = QMouseEvent(QEvent.Type.MouseMove, at, stage.mapToGlobal(at), none, none, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(stage, move)  # the cursor's own moves go to whichever window lies under it
    qtbot.waitUntil(lambda: any(lines[0] == "A[1, 2]" for lines in found))
    lines = next(lines for lines in found if lines[0] == "A[1, 2]")
    trace, value = shown_of(window).trace, shown_of(window).replay.value
    assert lines[1] == "element 10, byte 40: sector 1, line 0"
    assert value is not None
    assert lines[2] == f"value {value[0, trace.space.number((0, 0, 0), (2, 1, 0))]:.6g}, read at step 1"
    assert lines[3] == "now: threads (2, 1), (2, 1) of block (1, 0)"
    assert lines[4] == "loads so far: 1 by block (0, 0), 2 by all traced blocks (2 at the end)"


def test_a_click_in_the_source_goes_to_the_next_step_there(window: MainWindow) -> None:
    session, text = window.session, source_of(window).text
    trace = shown_of(window).trace
    lines = trace.setup.kernel.text.splitlines()
    line = next(n for n, each in enumerate(lines, 1) if "tileB[k][x]" in each)
    text.place_clicked.emit(line, lines[line - 1].index("tileB") + 1)
    assert trace.site_of(session.navigation.run_step).text == "tileB[k][x]"
    first = session.navigation.run_step
    text.place_clicked.emit(line, 1)
    assert session.navigation.run_step == first + 1  # any access of the line
    text.place_clicked.emit(1, 1)
    assert "line 1" in window.statusBar().currentMessage()


def test_a_row_of_the_accesses_goes_to_its_step_and_headings_sort(window: MainWindow) -> None:
    table = metrics_of(window).accesses
    table.sortByColumn(3, Qt.SortOrder.DescendingOrder)
    took = [int(text_in(table, row, 3)) for row in range(table.rowCount())]
    assert took == sorted(took, reverse=True)
    assert len(set(took)) > 1
    for row in range(table.rowCount()):
        actual, needed, lost = (int(text_in(table, row, column)) for column in (1, 2, 3))
        assert lost == actual - needed
    row = next(row for row in range(table.rowCount()) if text_in(table, row, 0).endswith(" C[row * N + col] ="))
    table.cellClicked.emit(row, 0)
    assert shown_of(window).trace.site_of(window.session.navigation.run_step).text.startswith("C[")


def test_costs_so_far_and_of_the_launch_stand_beside_those_of_the_step(window: MainWindow, qtbot: QtBot) -> None:
    table = metrics_of(window).costs
    window.session.navigation.go_to_step(2)
    qtbot.waitUntil(lambda: text_in(table, 1, 2) == "8")
    assert [text_in(table, 1, column) for column in range(4)] == ["Sectors", "4", "8", "80"]


def test_undo_and_redo_bring_back_all_that_was_seen(window: MainWindow, qtbot: QtBot) -> None:
    session, undo = window.session, window.menus.all["undo"]
    session.navigation.go_to_step(12)
    window.replay.stage.zoom_by(2)
    seen = session.shot
    pictured(window, qtbot, lambda: choice_of(window, "TILE_WIDTH").setCurrentText("2"))
    pictured(window, qtbot, lambda: spin_of(window, "K").setValue(12))
    assert undo.text() == "&Undo K = 12"
    window.model.commands.show_view("memory")
    session.navigation.look(Camera())
    assert undo.text() == "&Undo view Memory: lines and sectors of a request"
    for _ in range(3):
        qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        qtbot.waitUntil(lambda: not session.is_busy)
    assert session.shot == seen
    assert session.navigation.run_step == 12
    assert window.replay.stage.camera.zoom == 2
    assert not undo.isEnabled()
    assert undo.toolTip() == "There is nothing to undo"
    for _ in range(3):
        qtbot.keyClick(window, Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier)
        qtbot.waitUntil(lambda: not session.is_busy)
    assert (shown_of(window).setup.problem.K, shown_of(window).setup.parameters["TILE_WIDTH"]) == (12, 2)
    assert (session.shot.view, session.shot.camera) == ("memory", Camera())


def test_every_limit_of_a_device_is_a_sentence_with_a_remedy(window: MainWindow, qtbot: QtBot) -> None:
    pictured(window, qtbot, lambda: choice_of(window, "TILE_WIDTH").setCurrentText("32"))
    device = choice_of(window, "device")
    device.setCurrentIndex(device.findData("8800gtx"))
    callout = callout_of(window)
    assert callout.isVisible()
    assert "1024 threads" in callout.text.text()
    assert "512" in callout.text.text()
    qtbot.waitUntil(lambda: callout.remedy.text() == "Use TILE_WIDTH = 16")
    assert choice_of(window, "TILE_WIDTH").property("invalid")  # the one that the remedy changes
    pictured(window, qtbot, lambda: qtbot.mouseClick(callout.remedy, Qt.MouseButton.LeftButton))
    assert shown_of(window).setup.parameters["TILE_WIDTH"] == 16


def test_values_blocks_and_seed_reach_the_trace(window: MainWindow, qtbot: QtBot) -> None:
    pattern, blocks = choice_of(window, "pattern"), line_of(window, "blocks")
    pictured(window, qtbot, lambda: pattern.setCurrentIndex(pattern.findData("index")))
    assert shown_of(window).setup.filling.pattern == "index"
    assert not field(window, "seed").isEnabled()
    assert "Only random" in field(window, "seed").toolTip()
    pictured(window, qtbot, lambda: type_into(blocks, "1:2,0:2", qtbot))
    assert shown_of(window).trace.blocks.count == 2
    qtbot.waitUntil(lambda: "2 of 4 blocks" in metrics_of(window).check.text())
    type_into(blocks, "nonsense", qtbot)
    assert "X0:X1,Y0:Y1" in callout_of(window).text.text()
    assert blocks.text() == "nonsense"
    pictured(window, qtbot, lambda: type_into(blocks, "all", qtbot))
    assert shown_of(window).trace.blocks.count == 4


def type_into(line: QLineEdit, text: str, qtbot: QtBot) -> None:
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(line, text)
    qtbot.keyClick(line, Qt.Key.Key_Return)


def test_a_restart_brings_back_all_that_was_seen(qtbot: QtBot, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept.ini")
    first = MainWindow(QSettings(kept, QSettings.Format.IniFormat))
    qtbot.addWidget(first)
    first.show()
    kernel, shot = load_kernel("07_tiled_transposed"), first.session.shot
    setup = first.session.state.requested.for_kernel(kernel, shot.setup).changed(M=32, N=32, K=32, TILE_WIDTH=16, PAD=1)
    wanted = structs.replace(
        shot, setup=structs.replace(setup, device="a100"), theme="light", view="banks", focus=Focus((1, 0, 0), 2)
    )
    pictured(first, qtbot, lambda: first.start(shot=wanted))
    first.session.player.jump(9)
    first.session.navigation.look(Camera(3.0, 0.25, 0.5))
    first.docks.favour("metrics")
    seen = first.session.shot
    first.close()
    second = MainWindow(QSettings(kept, QSettings.Format.IniFormat))
    qtbot.addWidget(second)
    second.show()
    pictured(second, qtbot, second.start)
    assert second.session.shot == seen
    assert second.session.navigation.run_step == 9
    assert second.session.display.theme == LIGHT
    assert second.docks.all["metrics"].isVisible()
    second.docks.reset()
    assert not second.docks.all["metrics"].isVisible()
    assert second.docks.all["source"].isVisible()
    second.close()


@pytest.mark.parametrize(
    "text",
    ["", pytest.param("torn", marks=pytest.mark.nightly), "format = 'gemmviz view'\nversion = 1\n[setup]\nkernel = 'gone'"],
)
def test_what_was_kept_wrongly_is_forgotten(qtbot: QtBot, tmp_path: Path, text: str) -> None:
    kept = QSettings(str(tmp_path / "kept.ini"), QSettings.Format.IniFormat)
    kept.setValue("shot", text)
    kept.setValue("layout", "torn")
    kept.setValue("speed", "fast")
    window = MainWindow(kept)
    qtbot.addWidget(window)
    pictured(window, qtbot, window.start)
    assert shown_of(window).setup.kernel.name == "04_tiled"
    is_named = any("The last session can't be restored" in each for each in window.banner.texts)
    assert is_named == bool(text)
    window.close()


def test_files_are_dropped_remembered_and_offered_again(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_text(load_kernel("03_coalesced").text)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    event = QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    pictured(window, qtbot, lambda: window.dropEvent(event))
    assert shown_of(window).setup.kernel.name == "mine"
    recent = window.menus.opened("file.recent")
    assert [action.text() for action in recent.actions() if action.isVisible()] == [str(path)]
    path.unlink()
    assert not window.menus.opened("file.recent").menuAction().isEnabled()
    assert "No file was opened" in recent.menuAction().toolTip()


def test_a_frame_is_copied(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    image = QGuiApplication.clipboard().image()
    assert (image.width(), image.height()) == (1920, 1080)
    assert image.pixelColor(5, 5).name().upper() == DARK.background


def test_escape_leaves_one_thing_at_a_time(window: MainWindow, qtbot: QtBot) -> None:
    session, docks = window.session, window.docks
    docks.reset()
    docks.favour("settings")
    window.replay.stage.setFocus()
    for key in (Qt.Key.Key_W, Qt.Key.Key_F11, Qt.Key.Key_K, Qt.Key.Key_1, Qt.Key.Key_Return):
        qtbot.keyClick(window, key)
    qtbot.waitUntil(lambda: bool(window.model.answers.sentences))

    def left() -> list[bool]:
        parts = (window.model.answers.sentences, session.shot.focus.warp is not None, session.shot.against, docks.drawer)
        return [*map(bool, parts), window.isFullScreen()]

    for number in range(5):
        assert left() == [place >= number for place in range(5)]
        QTest.keyClick(window, Qt.Key.Key_Escape)
    assert left() == [False] * 5
    docks.favour("settings")
    qtbot.keyClick(window, Qt.Key.Key_W)
    settings_of(window).setup.kernel.setFocus()  # now the panel is the innermost
    QTest.keyClick(settings_of(window).setup.kernel, Qt.Key.Key_Escape)
    assert left() == [False, True, False, False, False]
    assert window.replay.stage.hasFocus()


def test_the_drawer_opens_with_what_was_open_in_it(qtbot: QtBot) -> None:
    store = InMemoryStore(shot=shot_text(default_shot()))
    window = MainWindow(store)
    qtbot.addWidget(window)
    window.show()
    docks, button = window.docks, window.panels_button

    def is_open() -> list[str]:
        return [dock.objectName() for dock in docks.drawer]

    assert is_open() == []
    button.click()
    assert is_open() == ["settings"]
    docks.favour("metrics")
    docks.favour("settings")
    button.click()
    assert is_open() == []
    window.close()
    window = MainWindow(store)
    qtbot.addWidget(window)
    window.show()
    docks = window.docks
    assert is_open() == []
    window.panels_button.click()
    assert is_open() == ["settings", "metrics"]
    qtbot.waitUntil(lambda: not docks.all["settings"].visibleRegion().isEmpty())
    window.resize(1366, 768)
    qtbot.waitUntil(lambda: window.width() == 1366)
    sides = {window.dockWidgetArea(dock) for name, dock in docks.all.items() if name != "source"}
    assert sides == {Qt.DockWidgetArea.RightDockWidgetArea}
    window.close()


def test_escape_leaves_an_open_lesson_where_it_is(window: MainWindow, qtbot: QtBot) -> None:
    window.docks.reset()
    pictured(window, qtbot, lambda: window.model.opening.open_lesson("coalescing"))
    qtbot.waitUntil(lambda: settled(window) and window.model.course.is_on)
    before = window.docks.layout_state()
    window.lecture.begin()
    window.lecture.end()
    for _ in range(2):
        QTest.keyClick(window, Qt.Key.Key_Escape)
    assert not window.docks.all["lessons"].isHidden()
    assert window.docks.layout_state() == before


def test_the_tour_has_five_captions_and_ends(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: settled(window))
    qtbot.waitUntil(lambda: not window.warming._timer.isActive(), timeout=10_000)  # a panel that is made moves the stage
    qtbot.wait(60)
    window.start_tour()
    qtbot.waitUntil(lambda: window.tour is not None)
    titles, places = [], set()
    for _ in range(5):
        tour = sure(window.tour)
        titles.append(tour.title.text())
        assert tour.rect().contains(tour.card.geometry())
        QApplication.processEvents()  # the card is laid out
        assert tour.text.height() >= tour.text.heightForWidth(tour.text.width())
        places.add(tour.next.mapToGlobal(tour.next.rect().bottomRight()).toTuple())
        qtbot.keyClick(tour, Qt.Key.Key_Return)
    assert (len(set(titles)), len(places)) == (5, 1)  # the button stays
    qtbot.waitUntil(lambda: window.tour is None)
    assert window.preferences.text("tour") == "seen"
    assert window.replay.stage.hasFocus()
    assert not window.replay.stage._is_entered  # no ring is drawn around the stage
    window.start_tour()
    qtbot.waitUntil(lambda: window.tour is not None)
    qtbot.keyClick(sure(window.tour), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.tour is None)


def test_the_about_box_names_versions_and_licences() -> None:
    text = about_text().lower()
    for word in ("numpy", "pyside6", "bsd", "mit", "open font license"):
        assert word in text


def test_a_step_by_hand_plays_itself_out(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_Right)
    assert window.session.shot.moment == 0.0
    assert window.replay.stage.motion
    qtbot.waitUntil(lambda: window.session.shot.moment == 1.0, timeout=3000)
    assert window.replay.stage.motion == ()
    assert window.session.navigation.run_step == 1


def test_windows_of_all_sizes_leave_room_for_the_stage(window: MainWindow, qtbot: QtBot) -> None:
    stage = window.replay.stage
    for size in ((1024, 640), (1280, 720), (3840, 2160)):
        window.resize(*size)
        qtbot.waitUntil(lambda size=size: (window.width(), window.height()) == size)  # type: ignore[misc]
        qtbot.waitUntil(lambda size=size: stage.height() >= size[1] * 0.4)  # type: ignore[misc]  # the docks are in their places
        assert stage.width() >= size[0] * 0.4
        assert window.minimumSizeHint().width() <= 1024  # else the panels at the side cut the stage


@pytest.mark.nightly
def test_wrapped_texts_between_the_fields_are_whole(window: MainWindow, qtbot: QtBot) -> None:
    form = settings_of(window).setup
    for kernel in ("02_naive", "04_tiled"):
        window.model.opening.choose_kernel(kernel)
        qtbot.waitUntil(lambda: settled(window))
        qtbot.waitUntil(lambda: form.launch.height() >= form.launch.heightForWidth(form.launch.width()))
    form.launch.setText("A line that takes several rows in a panel that is far too narrow for all of its many words")
    qtbot.waitUntil(lambda: form.launch.minimumHeight() >= 2 * form.launch.fontMetrics().height())
    form.launch.setText("Short")
    qtbot.waitUntil(lambda: form.launch.minimumHeight() < 2 * form.launch.fontMetrics().height())


def test_what_is_seldom_set_opens_on_demand_and_for_its_errors(window: MainWindow, qtbot: QtBot) -> None:
    form, watched = settings_of(window).setup, settings_of(window).focus
    heading, keep = form.advanced.heading, window.preferences
    shown = {name for name in form.controls if not form.advanced.isAncestorOf(form.controls[name])}
    assert shown == {"M", "N", "K", "TILE_WIDTH"}
    for is_open in (False, True, False):
        if heading.isChecked() != is_open:
            qtbot.mouseClick(heading, Qt.MouseButton.LeftButton)
        assert [field(window, "seed").isVisible(), bool(keep.text("advanced"))] == [is_open, is_open]
    assert "shared-memory tile" in form.kernel.toolTip()
    window.model.commands.change("blocks", "9,9")
    qtbot.waitUntil(lambda: field(window, "blocks").isVisible())
    for scope, rows in (("everyone", [False, False, False]), ("warp", [True, True, False]), ("thread", [True, False, True])):
        watched.scope.setCurrentIndex(watched.scope.findData(scope))
        assert [row.isVisible() for row in (watched.block_at[0], watched.warp, watched.thread_at[0])] == rows


def tab_bars(window: MainWindow) -> list[list[str]]:
    """What stands on the bars of tabs between the docks, also on those that are to be deleted soon."""
    bars = window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return sorted([bar.tabText(tab) for tab in range(bar.count())] for bar in bars if bar.count())


@pytest.mark.nightly
def test_no_bar_of_tabs_is_made_twice(full_window: MainWindow, qtbot: QtBot) -> None:
    drawer = ["Settings", "Lessons", "Costs", "Saved views"]  # the numbers stand alone
    opened = {"layout": full_window.docks.layout_state()}
    for kept, expected in (({}, []), (opened, [drawer]), ({"layout": full_window.saveState()}, [])):
        made = MainWindow(InMemoryStore(shot=shot_text(default_shot()), **kept))
        qtbot.addWidget(made)
        made.resize(1024, 640)
        made.show()
        assert tab_bars(made) == expected
        made.docks.reset()
        assert tab_bars(made) == []
        made.close()
        del made
        gc.collect()  # in this thread: another's collector may delete the window while the next one is made


def test_deep_zooms_stay_small_and_quick(window: MainWindow) -> None:
    stage, session = window.replay.stage, window.session
    session.navigation.go_to_step(1, 0.5)
    before = resident_mib()
    for factor in (8, 4, 8):
        stage.zoom_by(factor)
        for moment in (0.1, 0.3, 0.5, 0.7):
            session.navigation.go_to_step(1, moment)
            stage.repaint()
    assert session.shot.camera.zoom == 256
    assert resident_mib() - before < 150


def resident_mib() -> float:
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * 4096 / 2**20


def test_keys_and_menus_come_from_one_table(window: MainWindow) -> None:
    table = [*actions(), *export_actions(), *other_pictures()]
    keys = [key for action in table for key in action.keys]
    assert len(keys) == len(set(keys))
    text = keys_text(table)
    assert all(action.help in text for action in table if action.keys and action.help)
    window.menus.complete()
    assert [action.id for action in table] == list(window.menus.all)  # no id stands twice


def test_the_costs_are_plotted_and_a_click_goes_to_a_step(window: MainWindow, qtbot: QtBot) -> None:
    window.docks.all["costs"].raise_()
    costs = costs_of(window)
    qtbot.waitUntil(lambda: costs.plot is not None and costs.plot.chart is not None)
    assert costs.plot is not None
    costs.plot.chosen.emit(7.2)
    assert window.session.navigation.run_step == 6
    names = [action.text() for action in costs.plot.menu().actions()]
    assert names == ["Fit", "Copy picture", "Save picture, PNG …", "Save picture, SVG …", "Save numbers, CSV …"]


@pytest.mark.nightly
def test_an_error_of_another_kernel_stands_by_the_field_of_that_kernel(window: MainWindow, qtbot: QtBot) -> None:
    session = window.session
    vectorised = setup_for(load_kernel("09_vectorised"), Problem(64, 64, 32))
    pictured(window, qtbot, lambda: session.show(structs.replace(session.shot, setup=vectorised)))
    too_large = setup_for(load_kernel("04_tiled"), Problem(64, 64, 64), {"TILE_WIDTH": 64})
    session.show(structs.replace(session.shot, setup=too_large))
    qtbot.wait(50)
    callout = callout_of(window)
    assert callout.isVisible()
    qtbot.waitUntil(lambda: callout.remedy.text() == "Use TILE_WIDTH = 32")
    field = settings_of(window).setup.controls["TILE_WIDTH"]
    assert callout.geometry().right() < field.mapTo(window, field.rect().bottomLeft()).x()
    pictured(window, qtbot, callout.remedy.click)
    assert not callout.isVisible()


def test_the_costs_follow_step_kernel_and_theme(window: MainWindow, qtbot: QtBot) -> None:
    window.docks.all["costs"].raise_()
    costs, session = costs_of(window), window.session
    qtbot.waitUntil(lambda: costs.plot is not None)
    plot = costs.plot
    assert plot is not None
    session.navigation.go_to_step(session.navigation.run_steps - 1)
    qtbot.waitUntil(lambda: plot._here.value() == session.navigation.run_steps)
    pictured(window, qtbot, lambda: window.model.opening.choose_kernel("02_naive"))
    qtbot.waitUntil(
        lambda: (
            plot.chart is not None and max(max(bars.x, default=0) for bars in plot.chart.bars) == session.navigation.run_steps
        ),
        timeout=20_000,
    )
    window.model.commands.choose_theme("light")
    qtbot.waitUntil(lambda: plot.theme.title == "Light")
    window.resize(1000, 600)
    qtbot.wait(100)
    assert plot.plotItem.size().width() <= costs.width()  # all of it is seen


def test_a_file_that_is_no_kernel_is_said_whatever_it_holds(window: MainWindow, tmp_path: Path) -> None:
    for name, content in {"empty.cu": b"", "odd.cu": bytes(range(256)), "missing.cu": None}.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
        open_file(window.model, tmp_path / name)
        assert any(name in text for text in window.banner.texts)


def test_a_trace_has_nothing_to_do_with_the_error_before_it(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    write_trace(shown_of(window).trace, tmp_path / "good.gvt")
    (tmp_path / "bad.cu").write_text("no header here")
    open_file(window.model, tmp_path / "bad.cu")
    assert window.banner.texts
    open_file(window.model, tmp_path / "good.gvt")
    qtbot.wait(50)
    assert window.banner.texts == ["Shown as it was recorded: nothing was run"]
    assert "no header here" not in source_of(window).text.toPlainText()


def test_an_error_stays_by_its_field_when_another_one_is_set(window: MainWindow, qtbot: QtBot) -> None:
    window.model.commands.change("blocks", "0:99,0:1")
    window.model.commands.change("seed", 3)
    assert isinstance(window.session.error, SettingError)
    assert window.session.error.names == ("blocks",)
    form = settings_of(window).setup
    assert form.controls["blocks"].property("invalid")
    assert not form.controls["seed"].property("invalid")


def test_a_start_with_settings_that_can_not_run_says_so(qtbot: QtBot) -> None:
    shot = default_shot()
    bad = structs.replace(shot, setup=setup_for(shot.setup.kernel, Problem(99_999_999, 8, 8), {"TILE_WIDTH": 2}))
    made = MainWindow(InMemoryStore(shot=shot_text(bad)))
    qtbot.addWidget(made)
    made.start()
    made.show()
    qtbot.wait(100)
    assert made.replay.stage.stale == "These settings can't run"
    assert settings_of(made).setup.launch.minimumHeight() == 0
    made.close()


class _Shown(QObject):
    """The windows that are shown while it watches the application."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds = list[str]()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.kinds.append(type(watched).__name__)
        return False


def test_no_part_of_the_window_is_shown_before_it(qtbot: QtBot, qapp: QApplication) -> None:
    shown = _Shown()
    qapp.installEventFilter(shown)
    window = MainWindow(InMemoryStore(shot=shot_text(default_shot())))
    qtbot.addWidget(window)
    assert shown.kinds == []
    window.show()
    assert shown.kinds[:1] == ["MainWindow"]
    qapp.removeEventFilter(shown)
    window.close()


def test_a_speed_that_is_none_is_forgotten(qtbot: QtBot) -> None:
    for speed in ("nan", "inf", "-inf", "1e999", "fast"):
        assert Preferences(InMemoryStore(speed=speed)).number("speed", 3.0) == 3.0
    window = MainWindow(InMemoryStore(speed="nan"))
    qtbot.addWidget(window)
    assert window.session.player.speed == USUAL_SPEED
    window.close()


def test_the_cross_has_most_of_the_stage_and_more_room_makes_it_no_smaller(window: MainWindow, qtbot: QtBot) -> None:
    stage = window.replay.stage

    def cross() -> float:
        """The side of a square of its area, in pixels."""
        now = window.session.now
        assert now is not None
        box = plan_of(now, window.replay._options()).box
        return math.sqrt(box.width * box.height) * stage.view.scale

    def at_rest() -> None:
        """Waits until the docks have taken their places."""
        sizes = [stage.size().toTuple()]
        while len(sizes) < 4 or len(set(sizes[-4:])) > 1:
            qtbot.wait(20)
            sizes.append(stage.size().toTuple())

    window.resize(1920, 1080)
    window.docks.reset()
    at_rest()
    assert cross() >= 0.6 * math.sqrt(stage.width() * stage.height())
    last = 0.0
    for width, height in ((1000, 640), (1280, 720), (1500, 720), (1920, 1000), (2560, 1400)):
        window.resize(width, height)
        at_rest()
        assert cross() >= last - 1
        last = cross()
    before = cross()
    window.docks.all["settings"].hide()
    at_rest()
    assert cross() >= before - 1


def test_a_click_on_the_score_goes_there(window: MainWindow, qtbot: QtBot) -> None:
    slider = window.replay.timeline.slider
    assert slider.replay is not None
    keys = {each.key: each for each in timeline_primitives(slider.replay, slider.tracks, slider.theme)}
    score = keys["score"]
    assert isinstance(score, Cells)
    x, _, wide, _ = score.box
    qtbot.mouseClick(slider, Qt.MouseButton.LeftButton, pos=QPoint(round(x + wide / 2), slider.height() // 2))
    assert abs(window.session.navigation.run_step - window.session.navigation.run_steps // 2) <= 1


def test_the_timeline_is_as_high_as_its_names_need(window: MainWindow) -> None:
    slider, before = window.replay.timeline.slider, window.replay.timeline.slider.height()
    window.model.commands.scale_type(1.5)
    assert slider.height() == pytest.approx(1.5 * before, abs=6)


def test_a_key_swaps_indices_and_values(window: MainWindow, qtbot: QtBot) -> None:
    def texts() -> set[str]:
        labels = cells_of(window, "A").labels
        return set() if labels is None else set(labels.ravel().tolist()) - {""}

    window.resize(1920, 1400)
    for dock in window.docks.all.values():
        dock.hide()
    qtbot.waitUntil(lambda: "0,0" in texts())
    qtbot.keyClick(window, Qt.Key.Key_V)
    assert window.session.shot.values
    qtbot.waitUntil(lambda: bool(texts()) and not any("," in text for text in texts()))
    qtbot.keyClick(window, Qt.Key.Key_V)
    qtbot.waitUntil(lambda: "0,0" in texts())


def test_wheel_and_key_go_between_the_lens_and_the_whole(window: MainWindow, qtbot: QtBot) -> None:
    pictured(window, qtbot, lambda: window.model.commands.change("M", 512))
    stage, session = window.replay.stage, window.session
    assert str(session.display.lens) == "lens"
    assert stage.lens == "lens"
    turned = QWheelEvent(
        QPointF(9, 9), QPointF(9, 9), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(stage, turned)
    assert str(session.display.lens) == "whole"
    QTest.keyClick(stage, Qt.Key.Key_Z)
    assert str(session.display.lens) == "lens"


def test_a_click_on_a_matrix_is_answered(window: MainWindow, qtbot: QtBot) -> None:
    bubble = window.replay.answer
    cells = cells_of(window, "A")
    window.replay.stage.clicked.emit(Hit(cells, 0, 0))
    qtbot.waitUntil(lambda: bubble.isVisible(), timeout=5000)
    assert bubble.text.text().startswith("Block (0, 0) fetches")
    assert "The launch fetches" in bubble.text.text()
    assert bubble.text.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse
    QTest.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: bubble.isHidden())


@pytest.mark.parametrize("size", [(1366, 768), (1920, 1080)])
def test_an_answer_lies_in_the_stage_beside_its_cell(window: MainWindow, qtbot: QtBot, size: tuple[int, int]) -> None:
    window.resize(*size)
    bubble, stage = window.replay.answer, window.replay.stage
    window.docks.all["source"].setVisible(True)
    qtbot.waitUntil(lambda: stage.mapTo(window, QPoint(0, 0)).x() > 100)
    for name in "ABC":
        for row, column in ((0, 0), (7, 7)):
            hit = Hit(cells_of(window, name), row, column)
            stage.clicked.emit(hit)
            qtbot.waitUntil(lambda: bubble.isVisible() and not window.session.is_working, timeout=5000)
            bubble.place()
            box = bubble.geometry()
            assert stage.rect().contains(box)
            assert stage.visibleRegion().boundingRect().contains(box)
            assert not box.intersects(stage.box_of(hit).toAlignedRect()), (name, row, column)
            assert not box.intersects(stage.title_box()), (name, row, column)
            window.model.answers.clear()


def test_escape_and_the_tab_lead_back_from_why(window: MainWindow, qtbot: QtBot) -> None:
    stage, tabs, shot = window.replay.stage, window.tabs, window.session.shot
    window.why.click()
    assert window.session.shot.view == "why"
    QTest.keyClick(stage, Qt.Key.Key_Escape)
    assert window.session.shot == shot
    window.why.click()
    assert window.session.shot.view == "why"
    QTest.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=tabs.tabRect(0).center())
    assert window.session.shot == shot


def test_escape_leads_where_the_view_says(window: MainWindow) -> None:
    leading = {name: view.back for name, view in views().items() if view.back}
    assert leading == {"why": "stage"}
    for name in ("why", "occupancy", "warp"):
        window.model.commands.show_view(name)
        QTest.keyClick(window.replay.stage, Qt.Key.Key_Escape)
        assert window.session.shot.view == leading.get(name, name)


def test_another_view_may_lead_back_too(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    own = structs.replace(view_named("occupancy"), back="grid")
    monkeypatch.setitem(views()._loaded, "occupancy", own)
    window.model.commands.show_view("occupancy")
    QTest.keyClick(window.replay.stage, Qt.Key.Key_Escape)
    assert window.session.shot.view == "grid"


def test_the_block_is_asked_about_by_key(window: MainWindow, qtbot: QtBot) -> None:
    QTest.keyClick(window.replay.stage, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.replay.answer.isVisible(), timeout=5000)
    assert "of C" in window.replay.answer.text.text()
    assert "For that it fetches" in window.replay.answer.text.text()


def test_cells_are_reached_by_keys(window: MainWindow, qtbot: QtBot) -> None:
    stage, shift = window.replay.stage, Qt.KeyboardModifier.ShiftModifier
    for key, element, thread in (
        (Qt.Key.Key_Right, "C[0, 0]", 0), (Qt.Key.Key_Right, "C[0, 1]", 1), (Qt.Key.Key_Down, "C[1, 1]", 5),
        (Qt.Key.Key_Up, "C[0, 1]", 1), (Qt.Key.Key_Left, "C[0, 0]", 0), (Qt.Key.Key_Left, "C[0, 0]", 0),
    ):  # fmt: skip
        QTest.keyClick(stage, key, shift)
        qtbot.waitUntil(lambda thread=thread: window.session.shot.focus.thread == thread)  # type: ignore[misc]
        assert window.statusBar().currentMessage().startswith(f"{element}: computed by block (0, 0), thread (")


def test_undo_in_a_field_undoes_typing_first(window: MainWindow, qtbot: QtBot) -> None:
    box = spin_of(window, "K")
    before = box.value()
    pictured(window, qtbot, lambda: box.setValue(before * 2))
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, "77")
    assert box.text() == "77"
    QTest.keyClick(box, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert box.text() != "77"
    assert window.session.shot.setup.problem.sizes["K"] == before * 2
    while sure(box.lineEdit()).isUndoAvailable():
        QTest.keyClick(box, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(box, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert window.session.shot.setup.problem.sizes["K"] == before


def test_letters_and_digits_are_the_stages_unless_text_is_typed(full_window: MainWindow, qtbot: QtBot) -> None:
    window = full_window
    session, kernels, size = window.session, settings_of(window).setup.kernel, field(window, "M")
    for place in (kernels, choice_of(window, "device"), size):
        place.setFocus()
        for is_compared in (True, False):
            QTest.keyClick(place, Qt.Key.Key_K)
            assert (session.shot.against is not None) is is_compared, place.accessibleName()
    kernels.setFocus()
    QTest.keyClick(kernels, Qt.Key.Key_2)
    assert session.shot.view == "warp"
    for dock in window.docks.all.values():
        dock.raise_()
        for each in dock.findChildren(QWidget):
            is_text = isinstance(each, QLineEdit | QPlainTextEdit | QAbstractSpinBox)
            if each.isVisible() and each.focusPolicy() and not is_text and not each.visibleRegion().isEmpty():
                each.setFocus()
                view = "request" if session.shot.view == "warp" else "warp"
                QTest.keyClick(each, Qt.Key.Key_3 if view == "request" else Qt.Key.Key_2)
                assert session.shot.view == view, each
    session.alter(view="warp")
    size.setFocus()
    QTest.keyClick(size, Qt.Key.Key_1)
    assert session.shot.view == "warp"


def test_an_error_points_at_the_field_that_its_remedy_changes(window: MainWindow, qtbot: QtBot) -> None:
    window.model.opening.choose_kernel("05_tiled_unguarded")
    qtbot.waitUntil(lambda: settled(window))
    window.model.commands.change("K", 63)
    window.model.commands.change("M", 100000)
    qtbot.waitUntil(lambda: isinstance(window.session.error, SettingError) and bool(window.session.error.nearest))
    error = window.session.error
    assert isinstance(error, SettingError)
    form = settings_of(window).setup
    qtbot.waitUntil(lambda: callout_of(window).isVisible())
    name = next(iter(error.nearest))
    assert name in callout_of(window).remedy.text()
    assert callout_of(window)._field is form.controls[name]


@pytest.mark.parametrize(("size", "least"), [((1366, 768), 0.6), ((1920, 1080), 0.6), ((1024, 768), 0.5)])
def test_the_picture_has_most_of_the_window(window: MainWindow, qtbot: QtBot, size: tuple[int, int], least: float) -> None:
    window.resize(*size)
    window.docks.reset()
    qtbot.waitUntil(lambda: window.replay.tiles.slider.isVisible())
    QApplication.processEvents()
    stage = window.replay.stage
    assert stage.width() * stage.height() >= least * window.width() * window.height()
    assert [name for name, dock in window.docks.all.items() if dock.isVisible()] == ["source"]


def test_a_button_opens_and_closes_the_settings(window: MainWindow) -> None:
    window.docks.reset()
    for expected in (["settings"], []):
        window.panels_button.click()
        assert [dock.objectName() for dock in window.docks.drawer] == expected
