"""Entry points through which installed packages extend gemmviz: groups "gemmviz.views", "gemmviz.commands" and so on.

Importing ``importlib.metadata`` takes 50 ms. It is imported only if some installed package has such a group, which a search of
the folders of ``sys.path`` finds out in 1 ms.
"""

import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_PREFIX = "gemmviz."
_METADATA = ("*.dist-info/entry_points.txt", "*.egg-info/entry_points.txt")


@cache
def entry_points(kind: str) -> "tuple[EntryPoint, ...]":
    """Entry points of the group "gemmviz.KIND", by the name of their package and then by their own."""
    if not _are_there_any():
        return ()
    from importlib import metadata

    return tuple(sorted(metadata.entry_points(group=_PREFIX + kind), key=lambda each: (package_of(each), each.name)))


def package_of(point: "EntryPoint") -> str:
    """Name of the installed package that has an entry point."""
    return point.dist.name if point.dist is not None else point.module


def folders_of(point: "EntryPoint") -> list[Path]:
    """The folders of the package that an entry point names, without importing it. Raises ImportError if there is no such
    package.
    """
    spec = find_spec(point.module)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"there is no package {point.module}")
    return [Path(each) for each in spec.submodule_search_locations]


@cache
def _are_there_any() -> bool:
    return any(map(_mentions_gemmviz, _files()))


def _files() -> Iterator[Path]:
    """The files that list entry points; an archive in ``sys.path`` counts as one."""
    for folder in map(Path, dict.fromkeys(sys.path)):
        if folder.is_file():
            yield folder
        for pattern in _METADATA:
            yield from folder.glob(pattern)


def _mentions_gemmviz(path: Path) -> bool:
    try:
        return path.suffix != ".txt" or f"[{_PREFIX}".encode() in path.read_bytes()
    except OSError:
        return False
