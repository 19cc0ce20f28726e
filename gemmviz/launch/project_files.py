"""The project of a kernel file: the other files that it includes, or that include it, below the project's folder.

System headers are never read, nor files outside the folder, links out of it, or anything that isn't a regular file.
"""

import os
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from gemmviz.files.codec import FormatError
from gemmviz.files.program_text import read_program_text
from gemmviz.model.errors import UsageError
from gemmviz.model.kernel import MOST_TEXT, ProjectFile
from gemmviz.parser.headers import VISIBLE
from gemmviz.parser.includes import includes_of, resolved

SOURCES = (".cu", ".hip", ".cpp", ".cc", ".cxx", ".c")
HEADERS = (".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".ipp", ".tpp", ".impl")
_MARKS = (".git", ".hg", "CMakeLists.txt", "Makefile", "makefile", "LICENSE", "README.md", "README", "setup.py")
_MOST_ABOVE, _MOST_ENTRIES, _MOST_DEPTH, _MOST_FILES = 4, 5000, 8, 200


@dataclass(frozen=True, slots=True)
class Project:
    """A kernel file among its project's files.

    ``own_name``: its name below the project's folder; ``files``: the others that belong to it; ``compiled``: the file that is
    compiled if the kernel's own is a header, else empty.
    """

    own_name: str
    files: tuple[ProjectFile, ...] = ()
    compiled: str = ""


def gather_project(path: Path, text: str, folder: Path | None = None) -> Project:
    """The project of a file with this text. ``folder`` is the project's folder; by default it is found by its usual files."""
    search = _Search(project_folder(path) if folder is None else folder.resolve())
    own_name = search.name_of(path)
    if own_name is None:
        return Project(path.name)
    search.add(own_name, text)
    compiled = ""
    if own_name.endswith(HEADERS):
        compiled = next((name for name in search.listed if name.endswith(SOURCES) and search.includes(name, own_name)), "")
        if compiled:
            search.add(compiled, search.text(compiled) or "")
    files = (ProjectFile(name, each) for name, each in search.texts.items() if name != own_name)
    return Project(own_name, tuple(files), compiled)


def launching_files(path: Path, names: Collection[str], folder: Path | None = None) -> tuple[ProjectFile, ...]:
    """Source files of the project, other than ``path``, that launch something and contain one of these names."""
    search = _Search(project_folder(path) if folder is None else folder.resolve())
    own_name = search.name_of(path)
    files = []
    for name in search.listed:
        text = search.text(name) if name != own_name and name.endswith((*SOURCES, *HEADERS)) else None
        if text and ("<<<" in text or "LaunchKernel" in text) and any(each in text for each in names):
            files.append(ProjectFile(name, text))
    return tuple(files)


def project_folder(path: Path) -> Path:
    """The folder of the project that a file belongs to: the topmost of the nearest four that has a file such as README.md or
    Makefile, up to one under version control; else the file's own folder.
    """
    own = path.resolve().parent
    best = own
    for folder in (own, *own.parents[: _MOST_ABOVE - 1]):
        if folder == Path.home() or folder == Path(folder.anchor):
            break
        if any((folder / mark).exists() for mark in _MARKS):
            best = folder
        if (folder / ".git").exists():
            break
    return best


@dataclass
class _Search:
    """Files of one project folder, as far as they were read; ``left`` is the number of characters that may still be read."""

    root: Path
    texts: dict[str, str] = field(default_factory=dict)
    left: int = MOST_TEXT

    def name_of(self, path: Path) -> str | None:
        """Name of a file below the folder; None outside it."""
        try:
            return path.resolve().relative_to(self.root).as_posix()
        except (ValueError, OSError):
            return None

    def add(self, name: str, text: str) -> None:
        """Adds a file and all that it includes, as far as the project has it."""
        queue = deque[str]()
        self._take(name, text, queue)
        while queue and len(self.texts) < _MOST_FILES:
            by = queue.popleft()
            for each in dict.fromkeys(self._included(by, self.texts[by])):
                other = None if each in self.texts else self.text(each)
                if other is not None:
                    self._take(each, other, queue)

    def _take(self, name: str, text: str, queue: deque[str]) -> None:
        if name not in self.texts:
            self.texts[name] = text
            self.left -= len(text)
            queue.append(name)

    def text(self, name: str) -> str | None:
        """Text of a file below the folder; None if it can't be read or doesn't fit any more."""
        path = self.root / name
        try:
            if self.left <= 0 or not path.resolve(strict=True).is_relative_to(self.root):
                return None
            text = read_program_text(path, 4 * self.left)
        except (FormatError, UsageError, OSError):
            return None
        return text if len(text) <= self.left else None

    def includes(self, name: str, header: str) -> bool:
        """Whether a file includes a header itself."""
        text = self.text(name) or ""
        if PurePosixPath(header).name not in text:
            return False
        return header in self._included(name, text)

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """Names of the folder's source files, the first few thousand entries."""
        return tuple(self._walk())

    def _included(self, by: str, text: str) -> Iterator[str]:
        """Project files that the include lines of a file name."""
        for include in includes_of(text):
            if include.name in VISIBLE and not include.is_quoted:
                continue
            if (name := self._beside(include.name, by) or resolved(include.name, by, self.listed)) is not None:
                yield name

    def _beside(self, name: str, by: str) -> str | None:
        """The file that an include names relative to the including file, without a look at the rest of the folder."""
        if name.startswith(("/", "\\")) or ":" in name:
            return None
        relative = os.path.normpath(str(PurePosixPath(by).parent / name.replace("\\", "/"))).replace("\\", "/")
        return relative if not relative.startswith("..") and (self.root / relative).is_file() else None

    def _walk(self) -> Iterator[str]:
        count = 0
        for folder, folders, files in os.walk(self.root):
            depth = len(Path(folder).relative_to(self.root).parts)
            folders[:] = sorted(each for each in folders if not each.startswith(".")) if depth < _MOST_DEPTH else []
            count += len(files) + len(folders)
            if count > _MOST_ENTRIES:
                return
            for name in sorted(files):
                if name.endswith((*SOURCES, *HEADERS)):
                    yield (Path(folder).relative_to(self.root) / name).as_posix()
