"""Runs the command line: ``gemmviz`` and ``python -m gemmviz``."""

import signal
import sys

_READER = "reader"  # the child process that reads kernels; it starts without the commands and their libraries
_READING_NOTHING = {"-h", "--help", "--version", "info", "kernels", "grade", "worker"}  # words of commands without one


def main() -> int:
    """Loads the program, then runs the command; the exit code. Ctrl+C while it loads ends it without a traceback.

    The reader process starts first, so that it loads while the program does.
    """
    if sys.argv[1:] == [_READER]:
        from gemmviz.source.reader_process import serve_reader

        return serve_reader()
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    if _READING_NOTHING.isdisjoint(sys.argv[1:]):
        from gemmviz.source.reader_link import reader

        reader().start()
    from gemmviz.cli.main import main as run

    signal.signal(signal.SIGINT, before)
    return run()


if __name__ == "__main__":
    sys.exit(main())
