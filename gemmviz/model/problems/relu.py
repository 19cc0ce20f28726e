"""Rectifier: each element that is negative becomes zero."""

import numpy as np

from gemmviz.model.problem_kind import Answer, Control, ProblemArray, ProblemKind, ReferenceRequest, Shape, Size, Sizes
from gemmviz.model.translation import marked


def _reference(question: ReferenceRequest) -> Answer:
    right = np.maximum(np.asarray(question.arrays["in"][question.places], np.float64), 0.0)
    return Answer(right, np.zeros_like(right))


def _shape(sizes: Sizes) -> Shape:
    return (sizes["n"],)


KIND = ProblemKind(
    "relu",
    marked("Rectifier (ReLU)"),
    marked("out[i] = max(in[i], 0)"),
    (Size("n", Control("n", marked("Number of elements"), least=1), 256, dimension=2),),
    (ProblemArray("in", "input", _shape), ProblemArray("out", "output", _shape)),
    _reference,
    why_no_flops=marked("a rectifier compares values and computes none"),
)
