"""Writes whole files or none: beside the old one first, which stays as it is until the new one is complete."""

import glob
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gemmviz.model.errors import GemmvizError


def is_file(path: Path) -> bool:
    """Whether there is a plain file; there is none of a name that the system takes for impossible."""
    return os.path.isfile(path)


def what_else(path: Path) -> str:
    """What is there instead of a plain file, "" where it is one or where there is nothing."""
    if is_file(path) or not os.path.exists(path):
        return ""
    return "a folder" if path.is_dir() else "no plain file"


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A path to write to, of the same suffix, which becomes ``path`` when all went well; what a link leads to, where that is
    one. Raises GemmvizError, the file named, for what is no plain file, and where the system refuses.
    """
    part = None
    try:
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        _refuse(target, path)
        sweep(target)
        handle, name = tempfile.mkstemp(prefix=f"{_prefix(target)}{os.getpid()}-", suffix=target.suffix, dir=target.parent)
        os.close(handle)
        part = Path(name)
        part.chmod(_mode_of(target))
        yield part
        part.replace(target)
    except GemmvizError:  # what was to be written says so itself
        raise
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise GemmvizError(f"can't write: {why or error}", file=str(path)) from None
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def _refuse(target: Path, path: Path) -> None:
    """Raises GemmvizError for what no file can take the place of."""
    if not target.name:
        raise GemmvizError("this names no file", file=str(path) or "-o")
    if not target.parent.is_dir():
        raise GemmvizError(f"there is no folder {target.parent}", file=str(path))
    if what := what_else(target):
        raise GemmvizError(f"this is {what}; nothing is written over it", file=str(path), remedy="name a file")


def _prefix(target: Path) -> str:
    """What the name of an unfinished file begins with; the number of the process that writes it follows."""
    return f".{target.stem[:40]}.part-"


def sweep(target: Path) -> None:
    """Removes what a killed process left unfinished of this file."""
    for left in target.parent.glob(f"{glob.escape(_prefix(target))}*{glob.escape(target.suffix)}"):
        number = left.name.removeprefix(_prefix(target)).partition("-")[0]
        if number.isdecimal() and not _runs(int(number)) and not left.is_symlink():
            left.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    if os.name != "posix":
        return True  # to ask there would be to end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def write_text(path: Path, text: str) -> None:
    """The text as UTF-8, whole or not at all. Raises GemmvizError."""
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")


def _mode_of(path: Path) -> int:
    """That of the file that is there, else what the system gives a new one."""
    if path.exists():
        return path.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
