"""Milliseconds of a frame in a real window: of another step, and of one more moment of a step; its drawing and its painting.
``frames.py WIDTHxHEIGHT``; prints JSON.

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

_FRAMES, _WARM = 240, 20


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
        for kind, per_step in (("step", 1), ("motion", 24)):
            frames = timed(window, per_step)
            figures[f"{size} {kind}, median"] = statistics.median(frames)
            figures[f"{size} {kind}, 99 of 100"] = sorted(frames)[len(frames) * 99 // 100]
        window.docks.hide(False)
    print(json.dumps(figures))


def change(window: Any, name: str, value: int) -> None:
    """Sets a size or a parameter."""
    (window.model.commands if hasattr(window, "model") else window.session).change(name, value)


def timed(window: Any, per_step: int) -> list[float]:
    """Milliseconds of frames: in mid-flight of another step each, or so many of each step."""
    session, frames = window.session, []
    go = session.go if hasattr(session, "go") else session.navigation.go_to_step
    for number in range(_FRAMES + _WARM):
        step, moment = divmod(number, per_step)
        start = time.perf_counter()
        go(step % session.shown.trace.steps, moment / per_step if per_step > 1 else 0.5)
        QApplication.sendPostedEvents(window, QEvent.Type.UpdateRequest)
        frames.append((time.perf_counter() - start) * 1e3)
    return frames[_WARM:]


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
