"""What is printed on a terminal: text, and nothing that the terminal would obey."""

import io
import sys
import unicodedata
from typing import Any, TextIO

_KEPT = "\n\t"


def shown(text: str) -> str:
    """The text, its control characters made visible: what a file says moves no cursor and sets no title."""
    if text.isprintable():
        return text
    return "".join(each if each in _KEPT or not _is_control(each) else f"\\x{ord(each):02x}" for each in text)


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf")


class Terminal:
    """A stream on a terminal, which ``shown`` text reaches."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write(shown(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def guard_terminals() -> None:
    """From now on; pipes and files get every byte as it is."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # letters that an output doesn't know
        if stream is not None and not isinstance(stream, Terminal) and stream.isatty():
            setattr(sys, name, Terminal(stream))
