"""Problems whose output elements each depend on the input elements at the same place: sums, scaling, rectifiers."""

import numpy as np

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
from gemmviz.model.translation import marked


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
