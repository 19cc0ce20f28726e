"""Characters as wide as they are high, such as Chinese ones: which text has them, and where its lines may break.

The bundled fonts have none of them. A font of the system draws them, and all such fonts make them exactly one em wide.
"""

import re
from functools import lru_cache
from unicodedata import east_asian_width

_BEFORE = "（［｛〈《「『【〔“‘"  # stand at no end of a line
_AFTER = "，。、；：？！）］｝〉》」』】〕”’…"  # stand at no beginning of a line


def is_wide(char: str) -> bool:
    """Whether a character is one em wide."""
    return char > "\u2e7f" and east_asian_width(char) in "WF"


@lru_cache(maxsize=8192)
def wide_characters(text: str) -> str:
    """The wide characters of a text, sorted."""
    return "" if text.isascii() else "".join(sorted(set(filter(is_wide, text))))


def words_of(text: str) -> list[tuple[str, str]]:
    """The parts between which a line may break, each with what stands before it on the same line: a space or nothing."""
    if not wide_characters(text):
        return [("" if number == 0 else " ", word) for number, word in enumerate(text.split(" "))]
    words = list[tuple[str, str]]()
    for number, chunk in enumerate(text.split(" ")):
        gap = "" if number == 0 else " "
        for part in _PART.findall(chunk) or [""]:
            words.append((gap, part))
            gap = ""
    return words


_WIDE = "\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uff60\U00020000-\U0003fffd"
_PART = re.compile(rf"[{_BEFORE}]*(?:[{_WIDE}]|[^{_WIDE}]+)[{_AFTER}]*")
