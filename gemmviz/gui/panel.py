"""The definition of a panel, which is shown in a dock of the window."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from PySide6.QtCore import Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from gemmviz.gui.stage.replay_page import has_no_run, over_a_panel
from gemmviz.gui.widgets.refresh import Refresh
from gemmviz.gui.widgets.scene_widget import SceneDock
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.translation import tr
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.scenes.kit.view import ViewOptions, linked_step
from gemmviz.session.spoken import Spoken
from gemmviz.shots.subject import subject_of_view

DockArea = Literal["left", "right", "bottom"]


class Panel(Struct, frozen=True):
    """A panel, defined by a file in ``gemmviz.gui.panels`` that ends with ``PANEL = Panel(...)``. The file's name is its id.

    Panels of one place are its tabs, in their ``order``. ``least_width`` is in pixels. ``scrolls``: whether the widget may be
    higher than the dock. ``tour``: title and text of its caption in the tour.
    """

    title: str
    area: DockArea
    make: Callable[[WindowModel], QWidget]
    order: int = 99
    least_width: int = 0
    scrolls: bool = False
    tour: tuple[str, str] | None = None


# A view in a dock: the picture alone, as wide as the dock.


class ViewDock(SceneDock):
    """A picture that follows the session in one view, independent of the stage: each step at the end of its motion."""

    def __init__(self, model: WindowModel, view: str, what: str) -> None:
        super().__init__(tr(view_named(view).title), tr(what))
        self.model, self.view_name = model, view
        self.words = Spoken(model.session, view)
        self.clicked.connect(self._on_clicked)
        self._refresh = Refresh(self, self.draw)
        session = model.session
        for event in (
            session.shot_changed,
            session.run_changed,
            session.analysis_changed,
            session.position_changed,
            model.theme_changed,
        ):
            event.connect(self._refresh.due)
        for event in (session.notices.changed, session.shot_changed, session.run_changed):
            event.connect(self._follow_messages)
        self.resized.connect(self._refresh.due)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        hit = self.hit(event.position())
        if hit is not None:
            self.clicked.emit(hit)
        else:
            self.explain_at(event.position())

    def _on_clicked(self, hit: Hit) -> None:
        """Follow a link to another step."""
        if linked_step(hit) is not None:
            self.model.commands.click(hit)

    def _follow_messages(self) -> None:
        """Show the message that applies; a picture that it isn't about is removed."""
        session = self.model.session
        if subject_of_view(self.view_name).is_of_run:
            self.set_stale(over_a_panel(session))
        if not self._has_picture:
            self.set_scene(None)

    @property
    def _has_picture(self) -> bool:
        session = self.model.session
        is_of_run = subject_of_view(self.view_name).is_of_run
        return not session.display.refusal and not (is_of_run and (session.shown is None or has_no_run(session)))

    def draw(self) -> None:
        view = view_named(self.view_name)
        subject = self.model.session.display.subject_of(view.subject)
        if subject is not None and self._has_picture:
            counted = self.model.session.display.counted
            width, height = self.frame_size(self.model.session.shot.type_scale)
            options = ViewOptions(self.model.theme, width=width, height=height, words=False, counted=counted)
            self.set_scene(view.scene(subject, options))
