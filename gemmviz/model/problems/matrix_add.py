"""Matrix addition: C[i, j] = A[i, j] + B[i, j]."""

import numpy as np

from gemmviz.model.problem_kind import Answer, Control, ProblemArray, ProblemKind, ReferenceRequest, Shape, Size, Sizes
from gemmviz.model.translation import marked


def _reference(question: ReferenceRequest) -> Answer:
    a, b = (np.asarray(question.arrays[name][question.places], np.float64) for name in "AB")
    return Answer(a + b, np.abs(a) + np.abs(b), 1)


def _shape(sizes: Sizes) -> Shape:
    return sizes["rows"], sizes["columns"]


KIND = ProblemKind(
    "matrix_add",
    marked("Matrix addition"),
    "C[i, j] = A[i, j] + B[i, j]",
    (
        Size("rows", Control(marked("Rows"), marked("Rows of each matrix"), least=1), 16, dimension=1),
        Size("columns", Control(marked("Columns"), marked("Columns of each matrix"), least=1), 16, dimension=1),
    ),
    (ProblemArray("A", "input", _shape), ProblemArray("B", "input", _shape), ProblemArray("C", "output", _shape)),
    _reference,
    flops=lambda sizes: sizes["rows"] * sizes["columns"],
)
