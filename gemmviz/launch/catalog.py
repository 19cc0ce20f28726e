"""Finds kernels: those that ship with gemmviz by name, any other by file."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from gemmviz.files.kernel_file import read_kernel
from gemmviz.files.resources import resource, resources
from gemmviz.files.whole import is_file
from gemmviz.model.errors import UsageError, closest
from gemmviz.model.kernel import KernelSpec

DEFAULT_KERNEL = "04_tiled"
LESSONS_FOLDER = "assets/lessons"
COURSE = "course"
_COURSE = "kernels/course"


def kernel_names() -> list[str]:
    """The kernels that ship with gemmviz, in teaching order."""
    return [path.stem for path in resources("kernels", "*.cu")]


def lesson_kernel_names() -> list[str]:
    """The kernels of the lessons that ship with gemmviz: pieces, broken ones, and others' ways to write them."""
    return [path.stem for path in resources(_COURSE, "*.cu")]


def all_kernel_names() -> list[str]:
    """Those of the ladder, then those of the lessons."""
    return [*kernel_names(), *lesson_kernel_names()]


def lesson_names() -> list[str]:
    """The lessons that ship with gemmviz; the whole course first."""
    names = [path.stem for path in resources(LESSONS_FOLDER, "*.toml")]
    return sorted(names, key=lambda name: name != COURSE)


def load_kernel(name: str) -> KernelSpec:
    """The kernel of this name ("04_tiled", or "tiled" where that is clear) or in this ``.cu`` file.

    Raises UsageError for a name that is neither, SourceError for a file that can't be read.
    """
    path = Path(name)
    if path.suffix == ".cu" or is_file(path):
        return read_kernel(path)
    names = kernel_names()
    found = [known for known in names if name in (known, known.partition("_")[2])]
    if not found and name in lesson_kernel_names():
        return read_kernel(resource(f"{_COURSE}/{name}.cu"), is_shipped=True)
    if not found and name in lesson_names():
        raise UsageError(f"{name!r} is a lesson, not a kernel", remedy=f"open it with: gemmviz {name}")
    if not found:
        remedy = closest(name, all_kernel_names()) or f"the kernels are {', '.join(names)}"
        raise UsageError(f"there is no kernel {name!r}", remedy=remedy)
    return read_kernel(resource(f"kernels/{found[0]}.cu"), is_shipped=True)


def is_shipped_kernel(kernel: KernelSpec) -> bool:
    """Whether it is one of those that ship with gemmviz, by its text and launch and not by what it says of itself."""
    own = _own_texts().get(kernel.text)
    return own is not None and replace(kernel, name=own.name, file=own.file, is_shipped=True) == own


@cache
def _own_texts() -> dict[str, KernelSpec]:
    return {kernel.text: kernel for kernel in map(load_kernel, all_kernel_names())}
