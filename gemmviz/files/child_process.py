"""Child processes of the program: the command line that starts gemmviz itself, and frames of bytes on a pipe."""

import os
import sys
from pathlib import Path
from typing import IO

NO_CONSOLE = 0x08000000 if os.name == "nt" else 0  # creation flag: open no console window
_LENGTH_BYTES = 8


def gemmviz_command(*words: str) -> list[str]:
    """Command line that runs gemmviz with these arguments. It imports nothing from the current folder."""
    frozen = getattr(sys, "frozen", False)
    return [sys.executable, *words] if frozen else [sys.executable, "-P", "-m", "gemmviz", *words]


def child_environment(variables: dict[str, str] | None = None) -> dict[str, str]:
    """Environment in which ``gemmviz_command`` runs this same package, with more variables."""
    package = str(Path(__file__).resolve().parent.parent.parent)
    environment = {**os.environ, **(variables or {})}
    environment["PYTHONPATH"] = os.pathsep.join([package, *filter(None, [environment.get("PYTHONPATH")])])
    return environment


def write_frame(pipe: IO[bytes], content: bytes) -> None:
    """Write bytes so that ``read_frame`` at the other end reads them as one. Raises OSError if the other end is closed."""
    pipe.write(len(content).to_bytes(_LENGTH_BYTES, "little") + content)
    pipe.flush()


def read_frame(pipe: IO[bytes]) -> bytes | None:
    """The next frame; None at the end of the pipe, also within a frame."""
    head = pipe.read(_LENGTH_BYTES)
    size = int.from_bytes(head, "little")
    content = pipe.read(size) if len(head) == _LENGTH_BYTES else b""
    return content if len(head) == _LENGTH_BYTES and len(content) == size else None
