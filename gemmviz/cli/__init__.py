"""The command line: opens the window, and does everything else without one. Each command is a file in ``commands``."""
