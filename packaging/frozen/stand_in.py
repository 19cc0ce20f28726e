"""Stands in for the module PySide6.QtOpenGLWidgets, as pyqtgraph derives a class from its widget, which no plot is; and for
PySide6.QtOpenGL, which pyqtgraph imports and only plots in OpenGL use.
"""

from PySide6.QtWidgets import QWidget as QOpenGLWidget

__all__ = ["QOpenGLWidget"]
