"""Writes files atomically: to a temporary file in the same folder, which replaces the old one once it is complete."""

import csv
import glob
import io
import os
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gemmviz.files.resources import ROOT, user_folder
from gemmviz.model.chart import Chart
from gemmviz.model.errors import GemmvizError, UsageError


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


_SHIPPED_FOLDERS = (
    "kernels", "assets/devices", "assets/fonts", "assets/icons", "assets/lessons", "assets/measurements", "assets/page",
    "assets/programs", "assets/themes",
)  # fmt: skip


def check_output(path: Path, suffixes: Collection[str] = (), inputs: Iterable[Path] = ()) -> None:
    """Checks an output path. Raises UsageError for a wrong suffix, or if writing would destroy a file that is needed.

    ``suffixes``: valid suffixes with their dots; empty for any. ``inputs``: files that are read; they are recognized under
    other names and through links too. Files that ship with gemmviz and the user's devices are never overwritten.
    """
    target = Path(os.path.realpath(path))
    if suffixes and not {path.suffix.lower(), target.suffix.lower()} <= set(suffixes):
        allowed, wrong = " or ".join(suffixes), next(each for each in (path, target) if each.suffix.lower() not in suffixes)
        link = "" if wrong == path else f"this is a link to {target}; "
        what = wrong.suffix or "a file without suffix"
        raise UsageError(f"{link}this is saved as {allowed}, not as {what}", file=str(path), remedy="choose another name")
    for each in inputs:
        if _is_same_file(path, each):
            raise UsageError("this file is an input; it is not overwritten", file=str(path), remedy="choose another name")
    for folder in (*(ROOT / name for name in _SHIPPED_FOLDERS), user_folder("devices")):
        if target.is_relative_to(os.path.realpath(folder)):
            raise UsageError(f"files in {folder} are not overwritten", file=str(path), remedy="choose another folder")


def _is_same_file(a: Path, b: Path) -> bool:
    try:
        return os.path.samefile(a, b)
    except OSError:  # one of them doesn't exist
        return os.path.realpath(a) == os.path.realpath(b)
    except ValueError:  # an invalid file name
        return False


# Charts as tables for spreadsheets


def chart_csv(chart: Chart) -> str:
    """CSV text of a chart: title and notes, then one row per point of a curve or per segment of a bar (its two ends)."""
    buffer = io.StringIO()
    rows = csv.writer(buffer, lineterminator="\n")
    rows.writerow([f"# {'. '.join([chart.title, *chart.notes])}"])
    if chart.curves:
        rows.writerow(["curve", chart.x.label, chart.y.label, "what was measured"])
    for curve in chart.curves:
        for (x, y), text in zip(curve.points, curve.texts, strict=True):
            rows.writerow([curve.label, f"{x:g}", f"{y:.6g}", text])
    if chart.bars:
        rows.writerow(["part", chart.x.label, "from", "to", chart.y.label])
    for bars in chart.bars:
        for x, bottom, height in zip(bars.x, bars.bottoms, bars.heights, strict=True):
            rows.writerow([bars.role, f"{x:g}", f"{bottom:g}", f"{bottom + height:g}"])
    return buffer.getvalue()
