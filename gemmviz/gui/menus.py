"""The menus and the keys of the main window."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QActionGroup, QKeySequence, QShortcut
from PySide6.QtWidgets import QMessageBox, QWidget

if TYPE_CHECKING:
    from gemmviz.gui.main_window import MainWindow

_VIEW_NAMES = {"stage": "&Stage", "memory": "&Memory: lines and sectors of a request", "banks": "&Banks of shared memory"}
_KEYS = """
<table cellpadding=4>
<tr><td><b>Space</b><td>play, pause<td><b>R</b><td>play backwards
<tr><td><b>←, →</b><td>one step<td><b>+, −</b><td>faster, slower
<tr><td><b>Page Up, Page Down</b><td>previous, next phase<td><b>Home, End</b><td>first, last step
<tr><td><b>wheel, drag</b><td>zoom, pan<td><b>F</b><td>fit
<tr><td><b>W</b><td>next warp<td><b>Ctrl+D</b><td>dark or light
<tr><td><b>1, 2, 3</b><td>stage, memory, banks<td><b>F1</b><td>these keys
<tr><td><b>Ctrl+E</b><td>save the frame as PNG<td><b>Ctrl+Shift+E</b><td>save it as SVG
</table>"""


def make_menus(window: "MainWindow") -> QAction:
    """Fills the menu bar; gives the action that switches between dark and light."""
    file, view = window.menuBar().addMenu("&File"), window.menuBar().addMenu("&View")
    _action(window, file, "&Open kernel or trace …", window.ask_to_open, QKeySequence.StandardKey.Open)
    _action(window, file, "Save &trace …", window.ask_to_save_trace, QKeySequence.StandardKey.Save)
    frames = file.addMenu("Save &frame")
    for scale in (1, 2, 4):
        name = f"PNG {1920 * scale} × {1080 * scale} …"
        _action(window, frames, name, partial(window.ask_to_save_frame, "png", scale), "Ctrl+E" if scale == 1 else None)
    _action(window, frames, "SVG …", partial(window.ask_to_save_frame, "svg", 1), "Ctrl+Shift+E")
    file.addSeparator()
    _action(window, file, "&Quit", window.close, QKeySequence.StandardKey.Quit)
    dark = _action(window, view, "&Dark", lambda: window.set_theme(dark.isChecked()), "Ctrl+D")
    dark.setCheckable(True)
    _action(window, view, "&Fit", window.stage.fit, "F")
    view.addSeparator()
    choice = QActionGroup(window)
    for number, (name, text) in enumerate(_VIEW_NAMES.items(), 1):
        action = _action(window, view, text, partial(window.show_view, name), str(number))
        action.setCheckable(True)
        action.setChecked(name == window.view)
        choice.addAction(action)
    view.addSeparator()
    for dock in window.docks:
        view.addAction(dock.toggleViewAction())
    help_menu = window.menuBar().addMenu("&Help")
    _action(window, help_menu, "&Keys", lambda: QMessageBox.information(window, "Keys", _KEYS), "F1")
    return dark


def _action(window: "MainWindow", menu: QWidget, text: str, slot: object, key: object = None) -> QAction:
    action = QAction(text, window)
    action.triggered.connect(slot)  # type: ignore[arg-type]
    if key is not None:
        action.setShortcut(key)  # type: ignore[arg-type]
    menu.addAction(action)
    return action


def make_shortcuts(window: "MainWindow") -> None:
    """The keys that drive the replay."""
    play = window.playback
    for key, action in {
        "Space": play.toggle, "Left": lambda: play.by(-1), "Right": lambda: play.by(1), "PgUp": lambda: play.phase(-1),
        "PgDown": lambda: play.phase(1), "Home": lambda: play.go(0), "End": lambda: play.go(play.steps - 1),
        "+": lambda: play.faster(1), "=": lambda: play.faster(1), "-": lambda: play.faster(-1),
        "R": window.timeline.reverse.toggle, "W": window.panel.next_warp,
    }.items():  # fmt: skip
        QShortcut(QKeySequence(key), window, action)
