"""The look of menus: the mark of a chosen item."""

from typing import Any

import numpy as np
import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from gemmviz.gui.style import apply_theme
from gemmviz.gui.widgets.controls import MENU_SHEET
from gemmviz.scenes.kit.theme import load_theme


def pixels(menu: QMenu) -> Any:
    image = menu.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return np.frombuffer(bytes(image.constBits()), np.uint32).reshape(image.height(), image.width())


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("is_selected", [False, True])
def test_a_chosen_item_has_a_check_mark_and_others_have_none(
    qtbot: QtBot, qapp: QApplication, theme: str, is_selected: bool
) -> None:
    apply_theme(qapp, load_theme(theme))
    menu = QMenu()
    qtbot.addWidget(menu)
    menu.setStyleSheet(MENU_SHEET)
    item = menu.addAction("Item")
    item.setCheckable(True)
    menu.resize(menu.sizeHint())
    if is_selected:
        menu.setActiveAction(item)
    before = pixels(menu)
    item.setChecked(True)
    y, x = np.nonzero(pixels(menu) != before)
    width, height = np.ptp(x) + 1, np.ptp(y) + 1
    assert len(np.unique(before[y.min() : y.max() + 1, x.min() : x.max() + 1])) == 1, "an item that isn't chosen has a mark"
    assert min(width, height) >= 5
    assert len(x) < 0.7 * width * height, "a check mark fills no box"
    assert x[y.argmin()] > x[y.argmax()], "a check mark rises to the right"
