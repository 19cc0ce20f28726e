"""What a case may touch: files in its own folder, and no program or network that its campaign doesn't need."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gemmviz.files.devices import devices
from gemmviz.files.resources import gemmviz_command
from tests.fuzz.campaign import Campaign

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_DEVICES = ("/dev/", "/proc/")
# Which arguments of an audit event are paths that are changed (Python documentation, Audit events table).
_CHANGED = {
    "os.rename": (0, 1), "os.remove": (0,), "os.mkdir": (0,), "os.rmdir": (0,), "os.symlink": (1,), "os.link": (1,),
    "os.truncate": (0,), "os.chmod": (0,), "os.utime": (0,), "shutil.rmtree": (0,), "shutil.move": (0, 1),
}  # fmt: skip
_STARTED = {"subprocess.Popen": 0, "os.system": 0, "os.posix_spawn": 0, "os.exec": 0}
_CONNECTED = ("socket.connect", "socket.bind", "socket.getaddrinfo")
_BESIDE = {"kept.cu": "// kept\n", "kept.gvt": "kept", "kept.toml": "kept = true\n"}


class Trespass(AssertionError):
    """A case that touched what it may not."""


@dataclass
class _Watch:
    """``folders`` may be written to; ``seen``: what was done elsewhere."""

    folders: tuple[str, ...]
    campaign: Campaign
    seen: list[str] = field(default_factory=list)

    def hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = args
            if isinstance(path, str | bytes) and (flags & _WRITES or set(mode or "") & set("wax+")):
                self._changed("writes", path)
        elif event in _CHANGED:
            for place in _CHANGED[event]:
                if isinstance(args[place], str | bytes | os.PathLike):
                    self._changed(event, os.path.join(_base(event, args, place), os.fsdecode(args[place])))
        elif event in _STARTED:
            name = os.fsdecode(args[_STARTED[event]] or "")
            is_reader = event == "subprocess.Popen" and args[1] == gemmviz_command("reader")
            if not is_reader and Path(name).name not in self.campaign.starts:
                self.seen.append(f"it starts {name!r}")
        elif event in _CONNECTED and not self.campaign.connects:
            self.seen.append(f"it opens a connection: {event} {args[1:]!r}")

    def _changed(self, what: str, path: Any) -> None:
        name = os.path.realpath(os.fsdecode(path))
        if not name.startswith(_DEVICES) and not any(name == each or name.startswith(each + os.sep) for each in self.folders):
            self.seen.append(f"{what} outside of its folder: {os.fsdecode(path)!r}")


def _base(event: str, args: tuple[Any, ...], place: int) -> str:
    """The folder that a relative path starts from: one that is open under a number, or the current one."""
    numbers = args[-2:] if event == "os.rename" else (args[-1],) * 2
    number = numbers[place] if isinstance(numbers[place], int) and event.startswith("os.") else -1
    return os.readlink(f"/proc/self/fd/{number}") if number > 2 and sys.platform == "linux" else os.getcwd()


_watch: _Watch | None = None
_is_hooked = False


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _watch is not None and (event == "open" or event in _CHANGED or event in _STARTED or event in _CONNECTED):
        _watch.hear(event, args)


def _install() -> None:
    """An audit hook stays as long as the process."""
    global _is_hooked
    if not _is_hooked:
        sys.addaudithook(_hook)
        _is_hooked = True


@contextmanager
def guarded(case: bytes, campaign: Campaign) -> Iterator[Path]:
    """A folder with nothing but the case's file, as a path to that. Raises Trespass for a case that has touched anything else,
    changed its input or left an unfinished file.

    The user's folders and the folder for temporary files are within it, too. Code that is not Python raises no audit events:
    files that lie around the folder must be as they were.
    """
    global _watch
    _install()
    root = Path(os.path.realpath(tempfile.mkdtemp(prefix="gemmviz-fuzz-")))
    folder, home, short = root / "case", root / "home", root / "tmp"
    for each in (folder, home, short):
        each.mkdir()
    for name, text in _BESIDE.items():
        (root / name).write_text(text)
    path = folder / f"case{campaign.suffix}"
    path.write_bytes(case)
    around = _listing(root)
    before = {name: os.environ.get(name) for name in ("HOME", "XDG_CONFIG_HOME", "GEMMVIZ_HOME", "TMPDIR")}
    os.environ |= {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "GEMMVIZ_HOME": str(home), "TMPDIR": str(short)}
    tempfile.tempdir, bytecode, sys.dont_write_bytecode = str(short), sys.dont_write_bytecode, True
    watch = _watch = _Watch((str(folder), str(short), str(home)), campaign)
    try:
        yield path
        _watch = None
        if watch.seen:
            raise Trespass(watch.seen[0])
        if not path.is_file() or path.read_bytes() != case:
            raise Trespass("it changed the file that it read")
        if _listing(root) != around:
            raise Trespass(f"it changed what lies around its folder: {sorted(_listing(root) ^ around)[0][0]}")
        if left := [each.name for each in folder.rglob("*") if ".part-" in each.name] + [each.name for each in short.iterdir()]:
            raise Trespass(f"it left {left[0]} behind")
    finally:
        _watch = None
        tempfile.tempdir, sys.dont_write_bytecode = None, bytecode
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        devices.cache_clear()
        shutil.rmtree(root, ignore_errors=True)


def _listing(root: Path) -> set[tuple[str, bytes | None]]:
    """The files right there, with their contents."""
    return {(each.name, each.read_bytes() if each.is_file() else None) for each in root.iterdir()}
