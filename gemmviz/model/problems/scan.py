"""Prefix sums: each element of the output is the sum of the input up to there, with its own element or without."""

import numpy as np

from gemmviz.model.problem_kind import Answer, Control, ProblemArray, ProblemKind, ReferenceRequest, Shape, Size, Sizes
from gemmviz.model.translation import marked, tr


def _inclusive(question: ReferenceRequest) -> Answer:
    """A sum of i numbers in any order errs by at most (i - 1) u sum |x|; differences of sums by twice that."""
    values, places = question.flat("in"), question.places[0]
    return Answer(np.cumsum(values)[places], np.cumsum(np.abs(values))[places], 2 * len(values))


def _exclusive(question: ReferenceRequest) -> Answer:
    answer, own = _inclusive(question), question.flat("in")[question.places[0]]
    return Answer(answer.right - own, answer.magnitude, answer.roundings)


def _shape(sizes: Sizes) -> Shape:
    return (sizes["n"],)


def _kind(name: str, title: str, formula: str) -> ProblemKind:
    return ProblemKind(
        name,
        title,
        formula,
        (Size("n", Control("n", tr("Number of elements"), least=1), 256, dimension=2),),
        (ProblemArray("in", "input", _shape), ProblemArray("out", "output", _shape)),
        _inclusive if name == "scan" else _exclusive,
        flops=lambda sizes: sizes["n"] - 1,
    )


KIND = _kind("scan", marked("Prefix sums, inclusive"), marked("out[i] = in[0] + … + in[i]"))
EXCLUSIVE = _kind("exclusive_scan", marked("Prefix sums, exclusive"), marked("out[i] = in[0] + … + in[i - 1]"))
