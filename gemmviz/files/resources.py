"""Files and folders: the kinds of files that gemmviz opens, paths of what it ships and of the user's own folder, child
processes, and the atomic writing of files: to a temporary file in the same folder, which replaces the old one at the end.
"""

import csv
import glob
import io
import os
import re
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal

from msgspec import Struct
from platformdirs import user_cache_path, user_config_path, user_data_path

from gemmviz.model.chart import Chart
from gemmviz.model.messages import GemmvizError, InstallationError, UsageError, marked, tr

# The kinds of files that gemmviz opens: one table for dialogs, dropped files, recent files and commands.

_LONGEST_STEM = 80
KindName = Literal["kernel", "trace", "view", "benchmark"]


class FileKind(Struct, frozen=True):
    """A kind of file: ``suffix`` ends its names, as do ``others``; ``title`` describes it in dialogs."""

    name: KindName
    suffix: str
    title: str
    others: tuple[str, ...] = ()

    @property
    def suffixes(self) -> tuple[str, ...]:
        return (self.suffix, *self.others)


FILE_KINDS = (
    FileKind("kernel", ".cu", marked("Kernels"), (".cuh", ".h", ".hip", ".cpp", ".hpp", ".cc", ".c", ".cxx", ".inl")),
    FileKind("trace", ".gvt", marked("Traces")),
    FileKind("view", ".toml", marked("Saved views and lessons")),
    FileKind("benchmark", ".json", marked("Benchmarks")),
)
KERNEL_SUFFIXES = frozenset(FILE_KINDS[0].suffixes)
SKIPPED_FOLDERS = frozenset(("build", "node_modules", "__pycache__", "__MACOSX"))  # of a project or an archive
_WITH_KERNEL = re.compile(r"(.+?\.\w+):((?:[A-Za-z_]\w*::)*[A-Za-z_]\w*(?:<.*>)?)")


def split_name(name: str) -> tuple[str, str]:
    """``FILE:KERNEL`` as the file and the kernel's name with its template arguments; of another name, "" for the kernel."""
    match = _WITH_KERNEL.fullmatch(name)
    if match is None or Path(match[1]).suffix.lower() not in KERNEL_SUFFIXES or os.path.isfile(name):
        return name, ""
    return match[1], match[2]


def names_kernel_file(name: str) -> bool:
    """Whether a word ends like the name of a file of kernels, or like ``FILE:KERNEL``."""
    return Path(split_name(name)[0]).suffix.lower() in KERNEL_SUFFIXES


def kind_of(path: Path) -> KindName:
    """The kind of a file by its suffix; "kernel" for any other suffix."""
    return next((kind.name for kind in FILE_KINDS if path.suffix.lower() in kind.suffixes), "kernel")


def is_known(path: Path) -> bool:
    """Whether a file's suffix is one of the table's."""
    return any(path.suffix.lower() in kind.suffixes for kind in FILE_KINDS)


def dialog_filters() -> list[str]:
    """Filters for a file dialog, such as "Kernels (*.cu)"; all kinds together first."""
    patterns = " ".join(map(_patterns, FILE_KINDS))
    return [
        f"{tr('Files that gemmviz opens')} ({patterns})",
        *(f"{tr(kind.title)} ({_patterns(kind)})" for kind in FILE_KINDS),
        f"{tr('All files')} (*)",
    ]


def _patterns(kind: FileKind) -> str:
    return " ".join(f"*{suffix}" for suffix in kind.suffixes)


def file_stem(name: str) -> str:
    """A name as a valid file stem: without path separators or a leading dot, at most 80 characters."""
    return re.sub(r"[^\w.+-]+", "-", name).strip(".-")[:_LONGEST_STEM] or "kernel"


def with_suffix(path: Path, suffix: str) -> Path:
    """The path with ``suffix`` added if it has none."""
    return path if path.suffix else path.with_name(path.name + suffix)


_PACKAGE = Path(__file__).resolve().parent.parent
_IS_CHECKOUT = (_PACKAGE.parent / "pyproject.toml").is_file() and not (_PACKAGE / "data").is_dir()
ROOT = _PACKAGE.parent if _IS_CHECKOUT else _PACKAGE / "data"


def resource(name: str) -> Path:
    """Path of a shipped file or folder, such as ``"assets/fonts/OFL.txt"``.

    Raises InstallationError if it is missing.
    """
    path = ROOT / name
    if not path.exists():
        raise _missing_resource("file" if path.suffix else "folder", name)
    return path


def resources(folder: str, pattern: str) -> list[Path]:
    """Paths in a shipped folder that match ``pattern``, sorted: ``resources("kernels", "*.cu")``.

    Raises InstallationError if the folder is missing or none of its files matches.
    """
    paths = sorted(resource(folder).glob(pattern), key=str)
    if not paths:
        raise _missing_resource("files", f"{folder}/{pattern}")
    return paths


def _missing_resource(kind: str, name: str) -> InstallationError:
    verb = "are" if kind == "files" else "is"
    return InstallationError(f"the {kind} {name} {verb} missing from this installation", file=str(ROOT))


def user_folder(name: str) -> Path:
    """Folder of a user's own files of one kind, which may not exist.

    It is ``name`` in the folder GEMMVIZ_HOME if that is set, else in ``gemmviz`` in the system's folder for settings.
    """
    home = os.environ.get("GEMMVIZ_HOME")
    if home:
        return Path(home) / name
    return user_config_path("gemmviz", appauthor=False, roaming=True) / name


def cache_folder() -> Path:
    """Folder of files that can be written again at any time, which may not exist: ``cache`` in the folder GEMMVIZ_HOME if that
    is set, else the system's folder for caches.
    """
    home = os.environ.get("GEMMVIZ_HOME")
    return Path(home) / "cache" if home else user_cache_path("gemmviz", appauthor=False)


def packages_folder() -> Path:
    """Folder of the packages that an installer's program may import beside its own, such as CuPy; it may not exist. It is
    ``packages`` in the folder GEMMVIZ_HOME if that is set, else in the system's folder for data.
    """
    home = os.environ.get("GEMMVIZ_HOME")
    return Path(home or user_data_path("gemmviz", appauthor=False)) / "packages"


# Child processes of the program: the command line that starts gemmviz itself, and frames of bytes on a pipe.

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


# Writes files atomically: to a temporary file in the same folder, which replaces the old one once it is complete.


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
