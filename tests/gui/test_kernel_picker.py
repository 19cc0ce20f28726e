"""The grouped list of kernels: found by name, title or lesson, with the keyboard alone."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gemmviz.cuda.launch.catalog import all_kernel_names
from gemmviz.gui.kernel_picker import KernelBox, KernelPicker
from gemmviz.gui.window.main_window import MainWindow
from tests.conftest import sure
from tests.gui.conftest import settings_of
from tests.gui.shared_window import settled

_LONG_MS = 20_000


@pytest.fixture
def box(window: MainWindow) -> KernelBox:
    return settings_of(window).setup.kernel


def shown(picker: KernelPicker) -> list[str]:
    return [item.text(0) for item in picker.items if not item.isHidden()]


def test_all_kernels_are_in_groups_with_titles(box: KernelBox) -> None:
    box.showPopup()
    picker = sure(box.picker)
    assert sorted(shown(picker)) == sorted(all_kernel_names())
    assert all(item.text(1) for item in picker.items)
    assert sure(picker.list.currentItem()).text(0) == box.currentText()
    picker.search.setText("shared memory piece")  # a lesson's title and a name
    assert shown(picker) == [f"piece_{number}" for number in range(1, 8)]
    picker.search.setText("nothing like it")
    assert shown(picker) == []


def test_a_kernel_is_found_by_typing(window: MainWindow, box: KernelBox, qtbot: QtBot) -> None:
    view = window.session.shot.view
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Space)
    picker = sure(box.picker)
    QTest.keyClicks(picker.search, "03")
    assert shown(picker) == ["03_coalesced"]
    QTest.keyClick(picker.search, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: settled(window), timeout=_LONG_MS)
    assert window.session.shot.setup.kernel.name == "03_coalesced"
    assert window.session.shot.view == view  # digits are no shortcuts of views here


def test_arrows_move_through_what_is_found(box: KernelBox) -> None:
    box.showPopup()
    picker = sure(box.picker)
    picker.search.setText("transposition")
    QTest.keyClick(picker.search, Qt.Key.Key_Down)
    assert sure(picker.list.currentItem()).text(0) == shown(picker)[1]
    QTest.keyClick(picker.search, Qt.Key.Key_PageUp)
    assert sure(picker.list.currentItem()).text(0) == shown(picker)[0]
