"""Qt without a display, to paint images."""

import os

from PySide6.QtGui import QGuiApplication

_running: list[QGuiApplication] = []


def start_qt() -> None:
    """Create a QGuiApplication if there is none."""
    if QGuiApplication.instance() is None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        _running.append(QGuiApplication([]))
