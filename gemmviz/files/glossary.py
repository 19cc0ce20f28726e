"""The glossary of the documentation, which the window shows too."""

import re
from functools import cache

from msgspec import Struct

from gemmviz.files.resources import resource
from gemmviz.model.translation import language, tr

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
