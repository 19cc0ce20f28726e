"""Transposition: each row of the input becomes a column of the output."""

import numpy as np

from gemmviz.model.problem_kind import Answer, ProblemArray, ProblemKind, ReferenceRequest, Size
from gemmviz.model.setting import Control


def _reference(question: ReferenceRequest) -> Answer:
    rows, columns = question.places
    right = np.asarray(question.arrays["in"][columns, rows], np.float64)
    return Answer(right, np.zeros_like(right))


KIND = ProblemKind(
    "transpose",
    "Transposition",
    "out[j, i] = in[i, j]",
    (
        Size("rows", Control("Rows", "Rows of in, columns of out", least=1), 16, dimension=1),
        Size("columns", Control("Columns", "Columns of in, rows of out", least=1), 16, dimension=1),
    ),
    (
        ProblemArray("in", "input", lambda sizes: (sizes["rows"], sizes["columns"])),
        ProblemArray("out", "output", lambda sizes: (sizes["columns"], sizes["rows"])),
    ),
    _reference,
    why_no_flops="a transposition moves values and computes none",
)
