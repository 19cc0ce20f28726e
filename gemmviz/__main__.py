"""Runs the command line: ``gemmviz`` and ``python -m gemmviz``."""

import signal
import sys


def main() -> int:
    """Loads the program, then runs the command; the exit code. Ctrl+C while it loads ends it without a traceback."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from gemmviz.cli.main import main as run

    signal.signal(signal.SIGINT, before)
    return run()


if __name__ == "__main__":
    sys.exit(main())
