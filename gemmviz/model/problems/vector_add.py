"""Vector addition: C[i] = A[i] + B[i], the plainest elementwise operation."""

import numpy as np

from gemmviz.model.problem_kind import Answer, Control, ProblemArray, ProblemKind, ReferenceRequest, Shape, Size, Sizes
from gemmviz.model.translation import marked


def _reference(question: ReferenceRequest) -> Answer:
    a, b = (np.asarray(question.arrays[name][question.places], np.float64) for name in "AB")
    return Answer(a + b, np.abs(a) + np.abs(b), 1)


def _shape(sizes: Sizes) -> Shape:
    return (sizes["n"],)


KIND = ProblemKind(
    "vector_add",
    marked("Vector addition"),
    "C[i] = A[i] + B[i]",
    (Size("n", Control("n", marked("Number of elements of each vector"), least=1), 256, dimension=2),),
    (ProblemArray("A", "input", _shape), ProblemArray("B", "input", _shape), ProblemArray("C", "output", _shape)),
    _reference,
    flops=lambda sizes: sizes["n"],
)
