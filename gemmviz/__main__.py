"""Runs the command line: ``gemmviz`` and ``python -m gemmviz``."""

import gc
import signal
import sys

_READER = "reader"  # the child process that reads kernels; it starts without the commands and their libraries
_NOT_READING = {"info", "grade"}  # commands that may be given files and need no reader of their own


def main() -> int:
    """Loads the program, then runs the command; the exit code. Ctrl+C while it loads ends it without a traceback.

    If a kernel's file is named, the reader process starts first, so that it loads while the program does.
    """
    if sys.argv[1:] == [_READER]:
        from gemmviz.cuda.reader_process import serve_reader

        return serve_reader()
    gc.disable()  # until the program is loaded: none of this is garbage
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    if _NOT_READING.isdisjoint(sys.argv[1:2]):
        from gemmviz.files.resources import names_kernel_file

        if any(map(names_kernel_file, sys.argv[1:])):
            from gemmviz.cuda.program import reader

            reader().start()
    from gemmviz.cli.main import main as run

    signal.signal(signal.SIGINT, before)
    return run()


if __name__ == "__main__":
    sys.exit(main())
