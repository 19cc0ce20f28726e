"""Reduction: the sum of all elements, in one element or as parts that a second launch adds up."""

import numpy as np

from gemmviz.model.arrays import Floats
from gemmviz.model.problem_kind import Answer, ProblemArray, ProblemKind, ReferenceRequest, Size
from gemmviz.model.setting import Control
from gemmviz.model.translation import marked


def sum_in_parts(question: ReferenceRequest, values: Floats, more: int = 0) -> Answer:
    """The sum of each part of ``values`` (n,), whose computation takes ``more`` roundings: equally long stretches, or whatever
    the kernel chose if its parts add up to the whole sum. A sum of n numbers in any order errs by at most (n - 1) u sum |x|.
    """
    parts = question.arrays["out"].size
    length = -(-len(values) // parts)
    starts = np.arange(0, len(values), length)
    right, magnitude = np.zeros(parts), np.zeros(parts)
    right[: len(starts)] = np.add.reduceat(values, starts)
    magnitude[: len(starts)] = np.add.reduceat(np.abs(values), starts)
    places, after = question.places[0], np.asarray(question.after["out"], np.float64).ravel()
    are_stretches = bool((np.abs(after - right) <= (length + more) * question.roundoff * magnitude).all())
    allowed = (len(values) + more) * question.roundoff * np.abs(values).sum()
    if not are_stretches and len(places) == parts > 1 and abs(after.sum() - values.sum()) <= allowed:
        right = after
    return Answer(right[places], magnitude[places], length + more)


KIND = ProblemKind(
    "reduction",
    marked("Reduction"),
    marked("out = sum of in[i]"),
    (Size("n", Control("n", marked("Number of elements of in"), least=1), 256, dimension=2),),
    (
        ProblemArray("in", "input", lambda sizes: (sizes["n"],)),
        ProblemArray("out", "output", lambda sizes: (1,)),
    ),
    lambda question: sum_in_parts(question, question.flat("in")),
    flops=lambda sizes: sizes["n"] - 1,
)
