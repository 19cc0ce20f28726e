"""Milliseconds of a frame in a real window, its drawing and its painting: of the beginning of the next step after a rest, of
one more moment of it, of its end, and of a jump to another step. ``frames.py WIDTHxHEIGHT``; prints JSON.

Knows how this and some older commits name what it calls; for a commit without a session it fails.
"""

import json
import statistics
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

_STEPS, _WARM, _REST_S = 60, 15, 0.04


def main() -> None:
    app = QApplication([])
    is_new = find_spec("gemmviz.gui.window") is not None
    module = import_module("gemmviz.gui.window.main_window" if is_new else "gemmviz.gui.main_window")
    window = module.MainWindow(in_memory_store())
    window.resize(*map(int, sys.argv[1].split("x")))
    window.start()
    window.show()
    session = window.session
    wait(app, lambda: session.shown is not None and not session.is_working)
    figures = {}
    for size, tile in ((8, 4), (64, 16)):
        if size != 8:
            for name, value in (("M", size), ("N", size), ("K", size), ("TILE_WIDTH", tile)):
                change(window, name, value)
            wait(app, lambda: session.shown.trace.setup.problem.K == 64 and not session.is_working)
        window.docks.hide(True)
        for kind, frames in timed(app, window).items():
            figures[f"{size} {kind}, median"] = statistics.median(frames)
            figures[f"{size} {kind}, 99 of 100"] = sorted(frames)[len(frames) * 99 // 100]
        window.docks.hide(False)
    print(json.dumps(figures))


def change(window: Any, name: str, value: int) -> None:
    """Sets a size or a parameter."""
    (window.model.commands if hasattr(window, "model") else window.session).change(name, value)


def timed(app: QApplication, window: Any) -> dict[str, list[float]]:
    """Milliseconds of frames by kind. Between two frames the window has some time for itself, as it has between two keys."""
    session, frames = window.session, dict[str, list[float]](step=[], motion=[], end=[], jump=[])
    go = session.go if hasattr(session, "go") else session.navigation.go_to_step
    session.player.play(False)

    def frame(kind: str, step: int, moment: float) -> None:
        rest(app, _REST_S)
        start = time.perf_counter()
        go(step % session.shown.trace.steps, moment)
        QApplication.sendPostedEvents(window, QEvent.Type.UpdateRequest)
        frames[kind].append((time.perf_counter() - start) * 1e3)

    rest(app, 1.0)  # what is loaded after the first picture
    for step in range(_STEPS + _WARM):
        for kind, moment in (("step", 0.0), ("motion", 0.3), ("motion", 0.6), ("end", 1.0)):
            frame(kind, step, moment)
    for number in range(_STEPS + _WARM):
        frame("jump", number * 7, 0.5)
    return {kind: found[_WARM:] for kind, found in frames.items()}


def rest(app: QApplication, seconds: float) -> None:
    """Let the window do what it does while nobody does anything."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        app.processEvents()
        time.sleep(0.0005)


def in_memory_store() -> Any:
    """A store of preferences that is on no disk."""
    preferences = import_module("gemmviz.gui.preferences")
    return preferences.InMemoryStore() if hasattr(preferences, "InMemoryStore") else preferences.Nowhere()


def wait(app: QApplication, ready: Any) -> None:
    end = time.perf_counter() + 60
    while not ready():
        app.processEvents()
        time.sleep(0.0002)  # other threads need the interpreter
        if time.perf_counter() > end:
            raise TimeoutError("the window doesn't get there")


if __name__ == "__main__":
    main()
