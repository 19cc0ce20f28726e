"""The languages of the program: their compiled catalogues, and the choice between them; and the glossary of the documentation,
which the window shows too.
"""

import os
import re
from collections.abc import Mapping
from functools import cache
from gettext import GNUTranslations

from msgspec import Struct

from gemmviz.files.codec import read_json
from gemmviz.files.resources import ROOT, resource
from gemmviz.model.messages import ENGLISH, UsageError, language, speak, tr

VARIABLE = "GEMMVIZ_LANGUAGE"  # of the environment; child processes inherit it
_SYSTEM = ("LC_ALL", "LC_MESSAGES", "LANG")
_CATALOGUES = "assets/translations"
PROGRAM = "gemmviz"  # the catalogue of the program's own messages
LESSONS = "lessons"  # the folder of the catalogues of lessons


class _Facts(Struct, frozen=True):
    """``name``: a language's own name; ``complete``: whether every message of the program is translated."""

    name: str
    complete: bool


def languages() -> dict[str, str]:
    """Codes of all languages with their own names, English first."""
    return {ENGLISH: "English", **{code: facts.name for code, facts in _translated().items()}}


def use_language(code: str | None = None) -> None:
    """Make a language that of this process and of its children.

    None chooses that of the environment: GEMMVIZ_LANGUAGE, else the system's if its translation is complete, else English.
    Raises UsageError for a language without a catalogue.
    """
    chosen = code or os.environ.get(VARIABLE) or system_language()
    if chosen not in languages():
        raise UsageError(f"there is no translation into {chosen!r}", remedy=f"choose {', '.join(languages())}")
    if code is not None:
        os.environ[VARIABLE] = code
    speak(chosen, None if chosen == ENGLISH else catalogue(chosen))


def catalogue(code: str, name: str = PROGRAM) -> GNUTranslations:
    """A compiled catalogue of a language. Raises InstallationError if it is missing."""
    with resource(f"{_CATALOGUES}/{code}/{name}.mo").open("rb") as file:
        return GNUTranslations(file)


@cache
def lesson_catalogue(code: str, lesson: str) -> GNUTranslations | None:
    """The compiled catalogue of a lesson in a language, None if it is not translated."""
    folder = ROOT / _CATALOGUES / code / LESSONS
    return catalogue(code, f"{LESSONS}/{lesson}") if (folder / f"{lesson}.mo").is_file() else None


def system_language(environment: Mapping[str, str] = os.environ) -> str:
    """The system's language if its translation is complete, else English."""
    locale = next((environment[name] for name in _SYSTEM if environment.get(name)), "").partition(".")[0]
    found = (code for code, facts in _translated().items() if facts.complete and locale in (code, code.partition("_")[0]))
    return next(found, ENGLISH)


@cache
def _translated() -> dict[str, _Facts]:
    """The languages that have catalogues."""
    return read_json(resource(f"{_CATALOGUES}/languages.json"), dict[str, _Facts])


# The glossary of the documentation, which the window shows too.

_FILE = "docs/glossary.md"
_MARKS = re.compile(r"\[([^\]]*)\]\([^)]*\)|[*`]([^*`]*)[*`]")  # links, and emphasised words


class GlossaryEntry(Struct, frozen=True):
    """Words that belong together, and what they mean."""

    title: str
    text: str

    @property
    def message(self) -> str:
        """Both as one message of a catalogue, on two lines."""
        return f"{self.title}\n{self.text}"


class FoundTerm(Struct, frozen=True):
    """A term of an entry in a text: from one index to another."""

    entry: GlossaryEntry
    start: int
    end: int


def glossary() -> tuple[GlossaryEntry, ...]:
    """All entries in the order of the file, in the program's language. Raises InstallationError if the file is missing."""
    return tuple(GlossaryEntry(*tr(each.message).split("\n", 1)) for each in original_glossary())


@cache
def original_glossary() -> tuple[GlossaryEntry, ...]:
    """All entries as they were written."""
    entries = []
    for block in resource(_FILE).read_text(encoding="utf-8").split("\n\n"):
        head, mark, text = block.partition("\n: ")
        if mark:
            entries.append(GlossaryEntry(head, _MARKS.sub(lambda match: match[1] or match[2] or "", " ".join(text.split()))))
    return tuple(entries)


@cache
def _terms(language: str) -> tuple[re.Pattern[str], dict[str, GlossaryEntry]]:
    """A pattern that finds all terms of the program's language, the longest first, and the entry of each."""
    by_term = {term.lower(): entry for entry in glossary() for term in re.split(", |、", entry.title)}
    longest = sorted(by_term, key=len, reverse=True)
    pattern = rf"(?<![\w-])({'|'.join(map(re.escape, longest))})(?:e?s)?(?![\w-])"
    return re.compile(pattern, re.IGNORECASE | re.ASCII), by_term  # ASCII: words of Chinese have no ends


def term_at(text: str, index: int) -> FoundTerm | None:
    """The term of a text that is at an index, None if there is none."""
    pattern, by_term = _terms(language())
    return next(
        (
            FoundTerm(by_term[match[1].lower()], match.start(), match.end())
            for match in pattern.finditer(text)
            if match.start() <= index < match.end()
        ),
        None,
    )
