"""Loads a kernel: by its name, from a file with a header, or from a plain file whose launch is read and tried."""

import re
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from gemmviz.files.kernel_file import has_header, parse_kernel
from gemmviz.files.kinds import KERNEL_SUFFIXES
from gemmviz.files.whole import is_file
from gemmviz.launch.catalog import load_kernel
from gemmviz.launch.given_launch import GivenLaunch
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.errors import SourceError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.records import replace

_WITH_KERNEL = re.compile(r"(.+?\.\w+):((?:[A-Za-z_]\w*::)*[A-Za-z_]\w*(?:<.*>)?)")
NOTHING_GIVEN = GivenLaunch()
_Progress = Callable[[str], None]


class Opened(Struct, frozen=True):
    """A kernel, and the names of all kernels of its file, of a shipped one none."""

    kernel: KernelSpec
    names: tuple[str, ...] = ()


def is_kernel_file(name: str) -> bool:
    """Whether a name means a file, not a shipped kernel."""
    path = Path(split_name(name)[0])
    return path.suffix.lower() in KERNEL_SUFFIXES or is_file(path)


def split_name(name: str) -> tuple[str, str]:
    """``FILE:KERNEL`` as the file and the kernel's name with its template arguments; of another name, "" for the kernel."""
    match = _WITH_KERNEL.fullmatch(name)
    if match is None or is_file(Path(name)) or Path(match[1]).suffix.lower() not in KERNEL_SUFFIXES:
        return name, ""
    return match[1], match[2]


def open_kernel(name: str, given: GivenLaunch = NOTHING_GIVEN) -> KernelSpec:
    """The kernel of ``opened``."""
    return opened(name, given).kernel


def opened(
    name: str,
    given: GivenLaunch = NOTHING_GIVEN,
    *,
    before: KernelSpec | None = None,
    remembers: bool = False,
    progress: _Progress = lambda sentence: None,
    cancelled: Callable[[], bool] = is_cancelled,
) -> Opened:
    """The shipped kernel of this name ("04_tiled", or "tiled" for short), or the kernel in this file of CUDA C++: the one that
    ``FILE:KERNEL`` names.

    A header in the file describes the launch; without one the launch is read from the host code, and the roles of its arguments
    are found by running it. ``given`` parts take precedence over both. ``before``: what the file held when it was read last;
    its launch is tried first, and kept if no other one gives a right result. ``remembers``: a launch that is given is used
    again whenever this text is opened without one. Raises UsageError for an unknown name,
    LaunchUnknown for a launch that can't be found, SourceError for a kernel that can't be read, and Cancelled.
    """
    if not is_kernel_file(name):
        return Opened(given.applied(load_kernel(name)))
    from gemmviz.loading.headerless import read_headerless  # imported here: shipped kernels need none of these
    from gemmviz.loading.project import project_of
    from gemmviz.loading.remembered import Remembered

    file, entry = split_name(name)
    path, given = Path(file), replace(given, entry=given.entry or entry)
    project = project_of(path)
    text = project.texts[project.own_name]
    if not has_header(text):
        remembered = Remembered() if remembers else None
        if remembered is not None and not given:
            given = remembered.launch(text)
        try:
            kernel, names = read_headerless(project, path, given, before, progress, cancelled)
        except SourceError as error:
            error.in_file(str(path))
            raise
        if remembered is not None and given.describes:
            remembered.add_launch(text, given)
        return Opened(kernel, names)
    spec = parse_kernel(text, str(path))
    if project.others:
        spec = replace(spec, own_name=project.own_name, project=project.others)
    return Opened(given.applied(spec), (spec.entry,))
