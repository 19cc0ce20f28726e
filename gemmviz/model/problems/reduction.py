"""Reductions: the sum of all elements, in one element or as parts that a second launch adds up; the largest or the smallest
element; the sums of rows and of columns.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gemmviz.model.arrays import Floats
from gemmviz.model.problem_kind import Answer, Control, ProblemArray, ProblemKind, ReferenceRequest, Size
from gemmviz.model.translation import marked


def sum_in_parts(question: ReferenceRequest, values: Floats, more: int = 0) -> Answer:
    """The sum of each part of ``values`` (n,), whose computation takes ``more`` roundings: equally long stretches, or whatever
    the kernel chose if its parts add up to the whole sum. A sum of n numbers in any order errs by at most (n - 1) u sum |x|.
    """
    parts = question.arrays["out"].size
    length = -(-len(values) // parts)
    starts = np.arange(0, len(values), length)
    right, magnitude = np.zeros(parts), np.zeros(parts)
    right[: len(starts)] = np.add.reduceat(values, starts)
    magnitude[: len(starts)] = np.add.reduceat(np.abs(values), starts)
    places, after = question.places[0], np.asarray(question.after["out"], np.float64).ravel()
    are_stretches = bool((np.abs(after - right) <= (length + more) * question.roundoff * magnitude).all())
    allowed = (len(values) + more) * question.roundoff * np.abs(values).sum()
    if not are_stretches and len(places) == parts > 1 and abs(after.sum() - values.sum()) <= allowed:
        right = after
    return Answer(right[places], magnitude[places], length + more)


def _extreme(chosen: Callable[[Any], Any], question: ReferenceRequest) -> Answer:
    """The largest or smallest element, which is exact."""
    right = np.full(len(question.places[0]), chosen(question.flat("in")))
    return Answer(right, np.zeros_like(right))


def _sums(axis: int, question: ReferenceRequest) -> Answer:
    """Sums along an axis of a matrix."""
    values, here = np.asarray(question.arrays["in"], np.float64), question.places[0]
    return Answer(values.sum(axis=axis)[here], np.abs(values).sum(axis=axis)[here], values.shape[axis])


_VECTOR = (Size("n", Control("n", marked("Number of elements of in"), least=1), 256, dimension=2),)
_TO_ONE = (
    ProblemArray("in", "input", lambda sizes: (sizes["n"],)),
    ProblemArray("out", "output", lambda sizes: (1,)),
)
_MATRIX = (
    Size("rows", Control(marked("Rows"), marked("Rows of in"), least=1), 16, dimension=1),
    Size("columns", Control(marked("Columns"), marked("Columns of in"), least=1), 32, dimension=1),
)
_OF_MATRIX = ProblemArray("in", "input", lambda sizes: (sizes["rows"], sizes["columns"]))
_NO_FLOPS = marked("a comparison is no floating-point operation")
KIND = ProblemKind(
    "reduction",
    marked("Reduction"),
    marked("out = sum of in[i]"),
    _VECTOR,
    _TO_ONE,
    lambda question: sum_in_parts(question, question.flat("in")),
    flops=lambda sizes: sizes["n"] - 1,
)
MAXIMUM, MINIMUM = (
    ProblemKind(name, title, formula, _VECTOR, _TO_ONE, partial(_extreme, chosen), why_no_flops=_NO_FLOPS)
    for name, title, formula, chosen in (
        ("maximum", marked("Maximum"), marked("out = largest in[i]"), np.max),
        ("minimum", marked("Minimum"), marked("out = smallest in[i]"), np.min),
    )
)
ROW_SUMS = ProblemKind(
    "row_sums",
    marked("Sums of rows"),
    marked("out[i] = sum of in[i, j]"),
    _MATRIX,
    (_OF_MATRIX, ProblemArray("out", "output", lambda sizes: (sizes["rows"],))),
    partial(_sums, 1),
    flops=lambda sizes: sizes["rows"] * (sizes["columns"] - 1),
)
COLUMN_SUMS = ProblemKind(
    "column_sums",
    marked("Sums of columns"),
    marked("out[j] = sum of in[i, j]"),
    _MATRIX,
    (_OF_MATRIX, ProblemArray("out", "output", lambda sizes: (sizes["columns"],))),
    partial(_sums, 0),
    flops=lambda sizes: (sizes["rows"] - 1) * sizes["columns"],
)
