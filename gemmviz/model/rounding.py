"""Rounding errors of two runs of one problem."""

from msgspec import Struct

from gemmviz.model.problem import Problem
from gemmviz.model.trace import Check


class RoundedRun(Struct, frozen=True):
    """A run's output compared with float64. ``kernel``: its name; ``text``: its source; ``check``: the comparison."""

    kernel: str
    text: str
    check: Check

    @property
    def error(self) -> float:
        """The largest error of an element; 0 if nothing was compared."""
        return self.check.worst_error or 0.0


class RoundingCase(Struct, frozen=True):
    """Two runs of one problem: ``first`` is the one that the shot compares with."""

    problem: Problem
    first: RoundedRun
    second: RoundedRun
