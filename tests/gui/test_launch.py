from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from gemmviz.cuda.launch.launch_form import with_header
from gemmviz.gui.launch_form import LaunchDialog
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.run.loader import open_kernel
from tests.gui.conftest import open_file, pictured

PLAIN = Path(__file__).parent.parent / "data" / "plain"


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMMVIZ_HOME", str(tmp_path / "home"))


def dialog_of(window: MainWindow) -> LaunchDialog:
    (dialog,) = (each for each in window.findChildren(LaunchDialog) if each.isVisible())
    return dialog


def test_the_launch_of_a_plain_file_stands_above_the_picture(window: MainWindow, qtbot: QtBot) -> None:
    seen, strip = set[str](), window.launch
    window.model.opening.busy_changed.connect(lambda: seen.add(window.model.opening.work))
    assert not strip.isVisible()
    pictured(window, qtbot, lambda: open_file(window.model, PLAIN / "student.cu"))
    assert any(each.startswith("Trying which argument of") for each in seen)  # in the status line
    assert strip.isVisible()
    assert "a is A, b is B, c is C, n is N" in strip.text.text()
    assert not strip.kernels.isVisible()
    strip.sentence = "word " * 200
    strip._fit()
    metrics = strip.text.fontMetrics()
    height = metrics.boundingRect(strip.text.rect(), Qt.TextFlag.TextWordWrap, strip.text.text()).height()
    assert strip.text.text().endswith("…")
    assert height <= 2 * metrics.lineSpacing()
    pictured(window, qtbot, lambda: window.model.opening.choose_kernel("02_naive"))
    assert not strip.isVisible()


def test_the_form_corrects_the_launch_which_is_remembered_for_the_text(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    text = (PLAIN / "student.cu").read_text().replace(": 1024", ": 32")
    (tmp_path / "student.cu").write_text(text)
    pictured(window, qtbot, lambda: open_file(window.model, tmp_path / "student.cu"))
    window.launch.edit.click()
    dialog = dialog_of(window)
    first, block = dialog.controls["arg.a"], dialog.controls["block.x"]
    assert isinstance(first, QComboBox)
    assert isinstance(block, QLineEdit)
    assert [first.itemText(row) for row in range(first.count())] == ["A", "B", "C"]
    first.setEditText("")
    dialog._on_run()
    assert dialog.isVisible()
    assert "a:" in dialog.message.text()
    first.setEditText("B")
    second = dialog.controls["arg.b"]
    assert isinstance(second, QComboBox)
    second.setEditText("A")
    block.setText("BLOCK_SIZE * 1")
    pictured(window, qtbot, dialog._on_run)
    kernel = window.session.shot.setup.kernel
    assert (kernel.args, kernel.launch_from) == (("B", "A", "C", "N"), "given")
    assert window.launch.text.text().startswith("Given: a is B, b is A")
    copy = tmp_path / "same_text.cu"
    copy.write_text(text)
    pictured(window, qtbot, lambda: open_file(window.model, copy))
    kernel = window.session.shot.setup.kernel
    assert (kernel.file, kernel.args, kernel.launch_from) == (str(copy), ("B", "A", "C", "N"), "given")
    assert kernel.block[0] == "BLOCK_SIZE * 1"


def test_kernels_of_a_file_are_offered(window: MainWindow, qtbot: QtBot) -> None:
    pictured(window, qtbot, lambda: open_file(window.model, PLAIN / "two_kernels.cu"))
    box = window.launch.kernels
    assert box.isVisible()
    assert [box.itemText(row) for row in range(box.count())] == ["fill", "by_columns", "transpose"]
    assert box.currentText() == "by_columns"
    pictured(window, qtbot, lambda: box.activated.emit(2))
    assert window.session.shot.setup.kernel.function == "transpose"


def test_texts_of_a_file_are_not_markup(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "<b>bold.cu"
    path.write_text("int x;")
    open_file(window.model, path)
    assert any("<b>bold.cu" in text for text in window.banner.texts)


def test_the_form_of_a_file_with_a_header_names_the_parameters(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "headed.cu"
    path.write_text(with_header(open_kernel(str(PLAIN / "student.cu")), (PLAIN / "student.cu").read_text()))
    pictured(window, qtbot, lambda: open_file(window.model, path))
    window.model.opening.edit_launch()
    assert {"arg.a", "arg.b", "arg.c", "arg.n"} <= set(dialog_of(window).controls)


def test_the_window_offers_its_form_for_a_launch_that_is_not_found(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "odd.cu"
    path.write_text("__global__ void odd(float* p, float* r, int n) { r[n] = p[0] - 3; }")
    before = window.session.shot
    open_file(window.model, path)
    (text,) = window.banner.texts
    assert "odd is launched nowhere in the project" in text
    assert "--entry" not in text  # flags are for the terminal
    assert window.session.shot == before
