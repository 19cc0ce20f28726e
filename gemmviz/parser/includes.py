"""Include lines: the files of a project that they name, and a text whose includes libclang finds in memory."""

import re
from collections.abc import Collection, Iterator
from posixpath import dirname, normpath

from msgspec import Struct

from gemmviz.parser.headers import VISIBLE

_INCLUDE = re.compile(r'^([ \t]*#[ \t]*include[ \t]*)(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)


class Include(Struct, frozen=True):
    """An include line: the name between its quotes or angle brackets. Lines count from 1."""

    name: str
    is_quoted: bool
    line: int


def includes_of(text: str) -> Iterator[Include]:
    """Include lines of a text, in order, those of branches that aren't compiled too."""
    for match in _INCLUDE.finditer(text):
        name = match[2] or match[3]
        yield Include(name.strip(), match[2] is not None, text.count("\n", 0, match.start()) + 1)


def resolved(name: str, by: str, files: Collection[str]) -> str | None:
    """The project file that ``name`` means in the file ``by``, or None.

    It is looked for beside the including file, in the folders above it and, if only one file's path ends so, anywhere.
    """
    name = name.replace("\\", "/")
    if name.startswith("/") or ":" in name:
        return None
    folder = dirname(by)
    while True:
        path = normpath(f"{folder}/{name}" if folder else name)
        if path in files:
            return path
        if not folder:
            break
        folder = dirname(folder)
    ending = "/" + normpath(name).lstrip("./")
    matches = [each for each in files if f"/{each}".endswith(ending)]
    return matches[0] if len(matches) == 1 else None


def with_paths(text: str, by: str, files: Collection[str], root: str, own: Collection[str]) -> str:
    """The text with each include of a project file replaced by that file's path below ``root``, and without the includes of
    headers that are visible anyway. Lines keep their numbers.

    ``own``: names of the stand-in headers, which take precedence in angle brackets.
    """

    def path(match: re.Match[str]) -> str:
        name = (match[2] or match[3]).strip()
        is_own = name in own or name in VISIBLE
        file = None if match[3] and is_own else resolved(name, by, files)
        if file is not None:
            return f'{match[1]}"{root}/{file}"'
        return "" if name in VISIBLE else match[0]

    return _INCLUDE.sub(path, text)
