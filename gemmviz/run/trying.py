"""Finds the roles of a launch's arguments by running the kernel with one assignment after the other until C is right."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from gemmviz.launch.draft import Draft, DraftParameter, shape_formula
from gemmviz.launch.drafted_spec import KernelText, problem_of, problems_of, spec_of
from gemmviz.launch.first_sizes import first_problem, trial_problems
from gemmviz.launch.given_launch import GivenLaunch
from gemmviz.launch.legality import can_run, device_for, setup_for
from gemmviz.launch.role_names import KIND_WORDS
from gemmviz.launch.roles import Roles, candidates, fits
from gemmviz.launch.words import names_in, renamed
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.errors import Cancelled, KernelFault, SettingError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.problem import Problem
from gemmviz.model.problem_kind import ProblemKind
from gemmviz.model.problems.catalog import MULTIPLY, NONE, PROBLEM_KINDS
from gemmviz.model.setup import Setup
from gemmviz.model.threads import BlockRange, ThreadSpace
from gemmviz.run.cpu.check import check_result
from gemmviz.run.cpu.executor import bound, contents_of
from gemmviz.run.cpu.memory_budget import inputs
from gemmviz.run.cpu.recorder import StepCounter
from gemmviz.run.cpu.simt.interpret import Binding, interpret
from gemmviz.source.program import program_for
from gemmviz.source.program_parts import FunctionParameter, Program
from gemmviz.source.types import PointerType, Scalar

_BUDGET_S = 5.0
_UNCHECKED_SIZES = (64, 16, 256, 0, 1024)  # 0 stands for what the host code passes
_UNCHECKED_S, _ROOMY = 1.0, 4
_MOST_AT_FIRST = 24  # candidates at the first sizes, before larger sizes are tried
_MOST_THREADS = 1 << 15
_LAYOUTS = tuple(map(frozenset, ("", "ABC", "B", "A", "AB", "C", "AC", "BC")))


@dataclass(frozen=True, slots=True)
class _Trial:
    """What one run showed: the layout in which C is right, None if in none; the arguments that were written."""

    column_major: frozenset[str] | None
    written: frozenset[str]


@dataclass(frozen=True, slots=True)
class Found:
    """A spec that gives a right C at its problem, its roles, and the number of runs that it took."""

    spec: KernelSpec
    roles: Roles
    runs: int


def find_roles(
    source: KernelText,
    draft: Draft,
    *,
    given: GivenLaunch = GivenLaunch(),  # noqa: B008 - it is frozen
    likely: Roles | None = None,
    budget_s: float = _BUDGET_S,
    most_runs: int | None = None,
    progress: Callable[[int], None] = lambda runs: None,
    cancelled: Callable[[], bool] = is_cancelled,
) -> Found | None:
    """The first roles, the ``likely`` ones before others, that agree with the ``given`` parts of the launch and with which the
    kernel's result is right; None if none are found within ``budget_s`` seconds and ``most_runs`` runs.

    Raises SourceError for a kernel that can't be read, and Cancelled.
    """
    draft = _completed(source, draft)
    search = _Search(source, draft, given, time.monotonic() + budget_s, cancelled)
    kinds = [kind for kind in kinds_of(draft) if _agrees(given, draft, kind)]
    first = [] if likely is None else [likely]
    for round_number, most in enumerate(_ROUNDS):
        for kind in kinds:
            for roles in islice(dict.fromkeys((*first, *candidates(draft, kind))), most):
                found = search.attempt(roles, round_number)
                progress(search.runs)
                if found is not None:
                    return found
                if search.is_over or (most_runs is not None and search.runs >= most_runs):
                    return None
    return None


def kinds_of(draft: Draft) -> list[ProblemKind]:
    """Kinds of problems with as many arrays as the draft has pointers: those that the kernel's name suggests first, then
    multiplications, then those with as many sizes and factors as the launch has numbers.
    """
    reals = any(each.kind == "real" for each in draft.parameters)

    def rank(kind: ProblemKind) -> tuple[object, ...]:
        distance = abs(len(kind.sizes) - len(draft.sizes)) + (reals != bool(kind.factors))
        return not _suggests(draft, kind), kind.name != MULTIPLY, distance

    kinds = [kind for kind in PROBLEM_KINDS.values() if kind.arrays and fits(draft, kind)]
    return sorted(kinds, key=rank)


def likeliest(source: KernelText, draft: Draft, given: GivenLaunch) -> KernelSpec | None:
    """The spec with the likeliest roles, whose result may be wrong; None for a kernel whose name and arrays fit no problem."""
    draft = _completed(source, draft)
    kind = next(
        (each for each in kinds_of(draft) if _agrees(given, draft, each) and (given.kind or _suggests(draft, each))), None
    )
    roles = None if kind is None else next(candidates(draft, kind), None)
    if kind is None or roles is None:
        return None
    spec = given.applied(spec_of(source, draft, roles, problem_of(source, draft, roles)))
    return replace(spec, problem=first_problem(spec))


def unchecked(source: KernelText, draft: Draft, given: GivenLaunch) -> KernelSpec | None:
    """The spec of a kernel whose problem isn't known, at sizes where it runs: its arrays have the sizes that the host code
    gives them, or as many elements as the product of all sizes, and its result isn't checked. None if it runs at none of the
    sizes tried. Raises SourceError for a kernel that can't be read.
    """
    draft = _completed(source, draft)
    names = [_plain_name(each) for each in draft.sizes]
    if not draft.pointers or len(set(names)) < len(names):
        return None
    everything = " * ".join(names) or "1"
    reals = tuple(1.0 for each in draft.parameters if each.kind == "real")
    roles = Roles(NONE, tuple(_plain_name(each.name) for each in draft.pointers), tuple(names), reals)
    for size in _UNCHECKED_SIZES:
        values = dict(draft.values)
        sizes = {name: size or values.get(each, _UNCHECKED_SIZES[0]) for name, each in zip(names, draft.sizes, strict=True)}
        for shape in ("", f"({everything}) * {_ROOMY}", f"({everything}) * ({everything})"):
            shapes = {
                name: (renamed(shape or shape_formula(each, draft) or everything, dict(zip(draft.sizes, names, strict=True))),)
                for name, each in zip(roles.arrays, draft.pointers, strict=True)
            }
            outputs = tuple(name for name, each in zip(roles.arrays, draft.pointers, strict=True) if not each.is_const)
            try:
                spec = given.applied(spec_of(source, draft, roles, Problem(kind=NONE, arrays=shapes, outputs=outputs, **sizes)))
                setup = setup_for(spec)
                program_for(spec, setup.definitions)
                if can_run(setup) and trial_of(setup, time.monotonic() + _UNCHECKED_S) is not None:
                    return spec
            except (SettingError, KernelFault):
                continue
    return None


def _plain_name(size: str) -> str:
    """A size of the host as a name of a problem's size."""
    name = re.sub(r"\W+", "_", size).strip("_")
    return name if name.isidentifier() else f"size_{name}"


def _completed(source: KernelText, draft: Draft) -> Draft:
    """The draft with a parameter for everything that the kernel gets from outside: also for variables that the host fills.

    Raises SourceError for a kernel that can't be read.
    """
    own = {each.name: each for each in draft.parameters}
    parameters = tuple(own.get(each.name) or _global(each) for each in _program_of(source, draft).parameters)
    sizes = [each.argument for each in parameters if each.argument.isidentifier() and each.name not in own]
    return replace(draft, parameters=parameters, sizes=tuple(dict.fromkeys((*draft.sizes, *sizes))))


def _global(parameter: FunctionParameter) -> DraftParameter:
    """A variable of the file that the host fills."""
    match parameter.type:
        case PointerType():
            return DraftParameter(parameter.name, "pointer", is_const=True)
        case Scalar(is_float=True):
            return DraftParameter(parameter.name, "real")
    name = _plain_name(parameter.name)
    return DraftParameter(parameter.name, "whole", argument=name if name.isidentifier() else "1")


def read_text_of(source: KernelText, draft: Draft) -> None:
    """Raises SourceError if the kernel of a draft can't be read."""
    _program_of(source, draft)


def _program_of(source: KernelText, draft: Draft) -> Program:
    empty = replace(draft, parameters=())
    roles = Roles(MULTIPLY, (), tuple("N" for _ in draft.sizes))
    spec = spec_of(source, empty, roles, Problem(kind=MULTIPLY))
    return program_for(spec, setup_for(spec).definitions)


def _agrees(given: GivenLaunch, draft: Draft, kind: ProblemKind) -> bool:
    """Whether the given parts of a launch are of this kind of problem: they use no names of other kinds alone."""
    arguments = (each.partition("=")[2] or each for each in given.args)
    words = {*names_in((*arguments, *given.block, *given.grid))} - {*draft.tile_values}
    others = {name for each in PROBLEM_KINDS.values() for name in _names_of(each)} - {*_names_of(kind)}
    return given.kind in ("", kind.name) and not words & others


def _names_of(kind: ProblemKind) -> list[str]:
    factors = [each.name for each in kind.factors]
    return [*(each.name for each in kind.sizes), *(each.name for each in kind.arrays), *factors]


def _suggests(draft: Draft, kind: ProblemKind) -> bool:
    """Whether the kernel's name suggests this kind of problem."""
    return any(word in draft.entry.lower() for word in KIND_WORDS.get(kind.name, "").split())


_ROUNDS = (_MOST_AT_FIRST, _MOST_AT_FIRST, 60, 60, 200, 200, 200)  # candidates at the first sizes, the second, …


class _Search:
    """Runs candidates, and leaves out those that earlier runs refute."""

    def __init__(
        self, source: KernelText, draft: Draft, given: GivenLaunch, until: float, cancelled: Callable[[], bool]
    ) -> None:
        self.source, self.draft, self.given, self.until, self.cancelled = source, draft, given, until, cancelled
        self.runs = 0
        self.written: frozenset[int] = frozenset()  # pointers that the kernel writes

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.until

    def attempt(self, roles: Roles, round_number: int) -> Found | None:
        """The spec if the result is right with these roles at the sizes of this round."""
        outputs = {array.name for array in PROBLEM_KINDS[roles.kind].arrays if array.is_output}
        if self.written and {roles.arrays[number] for number in self.written} != outputs:
            return None
        for problem in problems_of(self.source, self.draft, roles):
            found = self._attempt(roles, problem, round_number)
            if found is not None:
                return found
        return None

    def _attempt(self, roles: Roles, kind: Problem, round_number: int) -> Found | None:
        spec = self.given.applied(spec_of(self.source, self.draft, roles, kind))
        values = dict(self.draft.values)
        own = {size: values[name] for name, size in zip(self.draft.sizes, roles.sizes, strict=True) if name in values}
        own = {size: value for size, value in own.items() if size in spec.problem.sizes}
        problem = next(islice(trial_problems(spec, own), round_number, None), None)
        trial = None if problem is None else self._run(spec, problem)
        if trial is None or problem is None:
            return None
        if trial.column_major is None:
            if len(set(roles.arrays)) < len(roles.arrays):
                return None
            self.written |= {roles.arrays.index(name) for name in trial.written}
            return None
        spec = replace(spec, column_major=trial.column_major, problem=problem)
        return Found(self._at_first_size(spec, trial.column_major), roles, self.runs)

    def _at_first_size(self, spec: KernelSpec, column_major: frozenset[str]) -> KernelSpec:
        """The spec with the sizes of the first picture, if C is right at them too."""
        small = replace(spec, problem=first_problem(spec))
        if small.problem == spec.problem:
            return spec
        trial = self._run(small, small.problem)
        return small if trial is not None and trial.column_major == column_major else spec

    def _run(self, spec: KernelSpec, problem: Problem) -> _Trial | None:
        """What a run shows; None if it faults, or can't be run."""
        setup = setup_for(spec, problem)
        if not can_run(setup):
            return None
        self.runs += 1
        try:
            return trial_of(setup, self.until, self.cancelled)
        except (KernelFault, SettingError):
            return None


def trial_of(setup: Setup, until: float, cancelled: Callable[[], bool] = is_cancelled) -> _Trial | None:
    """Runs the whole launch. None for a launch of more threads than a trial may have, or one that takes beyond ``until``.

    Raises KernelFault, SettingError, SourceError or Cancelled.
    """
    binding = bound(setup)
    if binding.launch.threads_per_block * binding.launch.block_count > _MOST_THREADS:
        return None
    data = inputs(binding, cancelled)
    outputs = setup.problem.output_names
    before = {**data, **{name: data[name].copy() for name in outputs}}  # the kernel writes into the outputs themselves
    space = ThreadSpace(binding.launch, BlockRange.all(binding.launch), device_for(setup).rules.warp_size)

    def is_late() -> bool:
        return cancelled() or time.monotonic() > until

    try:
        memories = interpret(binding, space, StepCounter(), data, wants_values=True, cancelled=is_late)
    except Cancelled:
        if cancelled():
            raise
        return None
    after = {name: memory.data for name, memory in memories.items()}
    written = frozenset(name for name, flat in after.items() if not np.array_equal(flat, before[name]))
    return _Trial(_right_layout(binding, after) if written == set(outputs) else None, written)


def is_right(spec: KernelSpec, until: float, cancelled: Callable[[], bool] = is_cancelled) -> bool:
    """Whether the kernel's result is right at its own problem. Raises SourceError and Cancelled."""
    setup = setup_for(spec)
    try:
        trial = trial_of(setup, until, cancelled) if can_run(setup) else None
    except (KernelFault, SettingError):
        return False
    return trial is not None and trial.column_major == spec.column_major


def _right_layout(binding: Binding, after: dict[str, Any]) -> frozenset[str] | None:
    """The arrays that are stored by columns if the result is right so; rows are tried first. None if it is right in none."""
    contents = contents_of(binding, after)
    every = {name: np.arange(after[name].size, dtype=np.int64) for name in binding.setup.problem.output_names}
    for layout in _LAYOUTS if binding.setup.problem.is_multiply else _LAYOUTS[:1]:
        if check_result(replace(contents, column_major=layout), every, True, is_cancelled).passed:
            return layout
    return None
