"""Milliseconds from the start of a process to its first painted replay, 1920 x 1080: ``first_picture.py START``, START in the
seconds of ``time.time()`` before the process began. Prints JSON.
"""

import json
import sys
import time
from importlib import import_module

from PySide6.QtWidgets import QApplication


def main() -> None:
    window_class = main_window()
    app = QApplication([])
    window = window_class()
    window.resize(1920, 1080)
    if hasattr(window, "open_kernel"):
        window.open_kernel("04_tiled")
    else:
        window.start()
    window.show()
    painted: list[float] = []
    stage = window.stage if hasattr(window, "stage") else window.replay.stage

    def on_painted() -> None:
        shown = window.session.shown if hasattr(window, "session") else window.replay
        if shown is not None:
            painted.append(time.time())

    stage.painted.connect(on_painted)
    while not painted:
        app.processEvents()
    print(json.dumps({"ms": (painted[0] - float(sys.argv[1])) * 1e3}))
    sys.stdout.flush()
    window.close()


def main_window() -> type:
    """The main window's class, where this and older commits keep it."""
    try:
        module = import_module("gemmviz.gui.window.main_window")
    except ModuleNotFoundError:
        module = import_module("gemmviz.gui.main_window")
    found: type = module.MainWindow
    return found


if __name__ == "__main__":
    main()
