"""Qt without a display: enough of it to paint images."""

import os

from PySide6.QtGui import QGuiApplication

_running: list[QGuiApplication] = []


def start_qt() -> None:
    """Makes sure that a QGuiApplication exists."""
    if QGuiApplication.instance() is None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        _running.append(QGuiApplication([]))
