"""Which kinds of files there are: one table for dialogs, for what is dropped, for the list of recent files and for commands."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

_LONGEST_STEM = 80
KindName = Literal["kernel", "trace", "view", "benchmark"]


@dataclass(frozen=True, slots=True)
class FileKind:
    """``title`` stands in dialogs, ``suffix`` at the end of names."""

    name: KindName
    suffix: str
    title: str


KINDS = (
    FileKind("kernel", ".cu", "Kernels"),
    FileKind("trace", ".gvt", "Traces"),
    FileKind("view", ".toml", "Saved views and lessons"),
    FileKind("benchmark", ".json", "Benchmarks"),
)


def kind_of(path: Path) -> KindName:
    """By its suffix; a file without one of ours is read as a kernel."""
    return next((kind.name for kind in KINDS if path.suffix.lower() == kind.suffix), "kernel")


def is_known(path: Path) -> bool:
    """Whether its suffix is one of ours."""
    return any(path.suffix.lower() == kind.suffix for kind in KINDS)


def dialog_filters() -> list[str]:
    """What a dialog offers: "Kernels (*.cu)", all of ours first."""
    ours = " ".join(f"*{kind.suffix}" for kind in KINDS)
    return [f"What gemmviz opens ({ours})", *(f"{kind.title} (*{kind.suffix})" for kind in KINDS), "All files (*)"]


def file_stem(name: str) -> str:
    """A name from inside a file as one that a file may have: never a path, never hidden, never long."""
    return re.sub(r"[^\w.+-]+", "-", name).strip(".-")[:_LONGEST_STEM] or "kernel"


def with_suffix(path: Path, suffix: str) -> Path:
    """The path that a person meant who left the suffix out."""
    return path if path.suffix else path.with_name(path.name + suffix)
