"""The kinds of files that gemmviz opens: one table for dialogs, dropped files, recent files and commands."""

import os
import re
from pathlib import Path
from typing import Literal

from msgspec import Struct

from gemmviz.model.translation import marked, tr

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
