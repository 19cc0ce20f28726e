"""Scaled vector addition in place: y[i] = alpha x[i] + y[i]; without alpha, x is added to y."""

import numpy as np

from gemmviz.model.problem_kind import Answer, ProblemArray, ProblemFactor, ProblemKind, ReferenceRequest, Shape, Size, Sizes
from gemmviz.model.setting import Control
from gemmviz.model.translation import marked


def _reference(question: ReferenceRequest) -> Answer:
    """Two roundings: of the product, and of the sum."""
    x, y = (np.asarray(question.arrays[name][question.places], np.float64) for name in "xy")
    product = question.factors.get("alpha", 1.0) * x
    return Answer(product + y, np.abs(product) + np.abs(y), 2)


def _shape(sizes: Sizes) -> Shape:
    return (sizes["n"],)


KIND = ProblemKind(
    "axpy",
    marked("Scaled vector addition"),
    marked("y[i] = alpha · x[i] + y[i]"),
    (Size("n", Control("n", marked("Number of elements of each vector"), least=1), 256, dimension=2),),
    (ProblemArray("x", "input", _shape), ProblemArray("y", "both", _shape)),
    _reference,
    (ProblemFactor("alpha", Control("alpha", marked("Factor of x"), least=-1e30, most=1e30), 1.0),),
    flops=lambda sizes: 2 * sizes["n"],
)
