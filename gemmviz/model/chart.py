"""Charts as values: axes, curves, bars and marks. Scenes draw them; the window shows the values under the pointer."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, structs

Role = Literal["needed", "also needed", "lost"]
Opens = tuple[str, int, tuple[tuple[str, int], ...]]  # a kernel's name, N, and its parameters


class Axis(Struct, frozen=True):
    """An axis. ``ticks``: positions and labels, which may have two lines; None if derived from the range. ``unsigned``: values
    below zero are labelled without their sign.
    """

    label: str
    is_log: bool = False
    ticks: tuple[tuple[float, str], ...] | None = None
    unsigned: bool = False


class Curve(Struct, frozen=True):
    """Points (x, y), each with a text. ``name`` is short, ``label`` is unique; curves of one ``family`` share a colour.
    ``main``: the curve represents its family; ``shown``: visible at first; ``dashed``: the lesser of a pair. ``opens``: the
    launch of each point, for a curve of a kernel. ``values``: a short text at each point, where few curves are shown.
    """

    label: str
    name: str
    family: str
    points: tuple[tuple[float, float], ...]
    texts: tuple[str, ...]
    main: bool = True
    shown: bool = True
    dashed: bool = False
    opens: tuple[Opens | None, ...] = ()
    values: tuple[str, ...] = ()


class Bars(Struct, frozen=True):
    """Bars of one kind: at each ``x`` a bar of this ``width`` and height from ``bottoms`` on. A negative height points down."""

    role: Role
    x: tuple[float, ...]
    bottoms: tuple[float, ...]
    heights: tuple[float, ...]
    width: float = 0.86


class Mark(Struct, frozen=True):
    """A vertical line at an x, with a text. ``is_here``: it marks the current setting, not a property of the chart."""

    x: float
    text: str = ""
    is_here: bool = False


class Aside(Struct, frozen=True):
    """A value of a family that has no x: it stands in a column of its own beside the curves, as a ring with a text."""

    y: float
    text: str
    family: str


class Chart(Struct, frozen=True):
    """A chart. ``families``: all families whose colours are the same in every chart of the kind, in order; ``beside``: the
    families that others are compared with. ``notes``: sentences below the chart. ``hint``: what a click on a point does;
    ``remark``: how to read it, above the chart. ``asides``: values without an x, and ``asides_name``, what they are.
    """

    title: str
    x: Axis
    y: Axis
    curves: tuple[Curve, ...] = ()
    bars: tuple[Bars, ...] = ()
    marks: tuple[Mark, ...] = ()
    families: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    hint: str = ""
    remark: str = ""
    asides: tuple[Aside, ...] = ()
    asides_name: str = ""

    def showing(self, chosen: Mapping[str, bool]) -> "Chart":
        """A copy with the curves that are visible: those ``shown`` at first or chosen by label, without the hidden ones."""
        curves = tuple(curve for curve in self.curves if chosen.get(curve.label, curve.shown))
        shown = {curve.family for curve in curves}
        return structs.replace(self, curves=curves, asides=tuple(aside for aside in self.asides if aside.family in shown))

    def evenly(self) -> "Chart":
        """A copy with linear instead of logarithmic axes."""
        return structs.replace(self, x=structs.replace(self.x, is_log=False), y=structs.replace(self.y, is_log=False))

    @property
    def xs(self) -> list[float]:
        """All distinct x of the curves and bars, ascending."""
        return sorted({x for curve in self.curves for x, _ in curve.points} | {x for bars in self.bars for x in bars.x})
