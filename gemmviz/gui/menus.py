"""The menus and the keys of the main window."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QActionGroup, QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QMenu, QMessageBox

from gemmviz.gui.about import AboutBox
from gemmviz.scene.views import VIEWS

if TYPE_CHECKING:
    from gemmviz.gui.main_window import MainWindow

THEMES = {"system": "Like the &system", "dark": "&Dark", "light": "&Light"}
_KEYS = """
<style>b { font-weight: 600; } td { white-space: nowrap; }</style><table cellpadding=4>
<tr><td><b>Space</b><td>play, pause<td><b>R</b><td>play backwards
<tr><td><b>←, →</b><td>one step<td><b>+, −</b><td>faster, slower
<tr><td><b>Page Up, Page Down</b><td>previous, next phase<td><b>Home, End</b><td>first, last step
<tr><td><b>wheel, drag</b><td>zoom, pan<td><b>F</b><td>fit
<tr><td><b>click on C</b><td>follow its thread<td><b>T</b><td>next thread
<tr><td><b>W</b><td>next warp<td><b>A</b><td>all traced blocks
<tr><td><b>Esc</b><td>back to the block<td><b>L</b><td>colours: matrix, warp, reuse
<tr><td><b>1 … 5</b><td>stage, memory, banks, warp, request<td><b>Ctrl+D</b><td>dark or light
<tr><td><b>Ctrl+Z, Ctrl+Shift+Z</b><td>undo, redo settings<td><b>F11, S</b><td>full screen, stage alone
<tr><td><b>Ctrl+O, Ctrl+S</b><td>open, save the trace<td><b>Ctrl+C</b><td>copy the frame
<tr><td><b>F5</b><td>reload your file<td><b>Ctrl+B</b><td>benchmark, replay
<tr><td><b>Ctrl+E</b><td>save the frame as PNG<td><b>Ctrl+Shift+E</b><td>save it as SVG
</table>"""


class Menus:
    """The menu bar of a window. ``themes`` and ``views`` are the actions that choose, by name."""

    def __init__(self, window: "MainWindow") -> None:
        self.window = window
        self.themes: dict[str, QAction] = {}
        self.views: dict[str, QAction] = {}
        bar = window.menuBar()
        self._file(bar.addMenu("&File"))
        self._edit(bar.addMenu("&Edit"))
        self._view(bar.addMenu("&View"))
        self._help(bar.addMenu("&Help"))
        self.replay_keys = make_shortcuts(window)

    def _file(self, menu: QMenu) -> None:
        files = self.window.files
        self._action(menu, "&Open kernel or trace …", files.ask_to_open, QKeySequence.StandardKey.Open)
        self.recent = menu.addMenu("Open &recent")
        self.recent.aboutToShow.connect(self._fill_recent)
        self._action(menu, "Re&load the kernel's file", self.window.reload, "F5")
        self._action(menu, "Save &trace …", files.ask_to_save_trace, QKeySequence.StandardKey.Save)
        frames = menu.addMenu("Save &frame")
        for scale in (1, 2, 4):
            name = f"PNG {1920 * scale} × {1080 * scale} …"
            self._action(frames, name, partial(files.ask_to_save_frame, "png", scale), "Ctrl+E" if scale == 1 else None)
        self._action(frames, "SVG …", partial(files.ask_to_save_frame, "svg", 1), "Ctrl+Shift+E")
        menu.addSeparator()
        self._action(menu, "&Quit", self.window.close, QKeySequence.StandardKey.Quit)

    def _fill_recent(self) -> None:
        self.recent.clear()
        names = self.window.memory.recent
        for name in names:
            self._action(self.recent, name, partial(self.window.open_file, Path(name)))
        if not names:
            self.recent.addAction("Nothing yet").setEnabled(False)

    def _edit(self, menu: QMenu) -> None:
        stack = self.window.history.stack
        undo, redo = stack.createUndoAction(self.window, "&Undo"), stack.createRedoAction(self.window, "&Redo")
        undo.setShortcut(QKeySequence.StandardKey.Undo)
        redo.setShortcuts([QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y")])
        menu.addAction(undo)
        menu.addAction(redo)
        menu.addSeparator()
        self._action(menu, "&Copy frame", self.window.files.copy_frame, QKeySequence.StandardKey.Copy)

    def _view(self, menu: QMenu) -> None:
        window = self.window
        group = QActionGroup(window)
        for number, (name, view) in enumerate(VIEWS.items(), 1):
            self.views[name] = self._choice(menu, group, view.title, partial(window.show_view, name), str(number))
        menu.addSeparator()
        self._action(menu, "&Benchmark", window.panels.toggle_benchmark, "Ctrl+B")
        menu.addSeparator()
        self._action(menu, "&Fit", window.panels.stage.fit, "F")
        self._action(menu, "F&ull screen", window.toggle_full_screen, "F11")
        self._action(menu, "&Stage alone", window.panels.toggle_alone, "S")
        animated = self._action(menu, "&Animate steps taken by hand", lambda on: setattr(window.playback, "animated", on))
        animated.setCheckable(True)
        animated.setChecked(True)
        menu.addSeparator()
        themes, theme_group = menu.addMenu("&Theme"), QActionGroup(window)
        for name, title in THEMES.items():
            self.themes[name] = self._choice(themes, theme_group, title, partial(window.choose_theme, name))
        menu.addSeparator()
        for dock in window.panels.docks.values():
            menu.addAction(dock.toggleViewAction())
        self._action(menu, "&Reset layout", window.panels.reset)

    def _help(self, menu: QMenu) -> None:
        window = self.window
        self._action(menu, "&Keys", lambda: QMessageBox.information(window, "Keys", _KEYS), "F1")
        self._action(menu, "&Tour", window.start_tour)
        menu.addSeparator()
        self._action(menu, "&About gemmviz", lambda: AboutBox(window).exec())

    def _choice(self, menu: QMenu, group: QActionGroup, title: str, slot: object, key: str | None = None) -> QAction:
        action = self._action(menu, title, slot, key)
        action.setCheckable(True)
        group.addAction(action)
        return action

    def _action(self, menu: QMenu, text: str, slot: object, key: object = None) -> QAction:
        action = QAction(text, self.window)
        action.triggered.connect(slot)  # type: ignore[arg-type]
        if key is not None:
            action.setShortcut(key)  # type: ignore[arg-type]
        menu.addAction(action)
        return action


def press_or_play(window: "MainWindow") -> None:
    """Space presses the button and opens the list that has the focus; anywhere else it plays."""
    match QApplication.focusWidget():
        case QAbstractButton() as button:
            button.click()
        case QComboBox() as box:
            box.showPopup()
        case _:
            window.playback.toggle()


def make_shortcuts(window: "MainWindow") -> list[QShortcut]:
    """The keys that drive the replay."""
    play, focus = window.playback, window.panels.focus
    keys = {
        "Space": lambda: press_or_play(window),
        "Left": lambda: play.by(-1),
        "Right": lambda: play.by(1),
        "PgUp": lambda: play.phase(-1),
        "PgDown": lambda: play.phase(1),
        "Home": lambda: play.go(0),
        "End": lambda: play.go(play.steps - 1),
        "+": lambda: play.faster(1),
        "=": lambda: play.faster(1),
        "-": lambda: play.faster(-1),
        "R": window.panels.timeline.reverse.toggle,
        "W": focus.next_warp,
        "T": focus.next_thread,
        "A": focus.everyone,
        "Esc": focus.whole_block,
        "L": focus.next_layer,
        "Ctrl+D": window.toggle_theme,
    }
    return [QShortcut(QKeySequence(key), window, action) for key, action in keys.items()]
