"""Roles that were found before, by the kernel's text: the first to be tried when the text is opened again."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from gemmviz.files.codec import FormatError, from_json, read_text, to_json
from gemmviz.files.resources import cache_folder
from gemmviz.files.whole import atomic_write
from gemmviz.launch.draft import Draft
from gemmviz.launch.drafted_spec import KernelText
from gemmviz.launch.roles import Roles
from gemmviz.model.errors import GemmvizError

_MOST = 500
_VERSION = 1


@dataclass(frozen=True, slots=True)
class _Contents:
    """The file: roles by the hash of a text and a launch, latest last."""

    version: int = _VERSION
    roles: dict[str, Roles] = field(default_factory=dict)


class Remembered:
    """A file in the user's cache. It saves time only: what it holds is tried again before it is used, and a file that can't be
    read or written counts as empty.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or cache_folder() / "roles.json"

    def roles(self, source: KernelText, draft: Draft) -> Roles | None:
        """The roles of a draft in a text; None if they aren't known."""
        return self._contents().roles.get(_key(source, draft))

    def add(self, source: KernelText, draft: Draft, roles: Roles) -> None:
        key, before = _key(source, draft), self._contents().roles
        if before.get(key) == roles:
            return
        latest = {**{each: value for each, value in before.items() if each != key}, key: roles}
        kept = dict(list(latest.items())[-_MOST:])
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(self.path) as part:
                part.write_bytes(to_json(_Contents(roles=kept)))
        except (GemmvizError, OSError):
            return

    def _contents(self) -> _Contents:
        try:
            contents = from_json(read_text(self.path), _Contents)
        except (FormatError, GemmvizError):
            return _Contents()
        return contents if contents.version == _VERSION else _Contents()


def _key(source: KernelText, draft: Draft) -> str:
    texts = "\0".join((source.text, *(f"{each.name}\0{each.text}" for each in source.project)))
    return hashlib.sha256(f"{texts}\0{draft}".encode()).hexdigest()
