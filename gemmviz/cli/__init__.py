"""The command line: the window, and everything that it does without one. A command is a file in ``commands``."""
