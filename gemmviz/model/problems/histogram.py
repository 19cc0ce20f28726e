"""Histogram: how many elements of the input hold each number."""

import numpy as np

from gemmviz.model.problem_kind import Answer, Control, ProblemArray, ProblemKind, ReferenceRequest, Size
from gemmviz.model.translation import marked


def _reference(question: ReferenceRequest) -> Answer:
    counts = np.bincount(question.flat("in").astype(np.int64), minlength=question.sizes["bins"])
    right = counts[question.places[0]].astype(np.float64)
    return Answer(right, np.zeros_like(right))


KIND = ProblemKind(
    "histogram",
    marked("Histogram"),
    marked("out[b] = number of i with in[i] = b"),
    (
        Size("n", Control("n", marked("Number of elements of in"), least=1), 256, dimension=2),
        Size("bins", Control(marked("Bins"), marked("Number of counts: in holds 0 to bins - 1"), least=1), 16),
    ),
    (
        ProblemArray("in", "input", lambda sizes: (sizes["n"],), "bins"),
        ProblemArray("out", "output", lambda sizes: (sizes["bins"],)),
    ),
    _reference,
    why_no_flops=marked("a histogram counts with integers"),
)
