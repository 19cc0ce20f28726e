"""The window: PySide6 widgets that show a session and change it."""
