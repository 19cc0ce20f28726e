"""The table of all kinds of problems."""

from gemmviz.model.errors import SettingError, closest
from gemmviz.model.problem_kind import ProblemKind
from gemmviz.model.problems import elementwise, multiply, reductions
from gemmviz.model.translation import marked, tr

_UNCHECKED = ProblemKind("none", marked("Nothing is checked"), "", (), (), why_no_flops=marked("the problem is unknown"))
MULTIPLY = multiply.KIND.name
MULTIPLICATIONS = frozenset((MULTIPLY, *(kind.name for kind in multiply.WITH_EPILOGUE)))
NONE = _UNCHECKED.name
IN_PARTS = (reductions.REDUCTION.name, reductions.DOT_PRODUCT.name)  # their output may be parts of a sum
PROBLEM_KINDS: dict[str, ProblemKind] = {
    kind.name: kind
    for kind in (
        multiply.KIND,
        multiply.TRANSPOSE,
        elementwise.VECTOR_ADD,
        reductions.REDUCTION,
        reductions.SCAN,
        reductions.EXCLUSIVE_SCAN,
        reductions.HISTOGRAM,
        elementwise.STENCIL,
        elementwise.CONVOLUTION,
        elementwise.CONVOLUTION_1D,
        reductions.SOFTMAX,
        multiply.MATRIX_VECTOR,
        elementwise.MATRIX_ADD,
        reductions.DOT_PRODUCT,
        elementwise.AXPY,
        elementwise.SCALE,
        elementwise.SCALE_IN_PLACE,
        elementwise.RELU,
        multiply.TRANSPOSE_IN_PLACE,
        reductions.ROW_SUMS,
        reductions.COLUMN_SUMS,
        reductions.MAXIMUM,
        reductions.MINIMUM,
        *multiply.WITH_EPILOGUE,
        _UNCHECKED,
    )
}


def problem_kind(name: str) -> ProblemKind:
    """The kind of this name. Raises SettingError if there is none."""
    if name not in PROBLEM_KINDS:
        remedy = closest(name, PROBLEM_KINDS) or tr("choose {problem_kinds}", problem_kinds=", ".join(PROBLEM_KINDS))
        raise SettingError(tr("there is no kind of problem {name}", name=f"{name!r}"), names=("kind",), remedy=remedy)
    return PROBLEM_KINDS[name]
