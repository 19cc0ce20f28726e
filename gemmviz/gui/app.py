"""Starts the program: the window where there is a display."""

import gc
import os
import sys
from pathlib import Path

from PySide6.QtCore import QSettings, QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from gemmviz.files.resources import resource
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.state.shot import Shot

_BEFORE_TOUR_MS = 1500
_SWITCH_S = 0.001


def run_window(path: Path | None = None, shot: Shot | None = None, lesson: str = "", lectures: bool = False) -> int:
    """Shows the window with a file, a shot or a shipped lesson, or as it was the last time, or at once as a lecture; the exit
    code of the program.
    """
    app = QApplication.instance() or QApplication(sys.argv[:1])
    app.setApplicationName("gemmviz")
    if isinstance(app, QApplication):
        app.setWindowIcon(QIcon(str(resource("assets/icons/gemmviz.svg"))))
    sys.setswitchinterval(_SWITCH_S)  # work in other threads gives way to the window within a millisecond
    settings = QSettings("gemmviz", "gemmviz")
    window = MainWindow(settings)
    gc.freeze()  # what there is by now lives as long as the program: no frame need wait for a search through it
    window.start(path, shot, lesson)
    window.show()
    window.session.runners.look()
    if lectures:
        QTimer.singleShot(0, window.lecture.begin)
    elif window.preferences.text("tour") != "seen":
        QTimer.singleShot(_BEFORE_TOUR_MS, window.start_tour)
    code = app.exec()
    if not window.has_ended:  # nobody waits for work that can't be called off in time
        settings.sync()
        os._exit(code)
    return code
