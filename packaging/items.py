"""Writes the list of what the course documents contain, and where lessons show it, into the documentation: make items."""

import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from gemmviz.files.codec import read_toml
from gemmviz.teaching.lesson_file import shipped_lesson

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE, ITEMS = DOCS / "course.md", DOCS / "items.toml"
_BEGIN, _END = "<!-- items: made by make items -->\n", "<!-- end of items -->\n"


@dataclass(frozen=True, slots=True)
class Item:
    """A figure, formula, listing or claim of a document. ``steps``: the steps that show it, as ``LESSON/ID``."""

    document: str
    content: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Items:
    """All items, by document."""

    item: tuple[Item, ...]


def main() -> None:
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), items()), encoding="utf-8")


def items() -> tuple[Item, ...]:
    return read_toml(ITEMS, Items).item


def with_table(text: str, shown: tuple[Item, ...]) -> str:
    """A page with the lists of items between their marks."""
    tables = "\n".join(table(document, list(each)) for document, each in groupby(shown, lambda item: item.document))
    return re.sub(f"{re.escape(_BEGIN)}.*{re.escape(_END)}", lambda _: f"{_BEGIN}{tables}{_END}", text, flags=re.DOTALL)


def table(document: str, shown: list[Item]) -> str:
    """A Markdown list of the items of a document, each with its steps."""
    lines = [f"- {each.content}: {', '.join(map(checked, each.steps))}" for each in shown]
    return "\n".join([f"**{document}**", "", *lines, ""])


def checked(name: str) -> str:
    """The name of a step as code. Raises KeyError for a step that doesn't exist."""
    lesson, _, id = name.partition("/")
    if id not in {step.id for step in shipped_lesson(lesson).stops}:
        raise KeyError(name)
    return f"`{name}`"


if __name__ == "__main__":
    main()
