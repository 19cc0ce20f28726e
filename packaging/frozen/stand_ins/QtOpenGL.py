"""Stands in for the module PySide6.QtOpenGL, which pyqtgraph imports and only plots in OpenGL use."""
