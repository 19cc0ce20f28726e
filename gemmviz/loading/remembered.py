"""What was found before, by the kernel's text: the roles to try first, and the launch that the user described."""

import hashlib
from pathlib import Path
from typing import TypeVar

from msgspec import Struct, field

from gemmviz.files.codec import FormatError, from_json, read_text, to_json
from gemmviz.files.resources import cache_folder
from gemmviz.files.whole import atomic_write
from gemmviz.launch.draft import Draft
from gemmviz.launch.drafted_spec import KernelText
from gemmviz.launch.given_launch import GivenLaunch
from gemmviz.launch.roles import Roles
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import text_hash
from gemmviz.model.records import replace

_T = TypeVar("_T")

_MOST = 500
_VERSION = 2


class _Contents(Struct, frozen=True):
    """The file: roles by the hash of a text and a launch, and launches by the hash of a text, latest last."""

    version: int = _VERSION
    roles: dict[str, Roles] = field(default_factory=dict)
    launches: dict[str, GivenLaunch] = field(default_factory=dict)


class Remembered:
    """A file in the user's cache. Roles save time only: they are tried again before they are used. A file that can't be read or
    written counts as empty.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or cache_folder() / "roles.json"

    def roles(self, source: KernelText, draft: Draft) -> Roles | None:
        """The roles of a draft in a text; None if they aren't known."""
        return self._contents().roles.get(_key(source, draft))

    def add(self, source: KernelText, draft: Draft, roles: Roles) -> None:
        contents, key = self._contents(), _key(source, draft)
        if contents.roles.get(key) != roles:
            self._write(replace(contents, roles=_with_latest(contents.roles, key, roles)))

    def launch(self, text: str) -> GivenLaunch:
        """The launch that was described for a text; an empty one if none was."""
        return self._contents().launches.get(text_hash(text), GivenLaunch())

    def add_launch(self, text: str, launch: GivenLaunch) -> None:
        contents, key = self._contents(), text_hash(text)
        if contents.launches.get(key) != launch:
            self._write(replace(contents, launches=_with_latest(contents.launches, key, launch)))

    def _write(self, contents: _Contents) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(self.path) as part:
                part.write_bytes(to_json(contents))
        except (GemmvizError, OSError):
            return

    def _contents(self) -> _Contents:
        try:
            contents = from_json(read_text(self.path), _Contents)
        except (FormatError, GemmvizError):
            return _Contents()
        return contents if contents.version == _VERSION else _Contents()


def _with_latest(known: dict[str, _T], key: str, value: _T) -> dict[str, _T]:
    latest = {**{each: value for each, value in known.items() if each != key}, key: value}
    return dict(list(latest.items())[-_MOST:])


def _key(source: KernelText, draft: Draft) -> str:
    texts = "\0".join((source.text, *(f"{each.name}\0{each.text}" for each in source.project)))
    return hashlib.sha256(f"{texts}\0{draft}".encode()).hexdigest()
