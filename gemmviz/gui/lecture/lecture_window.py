"""The lecture: the picture alone in full screen, controlled by the keys of presenter remotes, with a presenter view."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QKeyEvent, QMouseEvent, QResizeEvent, QScreen
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from gemmviz.gui.lecture.awake import Awake
from gemmviz.gui.lecture.overlay import Overlay
from gemmviz.gui.lecture.presenter import Presenter
from gemmviz.gui.widgets.scene_widget import SceneWidget
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.errors import UsageError
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.band import Caption, band_height, with_band
from gemmviz.scenes.kit.frame import ViewOptions, apology
from gemmviz.scenes.kit.magnify import magnified
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.state.shot import MOST_ZOOM, Camera, Shot
from gemmviz.subjects.cache import WAITING
from gemmviz.subjects.picture import frame_for, options_for

_QUESTION_S = 60
KEYS = (
    ("Space", "play, pause"), ("← →", "one step"), ("Page Up, Page Down", "previous, next saved view or phase"),
    ("B or .", "black"), ("W or ,", "white"), ("S", "spotlight"), ("I, E", "ink, erase"),
    ("Z, F", "zoom to a circle, show all"), ("Q, Shift+Q", "one-minute timer, stop it"),
    ("P", "presenter view"), ("F1 or H", "show these keys"), ("Esc", "end"),
)  # fmt: skip


class Wall(QWidget):
    """The full-screen window.

    Signals: ``pressed`` with a key event, ``closed`` when the window is closed, ``resized`` after a change of size.
    """

    pressed = Signal(object)
    closed = Signal()
    resized = Signal()

    def __init__(self, model: WindowModel) -> None:
        super().__init__(None, Qt.WindowType.Window | Qt.WindowType.FramelessWindowHint)
        self.model, self.session = model, model.session
        self.setWindowTitle("gemmviz: lecture")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.stage = SceneWidget("Lecture", self)
        self.overlay = Overlay(self)
        self.overlay.circled.connect(self._on_circled)
        self.overlay.raise_()
        self._drawn: tuple[object, ViewOptions, Caption] | None = None
        self._last: tuple[Shot, Any, Caption] | None = None

    def options(self, shot: Shot, caption: Caption) -> ViewOptions:
        """Return the options of a slide in the format of the screen, with space for the caption."""
        (width, height), scale = frame_for(shot, self.width(), self.height())
        whole, size = replace(shot, camera=Camera()), (width, height - band_height(caption, width, height))
        options = options_for(whole, self.model.theme, size, scale=scale * self.devicePixelRatioF() * shot.camera.zoom)
        return replace(options, shows_flights=self.session.player.shows_flights, counted=self.session.display.counted)

    def draw(self) -> None:
        """Draw the current moment. Until the picture and the numbers of a step are ready, keep the last picture and show that
        work is going on.
        """
        pending = self.session.display.pending or (WAITING if self.model.active_lesson.is_waiting else "")
        self.stage.set_pending(pending)
        if pending and self._last is not None and self.isVisible():
            self._draw(*self._last)
            return
        subject = self.session.display.subject
        if subject is None and self.isVisible() and self.session.display.missing:
            self._drawn = None
            title, options = view_named(self.session.shot.view).title, self.options(self.session.display.drawn, self._caption)
            self.stage.set_scene(apology(title, self.session.display.missing, options), ())
        if subject is not None and self.isVisible() and view_named(self.session.shot.view).is_ready(subject):
            self._last = self.session.display.drawn, subject, self._caption
            self._draw(*self._last)

    def _draw(self, shot: Shot, subject: Any, caption: Caption) -> None:
        options, view = self.options(shot, caption), view_named(shot.view)
        drawn = subject, replace(options, moment=1.0 if options.arrived else 0.0), caption
        high = frame_for(shot, self.width(), self.height())[0][1]
        motion = Scene(options.width, options.height, "", view.motion(subject, options))
        if self._drawn is not None and self._drawn == drawn and shot.camera == Camera():
            self.stage.set_motion(motion.primitives)
            return
        self._drawn = drawn
        still = with_band(_near(view.still(subject, options), shot.camera), caption, high, options.theme)
        self.stage.set_scene(still, _near(motion, shot.camera).primitives)

    @property
    def _caption(self) -> Caption:
        """The caption of the saved view that is shown, with its number; empty after the picture was changed."""
        lesson = self.model.active_lesson
        caption, count = lesson.said, len(lesson.lesson.stops)
        if caption.is_empty or lesson.at is None:
            return caption
        return replace(caption, title=f"{lesson.at + 1} of {count}   {caption.title}")

    def _on_circled(self, box: QRectF) -> None:
        """Zoom to the circled part."""
        camera, width, height = self.session.shot.camera, self.width(), self.height()
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
        for widget in (self.stage, self.overlay):
            widget.setGeometry(self.rect())
        self.resized.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.closed.emit()


def _near(scene: Scene, camera: Camera) -> Scene:
    return magnified(scene, camera.zoom, camera.x, camera.y)


class Lecture:
    """The lecture of a window: begins, ends and handles keys. It moves to another screen if its own is disconnected."""

    def __init__(self, window: QMainWindow, model: WindowModel) -> None:
        self.window, self.model = window, model
        self.wall: Wall | None = None
        self.presenter: Presenter | None = None
        self._awake = Awake()
        self._with_notes = False
        session = model.session
        for event in (
            session.shot_changed,
            session.run_changed,
            session.analysis_changed,
            session.position_changed,
            model.theme_changed,
            model.saved_views.changed,
            model.course.changed,
        ):
            event.connect(self.draw)
        application = QApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.screenRemoved.connect(self._on_screen_gone)
        application.screenAdded.connect(lambda screen: None if self.wall is None else self._settle(self._screen()))

    @property
    def is_on(self) -> bool:
        return self.wall is not None

    def begin(self, with_notes: bool = False) -> None:
        """Begin on the chosen screen, else on the window's screen; with the presenter view, on another screen than the
        window's.
        """
        if self.wall is not None:
            return
        self.model.active_lesson.find()
        self.wall = Wall(self.model)
        self.wall.pressed.connect(self.press)
        self.wall.closed.connect(self.end)
        self.wall.resized.connect(self.draw)
        self._awake.begin()
        self._with_notes = with_notes
        self._settle(self._screen())
        self.wall.activateWindow()
        self.wall.setFocus()
        if with_notes:
            self._show_notes()
        self.draw()

    def end(self) -> None:
        wall, self.wall = self.wall, None
        if wall is None:
            return
        wall.hide()
        wall.deleteLater()
        if self.presenter is not None:
            self.presenter.hide()
            self.presenter.deleteLater()
            self.presenter = None
        self._awake.end()
        self.model.released.emit()

    def draw(self) -> None:
        """Draw the full-screen window and the presenter view."""
        if self.wall is not None:
            self.wall.draw()
        if self.presenter is not None and self.wall is not None:
            self.presenter.draw(self.wall.stage.scene)

    def press(self, event: QKeyEvent) -> None:
        """Run the command of a key."""
        shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        command = self._commands(shifted).get(event.key())  # type: ignore[call-overload]
        if command is not None:
            command()

    def _commands(self, shifted: bool) -> dict[int, Callable[[], object]]:
        assert self.wall is not None
        player, overlay, key = self.model.session.player, self.wall.overlay, Qt.Key
        return {
            key.Key_Escape: self.end, key.Key_Space: player.toggle,
            key.Key_Right: lambda: player.step_by(1), key.Key_Down: lambda: player.step_by(1),
            key.Key_Left: lambda: player.step_by(-1), key.Key_Up: lambda: player.step_by(-1),
            key.Key_PageDown: lambda: self._walk(1), key.Key_PageUp: lambda: self._walk(-1),
            key.Key_Home: lambda: player.jump(0), key.Key_End: lambda: player.jump(player.played.steps - 1),
            key.Key_Plus: lambda: player.faster(1), key.Key_Minus: lambda: player.faster(-1),
            key.Key_B: lambda: overlay.show_blank("black"), key.Key_Period: lambda: overlay.show_blank("black"),
            key.Key_W: lambda: overlay.show_blank("white"), key.Key_Comma: lambda: overlay.show_blank("white"),
            key.Key_S: lambda: overlay.use("spotlight"), key.Key_I: lambda: overlay.use("ink"), key.Key_E: overlay.clear,
            key.Key_Z: lambda: overlay.use("zoom"), key.Key_F: lambda: self.model.session.navigation.look(Camera()),
            key.Key_Q: lambda: overlay.count_down(0 if shifted else _QUESTION_S), key.Key_P: self._toggle_notes,
            key.Key_F1: lambda: overlay.show_keys(KEYS), key.Key_H: lambda: overlay.show_keys(KEYS),
        }  # type: ignore[return-value]  # fmt: skip

    def _walk(self, direction: int) -> None:
        """Move through the saved views; without any, from phase to phase."""
        session = self.model.session
        if self.model.active_lesson.lesson.stops:
            if self.wall is not None and self.model.active_lesson.walk(direction):
                self.wall.overlay.clear()
            elif self.wall is not None and direction > 0:
                self.wall.overlay.show_keys((("The end", self.model.active_lesson.lesson.title),))
        else:
            session.player.jump(session.navigation.phase_start(direction))

    def _toggle_notes(self) -> None:
        if self.presenter is None:
            self._show_notes()
        else:
            self.presenter.close()
            self.presenter = None

    def _show_notes(self) -> None:
        self.presenter = Presenter(self.model, KEYS)
        self.presenter.pressed.connect(self.press)
        self.presenter.show()
        assert self.wall is not None
        self.wall.activateWindow()
        self.draw()

    # Screens

    def _screen(self) -> QScreen:
        screens, own = QGuiApplication.screens(), self.window.screen()
        chosen = self.model.preferences.text("screen")
        screen_named = next((screen for screen in screens if screen.name() == chosen), None) if chosen else None
        other = next((screen for screen in screens if screen is not own), own) if self._with_notes else own
        return screen_named or other or QGuiApplication.primaryScreen()

    def _settle(self, screen: QScreen) -> None:
        """Fill a screen, and follow its changes of size."""
        assert self.wall is not None
        self.wall.setScreen(screen)
        self.wall.setGeometry(screen.geometry())
        self.wall.showFullScreen()
        screen.geometryChanged.connect(self._on_screen_changed)

    def _on_screen_changed(self) -> None:
        if self.wall is not None:
            self.wall.setGeometry(self.wall.screen().geometry())

    def _on_screen_gone(self, screen: QScreen) -> None:
        """Continue the lecture on another screen after its own was disconnected."""
        if self.wall is not None:
            left = [each for each in QGuiApplication.screens() if each is not screen]
            if left:
                self._settle(left[0])
