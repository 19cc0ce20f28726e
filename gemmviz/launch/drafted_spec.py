"""A draft with roles for its arguments, as the spec of a kernel that runs."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from gemmviz.launch.draft import Draft, DraftParameter, shape_formula
from gemmviz.launch.formula import evaluate
from gemmviz.launch.roles import FILTER_WIDTH, Roles
from gemmviz.launch.text_sizes import text_sizes
from gemmviz.launch.words import renamed
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import NULL_POINTER, KernelSpec, ProjectFile, Requirement
from gemmviz.model.problem import Problem
from gemmviz.model.problems.catalog import IN_PARTS, MULTIPLICATIONS, PROBLEM_KINDS

FACTOR = 2.0  # a first alpha, other than 1 so that its effect shows
_WIDEST = 15  # of a filter in a first picture
_FLAGS = {"true": "1", "false": "0"}


class KernelText(Struct, frozen=True):
    """The text of a kernel's file. ``name``: the kernel's name for users; the other fields are those of KernelSpec."""

    name: str
    file: str
    text: str
    own_name: str = ""
    project: tuple[ProjectFile, ...] = ()
    compiled: str = ""


def spec_of(
    source: KernelText, draft: Draft, roles: Roles, problem: Problem, column_major: frozenset[str] = frozenset()
) -> KernelSpec:
    """The spec of a draft with these roles. The formulas of the host are those of M, N, K and the parameters."""
    names = dict(zip(draft.sizes, roles.sizes, strict=True))
    given = {size for name, size in names.items() if name not in draft.macros}
    own = [
        each for each in text_sizes(source.text)
        if each.size in problem.sizes and each.size not in given and (FILTER_WIDTH not in given or each.size != "radius")
    ]  # fmt: skip
    arrays = iter(roles.arrays)
    reals = iter([*_factors(roles), *(f"{each:g}" for each in roles.reals[len(_factors(roles)) :])])
    return KernelSpec(
        name=source.name,
        file=source.file,
        text=source.text,
        title=source.name,
        description="",
        entry=draft.entry,
        args=tuple(_argument(each, names, arrays, reals) for each in draft.parameters),
        block=tuple(renamed(each, names) for each in draft.block),
        grid=tuple(renamed(each, names) for each in draft.grid),
        parameters=draft.tiles,
        requirements=(
            *(_tied(size, roles) for size in roles.ties),
            *(each.rule for each in own if not each.follows),
            *(fixed_size(names[each], value) for each, value in draft.values if each in draft.constants),
        ),
        shared_bytes=renamed(draft.shared_bytes, names),
        opts_in_to_shared=bool(draft.allowed_shared_bytes),
        column_major=column_major,
        problem=problem,
        size_macros=(
            *((name, names[name]) for name in draft.macros if names[name] in problem.sizes),
            *(
                (each.name, each.size) for each in own
                if each.follows and each.name not in (*draft.tile_values, *draft.macros)
            ),
        ),
        parameter_names=tuple(each.name for each in draft.parameters),
        own_name=source.own_name,
        project=source.project,
        compiled=source.compiled,
    )  # fmt: skip


def problems_of(source: KernelText, draft: Draft, roles: Roles) -> list[Problem]:
    """Problems that the roles may mean: of a sum also one with a sum for each block."""
    problem = problem_of(source, draft, roles)
    if roles.kind not in IN_PARTS or not draft.grid:
        return [problem]
    names = dict(zip(draft.sizes, roles.sizes, strict=True))
    outputs = [
        shape_formula(pointer, draft) for pointer, array in zip(draft.pointers, roles.arrays, strict=True) if array == "out"
    ]
    blocks = " * ".join(f"({renamed(each, names)})" for each in draft.grid if each != "1")
    if not blocks or (outputs[0] and _is_one(outputs[0])):
        return [problem]
    return [Problem.of_flat({**problem.to_flat(), "arrays": {"out": [blocks]}}), problem]


def _is_one(formula: str) -> bool:
    """Whether a number of elements is 1."""
    try:
        return evaluate(formula, {}) == 1
    except GemmvizError:
        return False


def problem_of(source: KernelText, draft: Draft, roles: Roles) -> Problem:
    """The problem of the roles: with the sizes that the text or the host code fixes, and the kind's own for all others."""
    kind = PROBLEM_KINDS[roles.kind]
    numbers: dict[str, Any] = dict.fromkeys(_factors(roles), FACTOR)
    names = {size.name for size in kind.sizes} | {*numbers}
    values = dict(draft.values)
    for name, size in zip(draft.sizes, roles.sizes, strict=True):
        if size == FILTER_WIDTH and values.get(name, 0) % 2 and 1 < values[name] <= _WIDEST:
            numbers["radius"] = values[name] // 2
        elif size in ("radius", "batch"):
            numbers[size] = max(1, min(values.get(name, 2), _WIDEST)) if size == "radius" else 2
    numbers |= {each.size: each.value for each in text_sizes(source.text) if each.size not in roles.size_names}
    return Problem(kind=roles.kind, **{name: number for name, number in numbers.items() if name in names})


def _factors(roles: Roles) -> list[str]:
    """The factors of the problem that are passed as arguments; none of a multiplication, whose factors are values."""
    kind = PROBLEM_KINDS[roles.kind]
    return [] if kind.name in MULTIPLICATIONS else [factor.name for factor in kind.factors[: len(roles.reals)]]


def _argument(parameter: DraftParameter, names: Mapping[str, str], arrays: Iterator[str], reals: Iterator[str]) -> str:
    match parameter.kind:
        case "pointer":
            return next(arrays)
        case "null":
            return NULL_POINTER
        case "real":
            return next(reals)
    return _FLAGS.get(parameter.argument, renamed(parameter.argument, names))


def _tied(size: str, roles: Roles) -> Requirement:
    """The rule that a size equals another one, since the launch has one number for both."""
    other = roles.sizes[0]
    return Requirement(
        f"{size} == {other}", f"{size} = {{{size}}}: the launch has one number for {size} and {other} = {{{other}}}"
    )


def fixed_size(size: str, value: int) -> Requirement:
    """The rule that a size has the value that the code gives it, since the kernel was not found right at others."""
    return Requirement(
        f"{size} == {value}", f"{size} = {{{size}}}: the code has {value} for it, and it may not be changed alone"
    )
