"""Words in the formulas of a launch."""

import re
from collections.abc import Iterable, Mapping

_WORD = re.compile(r"(?<![\w.])(?:[A-Za-z_]\w*|\d+)(?![\w.(])")
_KEYWORDS = ("if", "else", "and", "or", "not")


def names_in(formulas: Iterable[str]) -> list[str]:
    """Names and whole numbers in formulas, each once, in order."""
    words = (word for formula in formulas for word in _WORD.findall(formula))
    return list(dict.fromkeys(word for word in words if word not in _KEYWORDS))


def renamed(formula: str, names: Mapping[str, str]) -> str:
    """The formula with some of its names and numbers replaced."""
    return _WORD.sub(lambda match: names.get(match[0], match[0]), formula)
