"""The reader process: reads requests about C++ texts from standard input and writes replies to standard output.

It imports neither NumPy nor Qt, and may crash or be ended at any time: its parent starts another. A request is a pickled
(number, name, arguments), a reply (number, is_error, value). Reply 0 says that the process is ready.
"""

import contextlib
import gc
import os
import pickle
import queue
import signal
import sys
import threading
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

from gemmviz.cuda.parser.source_text import SourceText
from gemmviz.cuda.parser.unit import load_parser, parse
from gemmviz.cuda.reader.cursors import parse_refusal
from gemmviz.cuda.reader.read import read_program
from gemmviz.files.resources import read_frame, write_frame
from gemmviz.model.messages import GemmvizError, SourceError

if TYPE_CHECKING:
    from gemmviz.model.outline import FileOutline

_READY = 0
_MOST_ADDRESS_SPACE = 4 << 30  # bytes of address space
_TOO_DEEP = "expressions or statements are nested too deeply here to be read"


def first_refusal(source: SourceText) -> SourceError | None:
    """The first error of a text, in plain words, host code included; None if it has none."""
    unit = parse(source)
    return next((parse_refusal(unit, each, None) for each in unit.errors), None)


def missing(source: SourceText) -> tuple[str, ...]:
    """Headers that a text includes and that neither gemmviz nor the project has."""
    return parse(source).missing


def outline(source: SourceText) -> "FileOutline":
    """Kernels and launches of a text."""
    from gemmviz.cuda.launch.host_code.launches import unit_outline  # imported here so that the process is ready sooner

    return unit_outline(parse(source))


REQUESTS: dict[str, Callable[..., Any]] = {
    "missing": missing,
    "outline": outline,
    "program": read_program,
    "refusal": first_refusal,
}


def answer(name: str, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    """The result of a request, or its error: (is_error, value)."""
    try:
        return False, REQUESTS[name](*arguments)
    except GemmvizError as error:
        return True, error
    except RecursionError:
        return True, SourceError(_TOO_DEEP, remedy="split the expression into several statements")
    except MemoryError:
        return True, SourceError("reading takes too much memory", remedy="shorten the file")
    except Exception as error:  # a bug in one request must not end the process silently
        return True, GemmvizError(f"internal error: {type(error).__name__}: {error}", remedy="please report it")


def serve_reader() -> int:
    """Serves until the input ends. Other output to stdout is redirected to stderr."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _limit_memory()
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, requests), daemon=True).start()
    load_parser()
    gc.freeze()  # what is loaded stays; collections needn't visit it
    write_frame(replies, pickle.dumps((_READY, False, os.getpid())))
    while True:
        number, name, arguments = pickle.loads(requests.get())
        is_error, value = answer(name, arguments)
        try:
            reply = pickle.dumps((number, is_error, value), pickle.HIGHEST_PROTOCOL)
        except RecursionError:
            reply = pickle.dumps((number, True, SourceError(_TOO_DEEP)))
        write_frame(replies, reply)


def _receive(pipe: IO[bytes], requests: "queue.SimpleQueue[bytes]") -> None:
    """Queues requests; ends the process with its parent, even amid a request."""
    while (frame := read_frame(pipe)) is not None:
        requests.put(frame)
    os._exit(0)


def _limit_memory() -> None:
    """Limit the process's address space where the system can; its parent watches its memory everywhere."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MOST_ADDRESS_SPACE, _MOST_ADDRESS_SPACE))
