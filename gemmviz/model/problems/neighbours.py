"""Problems whose output elements depend on a neighbourhood of the input: stencil and convolution; the input is zero outside."""

import numpy as np

from gemmviz.model.problem_kind import Answer, Control, ProblemArray, ProblemKind, ReferenceRequest, Size, Sizes, linear, matrix
from gemmviz.model.translation import marked


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
