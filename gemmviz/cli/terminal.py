"""Output to a terminal, without control characters."""

import io
import sys
import unicodedata
from typing import Any, TextIO

_ALLOWED = "\n\t"


def escaped(text: str) -> str:
    """Return the text with control characters escaped, so that text from files can't control the terminal."""
    if text.isprintable():
        return text
    return "".join(each if each in _ALLOWED or not _is_control(each) else f"\\x{ord(each):02x}" for each in text)


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf")


class Terminal:
    """A stream to a terminal that escapes control characters."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write(escaped(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def guard_terminals() -> None:
    """Escape what is printed to terminals. Pipes and files receive all characters."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # characters that the output's encoding lacks
        if stream is not None and not isinstance(stream, Terminal) and stream.isatty():
            setattr(sys, name, Terminal(stream))
