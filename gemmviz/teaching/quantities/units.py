"""Units of quantities, and the nouns that may follow their numbers in a text."""

import re

from gemmviz.teaching.quantities.catalog import quantity_title
from gemmviz.teaching.quantities.reference import parse_reference

_UNITS = {
    "microseconds": "µs", "nanoseconds": "ns", "percent": "%", "GiB": "GiB", "MiB": "MiB", "GFLOP/s": "GFLOP/s",
    "gb_s": "GB/s", "thousands": "thousand", "gflops": "GFLOP/s",
}  # fmt: skip
_OTHER_UNITS = {"ms", "s", "ns", "µs", "KiB", "kB", "MB", "GB", "TFLOP/s", "MHz", *_UNITS.values()}
_SAME = (
    {"lane", "thread", "sum", "size"}, {"product", "term"}, {"pass", "wavefront"}, {"multiprocessor", "sm"}, {"byte", "shared"},
    {"scheduler", "granularity"}, {"load", "read", "element", "copy"}, {"phase", "round"}, {"thread", "parallelism"},
    {"operation", "flop", "floating-point", "work", "span"}, {"instruction", "request"}, {"hazard", "collision"},
    {"block", "quadrant", "slab"}, {"write", "store", "element"}, {"request", "store"},
)  # fmt: skip
_NOUNS = frozenset().union(*_SAME) - {"element", "sum", "size"} | {
    "sector", "line", "warp", "byte", "register", "step", "wave", "row", "column", "core", "blank", "cycle", "tile", "bank",
    "word", "addition", "tick", "strip",
}  # fmt: skip


def is_unit(word: str) -> bool:
    """Whether a word is a unit of measurement."""
    return word in _OTHER_UNITS


def unit_of(reference: str) -> str:
    """The unit that a text must give after the number of a quantity, such as µs; "" for a count."""
    title = quantity_title(reference)
    words = [title.split()[0], *re.findall(r"GFLOP/s|gb_s|gflops", title)]
    return next((_UNITS[word] for word in words if word in _UNITS), "")


def is_counted(reference: str, word: str) -> bool:
    """Whether a word may follow the number of a quantity without a unit: it is no noun for things that are counted, or one of
    those in the quantity's title, or another word for it.
    """
    if is_unit(word):
        return False
    noun, given = _singular(word), parse_reference(reference)
    if noun not in _NOUNS or given.id == "parameter":
        return True
    said = {_singular(each) for each in re.findall(r"[\w-]+", f"{quantity_title(reference)} {given.id}".replace("_", " "))}
    return noun in said or any(noun in same and same & said for same in _SAME)


def is_of(reference: str, word: str) -> bool:
    """Whether a quantity is one of each of these things, or a share of them: of a block, per thread, percent of cuBLAS."""
    title = quantity_title(reference).replace("_", " ")
    bases = re.findall(r"(?:per|of an?|percent of|and) (\w+)", title)
    of_words = {_singular(each) for each in (*bases, *(title.split() if title.startswith("percent") else ()))}
    noun = _singular(word)
    return not bases or noun in of_words or any(noun in same and same & of_words for same in _SAME)


def _singular(word: str) -> str:
    return word.lower().removesuffix("es") if word.lower() == "passes" else word.lower().removesuffix("s")
