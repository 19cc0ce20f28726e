"""Matrix multiplication, named as in BLAS: C (M x N) = alpha A (M x K) . B (K x N) + beta C, in each of ``batch`` matrices.
With an epilogue: C = act(alpha A . B + beta C + bias), one element of the bias (N) for each column.
"""

from collections.abc import Callable
from functools import partial
from math import pi, sqrt
from typing import Any

import numpy as np

from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.messages import marked
from gemmviz.model.problem_kind import (
    Answer,
    Control,
    ProblemArray,
    ProblemFactor,
    ProblemKind,
    ReferenceRequest,
    Shape,
    Size,
    Sizes,
    matrix,
)


def _batched_shape(sizes: Sizes, rows: str, columns: str) -> Shape:
    batch = (sizes["batch"],) if "batch" in sizes else ()
    return (*batch, sizes[rows], sizes[columns])


def _multiply_answer(question: ReferenceRequest) -> Answer:
    """A sum of K products rounded at each step errs by at most (K + 1) u sum |a b| (Higham, Accuracy and Stability of Numerical
    Algorithms, 3.1); alpha and beta take one rounding each.
    """
    alpha, beta = (question.factors.get(name, default) for name, default in (("alpha", 1.0), ("beta", 0.0)))
    right, magnitude = _products_and_magnitudes(question)
    before = np.asarray(question.arrays["C"][question.places], np.float64) if beta else np.zeros_like(right)
    roundings = question.sizes["K"] + 1 + 2 * len(question.factors)
    return Answer(alpha * right + beta * before, abs(alpha) * magnitude + np.abs(beta * before), roundings)


def _products_and_magnitudes(question: ReferenceRequest) -> tuple[Floats, Floats]:
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
    (some_rows, at_row), (some_columns, at_column) = _distinct_indices(rows, len(a)), _distinct_indices(columns, b.shape[1])
    left, right = np.asarray(a[some_rows], np.float64), np.asarray(b[:, some_columns], np.float64)
    return (left @ right)[at_row, at_column], (np.abs(left) @ np.abs(right))[at_row, at_column]


def _distinct_indices(indices: Longs, extent: int) -> tuple[Longs, Longs]:
    """The distinct ones of some indices below ``extent``, ascending, and where each of all is among them."""
    used = np.zeros(extent, bool)
    used[indices] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[indices]


def _flops(sizes: Sizes) -> int:
    return 2 * sizes["M"] * sizes["N"] * sizes["K"] * sizes.get("batch", 1)


def _gelu(x: Floats) -> Floats:
    return 0.5 * x * (1.0 + np.tanh(sqrt(2.0 / pi) * (x + 0.044715 * x**3)))


# Functions of an epilogue by their names; none is steeper than 1.13
ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "": lambda x: x,
    "relu": lambda x: np.maximum(x, 0.0),
    "gelu": _gelu,
    "sigmoid": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "tanh": np.tanh,
    "silu": lambda x: x / (1.0 + np.exp(-x)),
}
_STEEPEST, _ROUNDINGS_OF_FUNCTION = 1.13, 32  # as of fast functions, with arguments of a few units, in units of u


def _activated_answer(activation: str, question: ReferenceRequest) -> Answer:
    """The product with its bias, if there is one, and a function of that."""
    product = _multiply_answer(question)
    bias = np.asarray(question.arrays["bias"], np.float64)[question.places[1]] if "bias" in question.arrays else 0.0
    right = ACTIVATIONS[activation](product.right + bias)
    magnitude = _STEEPEST * (product.magnitude + np.abs(bias)) + np.abs(right)
    return Answer(right, magnitude, product.roundings + 1 + (_ROUNDINGS_OF_FUNCTION if activation else 0))


_MNK = (
    Size("M", Control("M", marked("rows of A and C"), "-m", least=1), dimension=1),
    Size("N", Control("N", marked("columns of B and C"), "-n", least=1), dimension=1),
    Size("K", Control("K", marked("columns of A, rows of B"), "-k", least=1), dimension=1),
)
_MULTIPLY_ARRAYS = (
    ProblemArray("A", "input", lambda sizes: _batched_shape(sizes, "M", "K")),
    ProblemArray("B", "input", lambda sizes: _batched_shape(sizes, "K", "N")),
    ProblemArray("C", "output", lambda sizes: _batched_shape(sizes, "M", "N")),
)
_MULTIPLY_FACTORS = (
    ProblemFactor("alpha", Control("alpha", marked("Factor of the product"), least=-1e30, most=1e30), 1.0),
    ProblemFactor("beta", Control("beta", marked("Factor of what C holds before"), least=-1e30, most=1e30), 0.0),
)


def _multiply_kind(name: str, title: str, formula: str, **others: Any) -> ProblemKind:
    return ProblemKind(
        name, title, formula, **{"sizes": _MNK, "arrays": _MULTIPLY_ARRAYS, **others}, factors=_MULTIPLY_FACTORS,
        flops=_flops, work=lambda sizes: sizes["K"], depth=lambda sizes: sizes["K"],
    )  # fmt: skip


def _with_epilogue(activation: str, has_bias: bool) -> ProblemKind:
    inside, bias = "A · B + bias" if has_bias else "A · B", ProblemArray("bias", "input", lambda sizes: (sizes["N"],))
    return _multiply_kind(
        "_".join(filter(None, ("linear" if has_bias else "multiply", activation))),
        marked("Matrix multiplication with an epilogue"),
        f"C = {activation}({inside})" if activation else f"C = {inside}",
        arrays=(*_MULTIPLY_ARRAYS[:2], bias, _MULTIPLY_ARRAYS[2]) if has_bias else _MULTIPLY_ARRAYS,
        reference=partial(_activated_answer, activation),
    )


KIND = _multiply_kind(
    "multiply",
    marked("Matrix multiplication"),
    "C = A · B",
    sizes=(*_MNK, Size("batch", Control(marked("Batch"), marked("Number of multiplications"), least=1), 1, is_optional=True)),
    reference=_multiply_answer,
)
WITH_EPILOGUE = tuple(_with_epilogue(name, has_bias) for has_bias in (True, False) for name in ACTIVATIONS if name or has_bias)


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
