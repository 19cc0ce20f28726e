"""Kernels as loops: the lines of each, its counters at every step, and the step at which each element of C is stored."""

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.model.problem import Problem


class Counter(Struct, frozen=True):
    """An integer variable that changes while one thread runs: the place of its declaration among the shown lines, and its
    ``values`` during each step as text, "" where it has none.
    """

    name: str
    line: int
    values: tuple[str, ...]


class LoopRun(Struct, frozen=True, eq=False):  # arrays have no truth: one run's values are equal to themselves alone
    """The run of one kernel. ``lines``: its body, without closing braces; ``threads``: of the whole grid; ``stored`` int64
    (rows, columns): the step that stores each element of C, -1 if none does; ``steps``: of the run; ``counters``: of its
    first thread.
    """

    name: str
    title: str
    lines: tuple[str, ...]
    threads: int
    steps: int
    stored: npt.NDArray[np.int64]
    counters: tuple[Counter, ...]


class LoopsCase(Struct, frozen=True):
    """A run, and in ``before`` the run of the kernel that it is compared with, which is shown first."""

    problem: Problem
    main: LoopRun
    before: LoopRun | None = None

    @property
    def runs(self) -> tuple[LoopRun, ...]:
        """All runs in the order in which they play."""
        return (self.main,) if self.before is None else (self.before, self.main)
