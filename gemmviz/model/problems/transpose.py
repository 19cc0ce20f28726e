"""Transposition: each row of the input becomes a column of the output."""

import numpy as np

from gemmviz.model.problem_kind import Answer, Control, ProblemArray, ProblemKind, ReferenceRequest, Size
from gemmviz.model.translation import marked


def _reference(question: ReferenceRequest) -> Answer:
    rows, columns = question.places
    right = np.asarray(question.arrays["in"][columns, rows], np.float64)
    return Answer(right, np.zeros_like(right))


def _reference_in_place(question: ReferenceRequest) -> Answer:
    rows, columns = question.places
    right = np.asarray(question.arrays["A"][columns, rows], np.float64)
    return Answer(right, np.zeros_like(right))


_WHY_NO_FLOPS = marked("a transposition moves values and computes none")

KIND = ProblemKind(
    "transpose",
    marked("Transposition"),
    marked("out[j, i] = in[i, j]"),
    (
        Size("rows", Control(marked("Rows"), marked("Rows of in, columns of out"), least=1), 16, dimension=1),
        Size("columns", Control(marked("Columns"), marked("Columns of in, rows of out"), least=1), 16, dimension=1),
    ),
    (
        ProblemArray("in", "input", lambda sizes: (sizes["rows"], sizes["columns"])),
        ProblemArray("out", "output", lambda sizes: (sizes["columns"], sizes["rows"])),
    ),
    _reference,
    why_no_flops=_WHY_NO_FLOPS,
)
IN_PLACE = ProblemKind(
    "transpose_in_place",
    marked("Transposition in place"),
    "A[j, i] = A[i, j]",
    (Size("n", Control("n", marked("Rows and columns of A"), least=1), 16, dimension=1),),
    (ProblemArray("A", "both", lambda sizes: (sizes["n"], sizes["n"])),),
    _reference_in_place,
    why_no_flops=_WHY_NO_FLOPS,
)
