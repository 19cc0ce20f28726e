"""The look of menus: the mark of a chosen item."""

from typing import Any

import numpy as np
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from gemmviz.gui.style import apply_theme
from gemmviz.gui.widgets.controls import MENU_SHEET
from gemmviz.scenes.kit.theme import load_theme


def pixels(menu: QMenu) -> Any:
    image = menu.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return np.frombuffer(bytes(image.constBits()), np.uint32).reshape(image.height(), image.width())


def test_the_mark_of_a_chosen_item_is_a_square(qtbot: QtBot, qapp: QApplication) -> None:
    apply_theme(qapp, load_theme("dark"))
    menu = QMenu()
    qtbot.addWidget(menu)
    menu.setStyleSheet(MENU_SHEET)
    item = menu.addAction("Item")
    item.setCheckable(True)
    menu.resize(menu.sizeHint())
    before = pixels(menu)
    item.setChecked(True)
    y, x = np.nonzero(pixels(menu) != before)
    width, height = np.ptp(x) + 1, np.ptp(y) + 1
    assert 9 <= width <= 15
    assert abs(width - height) <= 1
