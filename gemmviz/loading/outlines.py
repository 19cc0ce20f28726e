"""Outlines of a project's files, by the reader process."""

from collections.abc import Callable

from gemmviz.loading.project import Project, launching_files, with_file
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.outline import FileOutline, KernelOutline, LaunchOutline
from gemmviz.parser.source_text import SourceText
from gemmviz.source.reader_link import reader

_MOST_FILES = 12  # of a project that are searched for a launch


def outline_of(project: Project, main: str = "", *, cancelled: Callable[[], bool] = is_cancelled) -> FileOutline:
    """Kernels and launches of a project's file, by default the opened one, and of the files that it includes.

    Raises SourceError for a text beyond the parser's limits, and Cancelled.
    """
    source = SourceText(main or project.own_name, project.texts)
    outline: FileOutline = reader().run("outline", source, cancelled=cancelled)
    return outline


def launches_elsewhere(
    project: Project, kernel: KernelOutline, *, cancelled: Callable[[], bool] = is_cancelled
) -> tuple[LaunchOutline, ...]:
    """Launches of a kernel in the first other file of the project that launches it."""
    function = kernel.name.rpartition("::")[2]
    for _, name in zip(range(_MOST_FILES), launching_files(project, function), strict=False):
        launches = outline_of(with_file(project, name), name, cancelled=cancelled).launches
        own = tuple(each for each in launches if each.kernel.rpartition("::")[2] == function)
        if own:
            return own
    return ()
