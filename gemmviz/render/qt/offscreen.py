"""Qt without a display, to paint images."""

import os

from PySide6.QtGui import QGuiApplication

from gemmviz.render.qt.fonts import font

_running: list[QGuiApplication] = []


def start_qt() -> None:
    """Create a QGuiApplication if there is none."""
    if QGuiApplication.instance() is None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        _running.append(QGuiApplication([]))
        # Pages of a PDF take from it to draw no ligatures, which a search wouldn't find.
        QGuiApplication.setFont(font("regular", 20))
