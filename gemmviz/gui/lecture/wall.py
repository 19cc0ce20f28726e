"""The wall: the picture of the moment in full screen with its caption, and the way to the next picture."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct, structs
from PySide6.QtCore import QElapsedTimer, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QColor, QImage, QKeyEvent, QMouseEvent, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QWidget

from gemmviz.gui.lecture.overlay import Overlay, StepMap
from gemmviz.gui.widgets.controls import line, scrolled
from gemmviz.gui.widgets.scene_widget import SceneWidget, announce
from gemmviz.gui.window_model import WindowModel
from gemmviz.gui.worksheet import Worksheet
from gemmviz.model.messages import UsageError, tr
from gemmviz.render.qt.painter import Viewport, font
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.band import Caption, band_height, with_band
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.shapes import magnified
from gemmviz.scenes.kit.transition import PaintLayer, Transition
from gemmviz.scenes.kit.view import ViewOptions, apology
from gemmviz.session.display import WAITING
from gemmviz.session.spoken import Spoken
from gemmviz.shots.picture import frame_for, options_for
from gemmviz.shots.shot import MOST_ZOOM, Camera, Shot
from gemmviz.shots.subject import subject_of_view
from gemmviz.teaching.reel import is_morph, is_next_beat

# The picture on the wall: a scene, or the way from one scene to the next. What doesn't move on that way is painted once and
# kept as pixels, cut to the parts of the screen that it covers.

_WALL_FRAME_MS = 16
_LAYER_GAP = 24  # empty rows of pixels that separate two pieces of a layer
Piece = tuple[QPointF, QPixmap]


class _Journey(Struct):
    """A transition under way, with the pixels of its layers that don't move."""

    transition: Transition
    duration_ms: float
    share: float = 0.0
    has_begun: bool = False
    ground: QPixmap | None = None
    pieces: dict[int, tuple[tuple[Primitive, ...], list[Piece]]] | None = None


class WallPicture(SceneWidget):
    """A picture that can move to the next one. ``arrived`` is emitted at the end of the way."""

    arrived = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self._journey: _Journey | None = None
        self._since = QElapsedTimer()
        self._clock = QTimer(self, interval=_WALL_FRAME_MS, timerType=Qt.TimerType.PreciseTimer)
        self._clock.timeout.connect(self._tick)

    @property
    def is_travelling(self) -> bool:
        return self._journey is not None

    @property
    def whole(self) -> Scene | None:
        """The present scene with what moves in it; None before the first."""
        return self.scene and dataclasses.replace(self.scene, primitives=(*self.scene.primitives, *self.motion))

    def travel(self, transition: Transition, duration_ms: float) -> None:
        """Move to the present scene. The time runs from the first painted frame."""
        self._journey = _Journey(transition, duration_ms, pieces={})
        self._clock.start()
        self.update()

    def finish(self) -> None:
        """Show the present scene at once."""
        if self._journey is not None:
            self._journey = None
            self._clock.stop()
            self.update()
            self.arrived.emit()

    def _tick(self) -> None:
        journey = self._journey
        if journey is not None and journey.has_begun:
            journey.share = self._since.elapsed() / journey.duration_ms
            if journey.share >= 1.0:
                self.finish()
            self.update()

    def _paint(self, painter: QPainter, scene: Scene, area: QRectF, asked: QRect) -> None:
        journey = self._journey
        if journey is None:
            super()._paint(painter, scene, area, asked)
            return
        view = self.view
        layers = journey.transition.at(min(1.0, journey.share))
        if journey.ground is None:
            journey.ground = self._ground(scene)
        painter.drawPixmap(0, 0, journey.ground)
        for layer in layers:
            self._paint_layer(painter, journey, layer, view, area)
        painter.setOpacity(1.0)
        if not journey.has_begun:
            journey.has_begun = True
            self._since.start()

    def _paint_layer(self, painter: QPainter, journey: _Journey, layer: PaintLayer, view: Viewport, area: QRectF) -> None:
        painter.setOpacity(layer.opacity)
        if layer.moves:
            self._painter.paint_over(painter, layer.primitives, view, area)
            return
        assert journey.pieces is not None
        key = id(layer.primitives)
        if key not in journey.pieces:
            journey.pieces[key] = layer.primitives, self._pieces(layer.primitives, view, area)
        for at, pixels in journey.pieces[key][1]:
            painter.drawPixmap(at, pixels)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.finish()
        super().resizeEvent(event)

    def _ground(self, scene: Scene) -> QPixmap:
        ratio = self.devicePixelRatioF()
        pixmap = QPixmap(round(self.width() * ratio), round(self.height() * ratio))
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(QColor(scene.background))
        return pixmap

    def _pieces(self, primitives: tuple[Primitive, ...], view: Viewport, area: QRectF) -> list[Piece]:
        """Return the pixels of primitives as few rectangles without large empty parts."""
        ratio = self.devicePixelRatioF()
        image = QImage(round(self.width() * ratio), round(self.height() * ratio), QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(ratio)
        image.fill(Qt.GlobalColor.transparent)
        brush = QPainter(image)
        self._painter.paint_over(brush, primitives, view, area)
        brush.end()
        return [(QPointF(box.x() / ratio, box.y() / ratio), QPixmap.fromImage(image.copy(box))) for box in covered(image)]


def covered(image: QImage) -> list[QRect]:
    """Return rectangles that hold all that isn't transparent in an image, one for each group of rows."""
    height, width = image.height(), image.width()
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(height, image.bytesPerLine() // 4)[:, :width]
    rows = np.flatnonzero(pixels.any(axis=1))
    if not len(rows):
        return []
    ends = np.flatnonzero(np.diff(rows) > _LAYER_GAP)
    found = []
    for first, last in zip([rows[0], *rows[ends + 1]], [*rows[ends], rows[-1]], strict=True):
        columns = np.flatnonzero(pixels[first : last + 1].any(axis=0))
        left, right = int(columns[0]), int(columns[-1])
        found.append(QRect(left, int(first), right - left + 1, int(last - first) + 1))
    return found


_BEAT_MS, _MORPH_MS, _FADE_MS = 800.0, 800.0, 600.0
_WAY_MS, _SHORT_BEAT_MS = 350.0, 550.0  # the way to a picture of another moment, and then its beat
_WIDE = 1.5  # width of a screen per height, from which on notes are beside the picture, not below it
_NOTES_WIDE, _NOTES_HIGH = 0.28, 0.25  # shares of the screen that notes take beside and below the picture
_NOTES_TEXT, _LEAST_NOTES_TEXT, _SMALLER_NOTES = 0.026, 0.018, 0.94  # shares of the screen's height; what long notes shrink by


class _PictureKey(Struct, frozen=True):
    """What a picture is of: the part of a lesson, the shot, the value that its view draws, and the caption."""

    place: tuple[int | None, int]
    shot: Shot
    subject: Any
    caption: Caption


class Wall(QWidget):
    """The full-screen window.

    Signals: ``pressed`` with a key event, ``closed`` when the window is closed.
    """

    pressed = Signal(object)
    closed = Signal()

    def __init__(self, model: WindowModel) -> None:
        super().__init__(None, Qt.WindowType.Window | Qt.WindowType.FramelessWindowHint)
        self.model, self.session = model, model.session
        self.setWindowTitle(tr("gemmviz: lecture"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.stage = WallPicture(tr("Lecture"), self)
        self.stage.words = Spoken(model.session)
        self.overlay = Overlay(self)
        self.overlay.circled.connect(self._on_circled)
        self.notes = line()
        self.notes.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._notes_area = scrolled(self.notes, tr("Notes"))
        self._notes_area.setParent(self)
        self._notes_area.setFrameShape(QFrame.Shape.StyledPanel)
        self._notes_area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._notes_area.hide()
        self.overlay.raise_()
        self.worksheet = Worksheet(model, self.stage)
        self.stage.setMouseTracking(False)  # cells are pointed at with the tools of the lecture
        self.stage.arrived.connect(self._on_arrived)
        self.map: StepMap | None = None
        self._drawn: tuple[object, ViewOptions, Caption] | None = None
        self._last: _PictureKey | None = None
        self._moves_next = False  # whether the next part arrives in motion
        self._settling = QTimer(self, singleShot=True, interval=0)  # one picture for all signals of one change
        self._settling.timeout.connect(self._arrive)

    def options(self, shot: Shot, caption: Caption) -> ViewOptions:
        """Return the options of a slide in the format of the screen, with space for the caption."""
        (width, height), scale = frame_for(shot, self.stage.width(), self.stage.height())
        whole, size = structs.replace(shot, camera=Camera()), (width, height - band_height(caption, width, height))
        options = options_for(whole, self.model.theme, size, scale=scale * self.devicePixelRatioF() * shot.camera.zoom)
        player, display = self.session.player, self.session.display
        return structs.replace(
            options, buttons=False, shows_flights=player.shows_flights, counted=display.counted, facts=caption.facts
        )

    # The map of all steps

    def open_map(self, jump: Callable[[int], None]) -> None:
        """Show all steps of the lesson; ``jump`` is called with the index of the chosen one."""
        self.map = StepMap(self.model, self)
        self._place()
        self.map.chosen.connect(jump)
        self.map.show()
        self.map.setFocus()
        self.overlay.raise_()

    def close_map(self) -> None:
        if self.map is not None:
            self.map.hide()
            self.map.deleteLater()
            self.map = None
            self.setFocus()

    def focusNextPrevChild(self, following: bool) -> bool:
        """Leave Tab to the lecture."""
        return False

    # Motion

    @property
    def is_waiting(self) -> bool:
        """Whether the picture of the present part isn't there yet."""
        lesson, last = self.model.active_lesson, self._last
        has_left = self._moves_next and last is not None and last.place != (lesson.at, lesson.part)
        return bool(self._pending) or has_left

    @property
    def is_moving(self) -> bool:
        """Whether the motion of the present part is under way."""
        return self.stage.is_travelling or self.session.player.beat is not None

    def move_next(self) -> None:
        """Let the next part that is shown arrive in motion, unless motion is switched off."""
        self._moves_next = self._has_motion and self._last is not None

    @property
    def _has_motion(self) -> bool:
        return self.session.player.is_animated and not self.session.player.is_calm

    def play_beat(self) -> None:
        """Play the present step from its beginning, unless motion is switched off."""
        if self._has_motion:
            self.session.player.rewind()
            self.session.player.start_beat(_BEAT_MS)

    def finish(self) -> None:
        """Show the end of the motion at once."""
        self._moves_next = False
        self.stage.finish()
        self.session.player.finish_beat()

    def _arrive(self) -> None:
        """Begin the way from the last picture to the present one, and prepare the beat that follows it."""
        last, before, now = self._last, self.stage.whole, self._now()
        if not self._moves_next or now is None or last is None or before is None:
            self.draw()
            return
        self._moves_next, self._last = False, now
        kind, player = subject_of_view(now.shot.view), self.session.player
        has_beat = kind.time == "launch" or (view_named(now.shot.view).moves and now.shot.moment == 1.0)
        if has_beat:
            player.rewind(0.0 if kind.time == "launch" else None)  # draws the beginning of the beat
        self.draw()
        if has_beat and is_next_beat(last.shot, now.shot):
            player.start_beat(_BEAT_MS)
            return
        morphs, after = is_morph(last.shot, now.shot), self.stage.whole
        assert after is not None
        self.stage.travel(Transition(before, after, morphs), _WAY_MS if has_beat else _MORPH_MS if morphs else _FADE_MS)

    def _on_arrived(self) -> None:
        self.session.player.start_beat(_SHORT_BEAT_MS)

    # Drawing

    @property
    def _pending(self) -> str:
        """What the present picture waits for, "" if it is there."""
        return self.session.display.pending or (tr(WAITING) if self.model.active_lesson.is_waiting else "")

    def _now(self) -> _PictureKey | None:
        """Return the present picture; None until it can be drawn."""
        session, lesson = self.session, self.model.active_lesson
        subject = None if self._pending else session.display.subject
        if subject is None or not view_named(session.shot.view).is_ready(subject):
            return None
        return _PictureKey((lesson.at, lesson.part), session.display.drawn, subject, self._caption)

    def draw(self) -> None:
        """Draw the current moment. Until the picture and the numbers of a step are ready, keep the last picture and show that
        work is going on.
        """
        self.stage.set_pending(self._pending)
        if not self.stage.isVisible():
            return
        now, last = self._now(), self._last
        if now is None:
            if self._pending and last is not None:
                self._draw(last)
            elif self.session.display.missing:
                self._apologise()
        elif self._moves_next and last is not None and now.place != last.place:
            self._settling.start()
        else:
            if last is None or last.caption != now.caption:
                announce(self.stage, ". ".join(filter(None, (now.caption.caption, *now.caption.choices))))
            self._last = now
            self._draw(now)

    def _apologise(self) -> None:
        """Say why there is no picture."""
        self._drawn = None
        title, options = tr(view_named(self.session.shot.view).title), self.options(self.session.display.drawn, self._caption)
        self.stage.set_scene(apology(title, self.session.display.missing, options), ())

    def _draw(self, picture: _PictureKey) -> None:
        shot, subject, caption = picture.shot, picture.subject, picture.caption
        options, view = self.options(shot, caption), view_named(shot.view)
        drawn = subject, structs.replace(options, moment=1.0 if options.arrived else 0.0), caption
        high = frame_for(shot, self.stage.width(), self.stage.height())[0][1]
        motion = Scene(options.width, options.height, "", view.motion(subject, options))
        if self._drawn is not None and self._drawn == drawn and shot.camera == Camera():
            self.stage.set_motion(motion.primitives)
            return
        self._drawn = drawn
        still = with_band(_through_camera(view.still(subject, options), shot.camera), caption, high, options.theme)
        self.stage.set_scene(still, _through_camera(motion, shot.camera).primitives)
        self.worksheet.place(round(options.height * self.stage.height() / high))

    @property
    def _caption(self) -> Caption:
        """The caption of the saved view that is shown, with its number; empty after the picture was changed."""
        lesson = self.model.active_lesson
        caption, count = lesson.said, len(lesson.lesson.steps)
        if caption.is_empty or lesson.at is None:
            return caption
        return structs.replace(caption, place=lesson.at, count=count)

    def _on_circled(self, box: QRectF) -> None:
        """Zoom to the circled part."""
        camera, width, height = self.session.shot.camera, self.stage.width(), self.stage.height()
        left, top = camera.x - 0.5 / camera.zoom, camera.y - 0.5 / camera.zoom
        x, y = left + box.center().x() / width / camera.zoom, top + box.center().y() / height / camera.zoom
        nearer = min(width / box.width(), height / box.height())
        self.session.navigation.look(Camera(min(MOST_ZOOM, camera.zoom * nearer), max(0.0, min(1.0, x)), max(0.0, min(1.0, y))))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.pressed.emit(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Follow the thread of the clicked cell, as on the stage."""
        hit = self.stage.hit(event.position()) if self.session.shot.camera == Camera() else None
        if hit is not None:
            try:
                self.model.commands.click(hit)
            except UsageError as error:
                self.session.say(error.message)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()

    def show_notes(self, text: str) -> None:
        """Show notes beside or below the picture, which gets the rest of the window; "" removes them."""
        if text != self.notes.text():
            self.notes.setText(text)
            self._notes_area.setVisible(bool(text))
            self._place()

    def _place(self) -> None:
        """Place the notes, the picture and the map in the room that they leave, and the overlay over everything."""
        room = rest = self.rect()
        if self.notes.text() and room.width() >= _WIDE * room.height():
            room = room.adjusted(0, 0, -round(_NOTES_WIDE * room.width()), 0)
            rest = rest.adjusted(room.width(), 0, 0, 0)
        elif self.notes.text():
            room = room.adjusted(0, 0, 0, -round(_NOTES_HIGH * room.height()))
            rest = rest.adjusted(0, room.height(), 0, 0)
        self.overlay.setGeometry(self.rect())
        self.stage.setGeometry(room)
        self._notes_area.setGeometry(rest)
        self._fit_notes(rest)
        if self.map is not None:
            self.map.setGeometry(room)
            self.map.select(self.map.currentRow())

    def _fit_notes(self, room: QRect) -> None:
        """Make long notes smaller, until they fit in their room or scroll."""
        size = _NOTES_TEXT * self.height()
        self.notes.setMargin(round(size))
        self.notes.setFont(font("regular", size))
        while size > _LEAST_NOTES_TEXT * self.height() and self.notes.heightForWidth(room.width()) > room.height():
            size *= _SMALLER_NOTES
            self.notes.setFont(font("regular", size))

    def closeEvent(self, event: QCloseEvent) -> None:
        self.closed.emit()


def _through_camera(scene: Scene, camera: Camera) -> Scene:
    return magnified(scene, camera.zoom, camera.x, camera.y)
