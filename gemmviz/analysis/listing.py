"""Comparison of two sources, line by line."""

import re
from collections.abc import Callable
from difflib import SequenceMatcher

from gemmviz.analysis.renames import rename_pairs
from gemmviz.model.code_case import CodeCase, Listing
from gemmviz.model.kernel import BLANK, KernelSpec
from gemmviz.model.records import replace


def listing_of(kernel: KernelSpec) -> Listing:
    """The source of a kernel, from its first line of code on."""
    lines = kernel.text.rstrip().split("\n")[first_line(kernel) :]
    return Listing(kernel.name, kernel.title, tuple(line.rstrip() for line in lines))


def filled_line(kernel: KernelSpec, worksheet: KernelSpec) -> int | None:
    """Index, in the listing of a kernel, of the line with the blank that was filled in last; None if all blanks are open.
    ``worksheet``: the kernel with all of its blanks, which are filled in from the first one on.
    """
    holes = [each.start() for each in BLANK.finditer(worksheet.text)]
    filled = len(holes) - kernel.blanks
    if filled <= 0:
        return None
    return worksheet.text.count("\n", 0, holes[filled - 1]) - first_line(worksheet)


def first_line(kernel: KernelSpec) -> int:
    """Index of the first line of code in the text of a kernel."""
    lines = enumerate(kernel.text.rstrip().split("\n"))
    return next((place for place, line in lines if line.strip() and not line.startswith("//")), 0)


def compared(main: Listing, beside: Listing) -> CodeCase:
    """The comparison of two sources: lines that differ are highlighted on both sides, equal ones are paired. Lines that differ
    in names alone are told apart from those that do something else.
    """
    exact = _compared(main, beside, _with_braces)
    return exact if exact.is_grown else _compared(main, beside, _bare)


def _compared(main: Listing, beside: Listing, text: Callable[[str], str]) -> CodeCase:
    """The comparison of two sources whose lines are equal if their ``text`` is."""
    left, right = ([text(line) for line in each.lines] for each in (beside, main))
    pairs, parts, lit_left, lit_right = [], [], set(), set()
    for tag, i0, i1, j0, j1 in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            pairs += list(zip(range(i0, i1), range(j0, j1), strict=True))
        else:
            parts.append((range(i0, i1), range(j0, j1)))
            lit_left |= {place for place in range(i0, i1) if left[place]}
            lit_right |= {place for place in range(j0, j1) if right[place]}
    same = rename_pairs(list(beside.lines), list(main.lines), pairs, parts)
    left_names, right_names = (frozenset(pair[side] for pair in same) for side in (0, 1))
    return CodeCase(
        replace(main, lit=frozenset(lit_right), renamed=right_names),
        replace(beside, lit=frozenset(lit_left), renamed=left_names), not lit_left, tuple(pairs),
    )  # fmt: skip


def _with_braces(line: str) -> str:
    """A bare line; a brace with its indentation, which tells the end of a loop from the end of the kernel."""
    return line.rstrip() if line.strip() in ("{", "}") else _bare(line)


def _bare(line: str) -> str:
    """A line without its comment and without spaces, as far as the compiler is concerned."""
    return re.sub(r"\s+", "", line.partition("//")[0])
