"""A kernel executed in an order of warps that gives a wrong result."""

from typing import Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.model.arrays import Floats
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup


class Turn(Struct, frozen=True):
    """One access or barrier: step number ``step`` (from 0) of ``unit``, on ``line`` of the source. ``what``: the element or
    the array that it touches, as in the source, and ``array``: the name of that array; "" for a barrier. ``value``: the value
    read or written, summed over the lanes of a warp; ``expected``: the value read in lockstep, if different; ``cells``: the
    elements touched in shared memory, for all writes and for the reads that lead to the race.
    """

    unit: int
    step: int
    line: int
    action: Literal["read", "write", "wait"]
    what: str
    array: str
    value: float | None = None
    expected: float | None = None
    cells: tuple[int, ...] = ()

    @property
    def is_spoilt(self) -> bool:
        """Whether it read another value than in lockstep."""
        return self.expected is not None


class RaceCase(Struct, frozen=True, eq=False):  # arrays have no truth: one run's values are equal to themselves alone
    """One block of a launch, run in lockstep and with one unit ahead. ``units``: number of units of this ``kind``; ``ahead``:
    the unit that runs ahead, and ``lead`` by how many steps, counted since the last barrier that all units reach: the fewest
    that give a wrong C; -1 and 0 if none of the ``tried`` orders, out of ``orders``, does. ``turns``: that order, step by step;
    without one, lockstep. ``right`` and ``wrong`` are the block's part of C, which begins at ``corner``, NaN where it stores
    nothing.

    ``pair``: the places among the turns of two accesses to one ``cell`` between the same barriers, of which one writes, in the
    order of the turns; None if there are none. ``begin``: the place of the first turn after the barrier before them.
    ``tiles``: names and shapes of the arrays in shared memory.
    """

    setup: Setup
    what: str
    kind: Literal["warps", "threads"]
    units: int
    ahead: int
    lead: int
    tried: int
    orders: int
    turns: tuple[Turn, ...]
    right: Floats
    wrong: Floats
    corner: tuple[int, int]
    pair: tuple[int, int] | None = None
    cell: int = -1
    begin: int = 0
    tiles: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @property
    def problem(self) -> Problem:
        return self.setup.problem

    @property
    def result(self) -> str:
        """The name of the result, C of a multiplication."""
        return self.problem.output_names[0]

    @property
    def spoilt(self) -> npt.NDArray[np.bool_]:
        """Which elements are wrong."""
        with np.errstate(invalid="ignore"):
            return np.asarray(~np.isclose(self.right, self.wrong, rtol=1e-5, atol=1e-6, equal_nan=True))
