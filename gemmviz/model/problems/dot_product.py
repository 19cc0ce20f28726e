"""Dot product: the sum of A[i] B[i], in one element or as parts that a second launch adds up."""

from gemmviz.model.problem_kind import Answer, Control, ProblemArray, ProblemKind, ReferenceRequest, Shape, Size, Sizes
from gemmviz.model.problems.reduction import sum_in_parts
from gemmviz.model.translation import marked


def _reference(question: ReferenceRequest) -> Answer:
    """A sum of products, one rounding more than a sum."""
    return sum_in_parts(question, question.flat("A") * question.flat("B"), more=1)


def _shape(sizes: Sizes) -> Shape:
    return (sizes["n"],)


KIND = ProblemKind(
    "dot_product",
    marked("Dot product"),
    marked("out = sum of A[i] · B[i]"),
    (Size("n", Control("n", marked("Number of elements of each vector"), least=1), 256, dimension=2),),
    (
        ProblemArray("A", "input", _shape),
        ProblemArray("B", "input", _shape),
        ProblemArray("out", "output", lambda sizes: (1,)),
    ),
    _reference,
    flops=lambda sizes: 2 * sizes["n"] - 1,
)
