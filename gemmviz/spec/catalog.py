"""Finds kernels: those that ship with gemmviz by name, any other by file."""

from pathlib import Path

from gemmviz.files.resources import resource_folder
from gemmviz.model.errors import SourceError, UsageError, closest
from gemmviz.model.kernel import KernelSpec
from gemmviz.spec.header import parse_kernel

DEFAULT_KERNEL = "04_tiled"


def kernel_names() -> list[str]:
    """The kernels that ship with gemmviz, in teaching order."""
    return sorted(path.stem for path in resource_folder("kernels").glob("*.cu"))


def load_kernel(name: str) -> KernelSpec:
    """The kernel of this name ("04_tiled", or "tiled" where that is clear) or in this ``.cu`` file.

    Raises UsageError for a name that is neither, SourceError for a file that can't be read.
    """
    path = Path(name)
    if path.suffix == ".cu" or path.is_file():
        return read_kernel(path)
    names = kernel_names()
    found = [known for known in names if name in (known, known.partition("_")[2])]
    if not found:
        remedy = closest(name, names) or f"the kernels are {', '.join(names)}"
        raise UsageError(f"there is no kernel {name!r}", remedy=remedy)
    return read_kernel(resource_folder("kernels") / f"{found[0]}.cu")


def read_kernel(path: Path) -> KernelSpec:
    """The kernel in a file. Raises UsageError or SourceError, the file named."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UsageError("there is no such file", file=str(path)) from None
    except (OSError, UnicodeDecodeError):
        raise SourceError("the file can't be read as UTF-8 text", file=str(path)) from None
    shipped = path.parent == resource_folder("kernels")
    return parse_kernel(text.replace("\r\n", "\n"), path.name if shipped else str(path))
