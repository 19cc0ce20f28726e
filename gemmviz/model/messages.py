"""Texts in the user's language: their translations, and the numbers, counts and lists of words in them; and errors, which are
shown with place and remedy.
"""

import difflib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from gettext import NullTranslations
from threading import Lock
from typing import Literal, Self, TypeVar

from msgspec import Struct

# Texts in the user's language: their translations, and the numbers, counts and lists of words in them.

ENGLISH = "en"
_SEVERAL = 100  # of the last form in English, and of a form for many in other languages
UNKNOWN = "?"
COUNT, _GROWS, _END = "\ufdd0", "\ufdd1", "\ufdd2"  # marks of a count: noncharacters of Unicode, which no text contains
_MARKED = re.compile(f"{COUNT}([^{_GROWS}]*){_GROWS}(\\d*){_END}")
_facts: ContextVar[frozenset[str] | None] = ContextVar("facts", default=None)
_Message = TypeVar("_Message", bound=str)


class _Language:
    """The language of the process. ``catalogue``: its translations, None for English."""

    def __init__(self) -> None:
        self.code = ENGLISH
        self.catalogue: NullTranslations | None = None


_language = _Language()
_only_one = Lock()


def tr(text: str, /, **values: object) -> str:
    """Return a text in the language of the program, with values for its placeholders."""
    catalogue = _language.catalogue
    if catalogue is not None and text:
        text = catalogue.gettext(text)
    return text.format_map(values) if values else text


def trn(one: str, others: str, count: int, /, **values: object) -> str:
    """Return one of two texts by a count, which stands in it as ``{count}`` unless ``values`` have another text for it, such as
    one that is not hidden with the counts of an open question.

    A catalogue has as many forms as its language has. A count that a question hides has the form of several: that of one would
    give it away.
    """
    if is_asking():
        values = {"count": counted(count), **values} if "{count}" in others else values
        count = _SEVERAL if any(COUNT in str(value) for value in values.values()) else count
    catalogue = _language.catalogue
    text = catalogue.ngettext(one, others, count) if catalogue is not None else one if count == 1 else others
    return text.format_map({"count": count, **values})


def marked(text: _Message) -> _Message:
    """Return the text itself: the mark of a text in a table, which ``tr`` translates where it is shown."""
    return text


def language() -> str:
    """Return the code of the program's language, such as "en" or "zh_CN"."""
    return _language.code


def speak(code: str, catalogue: NullTranslations | None) -> None:
    """Make a language the one of this process; None for English. Call it before anything is shown."""
    _language.code, _language.catalogue = code, catalogue


@contextmanager
def spoken(code: str, catalogue: NullTranslations | None) -> Iterator[None]:
    """Use another language within a ``with`` block, in all threads of the process."""
    with _only_one:
        before = _language.code, _language.catalogue
        speak(code, catalogue)
        try:
            yield
        finally:
            speak(*before)


@contextmanager
def asking(is_open: bool = True, facts: frozenset[str] = frozenset()) -> Iterator[None]:
    """Mark the counts of all texts that are made within a ``with`` block, unless no question is open. ``facts``: nouns whose
    counts stay, since the question isn't about them.
    """
    token = _facts.set(facts if is_open else None)
    try:
        yield
    finally:
        _facts.reset(token)


def shown_facts() -> frozenset[str] | None:
    """Return the nouns whose counts are not marked; None if none are: a part of the key of whatever remembers texts."""
    return _facts.get()


def is_asking() -> bool:
    """Return whether counts are marked."""
    return _facts.get() is not None


def counted(value: object, grows_to: int | None = None) -> str:
    """Return the text of a count. ``grows_to``: its value if it is counted up, None if it is hidden until the end."""
    if not is_asking():
        return str(value)
    return f"{COUNT}{in_full(str(value))}{_GROWS}{'' if grows_to is None else grows_to}{_END}"


def in_full(text: str) -> str:
    """Return a text with all of its counts."""
    return _MARKED.sub(r"\1", text) if COUNT in text else text


def told(text: str, share: float) -> str:
    """Return a text with its marked counts at ``share`` of their value: 0 for question marks, 1 for the counts themselves.

    What is counted one by one, such as sectors, grows with the share. Parts and percentages of it are hidden until the end.
    """
    if share >= 1.0 or COUNT not in text:
        return in_full(text)
    return _MARKED.sub(lambda mark: grouped(int(int(mark[2]) * share)) if mark[2] and share > 0.0 else UNKNOWN, text)


def grouped(value: float, gap: str = "\u202f") -> str:
    """Return a whole number with narrow spaces between its thousands from five digits on: "4096", "16 384". Four digits are one
    group, as in code and in names of sizes.
    """
    text = f"{value:,d}" if isinstance(value, int) else f"{value:,.0f}"  # an int may be too large for a float
    return text.replace(",", gap if len(text.lstrip("-")) > 5 else "")


_LIST_FORMS = {"and": marked("{others} and {last}"), "or": marked("{others} or {last}")}
_ORDINALS = {1: marked("{number}st"), 2: marked("{number}nd"), 3: marked("{number}rd")}
_ORDINAL = marked("{number}th")
_GROWING = frozenset({"sector", "wavefront", "lane", "element", "load"})  # what is counted up when a question is answered


def number(value: float) -> str:
    """A number with three digits, or more before its point, with thin spaces between thousands from five digits on."""
    return grouped(value, "\u2009") if value >= 100 else f"{value:.3g}"


def spaced(count: float) -> str:
    """All digits of a count, as ``grouped`` writes those of other numbers."""
    return counted(grouped(count))


def size_text(size: float) -> str:
    """A number of bytes in binary units: "48 KiB", "512 bytes"."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return tr("{size} bytes", size=grouped(round(size)))


def percent(share: float) -> str:
    """A share in percent, with one decimal: "12.5 %"."""
    return f"{counted(f'{100 * share:.1f}')} %"


def many(count: int, noun: str) -> str:
    """A count and its noun: "1 sector", "4 launches". Nouns in calls are messages of the catalogue, as "{count} sector"."""
    is_fact = noun in (_facts.get() or ())
    text = str(count) if is_fact else counted(count, count if count > 1 and noun in _GROWING else None)
    return trn(f"{{count}} {noun}", f"{{count}} {plural(noun)}", count, count=text)


def sized(count: int, noun: str) -> str:
    """A size and its noun, as ``many`` writes counts: "256 threads" of a block. No question hides it."""
    return trn(f"{{count}} {noun}", f"{{count}} {plural(noun)}", count, count=str(count))


def noun(word: str) -> str:
    """Return the noun itself: the mark of a noun in a table, which ``many`` counts or ``tr`` shows."""
    return word


def plural(noun: str) -> str:
    """The English plural of a noun: "sectors", "launches"."""
    return f"{noun}es" if noun.endswith(("ch", "sh", "ss", "x")) else f"{noun}s"


def capital(text: str) -> str:
    """The text with an upper-case first letter."""
    return text[:1].upper() + text[1:]


def listed(names: Iterable[str], last: Literal["and", "or"] = "and") -> str:
    """Names in a sentence: "A, B and C"."""
    *others, end = [*names] or [""]
    return tr(_LIST_FORMS[last], others=tr(", ").join(others), last=end) if others else end


def ordinal(number: int) -> str:
    """A place in a row, from 1: "1st", "22nd"."""
    return tr(_ORDINAL if number % 100 in (11, 12, 13) else _ORDINALS.get(number % 10, _ORDINAL), number=number)


def letter(place: int) -> str:
    """The letter of a choice, "A" for 0."""
    return chr(ord("A") + place)


def all_blocks(count: int) -> str:
    """All blocks of a launch in words: "all 16 blocks"."""
    return tr("all {count} blocks", count=count) if count > 1 else tr("its only block")


# Errors that are shown to users, with place and remedy; and cooperative cancelling, which ends long work.

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
