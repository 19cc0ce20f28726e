"""The catalog of kernels: shipped ones by name, any other by its file."""

from functools import cache
from itertools import chain
from pathlib import Path

from msgspec import structs

from gemmviz.files.kernel_file import read_kernel
from gemmviz.files.resources import is_file, is_folder, resource, resources
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import UsageError, closest

DEFAULT_KERNEL = "04_tiled"
_LESSONS, _PLANS = "assets/lessons", "assets/lessons/plans"
COURSE = "course"
MAIN_LESSONS = {  # by their menu: what leads to a kernel with tiles, and what makes that one faster
    "basics": ("lecture", "coalescing", "divergence", "shared-memory", "analysis"),
    "faster": (
        "register-tiles", "wide-loads", "two-buffers", "work-per-thread", "warp-tiles", "block-order", "tensor-cores",
        "streams",
    ),
}  # fmt: skip
_COURSE, _PATTERNS = "kernels/course", "kernels/patterns"


def kernel_names() -> list[str]:
    """Names of the shipped kernels, in teaching order."""
    return [path.stem for path in resources("kernels", "*.cu")]


def lesson_kernel_names() -> list[str]:
    """Names of the kernels that shipped lessons use: fragments, broken kernels and variants."""
    return [path.stem for path in resources(_COURSE, "*.cu")]


def pattern_kernel_names() -> list[str]:
    """Names of the kernels of other problems than the multiplication of matrices."""
    return [path.stem for path in resources(_PATTERNS, "*.cu")]


def all_kernel_names() -> list[str]:
    """Names of all shipped kernels: the ladder's, those of other problems, then the lessons'."""
    return [*kernel_names(), *pattern_kernel_names(), *lesson_kernel_names()]


def lesson_names() -> list[str]:
    """Names of the shipped lessons in teaching order: the main lessons, those of other problems, and the plans."""
    names = [path.stem for path in resources(_LESSONS, "*.toml")]
    places = {name: place for place, name in enumerate(chain(*MAIN_LESSONS.values()))}
    return [*sorted(names, key=lambda name: (places.get(name, len(places)), name)), *plan_names()]


def plan_names() -> list[str]:
    """Names of the shipped plans, lessons whose steps are those of other lessons: the whole course is the last."""
    return sorted((path.stem for path in resources(_PLANS, "*.toml")), key=lambda name: (name == COURSE, name))


def lesson_path(name: str) -> Path:
    """Path of a shipped lesson or plan. Raises InstallationError if it is missing."""
    return resource(f"{_PLANS if name in plan_names() else _LESSONS}/{name}.toml")


def load_kernel(name: str) -> KernelSpec:
    """The shipped kernel of this name ("04_tiled", or "tiled" for short) or the kernel in this ``.cu`` file.

    Raises UsageError for an unknown name, SourceError for a file that can't be read.
    """
    path = Path(name)
    if path.suffix == ".cu" or is_file(path):
        return read_kernel(path)
    names = kernel_names()
    full_name = next((each for each in names if name in (each, each.partition("_")[2])), None)
    if full_name is not None:
        return _shipped_in(resource(f"kernels/{full_name}.cu"))
    for folder, others in ((_PATTERNS, pattern_kernel_names()), (_COURSE, lesson_kernel_names())):
        if name in others:
            return _shipped_in(resource(f"{folder}/{name}.cu"))
    if name in lesson_names():
        raise UsageError(f"{name!r} is a lesson, not a kernel", remedy=f"open it with: gemmviz {name}")
    remedy = closest(name, [*all_kernel_names(), *lesson_names()]) or f"the kernels are {', '.join(names)}"
    if is_folder(path):
        raise UsageError(f"{name!r} is a folder, not a kernel", remedy=f"list its kernels: gemmviz launch {name}")
    raise UsageError(f"there is no kernel {name!r}", remedy=remedy)


def is_shipped_kernel(kernel: KernelSpec) -> bool:
    """Whether a kernel ships with gemmviz. Its text and launch decide, not its name, file or ``is_shipped``."""
    path = _shipped_files().get(kernel.text)
    if path is None:
        return False
    shipped = _shipped_in(path)
    return structs.replace(kernel, name=shipped.name, file=shipped.file, is_shipped=True) == shipped


@cache
def _shipped_in(path: Path) -> KernelSpec:
    return read_kernel(path, is_shipped=True)


@cache
def _shipped_files() -> dict[str, Path]:
    """The files of all shipped kernels by their texts."""
    paths = (path for folder in ("kernels", _PATTERNS, _COURSE) for path in resources(folder, "*.cu"))
    return {path.read_text(encoding="utf-8"): path for path in paths}
