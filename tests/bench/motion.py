"""Motion of a lecture in a real window of 1920 x 1080: frames a second on Page Down, and the time to paint one."""

import statistics
import time
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gemmviz.gui.lecture.wall import WallPicture
from gemmviz.gui.preferences import InMemoryStore
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.teaching.lesson_file import shipped_lesson
from tests.bench.report import show

WAYS = (
    ("coalescing", "uncoalesced", 1, "lanes swing from a column into a row"),
    ("coalescing", "occupancy-256", 1, "bars of one scale"),
    ("coalescing", "warps-2d", 1, "a cross-fade"),
    ("shared-memory", "tile-loading", 4, "beats of a stage of 4 x 4"),
    ("shared-memory", "piece-2", 1, "lines of code"),
)  # lesson, step from which Page Down is pressed, how often, what is seen


def run() -> None:
    """Print the figures."""
    app = QApplication.instance() or QApplication([])
    window = MainWindow(InMemoryStore(tour="seen"))
    window.resize(1920, 1080)
    window.start()
    window.show()
    wait(app, lambda: window.session.shown is not None)
    for lesson, id, presses, what in WAYS:
        motion_of(app, window, lesson, id, presses, what)
    window.close()


def motion_of(app: Any, window: Any, lesson: str, id: str, presses: int, what: str) -> None:
    """Walk some steps and print frames a second and milliseconds a frame while they move."""
    course = window.model.course
    course.begin(shipped_lesson(lesson))
    course.go(course.lesson.find(id))
    window.lecture.begin()
    wall = window.lecture.wall
    wall.resize(1920, 1080)
    wait(app, lambda: not wall.is_waiting and course.now is not None and course.now.id == id)
    frames = Frames(wall.stage)
    for _ in range(presses):
        wait(app, lambda: course.at is None or course.parts > course.part + 1 or course.is_ready(course.at + 1))
        QTest.keyClick(wall, Qt.Key.Key_PageDown)
        wait(app, lambda: wall.is_moving, 2.0)
        frames.begin()
        wait(app, lambda: not wall.is_moving, 5.0)
        frames.end()
    show(f"Page Down, {what}: frames a second", frames.rate, "", 55, more_is_better=True)
    show(f"Page Down, {what}: a frame", frames.median_ms, "ms", 6)
    window.lecture.end()


class Frames:
    """The painted frames of a picture while it is watched."""

    def __init__(self, picture: WallPicture) -> None:
        self._is_on, self._last = False, 0.0
        self._paints: list[float] = []
        self._gaps: list[float] = []
        paint = picture.paintEvent

        def timed(event: Any) -> None:
            start = time.perf_counter()
            paint(event)
            if self._is_on:
                end = time.perf_counter()
                self._paints.append(1000 * (end - start))
                if self._last:
                    self._gaps.append(end - self._last)
                self._last = end

        picture.paintEvent = timed  # type: ignore[method-assign]

    def begin(self) -> None:
        self._is_on, self._last = True, 0.0

    def end(self) -> None:
        self._is_on = False

    @property
    def rate(self) -> float:
        return 1.0 / statistics.mean(self._gaps) if self._gaps else 0.0

    @property
    def median_ms(self) -> float:
        return statistics.median(self._paints) if self._paints else 0.0


def wait(app: Any, condition: Any, most_s: float = 30.0) -> None:
    end = time.monotonic() + most_s
    while not condition() and time.monotonic() < end:
        app.processEvents()
        time.sleep(0.0005)


if __name__ == "__main__":
    run()
