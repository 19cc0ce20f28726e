"""Starts the program: the window where there is a display."""

import gc
import sys
from pathlib import Path

from PySide6.QtCore import QSettings, QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from gemmviz.files.resources import resource_folder
from gemmviz.gui.main_window import MainWindow
from gemmviz.model.device import DEFAULT_DEVICE
from gemmviz.model.kernel import Settings
from gemmviz.spec.catalog import DEFAULT_KERNEL

_BEFORE_TOUR_MS = 1500


def run_window(what: str | None, settings: Settings | None, device: str = DEFAULT_DEVICE) -> int:
    """Shows the window with a kernel, a ``.cu`` or a ``.gvt`` file, playing; the exit code of the program."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("gemmviz")
    app.setWindowIcon(QIcon(str(resource_folder("assets") / "icons" / "gemmviz.svg")))
    sys.setswitchinterval(0.001)  # work in other threads gives way to the window within a millisecond
    window = MainWindow(QSettings("gemmviz", "gemmviz"))
    gc.freeze()  # what there is by now lives as long as the program: no frame need wait for a search through it
    if what is not None and what.endswith(".gvt"):
        window.open_file(Path(what))
    elif what is not None or settings is not None or device != DEFAULT_DEVICE or not window.open_last():
        window.open_kernel(what or DEFAULT_KERNEL, settings, device)
    window.playback.play_when_loaded()
    window.show()
    window.station.look()
    if window.memory.text("tour") != "seen":
        QTimer.singleShot(_BEFORE_TOUR_MS, window.start_tour)
    return app.exec()
