"""Texts in the user's language: their translations, and the numbers, counts and lists of words in them."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from gettext import NullTranslations
from threading import Lock
from typing import Literal, TypeVar

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
