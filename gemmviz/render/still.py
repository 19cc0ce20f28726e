"""What a format of single frames is."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gemmviz.scenes.primitives import Scene


@dataclass(frozen=True, slots=True)
class Still:
    """A file in ``gemmviz.render.formats`` that ends with ``STILL = Still(...)``; its suffix is the file's name. ``save`` gets
    a scene, a path and a scale, and raises OSError; ``scales``: the choices of the latter, 1 alone where it means nothing.
    """

    title: str
    save: Callable[[Scene, Path, int], None]
    scales: tuple[int, ...] = (1,)
    order: int = 99
