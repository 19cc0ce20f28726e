"""The table of all kinds of problems."""

from gemmviz.model.errors import SettingError, closest
from gemmviz.model.problem_kind import ProblemKind
from gemmviz.model.problems import (
    axpy,
    convolution,
    dot_product,
    histogram,
    matrix_add,
    matrix_vector,
    multiply,
    none,
    reduction,
    relu,
    scale,
    scan,
    softmax,
    stencil,
    transpose,
    vector_add,
)
from gemmviz.model.translation import tr

MULTIPLY = multiply.KIND.name
MULTIPLICATIONS = frozenset((MULTIPLY, *(kind.name for kind in multiply.WITH_EPILOGUE)))
NONE = none.KIND.name
IN_PARTS = (reduction.KIND.name, dot_product.KIND.name)  # their output may be parts of a sum
PROBLEM_KINDS: dict[str, ProblemKind] = {
    kind.name: kind
    for kind in (
        multiply.KIND, transpose.KIND, vector_add.KIND, reduction.KIND, scan.KIND, scan.EXCLUSIVE, histogram.KIND, stencil.KIND,
        convolution.KIND, convolution.ONE_DIMENSION, softmax.KIND, matrix_vector.KIND,
        matrix_add.KIND, dot_product.KIND, axpy.KIND, scale.KIND, scale.IN_PLACE, relu.KIND, transpose.IN_PLACE,
        reduction.ROW_SUMS, reduction.COLUMN_SUMS, reduction.MAXIMUM, reduction.MINIMUM, *multiply.WITH_EPILOGUE, none.KIND,
    )
}  # fmt: skip


def problem_kind(name: str) -> ProblemKind:
    """The kind of this name. Raises SettingError if there is none."""
    if name not in PROBLEM_KINDS:
        remedy = closest(name, PROBLEM_KINDS) or tr("choose {problem_kinds}", problem_kinds=", ".join(PROBLEM_KINDS))
        raise SettingError(tr("there is no kind of problem {name}", name=f"{name!r}"), names=("kind",), remedy=remedy)
    return PROBLEM_KINDS[name]
