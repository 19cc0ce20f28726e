"""The keys of the window: one table makes shortcuts, menu, the list of shortcuts, and the manual's table."""

import re
from pathlib import Path

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from gemmviz.gui.small_pictures import PICTURE
from gemmviz.gui.window.action import MENUS, VIEW_MENUS
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.gui.window.menus import actions, keys_text
from gemmviz.gui.window.view_actions import VIEW_KEYS
from gemmviz.scenes.catalog import view_named, views
from tests.gui.shared_window import settled

_MANUAL = (Path(__file__).parents[2] / "docs" / "window.md").read_text()


def test_number_keys_go_by_the_names_of_views_as_in_the_manual() -> None:
    keys = {action.keys[0]: action for action in actions() if action.id.startswith("view-") and action.keys}
    assert {key: action.id.removeprefix("view-") for key, action in keys.items()} == dict(
        zip("123456789", ("stage", "warp", "request", "banks", "memory", "occupancy", "grid", "why", "pair"), strict=True)
    )
    assert [action.menu for action in keys.values()] == [menu for menu, _ in VIEW_KEYS.values()]
    names = [name for _, name in VIEW_KEYS.values()]
    row = re.search(r"\| 1 … 9 \| (.*?) \|", _MANUAL)
    assert row is not None
    assert row[1].split(", ") == names
    for heading, key in re.findall(r"\*\*([A-Z][^*]*)\*\* \([^)]*key (\d)", _MANUAL):
        assert names[int(key) - 1][:6] in heading.lower()
    assert all(f"<b>{key}</b></td><td>{name}<" in keys_text(actions()) for key, name in enumerate(names, 1))


def test_a_key_begins_the_comparison_that_it_shows(window: MainWindow, qtbot: QtBot) -> None:
    QTest.keyClick(window, Qt.Key.Key_9)
    assert (window.session.shot.view, window.session.shot.against is not None) == ("pair", True)
    for _ in range(2):
        QTest.keyClick(window, Qt.Key.Key_K)
    assert window.session.shot.view == "pair"


# Menus


def _entries(menu: QMenu) -> list[QAction]:
    return [entry for entry in menu.actions() if entry.isVisible() and not entry.isSeparator()]


def test_no_menu_is_longer_than_twelve_entries(window: MainWindow) -> None:
    menus = window.menus
    menus.complete()
    assert [entry.text() for entry in _entries(menus.opened("view"))][:6] == [MENUS[name] for name in VIEW_MENUS]
    assert {name: len(menu.actions()) for name, menu in menus._menus.items() if len(_entries(menu)) > 12} == {}


def test_menus_offer_the_views_that_apply_with_pictures_of_them(new_window: MainWindow, qtbot: QtBot) -> None:
    menus = new_window.menus
    menus.complete()
    assert all(menus.all[f"view-{name}"].icon().isNull() for name in views())  # none is drawn before its menu opens
    menu = menus.opened("view.threads")
    offered = {entry.objectName() for entry in _entries(menu)}
    assert offered >= {"view-warp", "view-guard", "view-race"}
    assert not offered & {"view-fragment", "view-branch", "view-tensor_tile"}  # no tensor cores are used, and no lanes part
    assert all(not entry.icon().isNull() for entry in _entries(menu))  # the rows have their heights
    qtbot.waitUntil(lambda: not new_window.model.view_pictures.is_drawing, timeout=20_000)
    picture = menus.all["view-guard"].icon().pixmap(PICTURE, PICTURE).toImage()
    tiles = sum(picture.pixelColor(x, y) == QColor(new_window.model.theme.accent("C")) for x in range(44) for y in range(44))
    assert tiles > 100  # its cells have the colour of C
    menu.aboutToHide.emit()
    new_window.model.opening.choose_kernel("14_mma")
    qtbot.waitUntil(lambda: settled(new_window), timeout=20_000)
    assert "view-fragment" in {entry.objectName() for entry in _entries(menus.opened("view.threads"))}


def test_a_faulty_view_leaves_the_menu_whole(new_window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    new_window.menus.complete()
    faults: list[object] = []
    monkeypatch.setattr("sys.excepthook", lambda *error: faults.append(error[0]))
    monkeypatch.setitem(views()._loaded, "guard", structs.replace(view_named("guard"), draw=lambda moment, options: 1 // 0))
    offered = {entry.objectName() for entry in _entries(new_window.menus.opened("view.threads"))}
    assert offered >= {"view-warp", "view-guard", "view-race"}
    assert faults == [ZeroDivisionError]


_NO_ACTIONS = {"wheel", "drag", "click on C", "Tab"}
_NAMED = {
    "←": "Left", "→": "Right", "Page Up": "PgUp", "Page Down": "PgDown", "−": "-", "Ctrl+−": "Ctrl+-",
}  # fmt: skip
_SEVERAL = {
    "1 … 9": [*"123456789"], "←, → or , and .": ["Left", "Right", ",", "."], "[": ["["], "]": ["]"],
    "Shift+arrows": ["Shift+Left", "Shift+Right", "Shift+Up", "Shift+Down"], "Ctrl+Page keys": ["Ctrl+PgUp", "Ctrl+PgDown"],
}  # fmt: skip


def _keys_of(cell: str) -> list[str]:
    """The keys in a cell of the manual's table, as actions name them."""
    if cell in _SEVERAL:
        return _SEVERAL[cell]
    return [key for name in cell.split(", ") for key in _SEVERAL.get(name, [_NAMED.get(name, name)])]


def test_the_manual_names_the_keys_that_there_are() -> None:
    table = _MANUAL.partition("## Keyboard shortcuts")[2]
    cells = [cell.strip() for row in re.findall(r"^\|(.*)\|$", table, re.MULTILINE)[2:] for cell in row.split(" | ")[::2]]
    named = [key for cell in cells for key in _keys_of(cell) if key not in _NO_ACTIONS]
    keys = {key for action in actions() for key in action.keys}
    assert [key for key in named if key not in keys] == []
    assert sorted(set(named)) == sorted(named)  # none stands twice
    missing = [action.id for action in actions() if action.keys and not {*named} & {*action.keys}]
    assert missing == []
