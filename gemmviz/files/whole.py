"""Writes files atomically: to a temporary file in the same folder, which replaces the old one once it is complete."""

import glob
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gemmviz.model.errors import GemmvizError


def is_file(path: Path) -> bool:
    """Whether ``path`` is a regular file; false also for a name that the system rejects."""
    return os.path.isfile(path)


def is_folder(path: Path | str) -> bool:
    """Whether ``path`` is a folder; false also for a name that the system rejects."""
    return os.path.isdir(path)


def special_kind(path: Path) -> str:
    """The kind of a path that isn't a regular file, such as "a folder"; "" for a regular file or nothing."""
    if is_file(path) or not os.path.exists(path):
        return ""
    return "a folder" if is_folder(path) else "not a regular file"


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Context with a temporary path of the same suffix; on success it replaces ``path``, or the target of that link.

    Raises GemmvizError that names the file if it exists and isn't a regular file, or if the system can't write it.
    """
    part = None
    try:
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        _check_replaceable(target, path)
        sweep(target)
        handle, name = tempfile.mkstemp(prefix=f"{_prefix(target)}{os.getpid()}-", suffix=target.suffix, dir=target.parent)
        os.close(handle)
        part = Path(name)
        part.chmod(_mode_of(target))
        yield part
        part.replace(target)
    except GemmvizError:  # from the body of the with statement
        raise
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise GemmvizError(f"can't write: {why or error}", file=str(path)) from None
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def _check_replaceable(target: Path, path: Path) -> None:
    """Checks that a file can replace ``target``. Raises GemmvizError otherwise."""
    if not target.name:
        raise GemmvizError("this is not the name of a file", file=str(path) or "-o")
    if not is_folder(target.parent):
        raise GemmvizError(f"there is no folder {target.parent}", file=str(path))
    if kind := special_kind(target):
        raise GemmvizError(f"this is {kind}; it is not overwritten", file=str(path), remedy="name a file")


def _prefix(target: Path) -> str:
    """Prefix of the temporary file's name; the id of the writing process follows."""
    return f".{target.stem[:40]}.part-"


def sweep(target: Path) -> None:
    """Removes temporary files of ``target`` that killed processes left."""
    for left in target.parent.glob(f"{glob.escape(_prefix(target))}*{glob.escape(target.suffix)}"):
        number = left.name.removeprefix(_prefix(target)).partition("-")[0]
        if number.isdecimal() and not _is_running(int(number)) and not left.is_symlink():
            left.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    if os.name != "posix":
        return True  # os.kill would terminate it there
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def write_text(path: Path, text: str) -> None:
    """Writes a text as UTF-8, atomically. Raises GemmvizError."""
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")


def _mode_of(path: Path) -> int:
    """Mode bits of the present file, else those that the system gives a new one."""
    if path.exists():
        return path.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
