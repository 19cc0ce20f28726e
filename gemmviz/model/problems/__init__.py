"""The table of all kinds of problems."""

from gemmviz.model.messages import SettingError, closest, marked, tr
from gemmviz.model.problem_kind import ProblemKind
from gemmviz.model.problems import elementwise, multiply

_UNCHECKED = ProblemKind("none", marked("Nothing is checked"), "", (), (), why_no_flops=marked("the problem is unknown"))
MULTIPLY = multiply.KIND.name
MULTIPLICATIONS = frozenset((MULTIPLY, *(kind.name for kind in multiply.WITH_EPILOGUE)))
NONE = _UNCHECKED.name
IN_PARTS = (elementwise.REDUCTION.name, elementwise.DOT_PRODUCT.name)  # their output may be parts of a sum
PROBLEM_KINDS: dict[str, ProblemKind] = {
    kind.name: kind
    for kind in (
        multiply.KIND,
        multiply.TRANSPOSE,
        elementwise.VECTOR_ADD,
        elementwise.REDUCTION,
        elementwise.SCAN,
        elementwise.EXCLUSIVE_SCAN,
        elementwise.HISTOGRAM,
        elementwise.STENCIL,
        elementwise.CONVOLUTION,
        elementwise.CONVOLUTION_1D,
        elementwise.SOFTMAX,
        multiply.MATRIX_VECTOR,
        elementwise.MATRIX_ADD,
        elementwise.DOT_PRODUCT,
        elementwise.AXPY,
        elementwise.SCALE,
        elementwise.SCALE_IN_PLACE,
        elementwise.RELU,
        multiply.TRANSPOSE_IN_PLACE,
        elementwise.ROW_SUMS,
        elementwise.COLUMN_SUMS,
        elementwise.MAXIMUM,
        elementwise.MINIMUM,
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
