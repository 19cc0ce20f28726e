"""gemmviz turns a CUDA C matrix-multiplication kernel into a moving picture of every memory access.

As a library: see ``gemmviz.python.api``, whose names are here too.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.6.0"
RELEASES = "https://github.com/gemmviz/gemmviz/releases"  # where newer versions are; the program itself never looks
__all__ = [
    "Count", "Figure", "GemmvizError", "Kernel", "Lesson", "Measurements", "Picture", "Player", "Run", "Shot",
    "count", "figure", "kernels", "lessons", "load", "save", "scene", "show", "trace",
]  # fmt: skip

if TYPE_CHECKING:
    from gemmviz.python.api import (
        Count,
        Figure,
        GemmvizError,
        Kernel,
        Lesson,
        Measurements,
        Picture,
        Player,
        Run,
        Shot,
        count,
        figure,
        kernels,
        lessons,
        load,
        save,
        scene,
        show,
        trace,
    )  # fmt: skip


def __getattr__(name: str) -> Any:
    """An attribute of the library, which is loaded on first use, so that the program starts without it."""
    if name in __all__:
        from gemmviz.python import library

        if name in library.__all__:
            return getattr(library, name)
        from gemmviz.python import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
