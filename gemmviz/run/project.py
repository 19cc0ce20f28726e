"""The project of a kernel's file: its folder, and the texts of the files that it includes or that launch its kernels."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from gemmviz.cuda.parser.source_text import SourceText, includes_of, resolved
from gemmviz.cuda.program import reader
from gemmviz.files.codec import FormatError
from gemmviz.files.kernel_file import kernel_text
from gemmviz.files.resources import KERNEL_SUFFIXES, SKIPPED_FOLDERS
from gemmviz.model.kernel import MOST_TEXT, ProjectFile
from gemmviz.model.messages import GemmvizError
from gemmviz.model.outline import FileOutline, KernelOutline, LaunchOutline

_REPOSITORIES, _BUILD_FILES = (".git", ".hg"), ("CMakeLists.txt", "Makefile", "makefile", "meson.build")
_INCLUDED = re.compile(r"-I[ \t]*([^\s;,)\"']+)|include_directories\s*\(([^)]*)\)")
_MOST_IN_REPOSITORY = 12  # folders above a file

# Outlines of a project's files, by the reader process.

_MOST_UP, _MOST_FILES, _MOST_LOOKED_AT = 3, 64, 2000
_HEADER_ENDINGS = frozenset((".h", ".hpp", ".hh", ".cuh", ".inl", ".inc", ""))
_OF_CUDA = ("cuda", "device_launch", "cooperative_groups", "mma.h")  # begin the names of headers that gemmviz stands in for


class Project(Struct, frozen=True):
    """A file and its project. ``folder``: the project's, None if all of its files are in ``texts``; ``own_name``: the file's
    name below it, with forward slashes; ``texts``: those of the file and of the files that it includes, by such names.
    """

    folder: Path | None
    own_name: str
    texts: dict[str, str]

    @property
    def others(self) -> tuple[ProjectFile, ...]:
        """The files that the file includes."""
        return tuple(ProjectFile(name, text) for name, text in self.texts.items() if name != self.own_name)


def project_of(path: Path) -> Project:
    """The file at ``path`` with the files that it includes, directly or through others, as far as they lie below the project's
    folder and don't leave it by a link. Raises the errors of ``kernel_text``.
    """
    text = kernel_text(path)
    folder = project_folder(path)
    own_name = path.resolve().relative_to(folder).as_posix()
    return Project(folder, own_name, _with_includes(folder, {own_name: text}))


def project_folder(path: Path) -> Path:
    """The folder of the project that a file belongs to: its repository; without one the nearest folder that holds a build file,
    or that lies above the file's own and holds .cu files, at most three folders up; else the file's own.
    """
    own = path.resolve().parent
    for folder in (own, *own.parents[:_MOST_IN_REPOSITORY]):
        if folder in (Path.home(), folder.parent):
            break
        if any((folder / mark).exists() for mark in _REPOSITORIES):
            return folder
    for folder in (own, *own.parents[:_MOST_UP]):
        if folder in (Path.home(), folder.parent):
            break
        if any((folder / mark).exists() for mark in _BUILD_FILES) or (folder != own and any(folder.glob("*.cu"))):
            return folder
    return own


def kernel_files(folder: Path) -> list[Path]:
    """Files of CUDA C++ below a folder that define a kernel, sorted, without hidden folders and links out of the folder.
    Their paths are absolute.
    """
    paths = (path for path in _files_around(folder.resolve()) if path.suffix.lower() in KERNEL_SUFFIXES)
    return sorted(path for path in paths if "__global__" in _text_of(path))


def launching_files(project: Project, kernel: str) -> Iterator[str]:
    """Names of the project's other files that mention a kernel, those beside it first; each is read with what it includes."""
    if project.folder is None:
        yield from (name for name, text in project.texts.items() if name != project.own_name and kernel in text)
        return
    own = project.folder / project.own_name
    for path in sorted(_files_around(project.folder), key=lambda each: (each.parent != own.parent, each)):
        name = path.relative_to(project.folder).as_posix()
        if path.suffix.lower() in KERNEL_SUFFIXES and name not in project.texts and kernel in _text_of(path):
            yield name


def with_file(project: Project, name: str) -> Project:
    """The project with one more of its files, and with those that it includes."""
    if project.folder is None:
        return project
    return Project(
        project.folder,
        project.own_name,
        _with_includes(project.folder, {**project.texts, name: _text_of(project.folder / name)}),
    )


def _with_includes(folder: Path, texts: dict[str, str]) -> dict[str, str]:
    """The texts with those of the files that they include. A file beyond the limits is left out, as one that is missing."""
    known: dict[str, Path] | None = None
    include_folders: dict[Path, list[Path]] = {}
    waiting, texts = list(texts), dict(texts)
    while waiting and len(texts) < _MOST_FILES:
        by = waiting.pop(0)
        for include in includes_of(texts[by]):
            own = (folder / by).parent
            if own not in include_folders:
                include_folders[own] = list(_include_folders(folder, own))
            name = _files_beside(folder, by, include.name, include_folders[own])
            if name is None and include.is_quoted and not include.name.startswith(_OF_CUDA):
                known = known or {path.relative_to(folder).as_posix(): path for path in _files_around(folder)}
                name = resolved(include.name, by, known)
            if name is None or name in texts or sum(map(len, texts.values())) > MOST_TEXT:
                continue
            text = _text_of(folder / name)
            if text:
                texts[name] = text
                waiting.append(name)
    return texts


def _include_folders(folder: Path, own: Path) -> Iterator[Path]:
    """The folders that build files beside a file and above it, up to the project's, search for headers."""
    for place in (each for each in (own, *own.parents) if each.is_relative_to(folder)):
        for path in (place / name for name in _BUILD_FILES):
            for match in _INCLUDED.finditer(_text_of(path) if path.is_file() else ""):
                for word in (match[1] or match[2]).split():
                    yield place / re.sub(r"^\$[{(]\w+[)}]/?", "", word.strip("\"'"))


def _files_beside(folder: Path, by: str, name: str, others: Iterable[Path]) -> str | None:
    """The file that an include means if it lies beside the including one, in the project's folder, in its ``include`` or in
    one of the other folders.
    """
    for place in ((folder / by).parent, folder, folder / "include", *others):
        path = Path(os.path.normpath(place / name))
        if path.is_relative_to(folder) and not Path(name).is_absolute() and _is_inside(path, folder):
            return path.relative_to(folder).as_posix()
    return None


def _text_of(path: Path) -> str:
    """The text of a file; "" if it can't be read."""
    try:
        return kernel_text(path)
    except (GemmvizError, FormatError):
        return ""


def _files_around(folder: Path) -> list[Path]:
    """Regular files below a folder whose names may be those of C++, at most two thousand, sorted."""
    paths: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith(".") and each not in SKIPPED_FOLDERS)
        for name in sorted(names):
            path = Path(place) / name
            if path.suffix.lower() in KERNEL_SUFFIXES | _HEADER_ENDINGS and _is_inside(path, folder):
                paths.append(path)
        if len(paths) > _MOST_LOOKED_AT:
            break
    return paths[:_MOST_LOOKED_AT]


def _is_inside(path: Path, folder: Path) -> bool:
    """Whether a path is a regular file that is still below the folder when its links are followed."""
    return path.is_file() and path.resolve().is_relative_to(folder)


_MOST_SEARCHED = 12  # of a project that are searched for a launch


def outline_of(project: Project, main: str = "") -> FileOutline:
    """Kernels and launches of a project's file, by default the opened one, and of the files that it includes.

    Raises SourceError for a text beyond the parser's limits, and Cancelled.
    """
    source = SourceText(main or project.own_name, project.texts)
    outline: FileOutline = reader().run("outline", source)
    return outline


def launches_elsewhere(project: Project, kernel: KernelOutline) -> tuple[LaunchOutline, ...]:
    """Launches of a kernel in the first other file of the project that launches it, and not one of its own with that name."""
    function = kernel.name.rpartition("::")[2]
    for _, name in zip(range(_MOST_SEARCHED), launching_files(project, function), strict=False):
        whole = with_file(project, name)
        outline = outline_of(whole, name)
        named = [each for each in outline.kernels if each.name.rpartition("::")[2] == function]
        if any(each.file != kernel.file and _has_body(each, whole) for each in named):
            continue
        own = tuple(each for each in outline.launches if each.kernel.rpartition("::")[2] == function)
        if own:
            return own
    return ()


def _has_body(kernel: KernelOutline, project: Project) -> bool:
    """Whether an outline is of a kernel's definition, not of its declaration."""
    lines = project.texts.get(kernel.file, "").splitlines()[kernel.place.line - 1 : kernel.place.end_line]
    return any("{" in line for line in lines)
