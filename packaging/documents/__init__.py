"""What is generated in the documentation, and what its makers share."""

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def with_part(text: str, what: str, part: str) -> str:
    """A page with a new text between the marks of the command that makes it."""
    begin, end = f"<!-- {what}: made by make document WHAT={what} -->\n", f"<!-- end of {what} -->\n"
    return re.sub(f"{re.escape(begin)}.*{re.escape(end)}", lambda _: f"{begin}{part}{end}", text, flags=re.DOTALL)


def write_part(page: Path, what: str, part: str) -> None:
    """Write a page with a new text between the marks of a command."""
    page.write_text(with_part(page.read_text(encoding="utf-8"), what, part), encoding="utf-8")


def markdown_table(names: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[int] = ()) -> str:
    """A table in Markdown. ``right``: the columns that are aligned at the right."""
    rule = "|".join("---:" if place in right else "---" for place in range(len(names)))
    return "\n".join([_line(names), f"|{rule}|", *map(_line, rows)])


def _line(cells: Iterable[str]) -> str:
    return "|".join(["", *(f" {cell} " if cell else " " for cell in cells), ""])
