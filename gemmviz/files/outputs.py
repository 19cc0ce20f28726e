"""Whether a file may be written: its suffix fits, and nothing that is read or that belongs to gemmviz is lost by it."""

import os
from collections.abc import Collection, Iterable
from pathlib import Path

from gemmviz.files.resources import ROOT, user_folder
from gemmviz.model.errors import UsageError

_SHIPPED = ("kernels", "assets/devices", "assets/fonts", "assets/icons", "assets/lessons", "assets/measurements", "assets/page",
            "assets/themes")  # fmt: skip


def check_output(path: Path, suffixes: Collection[str] = (), inputs: Iterable[Path] = ()) -> None:
    """Raises UsageError if writing ``path`` would give a file a wrong suffix or destroy a file that is needed.

    ``suffixes``: those that fit, with their dots; any if there are none. ``inputs``: files that are read, which are not written
    under another name or through a link either. Files that ship with gemmviz and a user's own devices are never written.
    """
    target = Path(os.path.realpath(path))
    if suffixes and not {path.suffix.lower(), target.suffix.lower()} <= set(suffixes):
        known, wrong = " or ".join(suffixes), next(each for each in (path, target) if each.suffix.lower() not in suffixes)
        leads = "" if wrong == path else f"this leads to {target}; "
        what = wrong.suffix or "a file without suffix"
        raise UsageError(f"{leads}this is saved as {known}, not as {what}", file=str(path), remedy="choose another name")
    for each in inputs:
        if _is_same(path, each):
            raise UsageError("this file is read here; it is not overwritten", file=str(path), remedy="choose another name")
    for folder in (*(ROOT / name for name in _SHIPPED), user_folder("devices")):
        if target.is_relative_to(os.path.realpath(folder)):
            raise UsageError(f"files of {folder} are not overwritten", file=str(path), remedy="choose another folder")


def _is_same(a: Path, b: Path) -> bool:
    try:
        return os.path.samefile(a, b)
    except OSError:  # one of them isn't there
        return os.path.realpath(a) == os.path.realpath(b)
    except ValueError:  # a name that no file can have
        return False
