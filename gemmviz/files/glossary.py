"""The glossary of the documentation, which the window shows too."""

import re
from functools import cache

from msgspec import Struct

from gemmviz.files.resources import resource

_FILE = "docs/glossary.md"
_MARKS = re.compile(r"\[([^\]]*)\]\([^)]*\)|[*`]([^*`]*)[*`]")  # links, and emphasised words


class GlossaryEntry(Struct, frozen=True):
    """Words that belong together, and what they mean."""

    terms: tuple[str, ...]
    text: str

    @property
    def title(self) -> str:
        return ", ".join(self.terms)


class FoundTerm(Struct, frozen=True):
    """A term of an entry in a text: from one index to another."""

    entry: GlossaryEntry
    start: int
    end: int


@cache
def glossary() -> tuple[GlossaryEntry, ...]:
    """All entries in the order of the file. Raises InstallationError if it is missing."""
    entries = []
    for block in resource(_FILE).read_text(encoding="utf-8").split("\n\n"):
        head, mark, text = block.partition("\n: ")
        if mark:
            plain = _MARKS.sub(lambda match: match[1] or match[2] or "", " ".join(text.split()))
            entries.append(GlossaryEntry(tuple(head.split(", ")), plain))
    return tuple(entries)


@cache
def _terms() -> tuple[re.Pattern[str], dict[str, GlossaryEntry]]:
    """A pattern that finds all terms, the longest first, and the entry of each."""
    by_term = {term.lower(): entry for entry in glossary() for term in entry.terms}
    longest = sorted(by_term, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, longest))})(?:e?s)?(?![\w-])", re.IGNORECASE), by_term


def term_at(text: str, index: int) -> FoundTerm | None:
    """The term of a text that is at an index, None if there is none."""
    pattern, by_term = _terms()
    return next(
        (
            FoundTerm(by_term[match[1].lower()], match.start(), match.end())
            for match in pattern.finditer(text)
            if match.start() <= index < match.end()
        ),
        None,
    )
