"""Errors that are shown to users, with place and remedy; and cooperative cancelling, which ends long work."""

import difflib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Literal, Self

from msgspec import Struct

from gemmviz.model.translation import marked, tr

_LONGEST_MESSAGE = 1000  # characters of a sentence
ErrorId = Literal[
    "error", "usage", "setting", "source", "unknown-name", "unsupported", "format", "device", "installation", "trace-file",
    "parameter-range", "requirement", "block-extent", "grid-extent", "block-threads", "shared-memory", "registers",
    "fault", "out-of-range", "uninitialised-read", "misaligned-access", "divergent-barrier", "hazard", "division-by-zero",
    "assertion", "step-budget", "no-access", "unconfirmed",
]  # fmt: skip

OUT_OF_RANGE = marked("{element} is out of range: it has {size} elements")  # of an access
_BY_THREAD = marked(", by thread {thread} of block {block}")
ENDLESS = "a template, a macro or a constexpr function may expand without end; leave it out"  # remedy of reading


class Place(Struct, frozen=True):
    """A span of source text. Lines and columns count from 1; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class GemmvizError(Exception):
    """An error with a message, an id that does not depend on the message's words, and file, place and remedy where they are
    known.
    """

    id: ErrorId = "error"

    def __init__(
        self,
        message: str,
        place: Place | None = None,
        *,
        file: str | None = None,
        remedy: str | None = None,
        id: ErrorId | None = None,
    ) -> None:
        if len(message) > _LONGEST_MESSAGE:  # a file may contribute names of any length
            message = f"{message[: _LONGEST_MESSAGE - 200]} … {message[-200:]}"
        super().__init__(message)
        self.message = message
        self.place = place
        self.file = file
        self.remedy = remedy
        self.id = id or type(self).id

    def in_file(self, file: str) -> "GemmvizError":
        """This error with the name of its file, if it had none."""
        self.file = self.file or file
        return self

    def kept(self) -> Self:
        """This error without the frames that it passed, which hold what they computed."""
        self.__traceback__ = self.__context__ = self.__cause__ = None
        return self

    def __str__(self) -> str:
        where = ":".join(str(part) for part in (self.file, self.place) if part is not None)
        remedy = f" ({self.remedy})" if self.remedy else ""
        return f"{where}: {self.message}{remedy}" if where else f"{self.message}{remedy}"


class SourceError(GemmvizError, ValueError):
    """The kernel file can't be read: a syntax error, an unsupported construct, or an incomplete header."""

    id: ErrorId = "source"


class UsageError(GemmvizError, ValueError):
    """A request for something that does not exist: a kernel, a file, a step."""

    id: ErrorId = "usage"


class SettingError(GemmvizError, ValueError):
    """A setting that can't run. ``names``: the settings involved; ``nearest``: the nearest values that work, by name."""

    id: ErrorId = "setting"

    def __init__(
        self,
        message: str,
        *,
        names: tuple[str, ...] = (),
        nearest: Mapping[str, int | str] | None = None,
        remedy: str | None = None,
        id: ErrorId | None = None,
    ) -> None:
        if nearest and remedy is None:
            remedy = tr("nearest that works: ") + ", ".join(f"{name} = {value}" for name, value in nearest.items())
        super().__init__(message, remedy=remedy, id=id)
        self.names = names
        self.nearest = dict(nearest or {})


class KernelFault(GemmvizError, RuntimeError):
    """An error of the kernel that a memory checker would report, with the block and thread that made it first.

    ``array`` is the number of the array involved, and ``elements`` its elements, some perhaps out of range.
    """

    id: ErrorId = "fault"

    def __init__(
        self,
        message: str,
        place: Place | None,
        *,
        block: tuple[int, int, int] | None = None,
        thread: tuple[int, int, int] | None = None,
        remedy: str | None = None,
        id: ErrorId | None = None,
    ) -> None:
        if block is not None and thread is not None:
            message += tr(_BY_THREAD, thread=_triple_text(thread), block=_triple_text(block))
        super().__init__(message, place, remedy=remedy, id=id)
        self.block = block
        self.thread = thread
        self.array = -1
        self.elements: tuple[int, ...] = ()
        self.unmade: tuple[object, object] | None = None  # offset and bad lanes of an access that was refused

    @property
    def what(self) -> str:
        """The message without the thread and the block. A stored message is in English in every language."""
        if self.block is None or self.thread is None:
            return self.message
        who = {"thread": _triple_text(self.thread), "block": _triple_text(self.block)}
        return self.message.removesuffix(tr(_BY_THREAD, **who)).removesuffix(_BY_THREAD.format_map(who))


class DeviceError(GemmvizError, RuntimeError):
    """A request that the GPU, its driver or its worker process can't fulfil."""

    id: ErrorId = "device"


class InstallationError(GemmvizError, FileNotFoundError):
    """A file that ships with gemmviz is missing or damaged."""

    id: ErrorId = "installation"

    def __init__(self, message: str, *, file: str) -> None:
        super().__init__(message, file=file, remedy=tr("install gemmviz again"))


class TraceFileError(GemmvizError, ValueError):
    """A file that isn't a trace, or a damaged, newer or hostile one."""

    id: ErrorId = "trace-file"


class Cancelled(Exception):
    """The work was cancelled; its result is no longer needed."""


def _triple_text(xyz: tuple[int, int, int]) -> str:
    return "({}, {}, {})".format(*xyz)


def closest(name: str, known: Iterable[str]) -> str | None:
    """A remedy with the known name most similar to ``name``; None if none is similar."""
    matches = difflib.get_close_matches(name, list(known), 1)
    return tr("did you mean {matches}?", matches=matches[0]) if matches else None


_cancelled: ContextVar[Callable[[], bool] | None] = ContextVar("cancelled", default=None)


@contextmanager
def cancellable(cancelled: Callable[[], bool]) -> Iterator[None]:
    """A context in which checkpoints raise Cancelled once ``cancelled()`` is true, or the work around it is cancelled."""
    around = _cancelled.get()
    before = _cancelled.set(cancelled if around is None else lambda: around() or cancelled())
    try:
        yield
    finally:
        _cancelled.reset(before)


def cancelled_after(seconds: float) -> AbstractContextManager[None]:
    """A context in which checkpoints raise Cancelled after this time, too."""
    until = time.monotonic() + seconds
    return cancellable(lambda: time.monotonic() > until)


def is_cancelled() -> bool:
    """Whether the work of this thread was cancelled."""
    cancelled = _cancelled.get()
    return cancelled is not None and cancelled()


def checkpoint() -> None:
    """Raises Cancelled if the work of this thread was cancelled."""
    if is_cancelled():
        raise Cancelled
