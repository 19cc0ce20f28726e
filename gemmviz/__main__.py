"""Runs the command line: ``gemmviz`` and ``python -m gemmviz``."""

import signal
import sys

_READER = "reader"  # the child process that reads kernels; it starts without the commands and their libraries


def main() -> int:
    """Loads the program, then runs the command; the exit code. Ctrl+C while it loads ends it without a traceback."""
    if sys.argv[1:] == [_READER]:
        from gemmviz.source.reader_process import serve_reader

        return serve_reader()
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from gemmviz.cli.main import main as run

    signal.signal(signal.SIGINT, before)
    return run()


if __name__ == "__main__":
    sys.exit(main())
