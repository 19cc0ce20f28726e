"""Writes whole files or none: beside the old one first, which stays as it is until the new one is complete."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gemmviz.model.errors import GemmvizError


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A path to write to, of the same suffix, which becomes ``path`` when all went well. Raises GemmvizError, the file named,
    where the system refuses.
    """
    if not path.parent.is_dir():
        raise GemmvizError(f"there is no folder {path.parent}", file=str(path))
    part = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.stem[:40]}-", suffix=path.suffix, dir=path.parent)
        os.close(handle)
        part = Path(name)
        part.chmod(_mode_of(path))
        yield part
        part.replace(path)
    except OSError as error:
        raise GemmvizError(f"this can't be written: {error.strerror or error}", file=str(path)) from None
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """The text as UTF-8, whole or not at all. Raises GemmvizError."""
    with written_whole(path) as part:
        part.write_text(text, encoding="utf-8")


def _mode_of(path: Path) -> int:
    """That of the file that is there, else what the system gives a new one."""
    if path.exists():
        return path.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
