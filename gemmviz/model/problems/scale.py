"""Scaling: each element times one number, from one array to another or in place; without the number, a copy."""

import numpy as np

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
)
from gemmviz.model.translation import marked


def _scaled(question: ReferenceRequest, name: str) -> Answer:
    right = question.factors.get("alpha", 1.0) * np.asarray(question.arrays[name][question.places], np.float64)
    return Answer(right, np.abs(right), 1)


def _shape(sizes: Sizes) -> Shape:
    return (sizes["n"],)


_SIZES = (Size("n", Control("n", marked("Number of elements"), least=1), 256, dimension=2),)
_FACTORS = (ProblemFactor("alpha", Control("alpha", marked("Factor of each element"), least=-1e30, most=1e30), 1.0),)

KIND = ProblemKind(
    "scale",
    marked("Scaling"),
    marked("out[i] = alpha · in[i]"),
    _SIZES,
    (ProblemArray("in", "input", _shape), ProblemArray("out", "output", _shape)),
    lambda question: _scaled(question, "in"),
    _FACTORS,
    flops=lambda sizes: sizes["n"],
)
IN_PLACE = ProblemKind(
    "scale_in_place",
    marked("Scaling in place"),
    marked("x[i] = alpha · x[i]"),
    _SIZES,
    (ProblemArray("x", "both", _shape),),
    lambda question: _scaled(question, "x"),
    _FACTORS,
    flops=lambda sizes: sizes["n"],
)
