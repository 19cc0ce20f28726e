"""The type of a kind of problem: its sizes, its arrays, the right contents of its outputs, and its words."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.setting import Control

_Role = Literal["input", "output", "both"]
_Contents = Literal["values", "bins"]
Sizes = Mapping[str, int]
Shape = tuple[int, ...]


class Size(Struct, frozen=True):
    """One size of a problem. ``control`` describes it in forms and command lines. An optional size is part of a problem only
    if it is given. ``dimension``: 1 for a side of a matrix, 2 for the length of a vector, which grows like a matrix, 0 for a
    size that stays as it is when a problem grows.
    """

    name: str
    control: Control
    default: int = 8
    is_optional: bool = False
    dimension: int = 0


class ProblemFactor(Struct, frozen=True):
    """One factor of a problem that is no size, such as alpha: a number that is part of a problem only if it is given."""

    name: str
    control: Control
    default: float = 1.0


class ProblemArray(Struct, frozen=True):
    """One array of a problem. ``role``: "input", "output" (all zero before the run), or "both". ``shape`` computes its extents
    from the sizes. ``contents``: "values", or "bins" for whole numbers from 0 to the size ``bins`` - 1.
    """

    name: str
    role: _Role
    shape: Callable[[Sizes], Shape]
    contents: _Contents = "values"

    @property
    def is_output(self) -> bool:
        return self.role != "input"


class ReferenceRequest(Struct, frozen=True):
    """Some elements of an output whose right values are wanted.

    ``arrays``: the contents before the run, by name, in their shapes, as numbers; ``after``: those of the outputs after it.
    ``places``: for each dimension of the output, the index of each element, int64 (n,). ``roundoff``: u of the output's type.
    """

    sizes: Sizes
    factors: Mapping[str, float]
    arrays: Mapping[str, npt.NDArray[Any]]
    after: Mapping[str, npt.NDArray[Any]]
    output: str
    places: tuple[Longs, ...]
    roundoff: float = 0.0

    def flat(self, name: str) -> Floats:
        """An array as float64 in row-major order, (n,)."""
        return np.asarray(self.arrays[name], np.float64).ravel()


class Answer(Struct, frozen=True):
    """The right values, float64 (n,), and what bounds the error that rounding may cause: ``roundings`` u ``magnitude``, u the
    unit roundoff. ``magnitude`` (n,) is 0 where a value must be exact.
    """

    right: Floats
    magnitude: Floats
    roundings: float = 0.0


Reference = Callable[[ReferenceRequest], Answer]


def _largest(sizes: Sizes) -> int:
    return max(sizes.values(), default=1)


def _one(sizes: Sizes) -> int:
    return 1


def _no_flops(sizes: Sizes) -> None:
    return None


class ProblemKind(Struct, frozen=True):
    """A kind of problem. ``title`` names it in menus, ``formula`` says in one line what the outputs hold.

    ``reference`` computes right values; None if nothing is checked. ``work``: multiplications, or similar steps, for one
    element of it. ``flops``: floating-point operations of the whole problem; None if there are none to count, for the reason
    ``why_no_flops``. ``depth``: the longest loop of one thread in a plain kernel.
    """

    name: str
    title: str
    formula: str
    sizes: tuple[Size, ...]
    arrays: tuple[ProblemArray, ...]
    reference: Reference | None = None
    factors: tuple[ProblemFactor, ...] = ()
    flops: Callable[[Sizes], int | None] = _no_flops
    why_no_flops: str = ""
    work: Callable[[Sizes], int] = _one
    depth: Callable[[Sizes], int] = field(default=_largest)

    @property
    def is_checked(self) -> bool:
        return self.reference is not None

    @property
    def is_open(self) -> bool:
        """Whether each problem of this kind names its own sizes and arrays."""
        return not self.arrays
