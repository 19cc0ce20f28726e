"""What a view is: a title, the kind of subject that it shows, and the functions that make scenes of one."""

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
    """``still`` draws a subject; ``motion`` what is on its way in it at ``options.moment``; ``order``: its place among views.

    ``subject`` is the type of what it shows: a Moment of a replay, a Benchmark, ... ``chart``: of a view that is one, the chart
    of a subject, which can be drawn in other ways too. ``is_ready``: whether what it needs of a subject has been worked out, so
    that it is drawn at once. A view is one file in ``gemmviz.scenes.views`` that ends with
    ``VIEW = View(...)``; its name is the file's.
    """

    title: str
    subject: type
    still: Callable[[Any, ViewOptions], Scene]
    motion: Callable[[Any, ViewOptions], tuple[Primitive, ...]] = _nothing_moves
    chart: Callable[[Any], Chart] | None = None
    is_ready: Callable[[Any], bool] = _always
    order: int = 99

    def scene(self, subject: Any, options: ViewOptions) -> Scene:
        """The whole picture at ``options.moment``."""
        still = self.still(subject, options)
        return replace(still, primitives=(*still.primitives, *self.motion(subject, options)))
