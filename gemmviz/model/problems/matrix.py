"""Problems of a matrix: its product with a vector, and its transposition."""

from functools import partial

import numpy as np

from gemmviz.model.problem_kind import Answer, Control, ProblemArray, ProblemKind, ReferenceRequest, Size, matrix
from gemmviz.model.translation import marked


def _matrix_vector_answer(question: ReferenceRequest) -> Answer:
    """A sum of ``columns`` products rounded at each step, as in the multiplication of matrices."""
    a, x = np.asarray(question.arrays["A"][question.places[0]], np.float64), question.flat("x")
    return Answer(a @ x, np.abs(a) @ np.abs(x), question.sizes["columns"] + 1)


MATRIX_VECTOR = ProblemKind(
    "matrix_vector",
    marked("Matrix-vector multiplication"),
    "y = A · x",
    (
        Size("rows", Control(marked("Rows"), marked("Rows of A, elements of y"), least=1), 16, dimension=1),
        Size("columns", Control(marked("Columns"), marked("Columns of A, elements of x"), least=1), 32, dimension=1),
    ),
    (
        ProblemArray("A", "input", matrix),
        ProblemArray("x", "input", lambda sizes: (sizes["columns"],)),
        ProblemArray("y", "output", lambda sizes: (sizes["rows"],)),
    ),
    _matrix_vector_answer,
    flops=lambda sizes: 2 * sizes["rows"] * sizes["columns"],
    work=lambda sizes: sizes["columns"],
    depth=lambda sizes: sizes["columns"],
)


def _transposed(name: str, question: ReferenceRequest) -> Answer:
    rows, columns = question.places
    right = np.asarray(question.arrays[name][columns, rows], np.float64)
    return Answer(right, np.zeros_like(right))


_MOVES_ALONE = marked("a transposition moves values and computes none")

TRANSPOSE = ProblemKind(
    "transpose",
    marked("Transposition"),
    marked("out[j, i] = in[i, j]"),
    (
        Size("rows", Control(marked("Rows"), marked("Rows of in, columns of out"), least=1), 16, dimension=1),
        Size("columns", Control(marked("Columns"), marked("Columns of in, rows of out"), least=1), 16, dimension=1),
    ),
    (
        ProblemArray("in", "input", matrix),
        ProblemArray("out", "output", lambda sizes: (sizes["columns"], sizes["rows"])),
    ),
    partial(_transposed, "in"),
    why_no_flops=_MOVES_ALONE,
)
TRANSPOSE_IN_PLACE = ProblemKind(
    "transpose_in_place",
    marked("Transposition in place"),
    "A[j, i] = A[i, j]",
    (Size("n", Control("n", marked("Rows and columns of A"), least=1), 16, dimension=1),),
    (ProblemArray("A", "both", lambda sizes: (sizes["n"], sizes["n"])),),
    partial(_transposed, "A"),
    why_no_flops=_MOVES_ALONE,
)
