"""Stencil in one dimension: each element of the output is the sum of the input's neighbours within a radius."""

import numpy as np

from gemmviz.model.problem_kind import Answer, Control, ProblemArray, ProblemKind, ReferenceRequest, Size
from gemmviz.model.translation import marked


def _reference(question: ReferenceRequest) -> Answer:
    values, radius, places = question.flat("in"), question.sizes["radius"], question.places[0]
    padded = np.pad(values, radius)
    right, magnitude = np.zeros(len(places)), np.zeros(len(places))
    for offset in range(2 * radius + 1):
        right += padded[places + offset]
        magnitude += np.abs(padded[places + offset])
    return Answer(right, magnitude, 2 * radius + 1)


KIND = ProblemKind(
    "stencil",
    marked("Stencil"),
    marked("out[i] = in[i - radius] + … + in[i + radius], zero outside"),
    (
        Size("n", Control("n", marked("Number of elements"), least=1), 256, dimension=2),
        Size("radius", Control(marked("Radius"), marked("Neighbours on each side"), least=1), 3),
    ),
    (
        ProblemArray("in", "input", lambda sizes: (sizes["n"],)),
        ProblemArray("out", "output", lambda sizes: (sizes["n"],)),
    ),
    _reference,
    flops=lambda sizes: 2 * sizes["radius"] * sizes["n"],
    work=lambda sizes: 2 * sizes["radius"] + 1,
)
