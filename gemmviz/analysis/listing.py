"""Source texts as lists of lines: two compared line by line, one printed with a question; and the declarations in them."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from typing import Literal

from msgspec import Struct, structs

from gemmviz.model.cases import CodeCase, Listing
from gemmviz.model.kernel import BLANK, KernelSpec
from gemmviz.model.outline import COMMENT

# Two sources as lists of lines -> the pairs of lines that differ in names alone.

Pairs = list[tuple[int, int]]
_WORD_OR_SIGN = re.compile(r"\w+|\S")
_WHOLE_NAME = re.compile(r"[A-Za-z_]\w*$")
_TYPE_NAMES = ("const", "unsigned", "int", "float", "double", "size_t", "auto", "void", "bool")
_CONTROL_WORDS = ("for", "while", "if", "else", "return", "extern", "ceil", "min", "max")
_CUDA_NAMES = ("__global__", "__shared__", "__syncthreads", "threadIdx", "blockIdx", "blockDim", "gridDim")
_ALIKE_SHARE = 0.5  # share of common words from which two lines are compared word by word
_KNOWN_NAMES = frozenset((*_TYPE_NAMES, *_CONTROL_WORDS, *_CUDA_NAMES))


def rename_pairs(left: list[str], right: list[str], equal: Pairs, differing: list[tuple[range, range]]) -> Pairs:
    """Return the pairs of lines, as indices, that differ by consistent renames alone. ``equal``: pairs of equal lines;
    ``differing``: parts of both sources that stand at the same place and differ.
    """
    candidates = [pair for part in differing for pair in _lines_of_one_form(left, right, *part)]
    partners: dict[str, set[str]] = defaultdict(set)
    origins: dict[str, set[str]] = defaultdict(set)
    for i, j in (*equal, *candidates):
        for name, other in zip(_names_in(left[i]), _names_in(right[j]), strict=False):
            partners[name].add(other)
            origins[other].add(name)
    return [
        (i, j) for i, j in candidates
        if all(partners[name] == {other} and origins[other] == {name}
               for name, other in zip(_names_in(left[i]), _names_in(right[j]), strict=True))
    ]  # fmt: skip


def _lines_of_one_form(left: list[str], right: list[str], rows: range, others: range) -> Pairs:
    """Return the pairs of lines with the same form, in order."""
    matcher = SequenceMatcher(None, [_line_form(left[i]) for i in rows], [_line_form(right[j]) for j in others], autojunk=False)
    found = ((rows[a + n], others[b + n]) for a, b, size in matcher.get_matching_blocks() for n in range(size))
    return [(i, j) for i, j in found if _names_in(left[i])]


def _tokens(line: str) -> list[tuple[str, bool]]:
    """Return the tokens of a line without its comment, and whether each is a name that its author chose."""
    words = _WORD_OR_SIGN.findall(line.partition("//")[0])
    before = ["", *words]
    return [
        (word, bool(_WHOLE_NAME.match(word)) and word not in _KNOWN_NAMES and ahead != ".")
        for word, ahead in zip(words, before, strict=False)
    ]


def differing_parts(line: str, other: str) -> list[tuple[int, int]]:
    """Return start and end of what differs from another line, word by word; nothing if too little is alike. A part that only
    the other line has is empty.

    >>> differing_parts("int row = y;", "const int row = x;")
    [(0, 0), (10, 11)]
    """
    words, others = ([*_WORD_OR_SIGN.finditer(each.partition("//")[0])] for each in (line, other))
    matcher = SequenceMatcher(None, [word[0] for word in words], [word[0] for word in others], autojunk=False)
    if matcher.ratio() < _ALIKE_SHARE:
        return []
    ends, starts = [0, *(word.end() for word in words)], [*(word.start() for word in words), words[-1].end()]
    return [(starts[a], ends[b] if b > a else starts[a]) for tag, a, b, _, _ in matcher.get_opcodes() if tag != "equal"]


def _names_in(line: str) -> list[str]:
    return [word for word, is_name in _tokens(line) if is_name]


def _line_form(line: str) -> str:
    return " ".join("#" if is_name else word for word, is_name in _tokens(line))


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
    exact = _code_case(main, beside, _with_braces)
    return exact if exact.is_grown else _code_case(main, beside, _squeezed_line)


def _code_case(main: Listing, beside: Listing, text: Callable[[str], str]) -> CodeCase:
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
    rows = {*same, *(pair for some, others in parts if len(some) == len(others) for pair in zip(some, others, strict=True))}
    texts = sorted((i, j, beside.lines[i], main.lines[j]) for i, j in rows)
    of_left = tuple((i, *part) for i, _, line, other in texts for part in differing_parts(line, other))
    of_right = tuple((j, *part) for _, j, other, line in texts for part in differing_parts(line, other))
    return CodeCase(
        structs.replace(main, lit=frozenset(lit_right), renamed=right_names, parts=of_right),
        structs.replace(beside, lit=frozenset(lit_left), renamed=left_names, parts=of_left), not lit_left, tuple(pairs),
    )  # fmt: skip


def _with_braces(line: str) -> str:
    """A bare line; a brace with its indentation, which tells the end of a loop from the end of the kernel."""
    return line.rstrip() if line.strip() in ("{", "}") else _squeezed_line(line)


def _squeezed_line(line: str) -> str:
    """A line without its comment and without spaces, as far as the compiler is concerned."""
    return re.sub(r"\s+", "", line.partition("//")[0])


# The source of a kernel as it is printed with a question: without header and comments, which may give the answer away, and
# with the line numbers of its file.

_TEXT_OR_COMMENT = re.compile(
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
    bare = _TEXT_OR_COMMENT.sub(_comment_as_breaks, kernel.text).split("\n")
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
    return _TEXT_OR_COMMENT.sub(_blanked_comment, text)


def _blanked_comment(match: re.Match[str]) -> str:
    return match[0] if match["comment"] is None else re.sub(r"[^\n]", " ", match[0])


def _comment_as_breaks(match: re.Match[str]) -> str:
    """The text of a match; of a comment, a space and its line breaks."""
    comment = match["comment"]
    return match[0] if comment is None else " " + "\n" * comment.count("\n")


# The declarations of a kernel's text, each with the memory that it selects.

MemorySpace = Literal["register", "local", "shared", "global", "constant", "texture"]

_DECLARED_TYPE = r"(?:const\s+)?(?:unsigned\s+)?(?:int|float|double|unsigned|size_t|long|half|float2|float4|bool)\b"
_QUALIFIED = re.compile(rf"(__shared__|__constant__|__device__|__local__)\s+({_DECLARED_TYPE})\s+([^;()]+);")
_AUTOMATIC = re.compile(rf"(?:^|[;{{}}(])\s*({_DECLARED_TYPE})\s+([A-Za-z_][^;]*?)\s*(?=;)")
_PARAMETER_LIST = re.compile(r"__global__[^(]*?\(([^)]*)\)")
_DECLARATOR = re.compile(r"\s*([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)")
_QUALIFIED_SPACES: dict[str, MemorySpace] = {
    "__shared__": "shared", "__constant__": "constant", "__device__": "global", "__local__": "local",
}  # fmt: skip


class Declaration(Struct, frozen=True):
    """A declared variable: ``text`` without its value, its ``name``, and the memory that it is in. ``is_pointer``: a parameter
    that points into that memory.
    """

    text: str
    name: str
    space: MemorySpace
    is_pointer: bool = False


def declarations(text: str, macros: Mapping[str, int] | None = None) -> tuple[Declaration, ...]:
    """Return the declarations of a kernel's text in order, each name once: qualified variables, pointers among the parameters,
    and automatic variables, of which arrays are in local memory. ``macros``: values to write instead of names.
    """
    plain = COMMENT.sub("", text)
    for name, value in (macros or {}).items():
        plain = re.sub(rf"\b{name}\b", str(value), plain)
    kernel = _PARAMETER_LIST.search(plain)
    found = [
        Declaration(f"{match[1]} {match[2]} {name}{extents}", name, _QUALIFIED_SPACES[match[1]])
        for match in _QUALIFIED.finditer(plain)
        for name, extents in _declarators(match[3])
    ]
    if kernel is not None:
        found += [
            Declaration(" ".join(each.split()), each.rpartition("*")[2].split()[-1], "global", is_pointer=True)
            for each in kernel[1].split(",")
            if "*" in each
        ]
        found += _automatic(_QUALIFIED.sub(";", plain[kernel.end() :]))
    return tuple({each.name: each for each in reversed(found)}.values())[::-1]


def _automatic(body: str) -> list[Declaration]:
    return [
        Declaration(f"{match[1]} {name}{extents}", name, "local" if extents else "register")
        for match in _AUTOMATIC.finditer(body)
        for name, extents in _declarators(match[2])
    ]


def _declarators(text: str) -> list[tuple[str, str]]:
    """Return name and extents of each variable of a declaration, without their values."""
    parts, depth, last = list[str](), 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(text[last:at])
            last = at + 1
    matches = (_DECLARATOR.match(part) for part in (*parts, text[last:]))
    return [(match[1], match[2].strip()) for match in matches if match is not None]
