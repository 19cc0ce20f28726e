"""The start of the window: the picture plays beside the lessons, without the other panels, until something is chosen."""

from collections.abc import Callable

from msgspec import structs
from PySide6.QtWidgets import QHBoxLayout

from gemmviz.gui.shelf import StartPanel
from gemmviz.gui.window.docks import Docks
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.setup import Setup
from gemmviz.shots.runs import RequestedSizes
from gemmviz.shots.shot import default_shot


class StartMode:
    """The start panel of a window, in ``row`` beside the picture. ``on_explore`` is called when it is left to explore."""

    def __init__(self, model: WindowModel, docks: Docks, row: QHBoxLayout, on_explore: Callable[[], None]) -> None:
        self.model, self.docks, self._row, self._on_explore = model, docks, row, on_explore
        self.panel: StartPanel | None = None  # created on first use: a window that restores a session needs none
        self._shown: tuple[Setup, str] | None = None  # setup and view when it began
        model.course.changed.connect(self._on_course)
        model.opening.opened.connect(self.leave)

    @property
    def is_on(self) -> bool:
        return self.panel is not None and not self.panel.isHidden()

    def begin(self) -> None:
        """Show the start panel in place of the docks; an open lesson is closed."""
        if self.is_on:
            return
        if self.model.course.lesson.steps:
            self.model.course.end()
        if self.panel is None:
            self.panel = StartPanel(self.model)
            self.panel.explore.clicked.connect(self.explore)
            self._row.addWidget(self.panel, 2)
        shot = self.model.session.shot
        self._shown = shot.setup, shot.view
        self.docks.hide(True)
        self.panel.show()

    def choose(self) -> None:
        """Show the start panel beside a replay, with the keyboard on its first card."""
        display = self.model.session.display
        if not (display.is_replay and display.has_time):
            self.model.commands.show_view("stage")
        self.begin()
        assert self.panel is not None
        self.panel.shelf.shown[0].setFocus()

    def leave(self, *_: object) -> None:
        """Show the docks again."""
        if self.is_on and self.panel is not None:
            self.panel.hide()
            self.docks.hide(False)
            self.model.released.emit()

    def explore(self) -> None:
        """Show the tiled multiplication, for changes."""
        self.leave()
        self.show_first()
        self._on_explore()

    def show_first(self) -> None:
        """Show the tiled multiplication, unless a replay of it is shown."""
        session, first = self.model.session, default_shot()
        if session.shot.setup.kernel.name != first.setup.kernel.name or not session.display.is_replay:
            self.model.opening.forget_file()
            shot = structs.replace(first, theme=session.shot.theme, type_scale=session.shot.type_scale)
            session.show(shot, RequestedSizes.of(first.setup))

    def follow_shot(self) -> None:
        """Leave when another kernel or view is shown; sizes may be tried beside the cards."""
        shot = self.model.session.shot
        if self.is_on and self._shown is not None:
            setup, view = self._shown
            if (setup.kernel, view) != (shot.setup.kernel, shot.view):
                self.leave()

    def _on_course(self) -> None:
        if self.model.course.is_on:
            self.leave()
