"""Matrix multiplication, named as in BLAS: C (M x N) = alpha A (M x K) . B (K x N) + beta C, in each of ``batch`` matrices."""

import numpy as np

from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.problem_kind import Answer, ProblemArray, ProblemFactor, ProblemKind, ReferenceRequest, Shape, Size, Sizes
from gemmviz.model.setting import Control
from gemmviz.model.translation import marked


def _shape(sizes: Sizes, rows: str, columns: str) -> Shape:
    batch = (sizes["batch"],) if "batch" in sizes else ()
    return (*batch, sizes[rows], sizes[columns])


def _reference(question: ReferenceRequest) -> Answer:
    """A sum of K products rounded at each step errs by at most (K + 1) u sum |a b| (Higham, Accuracy and Stability of Numerical
    Algorithms, 3.1); alpha and beta take one rounding each.
    """
    alpha, beta = (question.factors.get(name, default) for name, default in (("alpha", 1.0), ("beta", 0.0)))
    right, magnitude = _products(question)
    before = np.asarray(question.arrays["C"][question.places], np.float64) if beta else np.zeros_like(right)
    roundings = question.sizes["K"] + 1 + 2 * len(question.factors)
    return Answer(alpha * right + beta * before, abs(alpha) * magnitude + np.abs(beta * before), roundings)


def _products(question: ReferenceRequest) -> tuple[Floats, Floats]:
    """Elements of A . B, and of |A| . |B|."""
    *batch, rows, columns = question.places
    a, b = question.arrays["A"], question.arrays["B"]
    if not batch:
        return _of_one(a, b, rows, columns)
    right, magnitude = np.empty(len(rows)), np.empty(len(rows))
    for each in np.unique(batch[0]).tolist():
        here = batch[0] == each
        right[here], magnitude[here] = _of_one(a[each], b[each], rows[here], columns[here])
    return right, magnitude


def _of_one(a: Floats, b: Floats, rows: Longs, columns: Longs) -> tuple[Floats, Floats]:
    (some_rows, at_row), (some_columns, at_column) = _distinct(rows, len(a)), _distinct(columns, b.shape[1])
    left, right = np.asarray(a[some_rows], np.float64), np.asarray(b[:, some_columns], np.float64)
    return (left @ right)[at_row, at_column], (np.abs(left) @ np.abs(right))[at_row, at_column]


def _distinct(indices: Longs, extent: int) -> tuple[Longs, Longs]:
    """The distinct ones of some indices below ``extent``, ascending, and where each of all is among them."""
    used = np.zeros(extent, bool)
    used[indices] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[indices]


def _flops(sizes: Sizes) -> int:
    return 2 * sizes["M"] * sizes["N"] * sizes["K"] * sizes.get("batch", 1)


KIND = ProblemKind(
    "multiply",
    marked("Matrix multiplication"),
    "C = A · B",
    (
        Size("M", Control("M", marked("rows of A and C"), "-m", least=1), dimension=1),
        Size("N", Control("N", marked("columns of B and C"), "-n", least=1), dimension=1),
        Size("K", Control("K", marked("columns of A, rows of B"), "-k", least=1), dimension=1),
        Size("batch", Control(marked("Batch"), marked("Number of multiplications"), least=1), 1, is_optional=True),
    ),
    (
        ProblemArray("A", "input", lambda sizes: _shape(sizes, "M", "K")),
        ProblemArray("B", "input", lambda sizes: _shape(sizes, "K", "N")),
        ProblemArray("C", "output", lambda sizes: _shape(sizes, "M", "N")),
    ),
    _reference,
    (
        ProblemFactor("alpha", Control("alpha", marked("Factor of the product"), least=-1e30, most=1e30), 1.0),
        ProblemFactor("beta", Control("beta", marked("Factor of what C holds before"), least=-1e30, most=1e30), 0.0),
    ),
    flops=_flops,
    work=lambda sizes: sizes["K"],
    depth=lambda sizes: sizes["K"],
)
