"""The page with the stage, and the timeline of the replay below it."""

from html import escape
from typing import Any

from msgspec import structs
from PySide6.QtCore import QObject, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QMouseEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QToolTip, QVBoxLayout, QWidget

from gemmviz.gui.timeline import TileSlider, TimelineBar
from gemmviz.gui.widgets.controls import is_covered
from gemmviz.gui.widgets.scene_widget import AnswerBubble, SceneWidget, announce
from gemmviz.gui.window_model import WindowModel
from gemmviz.gui.worksheet import Worksheet
from gemmviz.model.messages import UsageError, capital, marked, tr
from gemmviz.render.qt.painter import Viewport
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Button, Hit, Scene
from gemmviz.scenes.kit.view import ARRIVAL, ViewOptions, apology, framed
from gemmviz.scenes.kit.window import Lens
from gemmviz.session.session import Session
from gemmviz.session.spoken import Spoken
from gemmviz.shots.knowledge import Context
from gemmviz.shots.picture import options_for
from gemmviz.shots.shot import MOST_ZOOM, Camera, Shot
from gemmviz.shots.subject import subject_of_view

_DRAG_PIXELS = 4.0
# Pixels per unit of a frame: text keeps its size in a small window and grows with a large one. The scale follows the side that
# limits a square cross beside its text, so that a larger window never makes the cross smaller.
_CARD_WIDTH, _CARD_HEIGHT = 1240.0, 800.0
_LEAST_SCALE, _SHARE, _LIMITING_WIDTH, _LIMITING_HEIGHT = 0.54, 0.85, 1240.0, 900.0


class Stage(SceneWidget):
    """The interactive picture.

    Signals: ``looked`` with the requested Camera, ``lensed`` with the requested lens.
    """

    looked = Signal(object)
    lensed = Signal(str)

    def __init__(self) -> None:
        super().__init__(tr("Stage"))
        self.setMinimumSize(320, 200)
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleDescription(tr("The replay. Wheel to zoom, drag to pan, F to fit, click a cell to follow its thread"))
        self.camera = Camera()
        self._type_scale = 1.0
        self.is_card = False  # whether it shows text and figures, which need a frame as large as a slide
        self.lens: Lens = "auto"  # which of the two is shown; "auto" if they are the same
        self._grabbed: QPointF | None = None
        self._dragged = 0.0

    def set_camera(self, camera: Camera) -> None:
        """Set the part of the picture that is visible."""
        if camera != self.camera:
            self.camera = camera
            self.forget_still()
            self.tables.changed()

    @property
    def view(self) -> Viewport:
        assert self.scene is not None
        return self._view_of(self.scene.width, self.scene.height, self.camera)

    def _view_of(self, width: float, height: float, camera: Camera) -> Viewport:
        scale = min(self.width() / width, self.height() / height) * camera.zoom
        dx = self.width() / 2 - camera.x * width * scale
        dy = self.height() / 2 - camera.y * height * scale
        return Viewport(scale, dx, dy, self.devicePixelRatioF(), camera.zoom)

    def zoom_by(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom around the position ``at`` in pixels, by default the middle."""
        at = at or QPointF(self.width() / 2, self.height() / 2)
        camera, (width, height) = self.camera, self.frame_size
        zoom = min(MOST_ZOOM, max(1.0, camera.zoom * factor))
        if zoom == 1.0:
            self.looked.emit(Camera())
            return
        before = self._view_of(width, height, camera)
        x, y = (at.x() - before.dx) / before.scale, (at.y() - before.dy) / before.scale
        scale = before.scale * zoom / camera.zoom
        middle_x, middle_y = x + (self.width() / 2 - at.x()) / scale, y + (self.height() / 2 - at.y()) / scale
        self.looked.emit(Camera(zoom, _limited_share(middle_x / width), _limited_share(middle_y / height)))

    @property
    def clip(self) -> tuple[float, float, float, float]:
        """The visible part (x, y, width, height) of a frame of ``frame_size``, in its units."""
        view = self._view_of(*self.frame_size, self.camera)
        return -view.dx / view.scale, -view.dy / view.scale, self.width() / view.scale, self.height() / view.scale

    @property
    def frame_size(self) -> tuple[float, float]:
        """Width and height of a frame that fills the widget, in units that keep text readable."""
        if self.is_card:
            scale = min(self.width() / _CARD_WIDTH, self.height() / _CARD_HEIGHT) * self._type_scale
            return max(1, round(self.width() / scale)), max(1, round(self.height() / scale))
        fitting = _SHARE * min(self.width() / _LIMITING_WIDTH, self.height() / _LIMITING_HEIGHT)
        scale = max(_LEAST_SCALE, fitting) * self._type_scale
        return max(1, round(self.width() / scale)), max(1, round(self.height() / scale))

    def set_type_scale(self, scale: float) -> None:
        """Set the scale of text; 1 is the default size."""
        self._type_scale = scale

    @property
    def unit(self) -> float:
        """Device pixels of a unit."""
        return self.width() * self.devicePixelRatioF() / self.frame_size[0]

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom from the whole to the lens and further in, and back the same way."""
        turned = event.angleDelta().y()
        if self.camera == Camera() and self.lens == ("lens" if turned < 0 else "whole"):
            self.lensed.emit("whole" if turned < 0 else "lens")
            return
        self.zoom_by(2 ** (event.angleDelta().y() / 240), event.position())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._grabbed, self._dragged = event.position(), 0.0
            self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grabbed is None:
            super().mouseMoveEvent(event)
            return
        if self._drag_value(event.position()):
            return
        moved = event.position() - self._grabbed
        self._dragged += abs(moved.x()) + abs(moved.y())
        if self._dragged > _DRAG_PIXELS:
            (width, height), camera = self.frame_size, self.camera
            view = self._view_of(width, height, camera)
            x = camera.x - moved.x() / (view.scale * width)
            y = camera.y - moved.y() / (view.scale * height)
            self._grabbed = event.position()
            self.looked.emit(structs.replace(camera, x=_limited_share(x), y=_limited_share(y)))

    def _drag_value(self, at: QPointF) -> bool:
        """Drag a value along a curve and return True; False if the pointer is on something else."""
        hit = self.hit(at)
        button = None if hit is None else hit.cells.meaning
        if not isinstance(button, Button) or button.action != "value":
            return False
        self._dragged = 0.0
        self.clicked.emit(hit)
        return True

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        clicked = self._grabbed is not None and self._dragged <= _DRAG_PIXELS
        self._grabbed = None
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        if not clicked or event.button() != Qt.MouseButton.LeftButton:
            return
        hit = self.hit(event.position())
        if hit is not None:
            self.clicked.emit(hit)
        else:
            self.explain_at(event.position())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.hit(event.position()) is None:
            self.looked.emit(Camera())


def _limited_share(share: float) -> float:
    """Limit a share to 0 … 1, so that a part of the frame stays visible."""
    return max(0.0, min(share, 1.0))


# Says aloud what happens at the step that is shown, through the screen reader in use.

_REST_MS = 250  # a step that is passed sooner is not announced: nobody can follow a replay that is read aloud


class StepAnnouncer(QObject):
    """Announces each step of a session at which it rests, with the sentence that the picture has for it."""

    def __init__(self, stage: QWidget, session: Session) -> None:
        super().__init__(stage)
        self._stage, self._words = stage, Spoken(session)
        self._last_sentence = ""
        self._rest = QTimer(self, singleShot=True, interval=_REST_MS)
        self._rest.timeout.connect(self._say)
        for event in (session.position_changed, session.run_changed):
            event.connect(self._on_moved)

    def _on_moved(self) -> None:
        if QAccessible.isActive():
            self._rest.start()

    def _say(self) -> None:
        sentence = self._words.step()
        if sentence and sentence != self._last_sentence:
            self._last_sentence = sentence
            announce(self._stage, sentence)


_STALE = marked("This picture shows the previous settings. The current ones can't run")
_LEAST_HEIGHT = 440  # pixels: of a page with the tile slider
NO_RUN = marked("The view that is shown needs no run of a kernel")
_CANNOT_RUN = marked("These settings can't run")


def over_the_picture(session: Session) -> str:
    """Return the message over a picture that does not match the settings, "" if it does."""
    if session.error is None or not session.display.has_time:
        return ""
    return tr(_CANNOT_RUN) if session.shown is None else tr(_STALE)


def fits_settings(session: Session) -> bool:
    """Return whether the run that panels hold is that of the settings: beside a picture that needs no run, and after a file was
    refused, it is the run before.
    """
    return not (has_no_run(session) or session.display.refusal or over_the_picture(session))


def has_no_run(session: Session) -> bool:
    """Return whether the picture needs no run, and the run that panels hold is one of other settings."""
    shown = session.shown
    return not session.display.kind.needs_run and (shown is None or shown.setup != session.shot.setup)


class ReplayPage(QWidget):
    """The picture of the session's moment. Clicks on it are passed to the session."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model, self.session = model, model.session
        self.stage, self.tiles = Stage(), TileSlider(model, self)
        self.timeline = TimelineBar(model, self.tiles)
        self._drawn: tuple[object, ViewOptions] | None = None
        self._last: tuple[Shot, Any] | None = None
        self._ahead: tuple[tuple[object, ViewOptions], Scene] | None = None  # the next picture
        self._is_prepared = False
        self._idle = QTimer(self, singleShot=True, interval=0)
        self._idle.timeout.connect(self._prepare)
        self.stage.painted.connect(self._on_painted)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.stage, 1)
        column.addWidget(self.timeline)
        for event in (self.session.shot_changed, self.session.run_changed, self.session.analysis_changed, model.theme_changed):
            event.connect(self.draw)
        self.session.position_changed.connect(self._on_moved)
        for event in (self.session.notices.changed, self.session.shot_changed):
            event.connect(lambda: self.stage.set_stale(over_the_picture(self.session)))
        self.stage.words = Spoken(self.session)
        self._announcer = StepAnnouncer(self.stage, self.session)
        self.stage.resized.connect(self.draw)
        self.stage.looked.connect(self.session.navigation.look)
        self.stage.lensed.connect(self.model.commands.show_lens)
        self.stage.clicked.connect(self._on_clicked)
        self.stage.hovered.connect(model.pointer.at)
        model.pointer.lines_changed.connect(self._show_lines)
        self.worksheet = Worksheet(model, self.stage)
        model.course.changed.connect(self._place_worksheet)
        self.stage.resized.connect(self._place_worksheet)
        self.answer = AnswerBubble(self.stage)
        self.answer.close_button.clicked.connect(self._on_answer_closed)
        model.answers.changed.connect(lambda: self.answer.show_sentences(model.answers.sentences))
        self.stage.resized.connect(self.answer.place)
        model.released.connect(lambda: self.stage.setFocus())
        model.released.connect(self.draw)
        model.source_shown.connect(self.draw)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.tiles.set_fits(self.height() >= _LEAST_HEIGHT)
        self.timeline.slider.set_low(self.height() < _LEAST_HEIGHT)

    def _options(self, shot: Shot | None = None) -> ViewOptions:
        """Return the options for a shot, by default the session's own."""
        shot = shot or self.session.display.drawn
        self.stage.set_type_scale(shot.type_scale)
        self.stage.is_card = not subject_of_view(shot.view).is_of_run
        stage, statement = self.stage, not self.model.shows_source
        self.session.navigation.set_frame(stage.frame_size, timeline=False, statement=statement)
        options = options_for(shot, self.model.theme, stage.frame_size, stage.clip, stage.unit)
        counted, facts = self.session.display.counted, self.model.course.words.facts
        return structs.replace(
            options,
            timeline=False,
            shows_flights=self.session.player.shows_flights,
            counted=counted,
            facts=facts,
            statement=statement,
        )

    def draw(self) -> None:
        """Draw the current moment. While a requested picture is being prepared, the last one stays. Nothing is drawn while the
        lecture covers the window.
        """
        if is_covered(self):
            return
        pending = self.session.display.pending
        self.stage.set_pending(pending)
        if pending and self._drawn is not None:
            self._draw_last()
            return
        subject = self.session.display.subject
        if subject is None and self.session.display.missing:
            self._draw_missing()
        if subject is None or self.session.display.is_benchmark:
            return
        self.timeline.setVisible(self.session.display.has_time)
        self.stage.set_camera(self.session.shot.camera)
        options, view = self._options(), view_named(self.session.shot.view)
        if not view.is_ready(subject):
            self._drawn = None
            self.stage.set_scene(framed([], subject, options), ())
            return
        self.stage.lens = self.session.display.lens
        drawn = self._still_of(subject, options)
        is_prepared = self._ahead is not None and self._ahead[0] == drawn
        still = self._ahead[1] if self._ahead is not None and is_prepared else view.still(subject, options)
        is_same = drawn == self._drawn
        self._drawn, self._last, self._is_prepared = drawn, (self.session.display.drawn, subject), False
        if not is_same:
            self._ahead = None
        self.stage.set_scene(still, view.motion(subject, options))
        self._place_worksheet()
        if is_same:
            self._idle.start()  # if nothing differs, nothing is painted

    def _place_worksheet(self) -> None:
        self.worksheet.place(self.stage.height())

    def _on_painted(self) -> None:
        """Prepare the next picture once the present one is on the screen."""
        if self._drawn is not None and not self._is_prepared:
            self._idle.start()

    def _prepare(self) -> None:
        """Build the picture that is shown next if nobody intervenes; when called again, paint a part of it."""
        if self._ahead is not None:
            self._is_prepared = not self.stage.prepare(self._ahead[1])
            if not self._is_prepared:
                self._idle.start()
            return
        session, kind, reader = self.session, self.session.display.kind, self.session.completion.reading.reader
        at = self._following()
        is_known = reader is not None and reader.replay.knows_terms(reader.scope)  # a moment keeps what is known
        is_shown = kind.is_of_run and not session.display.pending and session.state.counting == "shown"
        if at is None or reader is None or not (is_known and is_shown):
            self._is_prepared = True
            return
        shot, known = structs.replace(session.display.drawn, moment=at[1]), session.display.known
        subject, options = kind.value(known, Context(known, reader.at(at[0]))), self._options(shot)
        if view_named(shot.view).is_ready(subject):
            view_named(shot.view).motion(subject, options)  # what it computes once for each step
            self._ahead = self._still_of(subject, options), view_named(shot.view).still(subject, options)
            self._idle.start()
        else:
            self._is_prepared = True

    def _following(self) -> tuple[int, float] | None:
        """Return the step and the moment at which the next picture begins; None if the replay runs too fast for it."""
        player, at = self.session.player, self.session.navigation
        if player.is_playing and not player.shows_flights:
            return None
        has_arrived, is_backwards = at.moment >= ARRIVAL, player.is_playing and player.is_backwards
        if has_arrived == is_backwards:
            return at.step, 0.0 if is_backwards else 1.0
        step = (at.step - 1 if is_backwards else at.step + 1) % max(1, at.steps)
        return step, 1.0 if is_backwards or not player.is_animated else 0.0

    def _draw_last(self) -> None:
        """Draw the last picture again, at the current size and in the current colours."""
        assert self._last is not None
        shot, subject = self._last
        options = self._options(shot)
        drawn = self._still_of(subject, options)
        if drawn != self._drawn:
            self._drawn, view = drawn, view_named(shot.view)
            self.stage.set_scene(view.still(subject, options), view.motion(subject, options))

    def _draw_missing(self) -> None:
        """Show why there is no picture."""
        view = view_named(self.session.shot.view)
        self._drawn = None
        self.timeline.setVisible(self.session.display.has_time)
        self.stage.set_scene(apology(tr(view.title), self.session.display.missing, self._options()), ())

    def _on_moved(self) -> None:
        """Redraw the still part only if it has changed."""
        if is_covered(self):
            return
        now = self.session.display.subject
        if now is None or self.session.display.is_benchmark or self.session.display.pending:
            return
        self.stage.set_camera(self.session.shot.camera)
        options = self._options()
        if self._drawn is not None and self._drawn == self._still_of(now, options):
            self.stage.set_motion(view_named(self.session.shot.view).motion(now, options))
        else:
            self.draw()

    def _still_of(self, subject: Any, options: ViewOptions) -> tuple[object, ViewOptions]:
        """Return what the still part of the picture depends on."""
        return subject, structs.replace(options, moment=1.0 if options.arrived else 0.0)

    def _on_clicked(self, hit: Hit) -> None:
        """Pass a click to the session, and answer what a matrix, a tile or a block moves."""
        self.answer.set_place(hit)
        self.model.answers.ask(hit)
        try:
            self.model.commands.click(hit)
        except UsageError as error:
            self.session.say(f"{capital(error.message)}: {error.remedy}")

    def ask_about_block(self) -> None:
        """Answer what the watched block moves, in the middle of the stage."""
        self.answer.set_place(None)
        self.model.answers.ask_about_block()

    def _on_answer_closed(self) -> None:
        self.model.answers.clear()
        self.stage.setFocus()

    def _show_lines(self, lines: list[str]) -> None:
        if lines and self.answer.isHidden():
            first, *others = map(escape, lines)
            heading = f"<span style='font-weight:600'>{first}</span><br>"
            QToolTip.showText(self.stage.tip_place, heading + "<br>".join(others), self.stage)
        else:
            QToolTip.hideText()
