"""The source of a kernel as it is printed with a question: without header and comments, which may give the answer away, and
with the line numbers of its file.
"""

import re

from msgspec import Struct

from gemmviz.model.kernel import KernelSpec

_COMMENT = re.compile(
    r'"(?:\\.|[^"\\\n])*"' r"|'(?:\\.|[^'\\\n])*'" r"|/\*\?\*/"  # texts, and the blanks of an exercise, stay
    r"|(?P<comment>//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z))",
    re.DOTALL,
)  # fmt: skip


class PrintedSource(Struct, frozen=True):
    """``lines``: number in the file, from 1, and text. ``lit``: the number of the line that is asked about, 0 for none.
    ``legend``: the launch that is asked about.
    """

    name: str
    lines: tuple[tuple[int, str], ...]
    lit: int = 0
    legend: str = ""

    @property
    def numbered(self) -> list[str]:
        """The lines with their numbers in front, right-aligned."""
        width = len(str(self.lines[-1][0])) if self.lines else 1
        return [f"{number:>{width}}  {line}".rstrip() for number, line in self.lines]


def printed_source(kernel: KernelSpec, lit: int = 0, legend: str = "") -> PrintedSource:
    """The source of a kernel without the lines that only hold comments."""
    bare = _COMMENT.sub(_without, kernel.text).split("\n")
    lines = [
        (number, line.rstrip().expandtabs(4))
        for number, (line, whole) in enumerate(zip(bare, kernel.text.split("\n"), strict=True), 1)
        if line.strip() or not whole.strip()
    ]
    while lines and not lines[0][1]:
        del lines[0]
    while lines and not lines[-1][1]:
        del lines[-1]
    return PrintedSource(kernel.name, tuple(lines), lit, legend)


def without_comments(text: str) -> str:
    """A source with spaces in place of comments, so that each line and column of code stays where it is."""
    return _COMMENT.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    return match[0] if match["comment"] is None else re.sub(r"[^\n]", " ", match[0])


def _without(match: re.Match[str]) -> str:
    """The text of a match; of a comment, a space and its line breaks."""
    comment = match["comment"]
    return match[0] if comment is None else " " + "\n" * comment.count("\n")
