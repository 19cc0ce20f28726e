"""A window that tests use one after the other, as long as it can be brought back to how it was at first."""

import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QLabel, QMenu, QTabBar, QWidget

from gemmviz.analysis.replay.focus import Position
from gemmviz.gui.panels.settings import Settings
from gemmviz.gui.preferences import InMemoryStore
from gemmviz.gui.widgets.controls import Refresh
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.session.state import State
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Camera, Shot, default_shot, shot_text
from gemmviz.teaching.lesson import Lesson

LONG_MS = 20_000
_SIZE = 1600, 960


class SharedWindow:
    """The window as it is after a start. ``first_run``: the run that it shows first."""

    def __init__(self, first_run: Knowledge) -> None:
        self._first_run = first_run
        self._window: MainWindow | None = None
        self._looks: dict[str, Any] = {}

    def get(self) -> MainWindow:
        """The window; another one if a test left it in a way that is not undone here."""
        if self._window is None or not self._is_as_at_first(self._window):
            self.close()
            self._window = self._opened()
            self._state, self._docked = self._window.session.state, _docked(self._window)
            self._looks = _looks(self._window)
        return self._window

    def close(self) -> None:
        if self._window is not None:
            self._window.close()
            self._window.deleteLater()
            self._window = None

    def _opened(self) -> MainWindow:
        made = MainWindow(InMemoryStore(shot=shot_text(default_shot())))  # not the first start, so nothing plays by itself
        made.resize(*_SIZE)
        made.show()
        made.warming.stop()  # what a test doesn't use is not made
        QApplication.processEvents()  # the docks take their places before there is a picture
        self._know_first_run(made)
        made.start()
        self._rest(made)
        return made

    def _know_first_run(self, window: MainWindow) -> None:
        engine = window.session.engines.cpu
        window.session.completion.known = Knowledge(default_shot(), engine, with_values=False, like=(self._first_run,))

    def _rest(self, window: MainWindow) -> None:
        wait_while(lambda: not settled(window))
        QApplication.processEvents()  # the panels show what is known
        window.activateWindow()
        window.replay.stage.setFocus()

    def _is_as_at_first(self, window: MainWindow) -> bool:
        """Brings the window back, and returns whether it looks as it did at first."""
        session, model = window.session, window.model
        others = (each for each in QApplication.topLevelWidgets() if isinstance(each, QDialog | QMenu) and each.isVisible())
        taken = [page for page in (window.replay, vars(window).get("benchmark")) if page and window.pages.indexOf(page) < 0]
        if not window.isVisible() or window.tour is not None or any(others) or taken:
            return False
        if window._lecture is not None:
            window.lecture.end()
        session.player.play(False)
        vars(session.player).update(self._looks["player"])
        session.player.changed.emit()
        for lesson in (model.course, model.saved_views):
            if lesson.lesson.steps:
                lesson.take_lesson(Lesson())
        model.course.seen.clear()
        model.course._answers.clear()
        model.opening._follow(None)
        self._go_back(window)
        session.notices.drop(*(each.topic for each in session.notices.all))
        model.answers.clear()
        window.statusBar().clearMessage()
        if window.isFullScreen():
            window.showNormal()
        window.resize(*_SIZE)
        if _docked(window) != self._docked:
            window.docks.reset()
        window.docks.last_open = []
        settings = window.docks.widgets.get("settings")
        if isinstance(settings, Settings):
            settings.setup.advanced.heading.setChecked(False)
        self._rest(window)
        for refresh in window.findChildren(Refresh):
            if refresh._timer.isActive():
                refresh.now()
        store = window.preferences.store
        assert isinstance(store, InMemoryStore)
        store.clear()
        store.update(shot=shot_text(default_shot()))
        window.menus.sync()
        self._docked = _docked(window)
        return _looks(window) == self._looks

    def _go_back(self, window: MainWindow) -> None:
        """Shows the first state again."""
        session, before, first = window.session, window.session.state, self._state
        if before is first:
            return
        session.apply(_Return(first))  # type: ignore[arg-type]  # no event of the program
        if session.shown is None or session.shown.setup != first.shot.setup or session.shown.from_file:
            session.completion.clear()
            self._know_first_run(window)
        elif _but_position(before.shot) == _but_position(first.shot):
            session.position_changed.emit()
            session.shot_changed.emit()
            return
        session.start(first.shot)
        session.apply(_Return(first))  # type: ignore[arg-type]


class _Return(Struct, frozen=True):
    """An earlier state."""

    state: State

    def after(self, state: State) -> State:
        return self.state


def _but_position(shot: Shot) -> Shot:
    return replace(shot, at=Position(), moment=1.0, instant=0.0, camera=Camera())


def _docked(window: MainWindow) -> tuple[bool, list[str], bytes]:
    docks = window.docks
    shown = [name for name, dock in docks.all.items() if not dock.isHidden()]
    return docks.are_hidden, shown, bytes(docks.layout_state().data())


def _looks(window: MainWindow) -> dict[str, Any]:
    """What is seen in the window, and what the session, its player and the preferences hold."""
    session, state = window.session, window.session.state
    looks: dict[str, Any] = {
        "state": [getattr(state, name) for name in state.__struct_fields__ if name not in ("history", "course", "saved_views")],
        "undone": (len(state.history.entries), state.history.at, session.engines.trust.hashes, session.engines.requested),
        "player": {name: value for name, value in vars(session.player).items() if isinstance(value, bool | float | tuple)},
        "texts": (window.windowTitle(), window.banner.texts, window.model.answers.sentences),
    }
    for name, action in window.menus.all.items():
        if not name.startswith(("view-", "export-")):  # those are completed when their menu opens
            looks[f"action {name}"] = action.isEnabled(), action.isChecked(), action.text()
    for widget in window.findChildren(QWidget):
        if widget.isVisible() and not isinstance(widget, QTabBar):  # Qt keeps those that are empty
            text = widget.text() if isinstance(widget, QLabel | QAbstractButton) else ""
            looks.setdefault(type(widget).__name__, []).append((widget.geometry().getRect(), widget.isEnabled(), text))
    return looks


def settled(window: MainWindow) -> bool:
    """Whether all is known of what is asked for."""
    session, model = window.session, window.model
    shown = session.shown
    is_known = shown is not None and (shown.counts is not None or shown.trace.stop is not None)
    is_busy = model.opening.is_busy or model.course.is_waiting or model.saved_views.is_waiting or session.is_working
    return not is_busy and (is_known or session.completion.is_without_run)


def wait_while(busy: Callable[[], bool]) -> None:
    """Runs the window's loop as long as something is so."""
    end = time.monotonic() + LONG_MS / 1000
    while busy():
        assert time.monotonic() < end, "it doesn't come"
        QApplication.processEvents()
        time.sleep(0.002)
