"""English texts in the language of the program: each text that is shown goes through ``tr``, which looks it up in a catalogue.

A message is an English text with named placeholders. Values are filled in after the lookup, so that a translation may order
them differently. Without a catalogue, the English text itself is shown.

Whatever writes a count, such as ``many``, passes it to ``counted``. Within ``asking`` the count is marked, so that ``told`` can
hide it after the text has been measured and broken into lines. Indices, sizes and addresses are not counts.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from gettext import NullTranslations
from threading import Lock
from typing import TypeVar

ENGLISH = "en"
_SEVERAL = 100  # of the last form in English, and of a form for many in other languages
UNKNOWN = "?"
COUNT, _GROWS, _END = "\ufdd0", "\ufdd1", "\ufdd2"  # marks of a count: noncharacters of Unicode, which no text contains
_MARKED = re.compile(f"{COUNT}([^{_GROWS}]*){_GROWS}(\\d*){_END}")
_asking = ContextVar("asking", default=False)
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
    if _asking.get():
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
def asking(is_open: bool = True) -> Iterator[None]:
    """Mark the counts of all texts that are made within a ``with`` block, unless no question is open."""
    token = _asking.set(is_open)
    try:
        yield
    finally:
        _asking.reset(token)


def is_asking() -> bool:
    """Return whether counts are marked: a part of the key of whatever remembers texts."""
    return _asking.get()


def counted(value: object, grows_to: int | None = None) -> str:
    """Return the text of a count. ``grows_to``: its value if it is counted up, None if it is hidden until the end."""
    if not _asking.get():
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
