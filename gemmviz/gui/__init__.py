"""The window: PySide6 widgets that show a session and ask it for something else."""
