"""Checksums of recordings and device files, which whoever records or looks up a figure writes with it."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from gemmviz.files.resources import ROOT, resource
from gemmviz.files.whole import write_text
from gemmviz.model.errors import GemmvizError

_CHECKSUM_TABLE = "assets/measurements/checksums.json"
_CHECKED_FOLDERS = ("assets/measurements", "assets/devices")


def checked_files() -> list[Path]:
    """The shipped files whose figures have a checksum."""
    found = [path for folder in _CHECKED_FOLDERS for path in sorted(resource(folder).iterdir())]
    return [path for path in found if path.suffix in {".json", ".npz", ".toml"} and path != ROOT / _CHECKSUM_TABLE]


def checksum_errors(read: Callable[[Path], bytes] = Path.read_bytes) -> Iterator[GemmvizError]:
    """An error for each shipped recording or device file that isn't as it was recorded or looked up. ``read``: reads a file."""
    known = json.loads(resource(_CHECKSUM_TABLE).read_text("utf-8"))
    for path in checked_files():
        name = path.relative_to(ROOT).as_posix()
        if known.pop(name, None) != _checksum(read(path)):
            remedy = f"compare its figures with their source, then run python packaging/record.py checksums {name}"
            yield GemmvizError(f"the file {name} isn't as it was recorded", remedy=remedy)
    for name in known:
        yield GemmvizError(f"the recording {name} is missing", remedy="record it again")


def write_recording(path: Path, text: str) -> None:
    """Write a recording and its checksum."""
    write_text(path, text)
    seal(path)


def seal(path: Path) -> None:
    """Note the checksum of a recording or device file that was just written. ``path``: below the folder of the assets."""
    table = ROOT / _CHECKSUM_TABLE
    known = json.loads(table.read_text("utf-8")) if table.is_file() else {}
    known[path.resolve().relative_to(ROOT).as_posix()] = _checksum(path.read_bytes())
    write_text(table, json.dumps(dict(sorted(known.items())), indent=1) + "\n")


def _checksum(data: bytes) -> str:
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()
