"""A kernel run in an order that spoils its result."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gemmviz.model.arrays import Floats
from gemmviz.model.setup import Setup


@dataclass(frozen=True, slots=True)
class Turn:
    """One access or barrier: ``unit`` made it as its ``step``-th (from 0), on ``line`` of the source; ``does``: "read A[0, 0]",
    "wait"; ``array``: what it touches, "" for a barrier; ``value``: what was read or written, of a warp the sum over its lanes;
    ``expected``: what it reads in lockstep, where that is another value.
    """

    unit: int
    step: int
    line: int
    does: str
    array: str
    value: float | None = None
    expected: float | None = None

    @property
    def is_spoilt(self) -> bool:
        """Whether it read another value than in lockstep."""
        return self.expected is not None


@dataclass(frozen=True)
class RaceCase:
    """One block of a launch, once in lockstep and once with one unit ahead. ``units``: how many ``kind`` there are;
    ``ahead``: the unit that ran first, and ``lead``, for how many of its steps: the fewest that spoil C; -1 and 0 where no such
    order was found in the ``tried`` of all ``orders`` there are. ``turns``: that order, step by step. ``right`` and ``wrong``
    are the block's part of C, which begins at ``corner``, NaN where it has none.
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

    @property
    def spoilt(self) -> npt.NDArray[np.bool_]:
        """Which elements are wrong."""
        with np.errstate(invalid="ignore"):
            return np.asarray(~np.isclose(self.right, self.wrong, rtol=1e-5, atol=1e-6, equal_nan=True))
