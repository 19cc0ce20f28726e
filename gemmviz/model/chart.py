"""A chart as a value: what is plotted against what. The scene draws it, and so does the window where one points at it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

Role = Literal["needed", "also needed", "lost"]
Opens = tuple[str, int, tuple[tuple[str, int], ...]]  # a kernel's name, N, and its parameters


@dataclass(frozen=True, slots=True)
class Axis:
    """``ticks``: where they are and what they say; None where they follow from the range. ``unsigned``: what points down is
    counted as what points up.
    """

    label: str
    is_log: bool = False
    ticks: tuple[tuple[float, str], ...] | None = None
    unsigned: bool = False


@dataclass(frozen=True, slots=True)
class Curve:
    """Points (x, y) with what each says. ``name`` is short, ``label`` tells it from all others; curves of a ``family`` share a
    colour. ``main``: the curves that stand for the family; ``shown`` at first; ``dashed`` where it is the lesser of a pair.
    ``opens``: the launch that each point is of, where it is one of a kernel.
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


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars of one kind, as wide as ``width``: at each ``x`` from ``bottoms`` on, so high; below zero they point down."""

    role: Role
    x: tuple[float, ...]
    bottoms: tuple[float, ...]
    heights: tuple[float, ...]
    width: float = 0.86


@dataclass(frozen=True, slots=True)
class Mark:
    """A line across the chart at an x, with what it says. ``is_here``: it is where one is, not a fact of the chart."""

    x: float
    text: str = ""
    is_here: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """``families``: all whose colours are to be the same in every chart of the kind, in order; ``beside``: those of them that
    the others are compared with. ``notes``: sentences below. ``hint``: what one can do where one points.
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

    def showing(self, chosen: Mapping[str, bool]) -> "Chart":
        """With those curves alone that are shown at first or were chosen, by label, and not put away."""
        return replace(self, curves=tuple(curve for curve in self.curves if chosen.get(curve.label, curve.shown)))

    def evenly(self) -> "Chart":
        """On axes that are divided evenly, and not by powers of ten."""
        return replace(self, x=replace(self.x, is_log=False), y=replace(self.y, is_log=False))

    @property
    def xs(self) -> list[float]:
        """All x of the curves and bars, ascending."""
        return sorted({x for curve in self.curves for x, _ in curve.points} | {x for bars in self.bars for x in bars.x})
