"""A panel of the window."""

from PySide6.QtWidgets import QLabel, QWidget

from gemmviz.gui.panel import Panel
from gemmviz.gui.window_model import WindowModel


def _make(model: WindowModel) -> QWidget:
    return QLabel("notes of the lab")


NOTES = Panel("Lab notes", _make)
