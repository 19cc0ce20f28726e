"""Matrix-vector multiplication: y (rows) = A (rows x columns) . x (columns)."""

import numpy as np

from gemmviz.model.problem_kind import Answer, Control, ProblemArray, ProblemKind, ReferenceRequest, Size
from gemmviz.model.translation import marked


def _reference(question: ReferenceRequest) -> Answer:
    """A sum of ``columns`` products rounded at each step, as in the multiplication of matrices."""
    matrix, x = np.asarray(question.arrays["A"][question.places[0]], np.float64), question.flat("x")
    return Answer(matrix @ x, np.abs(matrix) @ np.abs(x), question.sizes["columns"] + 1)


KIND = ProblemKind(
    "matrix_vector",
    marked("Matrix-vector multiplication"),
    "y = A · x",
    (
        Size("rows", Control(marked("Rows"), marked("Rows of A, elements of y"), least=1), 16, dimension=1),
        Size("columns", Control(marked("Columns"), marked("Columns of A, elements of x"), least=1), 32, dimension=1),
    ),
    (
        ProblemArray("A", "input", lambda sizes: (sizes["rows"], sizes["columns"])),
        ProblemArray("x", "input", lambda sizes: (sizes["columns"],)),
        ProblemArray("y", "output", lambda sizes: (sizes["rows"],)),
    ),
    _reference,
    flops=lambda sizes: 2 * sizes["rows"] * sizes["columns"],
    work=lambda sizes: sizes["columns"],
    depth=lambda sizes: sizes["columns"],
)
