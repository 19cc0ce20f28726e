"""The lecture: the wall in full screen, controlled by the keys of presenter remotes, with a presenter view."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTime, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QScreen
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from gemmviz.analysis.replay.focus import step_at
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.gui.widgets.controls import cover, set_look
from gemmviz.gui.widgets.scene_widget import SceneWidget
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.messages import letter, marked, tr
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.scenes.kit.sentence import beat, reading_seconds
from gemmviz.session.playing import USUAL_SPEED
from gemmviz.shots.knowledge import Context
from gemmviz.shots.picture import options_for
from gemmviz.shots.shot import Camera
from gemmviz.shots.subject import subject_of_view
from gemmviz.teaching.captions import caption_of
from gemmviz.teaching.lesson import Lesson, LessonStep
from gemmviz.teaching.reel import guide_at, guide_lines

if TYPE_CHECKING:
    from gemmviz.gui.lecture.wall import Wall


# The presenter view: the current picture, the next one, notes, the guide of the lesson, the clock and the remaining time.

_MINUTES = 45


class Presenter(QWidget):
    """The presenter's window. ``pressed`` carries a key event; the keys of the lecture work here too."""

    pressed = Signal(object)

    def __init__(self, model: WindowModel, keys: Sequence[tuple[str, str]]) -> None:
        super().__init__(None, Qt.WindowType.Window)
        self.model = model
        self.setWindowTitle(tr("gemmviz: presenter view"))
        self.resize(1000, 640)
        self._began = time.monotonic()
        self._next: tuple[LessonStep, Replay] | None = None
        self.now = SceneWidget(tr("Current picture"), self)
        self.now.setMinimumSize(420, 240)
        self.coming = SceneWidget(tr("Next picture"), self)
        self.coming.setMinimumSize(240, 135)
        self.title, self.notes, self.guide, self.next, self.clock, self.left = (QLabel() for _ in range(6))
        for label, points in (
            (self.title, 18), (self.clock, 26), (self.left, 26), (self.notes, 18), (self.guide, 13), (self.next, 14),
        ):  # fmt: skip
            label.setStyleSheet(f"font-size: {points}pt")
        for label in (self.title, self.notes, self.guide, self.next):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.guide.setTextFormat(Qt.TextFormat.RichText)
        self.minutes = QSpinBox(minimum=1, maximum=600, value=_minutes(model), suffix=tr(" min"))
        self.minutes.setToolTip(tr("Planned duration of the lecture"))
        self.minutes.setAccessibleName(tr("Planned duration of the lecture"))
        self.minutes.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.minutes.valueChanged.connect(self._on_minutes)
        hints = QLabel(" · ".join(f"{_strong(key)} {escape(what)}" for key, what in keys))
        set_look(hints, "faint")
        hints.setWordWrap(True)
        times = QHBoxLayout()
        for widget in (self.clock, self.left, self.minutes):
            times.addWidget(widget)
        words = QWidget()
        inner = QVBoxLayout(words)
        for label in (self.notes, self.guide):
            inner.addWidget(label)
        inner.addStretch(1)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(words)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        beside = QVBoxLayout()
        below: tuple[tuple[QWidget, int], ...] = ((self.title, 0), (area, 2), (self.next, 0), (self.coming, 1))
        for each, stretch in below:
            beside.addWidget(each, stretch)
        beside.addLayout(times)
        above = QHBoxLayout()
        above.addWidget(self.now, 3)
        above.addLayout(beside, 2)
        rows = QVBoxLayout(self)
        rows.addLayout(above, 1)
        rows.addWidget(hints)
        self._clock = QTimer(self, interval=500)
        self._clock.timeout.connect(self._tick)
        self._clock.start()
        self._tick()

    def draw(self, scene: Scene | None) -> None:
        """Show the scene on the wall, and the words that belong to it."""
        if scene is not None:
            self.now.set_scene(scene)
        marks = self.model.active_lesson
        stop, following = marks.filled, marks.next
        count = len(marks.lesson.steps)
        place = tr("{at} of {count}: ", at=(marks.at or 0) + 1, count=count) if stop is not None else ""
        none = tr("Not a saved view") if count else tr("No saved views")
        self.title.setText(f"{place}{stop.title}" if stop is not None else none)
        self.notes.setText("" if stop is None else "\n\n".join(filter(None, (marks.said.caption, notes_of(stop)))))
        self.guide.setText("" if marks.at is None else _guide_html(marks.lesson, marks.at))
        self.next.setText(tr("Last view") if following is None and count else _next_words(following))

        self._draw_next(following)

    def _draw_next(self, step: LessonStep | None) -> None:
        """Draw the next view if it is of the current run; no other run is started for it."""
        shown = self.model.session.shown
        is_here = step is not None and shown is not None and step.shot.setup == shown.setup
        self.coming.setVisible(is_here)
        if step is None or shown is None or not is_here or (step, shown.replay) == self._next:
            return
        view = view_named(step.shot.view)
        moment = Reader(shown.replay, step.shot.focus).at(step_at(shown.trace, step.shot.at))
        kind, known = subject_of_view(step.shot.view), shown.known.about(step.shot)
        subject = kind.value(known, Context(known, moment)) if kind.is_of_run else None
        if subject is None or not view.is_ready(subject):
            self.coming.hide()
            return
        self._next = step, shown.replay
        self.coming.set_scene(view.scene(subject, options_for(step.shot, self.model.theme)))

    def _on_minutes(self, minutes: int) -> None:
        self.model.preferences.put("minutes", minutes)
        self._tick()

    def _tick(self) -> None:
        elapsed = int(time.monotonic() - self._began)
        left = self.minutes.value() * 60 - elapsed
        self.clock.setText(QTime.currentTime().toString("HH:mm"))
        self.left.setText(
            tr("−{minutes}:{seconds} left", minutes=abs(left) // 60, seconds=f"{abs(left) % 60:02}")
            if left < 0
            else tr("{minutes}:{seconds} left", minutes=abs(left) // 60, seconds=f"{abs(left) % 60:02}")
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.pressed.emit(event)

    def focusNextPrevChild(self, following: bool) -> bool:
        """Leave Tab to the lecture."""
        return False


def _minutes(model: WindowModel) -> int:
    """Return the planned duration: that of the lesson, else the default for saved views."""
    return round(model.course.lesson.minutes) if model.course.is_on else int(model.preferences.number("minutes", _MINUTES))


def _next_words(step: LessonStep | None) -> str:
    """Return the title and caption of the next view; titles alone may repeat."""
    caption = "" if step is None else caption_of(step).caption
    return (
        ""
        if step is None
        else tr("Next: {caption_of_title}", caption_of_title=caption_of(step).title) + (f". {caption}" if caption else "")
    )


def _guide_html(lesson: Lesson, place: int) -> str:
    """Return the guide of the part of a lesson that a step is in, with the numbers that its step expects."""
    part = guide_at(lesson, place)
    if part is None:
        return ""
    lines = (
        f"<b>{escape(text)}</b>" if role == "strong" else escape(text) for side in guide_lines(part) for role, text in side
    )
    return "<br>".join(lines)


def _strong(text: str) -> str:
    """Return a text in the weight that the fonts have; a bolder one would be drawn twice."""
    return f'<span style="font-weight: 600">{escape(text)}</span>'


def notes_of(step: LessonStep) -> str:
    """Return what the presenter alone should know: the notes, and the answers of a question or the hints of an exercise."""
    return "\n\n".join(filter(None, (step.notes, _answers(step))))


def _answers(step: LessonStep) -> str:
    """Return the right choices of a question with their reasons, or the hints of an exercise."""
    if step.exercise is not None:
        return "\n".join([step.exercise.task, *(tr("Hint: {hint}", hint=hint) for hint in step.exercise.hints)])
    if step.question is None:
        return ""
    return "\n".join(
        f"{letter(place)} {'✓' if choice.right else '✗'} {choice.text}: {choice.why}"
        for place, choice in enumerate(step.question.choices)
    )


# Keeps the screen on during a lecture, with the service of each operating system.

_SERVICE, _PATH = "org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"
_KEEP_ON, _AS_USUAL = 0x80000003, 0x80000000  # ES_CONTINUOUS | ES_SYSTEM_REQUIRED | ES_DISPLAY_REQUIRED; ES_CONTINUOUS


class Awake:
    """A request to keep the screen on. It has no effect on systems without such a service."""

    def __init__(self) -> None:
        self._cookie: Any = None
        self._caffeinate: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        if sys.platform == "win32":
            ctypes.windll.kernel32.SetThreadExecutionState(_KEEP_ON)
        elif sys.platform == "darwin":
            self._caffeinate = subprocess.Popen(["caffeinate", "-d", "-w", str(os.getpid())])
        elif os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
            self._cookie = _ask("Inhibit", "gemmviz", "A lecture is shown")

    def end(self) -> None:
        if sys.platform == "win32":
            ctypes.windll.kernel32.SetThreadExecutionState(_AS_USUAL)
        elif self._caffeinate is not None:
            self._caffeinate.terminate()
            self._caffeinate = None
        elif self._cookie is not None:
            _ask("UnInhibit", self._cookie)
            self._cookie = None


def _ask(method: str, *facts: Any) -> Any:
    """Call a method of the desktop's screen saver and return its answer, None without a screen saver."""
    from PySide6.QtDBus import QDBusConnection, QDBusInterface

    service = QDBusInterface(_SERVICE, _PATH, _SERVICE, QDBusConnection.sessionBus())
    answer = service.call(method, *facts).arguments() if service.isValid() else []
    return answer[0] if answer else None


_QUESTION_S = 60
_TYPED, _MOST_DIGITS = "typed ", 4
_REPEATED = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Plus, Qt.Key.Key_Minus)
_ONE_SCREEN_ID = "one-screen"
_ONE_SCREEN = marked(
    "There is no second screen for the presenter view. Press P again to show the notes here: everybody will see them."
)
KEYS = (
    ("Page Down", marked("next step; while it moves, its end")), ("Page Up", marked("back to the step before")),
    (marked("0 … 9, Return"), marked("go to the step of this number")), ("Tab", marked("map of all steps")),
    ("Space", marked("play, pause")), ("← →", marked("one step")),
    (marked("B or ."), marked("black")), (marked("W or ,"), marked("white")), ("S", marked("spotlight")),
    ("I, E", marked("ink, erase")), ("T", marked("type in the blanks; Esc leaves them")),
    ("Z, F", marked("zoom to a circle, show all")), ("Q, Shift+Q", marked("one-minute timer, stop it")),
    ("P", marked("presenter view or notes")), (marked("F1 or H"), marked("show these keys")),
    ("Esc", marked("close the keys or the map, end")),
)  # fmt: skip


class Lecture:
    """The lecture of a window: begins, ends and handles keys. It moves to another screen if its own is disconnected."""

    def __init__(self, window: QMainWindow, model: WindowModel) -> None:
        self.window, self.model = window, model
        self.wall: Wall | None = None
        self.presenter: Presenter | None = None
        self._awake = Awake()
        self._speed_before = USUAL_SPEED  # of the window
        self._with_notes = self._notes_are_shown = False
        self._at_rest = True  # False until the program has dealt with the last press of a page key
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
        from gemmviz.gui.lecture.wall import Wall

        if self.wall is not None:
            return
        lesson = self.model.active_lesson
        lesson.find()
        if lesson.at is not None and lesson.now is not None and lesson.now.question is not None:
            lesson.go(lesson.at)  # unanswered, whatever was tried before
        self.wall = Wall(self.model)
        self.wall.pressed.connect(self.press)
        self.wall.closed.connect(self.end)
        self.wall.stage.resized.connect(self.draw)
        self._awake.begin()
        player = self.model.session.player
        self._speed_before, player.pace = player.speed, self._step_seconds
        player.set_speed(USUAL_SPEED)
        self._with_notes, self._notes_are_shown = with_notes, False
        self._settle(self._screen())
        self.wall.activateWindow()
        self.wall.setFocus()
        if with_notes:
            self._toggle_notes()
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
        self.model.session.player.pace = None
        self.model.session.player.set_speed(self._speed_before)
        cover(self.window, False)
        self.model.released.emit()

    def _step_seconds(self) -> float:
        """How long the present step is played: as long as its sentence takes to read."""
        session = self.model.session
        now = None if session.navigation.is_launch else session.now
        return 1.0 / USUAL_SPEED if now is None else reading_seconds(beat(now, session.shot.labels).text)

    def draw(self) -> None:
        """Draw the full-screen window and the presenter view."""
        if self.wall is not None:
            self.wall.draw()
        if self.presenter is not None and self.wall is not None:
            self.presenter.draw(self.wall.stage.whole)
        self._draw_notes()

    def press(self, event: QKeyEvent) -> None:
        """Run the command of a key. Keys with Ctrl, Alt or the like have none, and few keys repeat while they are held."""
        modifiers = event.modifiers()
        if modifiers & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier):
            return
        if event.isAutoRepeat() and event.key() not in _REPEATED:
            return
        if event.text().isdecimal():
            self._type(event.text())
            return
        command = self._commands(bool(modifiers & Qt.KeyboardModifier.ShiftModifier)).get(event.key())  # type: ignore[call-overload]
        if command is not None:
            command()

    def _commands(self, shifted: bool) -> dict[int, Callable[[], object]]:
        assert self.wall is not None
        player, overlay, key = self.model.session.player, self.wall.overlay, Qt.Key
        return {
            key.Key_Escape: self._leave, key.Key_Space: player.toggle,
            key.Key_Return: self._go_to_typed, key.Key_Enter: self._go_to_typed, key.Key_Backspace: self._take_back,
            key.Key_Tab: self.toggle_map, key.Key_Backtab: self.toggle_map,
            key.Key_Right: lambda: player.step_by(1), key.Key_Down: lambda: player.step_by(1),
            key.Key_Left: lambda: player.step_by(-1), key.Key_Up: lambda: player.step_by(-1),
            key.Key_PageDown: lambda: self._walk(1), key.Key_PageUp: lambda: self._walk(-1),
            key.Key_Home: lambda: player.jump(0), key.Key_End: lambda: player.jump(player.played.steps - 1),
            key.Key_Plus: lambda: player.faster(1), key.Key_Minus: lambda: player.faster(-1),
            key.Key_B: lambda: overlay.show_blank("black"), key.Key_Period: lambda: overlay.show_blank("black"),
            key.Key_W: lambda: overlay.show_blank("white"), key.Key_Comma: lambda: overlay.show_blank("white"),
            key.Key_T: self.wall.worksheet.enter,
            key.Key_S: lambda: overlay.use("spotlight"), key.Key_I: lambda: overlay.use("ink"), key.Key_E: overlay.clear,
            key.Key_Z: lambda: overlay.use("zoom"), key.Key_F: lambda: self.model.session.navigation.look(Camera()),
            key.Key_Q: lambda: overlay.count_down(0 if shifted else _QUESTION_S), key.Key_P: self._toggle_notes,
            key.Key_F1: lambda: overlay.show_keys(KEYS), key.Key_H: lambda: overlay.show_keys(KEYS),
        }  # type: ignore[return-value]  # fmt: skip

    def _leave(self) -> None:
        """Close the list of keys, forget a typed number, or close the map, whatever is open; else end the lecture."""
        assert self.wall is not None
        overlay = self.wall.overlay
        if overlay.keys:
            overlay.show_keys(())
        elif self._typed:
            overlay.show_message("")
        elif self.wall.map is not None:
            self.wall.close_map()
        else:
            self.end()

    # Jumps

    @property
    def _typed(self) -> str:
        """The number that is typed, as long as it is shown; "" for none."""
        message_id = self.wall.overlay.message_id if self.wall is not None else ""
        return message_id.removeprefix(_TYPED) if message_id.startswith(_TYPED) else ""

    def _type(self, digits: str) -> None:
        """Show the number of a step that is being typed, with the title of the step."""
        assert self.wall is not None
        typed, steps = (self._typed + digits)[-_MOST_DIGITS:], self.model.active_lesson.lesson.steps
        place = int(typed) - 1
        title = f"  {caption_of(steps[place]).title}" if 0 <= place < len(steps) else ""
        self.wall.overlay.show_message(f"{typed}{title}", _TYPED + typed)
        if self.wall.map is not None:
            self.wall.map.select(place)

    def _take_back(self) -> None:
        """Remove the last typed digit."""
        assert self.wall is not None
        typed = self._typed[:-1]
        self.wall.overlay.show_message("")
        if typed:
            self._type(typed)

    def _go_to_typed(self) -> None:
        """Go to the step whose number was typed; without one, to the next."""
        if self._typed:
            self.jump(int(self._typed) - 1)
        else:
            self._walk(1)

    def jump(self, place: int) -> None:
        """Show the step at an index: of the lesson, or of the run if there is none."""
        wall, lesson, player = self.wall, self.model.active_lesson, self.model.session.player
        assert wall is not None
        count = len(lesson.lesson.steps) or player.played.steps
        wall.close_map()
        if not 0 <= place < count:
            wall.overlay.show_message(tr("There are {count} steps", count=count))
            return
        wall.overlay.show_message("")
        wall.finish()
        if lesson.lesson.steps:
            wall.overlay.leave()
            lesson.go(place)
        else:
            player.jump(place)

    def toggle_map(self) -> None:
        """Open or close the map of all steps of the lesson."""
        assert self.wall is not None
        steps = self.model.active_lesson.lesson.steps
        if self.wall.map is not None or not steps:
            self.wall.close_map()
        else:
            self.wall.open_map(self.jump)

    def _walk(self, direction: int) -> None:
        """Play the next step, or finish the one that plays; backwards, show the end of the step before. Presses that were made
        while the program was busy, or while a picture is prepared, are not stored up.
        """
        wall = self.wall
        if wall is None or not self._at_rest:
            return
        self._at_rest = False
        QTimer.singleShot(0, self._rest)
        if direction > 0 and wall.is_waiting:
            return
        if direction > 0 and wall.is_moving:
            wall.finish()
        elif self.model.active_lesson.lesson.steps:
            self._walk_lesson(wall, direction)
        else:
            self._walk_phases(wall, direction)

    def _walk_phases(self, wall: Wall, direction: int) -> None:
        wall.finish()
        session = self.model.session
        session.player.jump(session.navigation.phase_start(direction))
        if direction > 0:
            wall.play_beat()

    def _walk_lesson(self, wall: Wall, direction: int) -> None:
        wall.finish()
        if direction > 0:
            wall.move_next()
        lesson, before = self.model.active_lesson, self.model.active_lesson.at
        if lesson.walk(direction):
            wall.overlay.clear() if lesson.at == before and not lesson.is_waiting else wall.overlay.leave()
            wall.overlay.show_message("")
        elif direction > 0:
            wall.overlay.show_message(tr("The end of {lesson_title}", lesson_title=lesson.lesson.title))

    def _rest(self) -> None:
        self._at_rest = True

    # Notes

    def _toggle_notes(self) -> None:
        """Open or close the presenter view on a second screen. With a single screen it would cover the picture or be covered:
        say so, and show the notes beside the picture if the key is pressed again.
        """
        assert self.wall is not None
        overlay = self.wall.overlay
        if self.presenter is not None:
            self.presenter.close()
            self.presenter = None
        elif len(QGuiApplication.screens()) > 1:
            self.show_presenter()
        elif self._notes_are_shown:
            self._notes_are_shown = False
            self.wall.show_notes("")
        elif overlay.message_id == _ONE_SCREEN_ID:
            self._notes_are_shown = True
            overlay.show_message("")
            self._draw_notes()
        else:
            overlay.show_message(tr(_ONE_SCREEN), _ONE_SCREEN_ID)

    def _draw_notes(self) -> None:
        """Update the notes beside the picture."""
        stop = self.model.active_lesson.filled
        if self.wall is not None and self._notes_are_shown:
            self.wall.show_notes((notes_of(stop) if stop is not None else "") or tr("No notes"))

    def show_presenter(self) -> None:
        """Open the presenter view."""
        assert self.wall is not None
        self.presenter = Presenter(self.model, KEYS)
        self.presenter.pressed.connect(self.press)
        own = next((screen for screen in QGuiApplication.screens() if screen is not self.wall.screen()), None)
        if own is None:
            self.presenter.show()
        else:
            self.presenter.setGeometry(own.geometry())
            self.presenter.showFullScreen()
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
        cover(self.window, screen is self.window.screen())
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
