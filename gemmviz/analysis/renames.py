"""Two sources as lists of lines -> the pairs of lines that differ in names alone.

A name is a mere rename if it stands for one name of the other source, and that one for it, in every pair of lines that have the
same form. Words of the language, members and CUDA's own names are part of the form.
"""

import re
from collections import defaultdict
from difflib import SequenceMatcher

Pairs = list[tuple[int, int]]
_TOKEN = re.compile(r"\w+|\S")
_NAME = re.compile(r"[A-Za-z_]\w*$")
_TYPES = ("const", "unsigned", "int", "float", "double", "size_t", "auto", "void", "bool")
_WORDS = ("for", "while", "if", "else", "return", "extern", "ceil", "min", "max")
_CUDA = ("__global__", "__shared__", "__syncthreads", "threadIdx", "blockIdx", "blockDim", "gridDim")
_FIXED = frozenset((*_TYPES, *_WORDS, *_CUDA))


def rename_pairs(left: list[str], right: list[str], equal: Pairs, differing: list[tuple[range, range]]) -> Pairs:
    """Return the pairs of lines, as indices, that differ by consistent renames alone. ``equal``: pairs of equal lines;
    ``differing``: parts of both sources that stand at the same place and differ.
    """
    candidates = [pair for part in differing for pair in _alike(left, right, *part)]
    partners: dict[str, set[str]] = defaultdict(set)
    origins: dict[str, set[str]] = defaultdict(set)
    for i, j in (*equal, *candidates):
        for name, other in zip(_names(left[i]), _names(right[j]), strict=False):
            partners[name].add(other)
            origins[other].add(name)
    return [
        (i, j) for i, j in candidates
        if all(partners[name] == {other} and origins[other] == {name}
               for name, other in zip(_names(left[i]), _names(right[j]), strict=True))
    ]  # fmt: skip


def _alike(left: list[str], right: list[str], rows: range, others: range) -> Pairs:
    """Return the pairs of lines with the same form, in order."""
    matcher = SequenceMatcher(None, [_form(left[i]) for i in rows], [_form(right[j]) for j in others], autojunk=False)
    found = ((rows[a + n], others[b + n]) for a, b, size in matcher.get_matching_blocks() for n in range(size))
    return [(i, j) for i, j in found if _names(left[i])]


def _tokens(line: str) -> list[tuple[str, bool]]:
    """Return the tokens of a line without its comment, and whether each is a name that its author chose."""
    words = _TOKEN.findall(line.partition("//")[0])
    before = ["", *words]
    return [
        (word, bool(_NAME.match(word)) and word not in _FIXED and ahead != ".")
        for word, ahead in zip(words, before, strict=False)
    ]


def _names(line: str) -> list[str]:
    return [word for word, is_name in _tokens(line) if is_name]


def _form(line: str) -> str:
    return " ".join("#" if is_name else word for word, is_name in _tokens(line))
