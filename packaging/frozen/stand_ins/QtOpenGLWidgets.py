"""Stands in for the module PySide6.QtOpenGLWidgets: pyqtgraph derives a class from its widget, which no plot is."""

from PySide6.QtWidgets import QWidget as QOpenGLWidget

__all__ = ["QOpenGLWidget"]
