"""The definition of a view: a title, the type of its subject, and the functions that make scenes of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from gemmviz.model.chart import Chart
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.primitives import Primitive, Scene


def _always(subject: Any) -> bool:
    return True


def _nothing_moves(subject: Any, options: ViewOptions) -> tuple[Primitive, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class View:
    """A view, defined by a file in ``gemmviz.scenes.views`` that ends with ``VIEW = View(...)``. Its name is the file's
    name.

    ``still`` draws a subject; ``motion`` draws what moves in it at ``options.moment``; ``order``: the position among the
    views. ``subject`` is the type of its subject: a Moment of a replay, a Benchmark, ... ``chart``: for a view that is a
    chart, the function that returns it. ``is_ready``: whether everything that the view needs has been computed, so that
    drawing is immediate.
    """

    title: str
    subject: type
    still: Callable[[Any, ViewOptions], Scene]
    motion: Callable[[Any, ViewOptions], tuple[Primitive, ...]] = _nothing_moves
    chart: Callable[[Any], Chart] | None = None
    is_ready: Callable[[Any], bool] = _always
    order: int = 99

    def scene(self, subject: Any, options: ViewOptions) -> Scene:
        """Return the whole picture at ``options.moment``."""
        still = self.still(subject, options)
        return replace(still, primitives=(*still.primitives, *self.motion(subject, options)))
