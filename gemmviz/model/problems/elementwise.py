"""Problems of elements: outputs that each depend on the input elements at the same place (sums, scaling, rectifiers), and
outputs that combine many (reductions, dot product, prefix sums, histogram, softmax).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gemmviz.model.arrays import Floats
from gemmviz.model.messages import marked
from gemmviz.model.problem_kind import (
    Answer,
    Control,
    ProblemArray,
    ProblemFactor,
    ProblemKind,
    ReferenceRequest,
    Size,
    Sizes,
    linear,
    matrix,
)


def _sum_answer(question: ReferenceRequest) -> Answer:
    a, b = (np.asarray(question.arrays[name][question.places], np.float64) for name in "AB")
    return Answer(a + b, np.abs(a) + np.abs(b), 1)


VECTOR_ADD = ProblemKind(
    "vector_add",
    marked("Vector addition"),
    "C[i] = A[i] + B[i]",
    (Size("n", Control("n", marked("Number of elements of each vector"), least=1), 256, dimension=2),),
    (ProblemArray("A", "input", linear), ProblemArray("B", "input", linear), ProblemArray("C", "output", linear)),
    _sum_answer,
    flops=lambda sizes: sizes["n"],
)
MATRIX_ADD = ProblemKind(
    "matrix_add",
    marked("Matrix addition"),
    "C[i, j] = A[i, j] + B[i, j]",
    (
        Size("rows", Control(marked("Rows"), marked("Rows of each matrix"), least=1), 16, dimension=1),
        Size("columns", Control(marked("Columns"), marked("Columns of each matrix"), least=1), 16, dimension=1),
    ),
    (ProblemArray("A", "input", matrix), ProblemArray("B", "input", matrix), ProblemArray("C", "output", matrix)),
    _sum_answer,
    flops=lambda sizes: sizes["rows"] * sizes["columns"],
)


def _scaled_sum(question: ReferenceRequest) -> Answer:
    """Three roundings: of the products, and of the sum."""
    x, y = (np.asarray(question.arrays[name][question.places], np.float64) for name in "xy")
    x, y = question.factors.get("alpha", 1.0) * x, question.factors.get("beta", 1.0) * y
    return Answer(x + y, np.abs(x) + np.abs(y), 2 + ("beta" in question.factors))


AXPY = ProblemKind(
    "axpy",
    marked("Scaled vector addition"),
    marked("y[i] = alpha · x[i] + beta · y[i]"),
    (Size("n", Control("n", marked("Number of elements of each vector"), least=1), 256, dimension=2),),
    (ProblemArray("x", "input", linear), ProblemArray("y", "both", linear)),
    _scaled_sum,
    (
        ProblemFactor("alpha", Control("alpha", marked("Factor of x"), least=-1e30, most=1e30), 1.0),
        ProblemFactor("beta", Control("beta", marked("Factor of y"), least=-1e30, most=1e30), 1.0),
    ),
    flops=lambda sizes: 2 * sizes["n"],
)


def _scaled_answer(question: ReferenceRequest, name: str) -> Answer:
    right = question.factors.get("alpha", 1.0) * np.asarray(question.arrays[name][question.places], np.float64)
    return Answer(right, np.abs(right), 1)


_LENGTH = (Size("n", Control("n", marked("Number of elements"), least=1), 256, dimension=2),)
_SCALE = (ProblemFactor("alpha", Control("alpha", marked("Factor of each element"), least=-1e30, most=1e30), 1.0),)

SCALE = ProblemKind(
    "scale",
    marked("Scaling"),
    marked("out[i] = alpha · in[i]"),
    _LENGTH,
    (ProblemArray("in", "input", linear), ProblemArray("out", "output", linear)),
    lambda question: _scaled_answer(question, "in"),
    _SCALE,
    flops=lambda sizes: sizes["n"],
)
SCALE_IN_PLACE = ProblemKind(
    "scale_in_place",
    marked("Scaling in place"),
    marked("x[i] = alpha · x[i]"),
    _LENGTH,
    (ProblemArray("x", "both", linear),),
    lambda question: _scaled_answer(question, "x"),
    _SCALE,
    flops=lambda sizes: sizes["n"],
)


def _rectified(question: ReferenceRequest) -> Answer:
    right = np.maximum(np.asarray(question.arrays["in"][question.places], np.float64), 0.0)
    return Answer(right, np.zeros_like(right))


RELU = ProblemKind(
    "relu",
    marked("Rectifier (ReLU)"),
    marked("out[i] = max(in[i], 0)"),
    (Size("n", Control("n", marked("Number of elements"), least=1), 256, dimension=2),),
    (ProblemArray("in", "input", linear), ProblemArray("out", "output", linear)),
    _rectified,
    why_no_flops=marked("a rectifier compares values and computes none"),
)


def _sum_of_neighbours(question: ReferenceRequest) -> Answer:
    values, radius, places = question.flat("in"), question.sizes["radius"], question.places[0]
    padded = np.pad(values, radius)
    right, magnitude = np.zeros(len(places)), np.zeros(len(places))
    for offset in range(2 * radius + 1):
        right += padded[places + offset]
        magnitude += np.abs(padded[places + offset])
    return Answer(right, magnitude, 2 * radius + 1)


STENCIL = ProblemKind(
    "stencil",
    marked("Stencil"),
    marked("out[i] = in[i - radius] + … + in[i + radius], zero outside"),
    (
        Size("n", Control("n", marked("Number of elements"), least=1), 256, dimension=2),
        Size("radius", Control(marked("Radius"), marked("Neighbours on each side"), least=1), 3),
    ),
    (
        ProblemArray("in", "input", linear),
        ProblemArray("out", "output", linear),
    ),
    _sum_of_neighbours,
    flops=lambda sizes: 2 * sizes["radius"] * sizes["n"],
    work=lambda sizes: 2 * sizes["radius"] + 1,
)


# Convolution with a filter of odd width that is not turned over


def _filter_width(sizes: Sizes) -> int:
    return 2 * sizes["radius"] + 1


def _taps(sizes: Sizes) -> int:
    return _filter_width(sizes) ** 2


def _filtered(question: ReferenceRequest) -> Answer:
    """A sum of as many products as the filter has weights, rounded at each step."""
    weights = np.asarray(question.arrays["filter"], np.float64)
    padded = np.pad(np.asarray(question.arrays["in"], np.float64), question.sizes["radius"])
    right, magnitude = np.zeros(len(question.places[0])), np.zeros(len(question.places[0]))
    for offset in np.ndindex(weights.shape):
        terms = weights[offset] * padded[tuple(place + by for place, by in zip(question.places, offset, strict=True))]
        right += terms
        magnitude += np.abs(terms)
    return Answer(right, magnitude, weights.size + 1)


_REACH = Size("radius", Control(marked("Radius"), marked("Weights on each side of the middle of the filter"), least=1), 2)

CONVOLUTION = ProblemKind(
    "convolution",
    marked("Convolution, 2-D"),
    marked("out[i, j] = sum of filter[r, s] · in[i + r - radius, j + s - radius], zero outside"),
    (
        Size("rows", Control(marked("Rows"), marked("Rows of in and out"), least=1), 16, dimension=1),
        Size("columns", Control(marked("Columns"), marked("Columns of in and out"), least=1), 16, dimension=1),
        _REACH,
    ),
    (
        ProblemArray("in", "input", matrix),
        ProblemArray("filter", "input", lambda sizes: (_filter_width(sizes), _filter_width(sizes))),
        ProblemArray("out", "output", matrix),
    ),
    _filtered,
    flops=lambda sizes: 2 * sizes["rows"] * sizes["columns"] * _taps(sizes),
    work=_taps,
    depth=_taps,
)
CONVOLUTION_1D = ProblemKind(
    "convolution_1d",
    marked("Convolution, 1-D"),
    marked("out[i] = sum of filter[r] · in[i + r - radius], zero outside"),
    (Size("n", Control("n", marked("Number of elements of in and out"), least=1), 256, dimension=2), _REACH),
    (
        ProblemArray("in", "input", linear),
        ProblemArray("filter", "input", lambda sizes: (_filter_width(sizes),)),
        ProblemArray("out", "output", linear),
    ),
    _filtered,
    flops=lambda sizes: 2 * sizes["n"] * _filter_width(sizes),
    work=_filter_width,
)


# Problems whose output elements combine many of the input: reductions, dot product, prefix sums, histogram, softmax.

# Reductions: in one element, or as parts that a second launch adds up


def _sum_in_parts(question: ReferenceRequest, values: Floats, more: int = 0) -> Answer:
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


def _axis_sums(axis: int, question: ReferenceRequest) -> Answer:
    """Sums along an axis of a matrix."""
    values, here = np.asarray(question.arrays["in"], np.float64), question.places[0]
    return Answer(values.sum(axis=axis)[here], np.abs(values).sum(axis=axis)[here], values.shape[axis])


_ONE_VECTOR = (Size("n", Control("n", marked("Number of elements of in"), least=1), 256, dimension=2),)
_TO_ONE = (
    ProblemArray("in", "input", linear),
    ProblemArray("out", "output", lambda sizes: (1,)),
)
_MATRIX_SIZES = (
    Size("rows", Control(marked("Rows"), marked("Rows of in"), least=1), 16, dimension=1),
    Size("columns", Control(marked("Columns"), marked("Columns of in"), least=1), 32, dimension=1),
)
_OF_MATRIX = ProblemArray("in", "input", matrix)
_COMPARES_ALONE = marked("a comparison is no floating-point operation")
REDUCTION = ProblemKind(
    "reduction",
    marked("Reduction"),
    marked("out = sum of in[i]"),
    _ONE_VECTOR,
    _TO_ONE,
    lambda question: _sum_in_parts(question, question.flat("in")),
    flops=lambda sizes: sizes["n"] - 1,
)
MAXIMUM, MINIMUM = (
    ProblemKind(name, title, formula, _ONE_VECTOR, _TO_ONE, partial(_extreme, chosen), why_no_flops=_COMPARES_ALONE)
    for name, title, formula, chosen in (
        ("maximum", marked("Maximum"), marked("out = largest in[i]"), np.max),
        ("minimum", marked("Minimum"), marked("out = smallest in[i]"), np.min),
    )
)
ROW_SUMS = ProblemKind(
    "row_sums",
    marked("Sums of rows"),
    marked("out[i] = sum of in[i, j]"),
    _MATRIX_SIZES,
    (_OF_MATRIX, ProblemArray("out", "output", lambda sizes: (sizes["rows"],))),
    partial(_axis_sums, 1),
    flops=lambda sizes: sizes["rows"] * (sizes["columns"] - 1),
)
COLUMN_SUMS = ProblemKind(
    "column_sums",
    marked("Sums of columns"),
    marked("out[j] = sum of in[i, j]"),
    _MATRIX_SIZES,
    (_OF_MATRIX, ProblemArray("out", "output", lambda sizes: (sizes["columns"],))),
    partial(_axis_sums, 0),
    flops=lambda sizes: (sizes["rows"] - 1) * sizes["columns"],
)


# Dot product, with parts as in a reduction


def _sum_of_products(question: ReferenceRequest) -> Answer:
    """A sum of products, one rounding more than a sum."""
    return _sum_in_parts(question, question.flat("A") * question.flat("B"), more=1)


DOT_PRODUCT = ProblemKind(
    "dot_product",
    marked("Dot product"),
    marked("out = sum of A[i] · B[i]"),
    (Size("n", Control("n", marked("Number of elements of each vector"), least=1), 256, dimension=2),),
    (
        ProblemArray("A", "input", linear),
        ProblemArray("B", "input", linear),
        ProblemArray("out", "output", lambda sizes: (1,)),
    ),
    _sum_of_products,
    flops=lambda sizes: 2 * sizes["n"] - 1,
)


# Prefix sums: each element of the output is the sum of the input up to there, with its own element or without


def _inclusive(question: ReferenceRequest) -> Answer:
    """A sum of i numbers in any order errs by at most (i - 1) u sum |x|; differences of sums by twice that."""
    values, places = question.flat("in"), question.places[0]
    return Answer(np.cumsum(values)[places], np.cumsum(np.abs(values))[places], 2 * len(values))


def _exclusive(question: ReferenceRequest) -> Answer:
    answer, own = _inclusive(question), question.flat("in")[question.places[0]]
    return Answer(answer.right - own, answer.magnitude, answer.roundings)


def _prefix_sums(name: str, title: str, formula: str) -> ProblemKind:
    return ProblemKind(
        name,
        title,
        formula,
        (Size("n", Control("n", marked("Number of elements"), least=1), 256, dimension=2),),
        (ProblemArray("in", "input", linear), ProblemArray("out", "output", linear)),
        _inclusive if name == "scan" else _exclusive,
        flops=lambda sizes: sizes["n"] - 1,
    )


SCAN = _prefix_sums("scan", marked("Prefix sums, inclusive"), marked("out[i] = in[0] + … + in[i]"))
EXCLUSIVE_SCAN = _prefix_sums("exclusive_scan", marked("Prefix sums, exclusive"), marked("out[i] = in[0] + … + in[i - 1]"))


# Histogram


def _numbers_counted(question: ReferenceRequest) -> Answer:
    counts = np.bincount(question.flat("in").astype(np.int64), minlength=question.sizes["bins"])
    right = counts[question.places[0]].astype(np.float64)
    return Answer(right, np.zeros_like(right))


HISTOGRAM = ProblemKind(
    "histogram",
    marked("Histogram"),
    marked("out[b] = number of i with in[i] = b"),
    (
        Size("n", Control("n", marked("Number of elements of in"), least=1), 256, dimension=2),
        Size("bins", Control(marked("Bins"), marked("Number of counts: in holds 0 to bins - 1"), least=1), 16),
    ),
    (
        ProblemArray("in", "input", linear, "bins"),
        ProblemArray("out", "output", lambda sizes: (sizes["bins"],)),
    ),
    _numbers_counted,
    why_no_flops=marked("a histogram counts with integers"),
)


# Softmax of each row: exponentials divided by their sum


_ROUNDINGS_OF_EXP = 16  # relative error of the fast exponential of CUDA, with arguments of a few units, in units of u


def _softmax(question: ReferenceRequest) -> Answer:
    rows, columns = question.places
    some, which = np.unique(rows, return_inverse=True)
    values = np.asarray(question.arrays["in"][some], np.float64)
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    right = (powers / powers.sum(axis=1, keepdims=True))[which, columns]
    return Answer(right, right, question.sizes["columns"] + 2 * _ROUNDINGS_OF_EXP)


SOFTMAX = ProblemKind(
    "softmax",
    marked("Softmax"),
    marked("out[i, j] = exp(in[i, j]) / sum of exp(in[i, k])"),
    (
        Size("rows", Control(marked("Rows"), marked("Rows, each with a softmax of its own"), least=1), 16, dimension=1),
        Size("columns", Control(marked("Columns"), marked("Elements of a row"), least=1), 32, dimension=1),
    ),
    (ProblemArray("in", "input", matrix), ProblemArray("out", "output", matrix)),
    _softmax,
    why_no_flops=marked("the operations of an exponential depend on the compiler"),
)
