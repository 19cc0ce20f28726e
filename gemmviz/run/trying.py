"""Finds the roles of a launch's arguments by running the kernel with one assignment after the other until C is right."""

import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import Literal

from msgspec import Struct, structs

from gemmviz.cuda.granularity import written_memories
from gemmviz.cuda.launch.draft import KIND_WORDS, Draft, DraftParameter, bare_name, shape_formula
from gemmviz.cuda.launch.formula import (
    OWN_SIZES,
    evaluate,
    first_problem,
    grid_units,
    names_in,
    renamed,
    replace_sizes,
    trial_problems,
)
from gemmviz.cuda.launch.guessed_launch import (
    KernelText,
    choices,
    fixed_size,
    host_sizes,
    problem_of,
    problems_of,
    spec_of,
)
from gemmviz.cuda.launch.launch_form import NO_ROLES, TOO_LARGE, GivenLaunch
from gemmviz.cuda.launch.legality import can_run, setup_for
from gemmviz.cuda.launch.roles import Roles, fits, is_told
from gemmviz.cuda.nodes import FunctionParameter, Program
from gemmviz.cuda.program import program_for
from gemmviz.cuda.types import PointerType, Scalar
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import GemmvizError, KernelFault, SettingError, tr
from gemmviz.model.problem import Problem
from gemmviz.model.problem_kind import ProblemKind
from gemmviz.model.problems import IN_PARTS, MULTIPLICATIONS, MULTIPLY, NONE, PROBLEM_KINDS
from gemmviz.run.trial import TrialResult, WorkBudget, attempted, trial_of

# What a file tells about the problem that a kernel is meant for, apart from its result.

_OTHER_ROLES = ("elem", "hadamard", "point", "max", "min", "mean", "avg", "norm", "abs", "sq")  # in names of other kernels
_VARIED = ("stencil", "convolution", "convolution_1d", "scale", "relu", "none")  # kinds that a name alone doesn't define
_MULTIPLIES = re.compile(
    r"matri\w*[ _-]?(?:\w+[ _-])?mul|mat_?mul|[a-z]gemm|\bgemm|\bmm\b|_mm\b|mul\w*[ _-]matri", re.IGNORECASE
)
_ACTIVATIONS = {"relu": r"relu|max|> *0", "gelu": "gelu|tanh", "sigmoid": "sigm|exp", "tanh": "tanh", "silu": "silu|swish|exp"}
_ACTIVATED = re.compile(r"relu|gelu|tanh|sigmoid|silu|swish|bias", re.IGNORECASE)  # functions of the product that C may hold


def is_told_of(source: KernelText, kind: ProblemKind) -> bool:
    """Whether a file mentions what a kind of problem is known by: the function of an epilogue."""
    words = _ACTIVATIONS.get(kind.name.rpartition("_")[2])
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
        or any(word in name for word in _OTHER_ROLES)
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


_OF_SEARCH = 120 << 20  # units of work
_UNCHECKED_SIZES = (0, 64, 16, 256, 1024)  # 0 stands for what the host code passes
_ROOMY = 4
_LONGER = (2, 4, 8, 16, 32)  # times the first size, for a second phase
_MOST_AT_FIRST, _AT_ALL_SIZES = 24, 2  # candidates at the first sizes; likeliest ones at all sizes, before others are tried
_EVERY_SIZE = 16  # more than there are sizes to try


class Found(Struct, frozen=True):
    """A spec that gives a right C at its problem, its roles, and the number of runs that it took. ``is_square``: C was right
    only where sizes that the launch tells apart were equal.
    """

    spec: KernelSpec
    roles: Roles
    runs: int
    is_square: bool = False


def find_roles(
    source: KernelText,
    draft: Draft,
    *,
    given: GivenLaunch = GivenLaunch(),  # noqa: B008 - it is frozen
    likely: Roles | None = None,
    work: WorkBudget | None = None,
    most_runs: int | None = None,
    as_written: bool = False,
) -> Found | None:
    """The first roles, the ``likely`` ones before others, that agree with the ``given`` parts of the launch and with which the
    kernel's result is right; None if none are found within the ``work`` and ``most_runs`` runs. Roles with which it is right at
    square sizes only are used if no others are found. ``as_written``: the kernel is judged at other sizes later; arrays are
    those that the names tell, and no sizes are chosen for it.

    Raises SourceError for a kernel that can't be read, and Cancelled.
    """
    draft = draft if as_written and not draft.has_open_parameters else _completed(source, draft)
    search = _Attempts(source, draft, given, WorkBudget(_OF_SEARCH) if work is None else work, as_written)
    kinds = [kind for kind in kinds_of(draft) if _agrees(given, draft, kind) and (given.kind or is_told_of(source, kind))]
    square: Found | None = None
    for roles, size_number in _order_tried(search, kinds, () if likely is None else (likely,)):
        found = search.attempt(roles, size_number)
        if found is not None and not found.is_square:
            return found
        square = square or found
        if search.work.is_over or (most_runs is not None and search.runs >= most_runs):
            return square and search.checked(square)
    if square is None:
        return None if as_written else search.at_own_sizes(kinds)
    return search.checked(square)


def _order_tried(search: "_Attempts", kinds: list[ProblemKind], first: tuple[Roles, ...]) -> Iterator[tuple[Roles, int]]:
    """Roles and the numbers of the sizes to try them at: the likeliest at all sizes, then all at the first sizes, and so on."""
    seen: set[tuple[Roles, int]] = set()
    likely = [*first, *(roles for kind in kinds[:1] for roles in islice(search.choices(kind), _AT_ALL_SIZES))]
    for roles in dict.fromkeys(likely):
        for number in range(_EVERY_SIZE):
            seen.add((roles, number))
            yield roles, number
    for number, most in enumerate(_ROUNDS):
        for kind in kinds:
            for roles in islice(search.choices(kind), most):
                if (roles, number) not in seen:
                    yield roles, number


def kinds_of(draft: Draft) -> list[ProblemKind]:
    """Kinds of problems with as many arrays as the draft has pointers: those that the kernel's name suggests first, then
    multiplications, then those with as many sizes and factors as the launch has numbers. What its name calls a multiplication
    is no kind that a name alone doesn't define.
    """
    reals = any(each.kind == "real" for each in draft.parameters)

    def rank(kind: ProblemKind) -> tuple[object, ...]:
        distance = abs(len(kind.sizes) - len(draft.sizes)) + (reals != bool(kind.factors))
        return not suggests(draft, kind), kind.name not in MULTIPLICATIONS, kind.name != MULTIPLY, distance

    kinds = [kind for kind in PROBLEM_KINDS.values() if kind.arrays and fits(draft, kind)]
    if suggests(draft, PROBLEM_KINDS[MULTIPLY]):
        kinds = [kind for kind in kinds if kind.name not in _VARIED or suggests(draft, kind)]
    return sorted(kinds, key=rank)


def likeliest(
    source: KernelText, draft: Draft, given: GivenLaunch, work: WorkBudget, as_written: bool = False
) -> tuple[KernelSpec, str] | None:
    """The spec with the likeliest roles, whose result isn't right, and what is uncertain about its launch, "" if nothing is;
    None for a kernel whose name and arrays fit no problem. ``as_written``: it doesn't keep the sizes of the host code.
    """
    draft = draft if as_written and not draft.has_open_parameters else _completed(source, draft)
    kind = next(
        (each for each in kinds_of(draft) if _agrees(given, draft, each) and (given.kind or suggests(draft, each))), None
    )
    roles = None if kind is None else next(choices(draft, kind, given), None)
    if kind is None or roles is None:
        return None
    spec = _applied(source, draft, given, roles, problem_of(source, draft, roles), as_written)
    spec = structs.replace(spec, problem=first_problem(spec))
    if given.is_complete:
        return spec, ""
    search = _Attempts(source, draft, given, work)
    own = search.spec_at_own_sizes(roles)
    is_meant = bool(given.kind) or means(source, draft, kind)
    is_known = is_meant and is_told(draft, kind, roles) and has_room(own or spec, draft, roles)
    if not is_known or (has_fixed_axis(draft) and not all(shape_formula(each, draft) for each in draft.pointers)):
        return spec, tr(NO_ROLES)
    if own is None or as_written:  # names that the program gives values to when it runs
        return spec, ""
    state = search.state_of(own)
    if state == "unknown":
        return spec, tr(TOO_LARGE, sizes=own.problem.text())
    return own, ""


def _applied(
    source: KernelText, draft: Draft, given: GivenLaunch, roles: Roles, problem: Problem, as_written: bool = False
) -> KernelSpec:
    """The spec of some roles with the given parts of the launch. Sizes that are given by name are tied to none, unless the
    launch counts ``as_written``.
    """
    named = () if as_written else names_in(each.partition("=")[2] or each for each in given.args)
    roles = structs.replace(roles, ties=tuple(size for size in roles.ties if size not in named))
    return given.applied(spec_of(source, draft, roles, problem))


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
        sizes = {name: size or values.get(each, _UNCHECKED_SIZES[1]) for name, each in zip(names, draft.sizes, strict=True)}
        for shape in ("", f"({everything}) * {_ROOMY}", f"({everything}) * ({everything})"):
            shapes = {
                name: (renamed(shape or shape_formula(each, draft) or everything, dict(zip(draft.sizes, names, strict=True))),)
                for name, each in zip(roles.arrays, draft.pointers, strict=True)
            }
            outputs = tuple(name for name, each in zip(roles.arrays, draft.pointers, strict=True) if not each.is_const)
            try:
                spec = _applied(source, draft, given, roles, Problem(kind=NONE, arrays=shapes, outputs=outputs, **sizes))
                setup = setup_for(spec)
                program_for(spec, setup.definitions)
                if can_run(setup) and trial_of(setup, WorkBudget()) is not None:
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
    What the kernel never writes is constant, whether or not it is declared so.

    Raises SourceError for a kernel that can't be read.
    """
    program = program_of(source, draft)
    written, own = written_memories(program), {each.name: each for each in draft.parameters}
    constant = {each.name for each in program.parameters if isinstance(each.type, PointerType) and each.slot not in written}
    parameters = tuple(own.get(each.name) or _global(each) for each in program.parameters)
    parameters = tuple(structs.replace(each, is_const=each.is_const or each.name in constant) for each in parameters)
    sizes = [each.argument for each in parameters if each.argument.isidentifier() and each.name not in own]
    return structs.replace(draft, parameters=parameters, sizes=tuple(dict.fromkeys((*draft.sizes, *sizes))))


def _global(parameter: FunctionParameter) -> DraftParameter:
    """A variable of the file that the host fills."""
    match parameter.type:
        case PointerType():
            return DraftParameter(parameter.name, "pointer", is_const=True)
        case Scalar(is_float=True):
            return DraftParameter(parameter.name, "real")
    name = _plain_name(parameter.name)
    return DraftParameter(parameter.name, "whole", argument=name if name.isidentifier() else "1")


def program_of(source: KernelText, draft: Draft) -> Program:
    """The program of a draft's kernel. Raises SourceError for one that can't be read."""
    empty = structs.replace(draft, parameters=())
    roles = Roles(MULTIPLY, (), tuple("N" for _ in draft.sizes))
    spec = spec_of(source, empty, roles, Problem(kind=MULTIPLY))
    return program_for(spec, setup_for(spec).definitions)


def _agrees(given: GivenLaunch, draft: Draft, kind: ProblemKind) -> bool:
    """Whether the given parts of a launch are of this kind of problem: they use no names of other kinds alone."""
    arguments = (each.partition("=")[2] or each for each in given.args)
    words = {*names_in((*arguments, *given.block, *given.grid))} - {*draft.tile_values}
    others = {name for each in PROBLEM_KINDS.values() for name in _names_tried(each)} - {*_names_tried(kind)}
    return given.kind in ("", kind.name) and not words & others


def _names_tried(kind: ProblemKind) -> list[str]:
    factors = [each.name for each in kind.factors]
    return [*(each.name for each in kind.sizes), *(each.name for each in kind.arrays), *factors]


_ROUNDS = (_MOST_AT_FIRST, _MOST_AT_FIRST, 60, 60, 200, 200, 200)  # candidates at the first sizes, the second, …


_BLOCKWISE_KINDS = ("scan", "exclusive_scan")  # a further kernel joins the results of the blocks


class _Attempts:
    """Runs candidates, and leaves out those that earlier runs refute."""

    def __init__(
        self,
        source: KernelText,
        draft: Draft,
        given: GivenLaunch,
        work: WorkBudget,
        as_written: bool = False,
    ) -> None:
        self.source, self.draft, self.given, self.work = source, draft, given, work
        self.as_written = as_written
        self.runs = 0
        self.written: frozenset[int] = frozenset()  # pointers that the kernel writes

    def choices(self, kind: ProblemKind) -> Iterator[Roles]:
        """Roles to try, likeliest first."""
        return choices(self.draft, kind, self.given, by_names=self.as_written)

    def attempt(self, roles: Roles, size_number: int) -> Found | None:
        """The spec if the result is right with these roles at the sizes of this number."""
        if self._is_refuted(roles):
            return None
        problems = problems_of(self.source, self.draft, roles)
        for kind in reversed(problems) if self.as_written else problems:
            spec = _applied(self.source, self.draft, self.given, roles, kind, self.as_written)
            own = host_sizes(self.draft, roles, spec.problem)
            problem = next(islice(trial_problems(spec, own), size_number, None), None)
            found = None if problem is None else self._attempt(spec, roles, problem)
            if found is not None:
                return found
        return None

    def at_own_sizes(self, kinds: list[ProblemKind]) -> Found | None:
        """The spec if some blocks' results are right with likely roles at the sizes of the host code, which it then keeps."""
        for kind in kinds:
            for roles in islice(self.choices(kind), _AT_ALL_SIZES):
                spec = None if self.work.is_over or self._is_refuted(roles) else self.spec_at_own_sizes(roles)
                found = None if spec is None else self._attempt(spec, roles, spec.problem, in_part=True)
                if found is not None:
                    return found
        return None

    def spec_at_own_sizes(self, roles: Roles) -> KernelSpec | None:
        """The spec with the sizes of the host code, which rules keep; None if they aren't all known."""
        spec = _applied(self.source, self.draft, self.given, roles, problem_of(self.source, self.draft, roles))
        own = host_sizes(self.draft, roles, spec.problem)
        if not own or {each.name for each in spec.problem.kind.sizes if not each.is_optional} - own.keys() - OWN_SIZES:
            return None
        rules = tuple(fixed_size(size, value) for size, value in own.items() if size not in roles.ties)
        try:
            problem = Problem.of_flat({**spec.problem.to_flat(), **own})
        except SettingError:
            return None
        return structs.replace(spec, problem=problem, requirements=(*spec.requirements, *rules))

    def _is_refuted(self, roles: Roles) -> bool:
        outputs = {array.name for array in PROBLEM_KINDS[roles.kind].arrays if array.is_output}
        return bool(self.written) and {roles.arrays[number] for number in self.written} != outputs

    def _attempt(self, spec: KernelSpec, roles: Roles, problem: Problem, in_part: bool = False) -> Found | None:
        trial = self._run(spec, problem, in_part)
        if trial is None:
            return None
        if trial.column_major is None:
            if len(set(roles.arrays)) == len(roles.arrays):
                self.written |= {roles.arrays.index(name) for name in trial.written}
            return None
        if self.given.column_major not in (None, trial.column_major):
            return None
        spec = structs.replace(spec, column_major=trial.column_major, problem=problem)
        is_square = not in_part and _is_square_problem(problem, roles)
        if self.as_written:
            several = {name: 2 * unit for name, unit in grid_units(spec).items() if unit}  # blocks, as one is in no part
            larger = structs.replace(spec, problem=replace_sizes(spec, several)) if roles.kind in IN_PARTS else spec
            return None if larger != spec and self.state_of(larger) == "wrong" else Found(spec, roles, self.runs, is_square)
        small = spec if in_part else self._in_phases(*self._at_first_size(spec, trial))
        small = self._with_factors(small, roles)
        if not is_square and not in_part:
            where = self._where_it_matters(small, roles)
            if where != small and self._may_agree_by_chance(spec.problem.kind):
                return None
            small = where
        return Found(small, roles, self.runs, is_square)

    def _with_factors(self, spec: KernelSpec, roles: Roles) -> KernelSpec:
        """The spec of a multiplication with alpha and beta as in the host code, instead of 1 and 0: if C is right then, or
        their names leave no doubt.
        """
        places = [place for place, each in enumerate(self.draft.parameters) if each.kind == "real"]
        values = [self.draft.parameters[place].value for place in places]
        is_passed = None in values or tuple(values) == roles.reals or self.given.args
        if is_passed or roles.kind not in MULTIPLICATIONS or len({*roles.reals}) < len(values):
            return spec
        names = ["alpha" if value else "beta" for value in roles.reals]
        args = dict(zip(places, names, strict=True))
        problem = Problem.of_flat({**spec.problem.to_flat(), **dict(zip(names, values, strict=True))})
        other = structs.replace(
            spec, args=tuple(args.get(place, each) for place, each in enumerate(spec.args)), problem=problem
        )
        is_told = names == [bare_name(self.draft.parameters[place].name) for place in places]
        return other if is_told or self.state_of(other) == "right" else spec

    def _may_agree_by_chance(self, kind: ProblemKind) -> bool:
        """Whether a kernel with a right result may compute something else: names don't speak for it, and it is no product."""
        return kind.name not in MULTIPLICATIONS and not means(self.source, self.draft, kind)

    def checked(self, square: Found) -> Found:
        """What was right at square sizes only, at sizes that matter where names tell the roles and the code's sizes differ."""
        if self.as_written:
            return square
        kind, own = PROBLEM_KINDS[square.roles.kind], self.spec_at_own_sizes(square.roles)
        is_told_apart = own is not None and not _is_square_problem(own.problem, square.roles)
        if not is_told_apart or not is_told(self.draft, kind, square.roles) or self._may_agree_by_chance(kind):
            return square
        self.work = WorkBudget()
        return structs.replace(square, spec=self._where_it_matters(square.spec, square.roles))

    def _where_it_matters(self, spec: KernelSpec, roles: Roles) -> KernelSpec:
        """The spec; where its result isn't right at two blocks, if the code has several, or at sizes that leave the same parts
        of tiles as the code's, it has these sizes.
        """
        if roles.kind in _BLOCKWISE_KINDS:
            return spec
        units, sizes = grid_units(spec), spec.problem.sizes
        if not any(units.values()):
            return spec
        own = self.spec_at_own_sizes(roles)
        known = {} if own is None else own.problem.sizes
        few = [name for name, unit in units.items() if unit and sizes[name] <= unit < known.get(name, unit + 1)]
        two = structs.replace(spec, problem=replace_sizes(spec, {name: 2 * units[name] for name in few}))
        if few and self.state_of(two) == "wrong":
            return two
        parts = {name: known[name] % unit for name, unit in units.items() if unit and name in known}
        if own is None or not any(parts.values()):
            return spec
        cut = structs.replace(
            spec, problem=replace_sizes(spec, {name: units[name] + part for name, part in parts.items() if part})
        )
        own = structs.replace(own, column_major=spec.column_major, requirements=spec.requirements)
        state = self.state_of(cut, in_part=True)  # another kernel may write the rest
        is_wrong = state == "wrong" and self.state_of(own) != "right"
        return cut if is_wrong else own if state == "unknown" and self.state_of(own) == "wrong" else spec

    def state_of(self, spec: KernelSpec, in_part: bool = False) -> Literal["right", "wrong", "unknown"]:
        """The result of the launch at the spec's own problem, or of some of its blocks: if it has too many for a trial, or if
        ``in_part``.
        """
        setup = setup_for(spec)
        self.runs += 1
        try:
            if not can_run(setup):
                return "unknown"
            trial = None if in_part else trial_of(setup, self.work)
            trial = trial or trial_of(setup, self.work, in_part=True)
        except KernelFault as fault:
            return "unknown" if fault.id in ("unsupported", "step-budget") else "wrong"
        except SettingError:
            return "unknown"
        return "unknown" if trial is None else "right" if trial.column_major == spec.column_major else "wrong"

    def _at_first_size(self, spec: KernelSpec, trial: TrialResult) -> tuple[KernelSpec, TrialResult]:
        """The spec with the sizes of the first picture, or those of them that the grid cuts, if C is right at them too; and
        what a run of it showed.
        """
        first = first_problem(spec)
        uncut = {name: spec.problem.sizes[name] for name, unit in grid_units(spec).items() if not unit}
        for problem in dict.fromkeys((first, replace_sizes(structs.replace(spec, problem=first), uncut))):
            if problem == spec.problem:
                break
            found = self._run(spec, problem)
            if found is not None and found.column_major == trial.column_major:
                return structs.replace(spec, problem=problem), found
        return spec, trial

    def _in_phases(self, spec: KernelSpec, trial: TrialResult) -> KernelSpec:
        """The spec with a multiple of the size that the grid doesn't cut, if it has one phase otherwise and C is right then."""
        uncut = [name for name, unit in grid_units(spec).items() if not unit]
        for factor in _LONGER if trial.phases == 1 and uncut else ():
            longer = structs.replace(
                spec, problem=replace_sizes(spec, {name: factor * spec.problem.sizes[name] for name in uncut})
            )
            found = attempted(setup_for(longer), WorkBudget())  # which counts beside the search
            if found is None or found.column_major != trial.column_major:
                return spec
            if found.phases > 1:
                return longer
        return spec

    def _run(self, spec: KernelSpec, problem: Problem, in_part: bool = False) -> TrialResult | None:
        """What a run shows; None if it faults, or can't be run."""
        self.runs += 1
        return attempted(setup_for(spec, problem), self.work, in_part=in_part)


def _is_square_problem(problem: Problem, roles: Roles) -> bool:
    """Whether sizes of the problem are equal that the launch tells apart."""
    sizes = [size for name, size in problem.sizes.items() if name in roles.sizes and name not in OWN_SIZES]
    return len(set(sizes)) < len(sizes)
