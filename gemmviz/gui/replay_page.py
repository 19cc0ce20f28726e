"""The stage, and below it the time of a replay."""

from dataclasses import replace
from html import escape

from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QToolTip, QVBoxLayout, QWidget

from gemmviz.analysis.moment import Moment
from gemmviz.gui.desk import Desk
from gemmviz.gui.stage import Stage
from gemmviz.gui.timeline import Timeline
from gemmviz.model.errors import UsageError
from gemmviz.model.words import capital
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.frame import ViewOptions, apology, framed
from gemmviz.scenes.primitives import Hit
from gemmviz.show.made import WAITING
from gemmviz.show.picture import Subject, options_for
from gemmviz.show.session import Session

_STALE = "This is the picture of the settings before: the present ones can't run"
_NOTHING = "These settings can't run"


def over_the_picture(session: Session) -> str:
    """What stands over a picture that is not that of the settings; "" for one that is."""
    if session.error is None or not session.has_time:
        return ""
    return _NOTHING if session.shown is None else _STALE


class ReplayPage(QWidget):
    """Draws the session's moment, and tells the session what is clicked."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk, self.session = desk, desk.session
        self.stage, self.timeline = Stage(), Timeline(desk)
        self._drawn: tuple[object, ViewOptions] | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.stage, 1)
        column.addWidget(self.timeline)
        for event in (self.session.asked, self.session.pictured, self.session.found, desk.themed):
            event.listen(self.draw)
        self.session.moved.listen(self._on_moved)
        for event in (self.session.noticed, self.session.asked):
            event.listen(lambda: self.stage.set_stale(over_the_picture(self.session)))
        self.stage.resized.connect(self.draw)
        self.stage.looked.connect(self.session.look)
        self.stage.lensed.connect(self.session.show_lens)
        self.stage.clicked.connect(self._on_clicked)
        self.stage.hovered.connect(desk.pointer.at)
        desk.pointer.told.listen(self._show_lines)
        desk.released.listen(self.stage.setFocus)

    def _options(self) -> ViewOptions:
        self.stage.set_type_scale(self.session.shot.type_scale)
        self.stage.is_card = not self.session.is_replay
        self.session.frame(self.stage.frame_size)
        stage = self.stage
        options = options_for(self.session.drawn, self.desk.theme, stage.frame_size, stage.clip, stage.unit)
        return replace(options, score=False, flies=self.session.player.flies)

    def draw(self) -> None:
        """The present moment, all of it."""
        subject = self.session.subject
        if subject is None and self.session.missing:
            self._draw_missing()
        if subject is None or self.session.is_benchmark:
            return
        self.timeline.setVisible(self.session.has_time)
        self.stage.set_camera(self.session.shot.camera)
        options, view = self._options(), view_named(self.session.shot.view)
        if isinstance(subject, Moment) and not view.is_ready(subject):
            self._drawn = None
            self.stage.set_scene(framed([], subject, options), ())
            return
        self.stage.lens = self.session.lens
        self._drawn = self._still_of(subject, options)
        self.stage.set_scene(view.still(subject, options), view.motion(subject, options))

    def _draw_missing(self) -> None:
        """Why there is no picture. One that is of the same kind stays until the new one is there."""
        view = view_named(self.session.shot.view)
        is_like = self._drawn is not None and isinstance(self._drawn[0], view.subject)
        if is_like and self.session.missing == WAITING:
            return
        self._drawn = None
        self.timeline.setVisible(self.session.has_time)
        self.stage.set_scene(apology(view.title, self.session.missing, self._options()), ())

    def _on_moved(self) -> None:
        """What doesn't move is drawn anew only where it is another picture."""
        now = self.session.subject
        if now is None or self.session.is_benchmark:
            return
        self.stage.set_camera(self.session.shot.camera)
        options = self._options()
        if self._drawn is not None and self._drawn == self._still_of(now, options):
            self.stage.set_motion(view_named(self.session.shot.view).motion(now, options))
        else:
            self.draw()

    def _still_of(self, subject: Subject, options: ViewOptions) -> tuple[object, ViewOptions]:
        """What the picture without its motion depends on."""
        return subject, replace(options, moment=1.0 if options.arrived else 0.0)

    def _on_clicked(self, hit: Hit) -> None:
        try:
            self.session.point_at(hit)
        except UsageError as error:
            self.session.say(f"{capital(error.message)}: {error.remedy}")

    def _show_lines(self, lines: list[str]) -> None:
        if lines:
            first, *others = map(escape, lines)
            heading = f"<span style='font-weight:600'>{first}</span><br>"
            QToolTip.showText(QCursor.pos(), heading + "<br>".join(others), self.stage)
        else:
            QToolTip.hideText()
