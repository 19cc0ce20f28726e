"""Scaled vector addition in place: y[i] = alpha x[i] + beta y[i]; each factor is 1 if it isn't given."""

import numpy as np

from gemmviz.model.problem_kind import (
    Answer,
    Control,
    ProblemArray,
    ProblemFactor,
    ProblemKind,
    ReferenceRequest,
    Shape,
    Size,
    Sizes,
)
from gemmviz.model.translation import marked


def _reference(question: ReferenceRequest) -> Answer:
    """Three roundings: of the products, and of the sum."""
    x, y = (np.asarray(question.arrays[name][question.places], np.float64) for name in "xy")
    x, y = question.factors.get("alpha", 1.0) * x, question.factors.get("beta", 1.0) * y
    return Answer(x + y, np.abs(x) + np.abs(y), 2 + ("beta" in question.factors))


def _shape(sizes: Sizes) -> Shape:
    return (sizes["n"],)


KIND = ProblemKind(
    "axpy",
    marked("Scaled vector addition"),
    marked("y[i] = alpha · x[i] + beta · y[i]"),
    (Size("n", Control("n", marked("Number of elements of each vector"), least=1), 256, dimension=2),),
    (ProblemArray("x", "input", _shape), ProblemArray("y", "both", _shape)),
    _reference,
    (
        ProblemFactor("alpha", Control("alpha", marked("Factor of x"), least=-1e30, most=1e30), 1.0),
        ProblemFactor("beta", Control("beta", marked("Factor of y"), least=-1e30, most=1e30), 1.0),
    ),
    flops=lambda sizes: 2 * sizes["n"],
)
