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
