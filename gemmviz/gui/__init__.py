"""The window: PySide6 widgets around scenes, and the work that happens off the GUI thread."""
