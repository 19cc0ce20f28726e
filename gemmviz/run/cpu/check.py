"""Checks C against float64: every written element must lie within the rounding that its element type allows."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gemmviz.model.element_types import ElementType, element_type
from gemmviz.model.errors import Cancelled
from gemmviz.model.problem import Problem
from gemmviz.model.trace import Check

_FLOPS_PER_CHUNK = 1 << 24
_MOST_NAMED = 4096
_DOUBLE_ROUNDOFF = 2.0**-53
_HALF_STEP = 2.0**-25  # half the smallest half


def check_result(
    problem: Problem,
    data: dict[str, npt.NDArray[Any]],
    types: dict[str, ElementType],
    column_major: frozenset[str],
    written: npt.NDArray[np.int64],
    whole_launch: bool,
    roundoff: float,
    cancelled: Callable[[], bool],
) -> Check:
    """The comparison of C with float64. ``data`` are flat A, B and C, as stored; ``types`` their element types; ``written`` the
    distinct elements of C that were stored; ``roundoff`` the unit roundoff of the kernel's arithmetic.

    A sum of K products rounded at each step errs by at most (K + 1) u sum |a b|, u the unit roundoff (Higham, Accuracy and
    Stability of Numerical Algorithms, 3.1): K u of the arithmetic and once that of C, and the same of the float64 sum itself.
    Halves also err by their smallest steps. Integers must be exact, modulo the range of C. Raises Cancelled.
    """
    a, b, c = (_shaped(_numbers(data[name], types[name]), problem.shapes[name], name in column_major) for name in "ABC")
    rows, columns = _places(written, problem, "C" in column_major)
    used_rows, used_columns = _used(rows, problem.M), _used(columns, problem.N)
    wrong, wrong_elements, worst = 0, list[int](), _Error()
    right, limit = np.asarray(b[:, used_columns], np.float64), Limit(problem.K, types["C"], roundoff)
    for some in _row_chunks(used_rows, len(used_columns) * problem.K):
        if cancelled():
            raise Cancelled
        left = np.asarray(a[some], np.float64)
        allowed = limit.factor * (np.abs(left) @ np.abs(right)) + limit.least
        error = limit.error(left @ right - np.asarray(c[np.ix_(some, used_columns)], np.float64))
        here = _membership(rows, columns, some, used_columns)
        excess = np.where(here, np.where(np.isnan(error), np.inf, error - allowed), -np.inf)
        wrong += int((excess > 0).sum())
        if wrong and len(wrong_elements) < _MOST_NAMED:
            wrong_elements += _elements(excess > 0, some, used_columns, problem, "C" in column_major)
        largest = _largest(np.where(here, np.nan_to_num(error, nan=np.inf), -1), allowed, excess, some, used_columns)
        worst = largest if largest.excess > worst.excess else worst
    unwritten = problem.M * problem.N - len(written) if whole_launch else 0
    largest_error = worst.error if np.isfinite(worst.error) else None
    return Check(len(written), wrong, unwritten, largest_error, worst.allowed, worst.at, tuple(wrong_elements[:_MOST_NAMED]))


class Limit:
    """How far an element of C may be from the sum of its ``k`` products."""

    def __init__(self, k: int, c: ElementType, roundoff: float) -> None:
        unit = max(roundoff, c.roundoff)
        reference = (k + 1) * _DOUBLE_ROUNDOFF if unit == _DOUBLE_ROUNDOFF else 0.0
        self.factor = k * unit + c.roundoff + reference if c.is_float else 0.0
        self.least = (k + 1) * _HALF_STEP if c.is_float and unit == element_type("float16").roundoff else 0.0
        self.range = None if c.is_float or c.bytes == 8 else float(1 << (8 * c.bytes))

    def error(self, difference: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The size of a difference; of integers, modulo the range of C."""
        if self.range is None:
            return np.abs(difference)
        rest = np.mod(difference, self.range)
        return np.minimum(rest, self.range - rest)


class _Error(NamedTuple):
    """The largest error among some elements of C: how far any error is beyond the allowed one, and its place in C."""

    excess: float = -np.inf
    error: float = 0.0
    allowed: float = 0.0
    at: tuple[int, int] = (0, 0)


def _largest(error: Any, allowed: Any, excess: Any, rows: Any, columns: Any) -> _Error:
    """The largest error in a table of some rows and columns of C."""
    row, column = np.unravel_index(int(np.argmax(error)), error.shape)
    at = int(rows[row]), int(columns[column])
    return _Error(float(excess.max()), float(error[row, column]), float(allowed[row, column]), at)


def _elements(bad: Any, rows: Any, columns: Any, problem: Problem, column_major: bool) -> list[int]:
    """Elements of C at the true places of a table of some rows and columns."""
    row, column = (each[at] for each, at in zip((rows, columns), np.nonzero(bad), strict=True))
    elements: list[int] = (column * problem.M + row if column_major else row * problem.N + column).tolist()
    return elements


def _numbers(flat: npt.NDArray[Any], element: ElementType) -> npt.NDArray[Any]:
    """Elements as numbers, unconverted if NumPy knows their type."""
    return flat if element.decode is None else element.numbers(flat)


def _shaped(flat: npt.NDArray[Any], shape: tuple[int, int], column_major: bool) -> npt.NDArray[Any]:
    return flat.reshape(shape[::-1]).T if column_major else flat.reshape(shape)


def _places(elements: npt.NDArray[np.int64], problem: Problem, column_major: bool) -> tuple[Any, Any]:
    if column_major:
        columns, rows = np.divmod(elements, problem.M)
        return rows, columns
    return np.divmod(elements, problem.N)


def _used(numbers: npt.NDArray[np.int64], extent: int) -> npt.NDArray[np.int64]:
    """The distinct numbers below ``extent``, ascending."""
    seen = np.zeros(extent, bool)
    seen[numbers] = True
    return np.flatnonzero(seen)


def _row_chunks(rows: npt.NDArray[np.int64], work_per_row: int) -> list[npt.NDArray[np.int64]]:
    size = max(1, _FLOPS_PER_CHUNK // max(1, work_per_row))
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _membership(rows: Any, columns: Any, some: Any, used_columns: Any) -> npt.NDArray[np.bool_]:
    """Which elements of the table (some rows) x (used columns) were written."""
    here = np.zeros((len(some), len(used_columns)), bool)
    chosen = (rows >= some[0]) & (rows <= some[-1])
    here[np.searchsorted(some, rows[chosen]), np.searchsorted(used_columns, columns[chosen])] = True
    return here
