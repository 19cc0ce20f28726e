"""Checks the outputs of a problem against float64: every written element must lie within the rounding that its element type
allows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.element_types import ElementType
from gemmviz.model.errors import Cancelled
from gemmviz.model.problem import Problem
from gemmviz.model.problem_kind import Answer, Question, Reference, Shape
from gemmviz.model.trace import Check

_WORK_PER_CHUNK = 1 << 25
_MOST_NAMED = 4096
UNCHECKED = Check(0, 0, 0, 0.0, 0.0, (0, 0))


@dataclass(frozen=True, slots=True)
class Contents:
    """The arrays of a problem after a run: ``data``, flat in memory order as stored, of these ``shapes`` and element ``types``;
    the arrays in ``column_major`` are stored column by column. ``before``: outputs that held values before the run.
    """

    problem: Problem
    shapes: Mapping[str, Shape]
    types: Mapping[str, ElementType]
    data: Mapping[str, npt.NDArray[Any]]
    column_major: frozenset[str] = frozenset()
    before: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)

    def shaped(self, name: str, data: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """An array as numbers, unconverted if NumPy knows their type, in the shape in which it is indexed."""
        element, shape = self.types[name], self.shapes[name]
        numbers = data[name] if element.decode is None else element.numbers(data[name])
        return numbers.reshape(shape[::-1]).T if name in self.column_major else numbers.reshape(shape)

    def numbers(self, name: str) -> Floats:
        """An array after the run as float64, flat in memory order."""
        return self.types[name].numbers(self.data[name])

    def places(self, name: str, elements: Longs) -> tuple[Longs, ...]:
        """The indices of elements, given by their offsets in memory: one array for each dimension."""
        if name in self.column_major:
            return tuple(reversed(np.unravel_index(elements, self.shapes[name][::-1])))  # type: ignore[arg-type]
        return tuple(np.unravel_index(elements, self.shapes[name]))  # type: ignore[arg-type]


def check_result(contents: Contents, written: Mapping[str, Longs], whole_launch: bool, cancelled: Callable[[], bool]) -> Check:
    """The comparison of the outputs with float64. ``written``: the distinct elements of each output that were stored, as
    ascending offsets in memory. Elements that were never written count if the ``whole_launch`` was traced.

    Each kind of problem bounds the error that rounding may cause; integers must be exact. Raises Cancelled.
    """
    problem = contents.problem
    if problem.kind.reference is None:
        return Check(0, 0, 0, 0.0, 0.0, (0,), is_checked=False)
    (name,) = problem.output_names
    elements = written[name]
    check = _compared(contents, problem.kind.reference, name, elements, cancelled)
    return check.with_unwritten(contents.data[name].size - len(elements) if whole_launch else 0)


def _compared(contents: Contents, reference: Reference, name: str, elements: Longs, cancelled: Callable[[], bool]) -> Check:
    """The comparison of some elements of one output, some at a time."""
    problem, unit = contents.problem, contents.types[name].roundoff
    arrays = {each: contents.shaped(each, {**contents.data, **contents.before}) for each in contents.data}
    after = contents.shaped(name, contents.data)
    wrong, wrong_elements, worst = 0, list[int](), _Worst(places=(0,) * after.ndim)
    step = max(1, _WORK_PER_CHUNK // problem.kind.work(problem.sizes))
    for start in range(0, len(elements), step):
        if cancelled():
            raise Cancelled
        some = elements[start : start + step]
        places = contents.places(name, some)
        answer = reference(Question(problem.sizes, problem.factors, arrays, {name: after}, name, places, unit))
        error, allowed = np.abs(answer.right - np.asarray(after[places], np.float64)), _allowed(answer, unit)
        excess = np.where(np.isnan(error), np.inf, error - allowed)
        bad = np.flatnonzero(excess > 0)
        wrong += len(bad)
        wrong_elements += some[bad[: _MOST_NAMED - len(wrong_elements)]].tolist()
        worst = max(worst, _worst(error, allowed, excess, places), key=lambda each: each.excess)
    largest = worst.error if np.isfinite(worst.error) else None
    return Check(len(elements), wrong, 0, largest, worst.allowed, worst.places, tuple(wrong_elements), name)


def _allowed(answer: Answer, unit: float) -> npt.NDArray[np.float64]:
    return answer.roundings * unit * answer.magnitude


@dataclass(frozen=True, slots=True)
class _Worst:
    """The largest error among some elements: how far any error is beyond the allowed one, and the place of the largest."""

    excess: float = -np.inf
    error: float = 0.0
    allowed: float = 0.0
    places: tuple[int, ...] = ()


def _worst(error: Any, allowed: Any, excess: Any, places: tuple[Longs, ...]) -> _Worst:
    at = int(np.argmax(np.nan_to_num(error, nan=np.inf)))
    return _Worst(float(excess.max()), float(error[at]), float(allowed[at]), tuple(int(place[at]) for place in places))
