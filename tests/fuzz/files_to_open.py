"""Files to open in a window: our own, which are right, and the same with one place changed."""

import shutil
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from gemmviz.files.devices import devices
from gemmviz.files.resources import user_folder
from tests.fuzz import documents, kernels, records
from tests.fuzz.campaign import Campaign

_DATA = Path(__file__).parent.parent / "data"
_DEVICE = "mine"


def prepare_files() -> None:
    """Works out once what all cases open, so that no case has to."""
    own_files()
    _changed_files()
    _changed_devices()


@cache
def own_files() -> tuple[Path, ...]:
    """Copies of kernels with and without headers, and of traces: a menu writes into the file that is open."""
    copy = Path(tempfile.mkdtemp(prefix="gemmviz-fuzz-"))
    shutil.copytree(_DATA, copy, dirs_exist_ok=True)
    patterns = ("kernels/**/*.cu", "plain/**/*.cu", "device/*.gvt")
    return tuple(path for pattern in patterns for path in sorted(copy.glob(pattern)))


@cache
def _changed_files() -> tuple[tuple[str, Sequence[bytes]], ...]:
    """Contents with one place changed, and the suffix of their files: all but devices, which are not opened."""
    campaigns: list[Campaign] = [
        each
        for module in (kernels, records, documents)
        for name, each in module.CAMPAIGNS.items()
        if each.every is not None and name != "devices"
    ]
    return tuple((each.suffix, each.every()) for each in campaigns if each.every is not None)


def changed_file(folder: Path, number: int) -> Path:
    """Writes the changed file of a number."""
    suffix, contents = _changed_files()[number % len(_changed_files())]
    path = folder / f"changed{suffix}"
    path.write_bytes(contents[number // len(_changed_files()) % len(contents)])
    return path


def add_device(number: int) -> str:
    """Adds the changed device of a number to the user's; its name."""
    contents = _changed_devices()
    path = user_folder("devices") / f"{_DEVICE}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(contents[number % len(contents)])
    devices.cache_clear()
    return _DEVICE


@cache
def _changed_devices() -> Sequence[bytes]:
    every = documents.CAMPAIGNS["devices"].every
    assert every is not None
    return every()
