"""What a file tells about the problem that a kernel is meant for, apart from its result."""

import math
import re

from gemmviz.launch.draft import Draft, shape_formula
from gemmviz.launch.drafted_spec import KernelText
from gemmviz.launch.formula import evaluate
from gemmviz.launch.role_names import KIND_WORDS
from gemmviz.launch.roles import Roles
from gemmviz.launch.words import names_in
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.problem_kind import ProblemKind
from gemmviz.model.problems.catalog import MULTIPLICATIONS, MULTIPLY

_OTHERS = ("elem", "hadamard", "point", "max", "min", "mean", "avg", "norm", "abs", "sq")  # in names of other kernels
_VARIED = ("stencil", "convolution", "convolution_1d", "scale", "relu", "none")  # kinds that a name alone doesn't define
_MULTIPLIES = re.compile(
    r"matri\w*[ _-]?(?:\w+[ _-])?mul|mat_?mul|[a-z]gemm|\bgemm|\bmm\b|_mm\b|mul\w*[ _-]matri", re.IGNORECASE
)
_FUNCTIONS = {"relu": r"relu|max|> *0", "gelu": "gelu|tanh", "sigmoid": "sigm|exp", "tanh": "tanh", "silu": "silu|swish|exp"}
_ACTIVATED = re.compile(r"relu|gelu|tanh|sigmoid|silu|swish|bias", re.IGNORECASE)  # functions of the product that C may hold


def is_told_of(source: KernelText, kind: ProblemKind) -> bool:
    """Whether a file mentions what a kind of problem is known by: the function of an epilogue."""
    words = _FUNCTIONS.get(kind.name.rpartition("_")[2])
    return kind.name not in MULTIPLICATIONS or words is None or re.search(words, source.text, re.IGNORECASE) is not None


def suggests(draft: Draft, kind: ProblemKind) -> bool:
    """Whether the kernel's name suggests this kind of problem."""
    return any(word in draft.entry.lower() for word in KIND_WORDS.get(kind.name, "").split())


def means(source: KernelText, draft: Draft, kind: ProblemKind) -> bool:
    """Whether a kernel is meant for this kind of problem, by its name or, of a multiplication, by what its file says."""
    name = draft.entry.lower()
    if (
        kind.name in _VARIED
        or (kind.name == MULTIPLY and _ACTIVATED.search(source.text))
        or any(word in name for word in _OTHERS)
    ):
        return False
    return suggests(draft, kind) or (kind.name == MULTIPLY and _MULTIPLIES.search(source.text) is not None)


def has_fixed_axis(draft: Draft) -> bool:
    """Whether the grid has several blocks along an axis whatever the sizes are."""
    fixed = [each for each in draft.grid if not set(names_in([each])) & {*draft.sizes}]
    return any(each.strip("() ") != "1" for each in fixed)


def has_room(spec: KernelSpec, draft: Draft, roles: Roles) -> bool:
    """Whether the memory behind each pointer, where it is known, has as many elements as the array that it is taken for."""
    sizes = {name: spec.problem.sizes.get(size, 0) for name, size in zip(draft.sizes, roles.sizes, strict=True)}
    for pointer, array in zip(draft.pointers, roles.arrays, strict=True):
        formula, shape = shape_formula(pointer, draft), spec.problem.shapes.get(array)
        try:
            if formula and shape and evaluate(formula, {**sizes, **draft.tile_values}) != math.prod(shape):
                return False
        except GemmvizError:
            return False
    return True
