"""Walks a lesson by Page Down in a lecture of 1920 x 1080, from a cold start: ``lecture.py LESSON PAUSE_MS``.

Prints JSON: the longest time in ms from a key to the first frame of the step's own picture (``busy_ms``: of it, the longest that
the window's thread computed), the largest memory in MiB, how many frames showed a picture or a caption that is not the step's,
and how many keys were lost or did more than one step. The time between a picture and the next key is PAUSE_MS; motion that is
still under way then is finished by a key, as people do.
"""

import json
import sys
import time
from typing import Any

import psutil
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gemmviz.gui.app import SWITCH_S, Collector
from gemmviz.gui.preferences import InMemoryStore
from gemmviz.gui.window.main_window import MainWindow

_LONGEST_S = 20.0


class Walk:
    """One walk through a lesson, and what was seen on the way."""

    def __init__(self, window: Any, app: QApplication) -> None:
        self.window, self.app = window, app
        self.course, self.wall = window.model.course, window.lecture.wall
        self.waits: list[tuple[float, int, int]] = []
        self.wrong: list[str] = []
        self.lost = 0
        self.mib = 0.0
        self.busy: list[float] = []
        self.process = psutil.Process()
        self.painted: Any = None
        self.wall.stage.painted.connect(self.look)

    def look(self) -> None:
        """Check the picture that was painted just now."""
        picture = self.wall._last
        self.mib = max(self.mib, self.process.memory_info().rss / 2**20)
        if picture is None or self.wall.stage.scene is None:
            return
        self.painted = picture.place
        place, part = picture.place
        if place is None or picture.caption.place != place:
            self.wrong.append(f"{picture.place}: caption of step {picture.caption.place}")
            return
        stop = self.course.lesson.steps[place]
        parts = self.course._parts_of(stop)
        if len(parts) <= part or self.course.now is not stop:
            return  # the next one is being shown: the frame is still of the last
        reveal, said = parts[part], picture.caption.caption
        if (reveal.shot.setup, reveal.shot.view) != (picture.shot.setup, picture.shot.view):
            self.wrong.append(f"{picture.place}: {picture.shot.view} of {picture.shot.setup.kernel.name}")
        if said != reveal.caption.caption or "Counting" in said or "{" in said:
            self.wrong.append(f"{picture.place}: {said!r}")
        run = getattr(getattr(picture.subject, "replay", None), "trace", None)
        if run is not None and run.setup != picture.shot.setup:
            self.wrong.append(f"{picture.place}: run of {run.setup.kernel.name}")
        if any(each.key == "message" for each in self.wall.stage.scene.words):
            self.wrong.append(f"{picture.place}: a message instead of a picture")

    def go(self, pause_ms: float) -> None:
        """Press Page Down until the end."""
        while not self.course.is_last:
            self.finish()
            before = self.course.at, self.course.part
            target = (before[0], before[1] + 1) if before[1] + 1 < self.course.parts else (before[0] + 1, 0)
            start, busy = time.perf_counter(), time.thread_time()
            QTest.keyClick(self.wall, Qt.Key.Key_PageDown)
            self.until(lambda target=target: self.painted == target, start)
            self.waits.append(((time.perf_counter() - start) * 1e3, target[0] + 1, target[1] + 1))
            self.busy.append((time.thread_time() - busy) * 1e3)
            if (self.course.at, self.course.part) != target:
                self.lost += 1
            self.wait(pause_ms)
        self.finish()

    def finish(self) -> None:
        """Finish motion by a key, which must not walk on."""
        before = self.course.at, self.course.part
        if self.wall.is_moving:
            QTest.keyClick(self.wall, Qt.Key.Key_PageDown)
            self.wait(1)
            self.lost += (self.course.at, self.course.part) != before

    def wait(self, ms: float) -> None:
        end = time.perf_counter() + ms / 1e3
        while time.perf_counter() < end:
            self.app.processEvents()
            time.sleep(0.001)

    def until(self, is_so: Any, start: float) -> None:
        while not is_so():
            self.app.processEvents()
            if time.perf_counter() - start > _LONGEST_S:
                self.lost += 1
                return


def main() -> None:
    name, pause_ms = sys.argv[1], float(sys.argv[2])
    app = QApplication([])
    sys.setswitchinterval(SWITCH_S)  # as the program does
    window = MainWindow(InMemoryStore(tour="seen"))
    Collector(window, window.session.player)
    window.start(lesson=name)
    window.show()
    window.lecture.begin()
    walk = Walk(window, app)
    walk.until(lambda: walk.painted == (0, 0), time.perf_counter())
    walk.wait(pause_ms)
    walk.go(pause_ms)
    longest, step, part = max(walk.waits)
    if "-v" in sys.argv:
        each = zip(walk.waits, walk.busy, strict=True)
        print("\n".join(f"{step}.{part}: {ms:.0f} ms, {busy:.0f} busy" for (ms, step, part), busy in each), file=sys.stderr)
    figures = {
        "wait_ms": longest, "at_step": step, "at_part": part, "mib": walk.mib, "wrong": len(walk.wrong), "lost": walk.lost,
        "busy_ms": max(walk.busy), "steps": len(walk.course.lesson.steps), "presses": len(walk.waits),
        "over_100": sum(wait > 100 for wait, _, _ in walk.waits),
    }  # fmt: skip
    print("\n".join(walk.wrong[:10]), file=sys.stderr)
    print(json.dumps(figures))
    sys.stdout.flush()
    window.close()


if __name__ == "__main__":
    main()
