"""Softmax of each row: exponentials divided by their sum."""

import numpy as np

from gemmviz.model.problem_kind import Answer, Control, ProblemArray, ProblemKind, ReferenceRequest, Shape, Size, Sizes
from gemmviz.model.translation import marked

_ROUNDINGS_OF_EXP = 16  # relative error of the fast exponential of CUDA, with arguments of a few units, in units of u


def _reference(question: ReferenceRequest) -> Answer:
    rows, columns = question.places
    some, which = np.unique(rows, return_inverse=True)
    values = np.asarray(question.arrays["in"][some], np.float64)
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    right = (powers / powers.sum(axis=1, keepdims=True))[which, columns]
    return Answer(right, right, question.sizes["columns"] + 2 * _ROUNDINGS_OF_EXP)


def _shape(sizes: Sizes) -> Shape:
    return sizes["rows"], sizes["columns"]


KIND = ProblemKind(
    "softmax",
    marked("Softmax"),
    marked("out[i, j] = exp(in[i, j]) / sum of exp(in[i, k])"),
    (
        Size("rows", Control(marked("Rows"), marked("Rows, each with a softmax of its own"), least=1), 16, dimension=1),
        Size("columns", Control(marked("Columns"), marked("Elements of a row"), least=1), 32, dimension=1),
    ),
    (ProblemArray("in", "input", _shape), ProblemArray("out", "output", _shape)),
    _reference,
    why_no_flops=marked("the operations of an exponential depend on the compiler"),
)
