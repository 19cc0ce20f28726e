"""English texts in the language of the program: each text that is shown goes through ``tr``, which looks it up in a catalogue.

A message is an English text with named placeholders. Values are filled in after the lookup, so that a translation may order
them differently. Without a catalogue, the English text itself is shown.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from gettext import NullTranslations
from threading import Lock
from typing import TypeVar

ENGLISH = "en"
_Text = TypeVar("_Text", bound=str)


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
    """Return one of two texts by a count, which stands in it as ``{count}`` unless ``values`` have another text for it.

    A catalogue has as many forms as its language has.
    """
    catalogue = _language.catalogue
    text = catalogue.ngettext(one, others, count) if catalogue is not None else one if count == 1 else others
    return text.format_map({"count": count, **values})


def marked(text: _Text) -> _Text:
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
