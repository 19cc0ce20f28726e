"""A hand-in to the kernel that is judged: its text as a student wrote it, its launch, and the roles of its parameters."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from msgspec import Struct

from gemmviz.files.kernel_file import has_header, parse_kernel
from gemmviz.grading.grade import LAUNCH, HandIn
from gemmviz.grading.task import Task
from gemmviz.launch.draft import Draft, draft_of
from gemmviz.launch.formula import names_in, renamed
from gemmviz.launch.guessed_launch import (
    FACTOR,
    KernelText,
    completed,
    guesses,
    launch_by_names,
    problem_of,
    problems_of,
    spec_of,
    tilings,
)
from gemmviz.launch.launch_form import NOT_READ, GivenLaunch, not_confirmed
from gemmviz.launch.legality import can_run, device_for, names_for, setup_for
from gemmviz.launch.roles import Roles, candidates
from gemmviz.loading.project import Project, outline_of
from gemmviz.model.element_types import element_type_of_c
from gemmviz.model.errors import GemmvizError, SourceError, UsageError, closest
from gemmviz.model.kernel import BLANK, KernelSpec, ProjectFile
from gemmviz.model.outline import BufferOutline, FileOutline, KernelOutline, LaunchOutline
from gemmviz.model.problem import Problem
from gemmviz.model.problems.catalog import IN_PARTS, MULTIPLY, PROBLEM_KINDS
from gemmviz.model.records import replace
from gemmviz.model.translation import tr
from gemmviz.parser.source_text import SourceText
from gemmviz.run.cpu.check import arithmetic_roundoff
from gemmviz.run.cpu.executor import bound
from gemmviz.run.trial import WorkBudget, is_right, trial_of
from gemmviz.source.reader_link import reader

# Host code to the mistake in it that leaves the result unwritten on a GPU: no launch, or a copy that is missing or wrong.

_COPY_FINDING = "host-copy"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MAIN = re.compile(r"\bmain\s*\(")
_TO_HOST, _TO_DEVICE = "cudaMemcpyDeviceToHost", "cudaMemcpyHostToDevice"


class HostMistake(Struct, frozen=True):
    """A mistake in host code: the id of the finding, and the error."""

    finding: str
    error: GemmvizError


def launch_mistake(
    texts: Mapping[str, str], kernel: KernelOutline, launch: LaunchOutline | None, *, has_launch_elsewhere: bool
) -> HostMistake | None:
    """The mistake of a program that never launches the kernel; None for one that does, and for a kernel without host code."""
    remedy = f"write {kernel.name}<<<grid, block>>>(…) in the host code"
    if launch is None:
        is_program = any(_MAIN.search(_COMMENT.sub(" ", text)) for text in texts.values())
        if is_program and not has_launch_elsewhere:
            return HostMistake("not-launched", UsageError(f"{kernel.name} is launched nowhere", remedy=remedy))
        return None
    reason = next((each.reason for each in launch.unread if each.part == "launch"), "")
    if not reason or has_launch_elsewhere:
        return None
    message = f"the launch of {kernel.name} is never made: {reason}"
    return HostMistake("not-launched", UsageError(message, launch.place, file=launch.file, remedy="launch it in any case"))


def copy_mistake(
    launch: LaunchOutline, inputs: Iterable[BufferOutline], outputs: Iterable[BufferOutline]
) -> HostMistake | None:
    """The first copy that is missing or goes the wrong way; None if there is none, or if other functions may copy."""
    inputs, outputs = list(inputs), list(outputs)
    for each in (*inputs, *outputs):
        if each.bytes and each.misdirected is not None and not each.passed:
            message = f"{each.name} is memory of the GPU, and the direction of this copy is the opposite one"
            remedy = f"{_TO_DEVICE} copies to the GPU, {_TO_HOST} from it"
            return HostMistake(_COPY_FINDING, UsageError(message, each.misdirected, file=launch.file, remedy=remedy))
    for each in inputs:
        if each.bytes and not (each.is_copied_in or each.is_zeroed or "before" in each.passed):
            message = f"{each.name} is never filled before the launch: nothing is copied to it"
            remedy = f"copy the values to it with cudaMemcpy(…, {_TO_DEVICE})"
            return HostMistake(_COPY_FINDING, UsageError(message, launch.place, file=launch.file, remedy=remedy))
    for each in outputs:
        if each.bytes and not (each.is_copied_out or "after" in each.passed):
            message = f"the result is never copied back from the GPU: {each.name} is not read behind the launch"
            remedy = f"copy it with cudaMemcpy(…, {_TO_HOST})"
            return HostMistake(_COPY_FINDING, UsageError(message, launch.place, file=launch.file, remedy=remedy))
    return None


def is_unset(buffer: BufferOutline) -> bool:
    """Whether the host code allocates memory and gives it no values before the launch."""
    return bool(buffer.bytes) and not (buffer.is_zeroed or buffer.is_copied_in or "before" in buffer.passed)


_MOST_FILES, _MOST_ROLES, _MOST_GUESSES = 12, 12, 16


class OpenedHandIn(Struct, frozen=True):
    """The kernel of a hand-in. ``host``: a mistake in the host code, None if it has none; ``note``: what was assumed;
    ``is_unset``: the result's memory holds no values before the launch.
    """

    kernel: KernelSpec
    host: HostMistake | None = None
    note: str = ""
    is_unset: bool = False


def opened_hand_in(hand_in: HandIn, task: Task) -> OpenedHandIn:
    """The kernel of a hand-in as the task wants it launched. Raises SourceError for a file that can't be read, and UsageError
    for one without a kernel, or whose launch isn't known.
    """
    if hand_in.problem:
        raise SourceError(hand_in.problem)
    main = hand_in.main(task.launch.entry)
    text = hand_in.texts[main]
    if BLANK.search(text):
        raise SourceError(f"{len(BLANK.findall(text))} of the blanks are empty", remedy="write something for each /*?*/")
    texts = _texts(hand_in, task)
    if task.shot is not None and task.shot.setup.kernel.blanks:
        spec = replace(task.shot.setup.kernel, text=text, file=main, is_shipped=False)
        _check_text(SourceText(main, texts, main, {name: str(value) for name, value in spec.defaults.items()}))
        return OpenedHandIn(spec)
    if has_header(text) and not any(LAUNCH in each for each in texts.values()):
        spec = parse_kernel(text, main)
        _check_text(SourceText(main, texts, main, {name: str(value) for name, value in spec.defaults.items()}))
        opened = OpenedHandIn(task.launch.applied(_with_others(_without_claims(spec, task), main, texts)))
    else:
        _check_text(SourceText(main, texts, main))
        opened = _Opening(task, main, texts).opened()
    return replace(opened, kernel=replace(opened.kernel, problem=_judged_problem(opened.kernel.problem, task)))


def _texts(hand_in: HandIn, task: Task) -> dict[str, str]:
    """The files of a hand-in and of the task. A hand-in can't replace one of the task's, in any folder."""
    given = dict(task.files)
    own = {name: text for name, text in hand_in.texts.items() if name.rpartition("/")[2] not in given}
    return {**own, **given}


def _without_claims(spec: KernelSpec, task: Task) -> KernelSpec:
    """A kernel with a header, without what its header says about the problem: the task alone says what is right."""
    return replace(
        spec,
        problem=Problem.of_flat({"kind": task.problem.kind.name, **_factors_of(task)}),
        requirements=(), size_macros=(), column_major=frozenset(), unfinished=False,
    )  # fmt: skip


def _factors_of(task: Task) -> dict[str, float]:
    """The factors at which a kernel with such parameters is judged."""
    kind = task.problem.kind
    values = {each.name: each.default if kind.name == MULTIPLY else FACTOR for each in kind.factors}
    return {**values, **task.problem.factors}


def _judged_problem(problem: Problem, task: Task) -> Problem:
    """The problem of a hand-in with the factors of the task: those that the host code passes are the student's choice."""
    factors = _factors_of(task)
    return problem.__replace__(**{name: factors[name] for name in problem.factors})


def precision_error(kernel: KernelSpec, task: Task) -> UsageError | None:
    """Why C can't be compared as precisely as the task wants; None if the kernel's types allow it. A launch that is refused has
    no types: each size says why.
    """
    wanted = element_type_of_c(task.type)
    try:
        binding = bound(setup_for(kernel, device=task.device))
    except GemmvizError:
        return None
    types = list(binding.element_types.values())
    if wanted.roundoff and not all(each.roundoff for each in types):
        return UsageError(
            f"the arrays of {kernel.function} aren't of {task.type}", remedy=f"use {task.type} for arrays and sums"
        )
    if max(arithmetic_roundoff(binding.program), *(each.roundoff for each in types)) <= wanted.roundoff:
        return None
    message = f"the arrays or the arithmetic of {kernel.function} are less precise than {task.type}"
    return UsageError(message, remedy=f"use {task.type} for arrays and sums")


def _with_others(spec: KernelSpec, main: str, texts: dict[str, str]) -> KernelSpec:
    others = _others(main, texts)
    return replace(spec, own_name=main, project=others) if others else spec


def _others(main: str, texts: dict[str, str]) -> tuple[ProjectFile, ...]:
    """The other files of a hand-in."""
    return tuple(ProjectFile(name, text) for name, text in texts.items() if name != main)


def _check_text(source: SourceText) -> None:
    """Raises SourceError for the first error of a compiler, unless it may come from a header that isn't there."""
    refusal: SourceError | None = reader().run("refusal", source)
    if refusal is not None and not _missing(source):
        raise refusal.in_file(source.main)


def _missing(source: SourceText) -> tuple[str, ...]:
    """Headers that neither the hand-in nor gemmviz has."""
    missing: tuple[str, ...] = reader().run("missing", source)
    return missing


class _Opening:
    """Reads the launch of a kernel without a header. The roles of its parameters are the task's, else those of their names."""

    def __init__(self, task: Task, main: str, texts: dict[str, str]) -> None:
        self.task, self.main, self.texts = task, main, texts
        project = _others(main, texts)
        self.source = KernelText(main.rpartition("/")[2], main, texts[main], main if project else "", project)
        self.outline = self._outline(main)

    def opened(self) -> OpenedHandIn:
        kernel, note = self._kernel()
        if missing := _missing(SourceText(self.main, self.texts, self.main)):
            note = " ".join(filter(None, (note, f"Headers that were not handed in: {', '.join(missing)}.")))
        launch, where = self._launch_of(kernel)
        mistake = launch_mistake(self.texts, kernel, launch, has_launch_elsewhere=bool(self.task.launch.grid))
        if launch is not None and launch.is_read:
            draft = draft_of(kernel, completed(launch, kernel, {}))
            spec = self._spec(draft, GivenLaunch())
            inputs, outputs = self._buffers(spec, draft)
            mistake = mistake or copy_mistake(launch, inputs, outputs)
            has_factors = any(each.kind == "real" for each in draft.parameters)  # which may multiply old values by 0
            has_no_values = bool(outputs) and not has_factors and all(map(is_unset, outputs))
            if spec.tied_sizes and self._has_sizes(draft):
                spec, assumed = self._untied(kernel, launch, spec)
                note = " ".join(filter(None, (note, assumed)))
            return OpenedHandIn(spec, mistake, note, has_no_values)
        spec, assumed = self._without_launch(kernel, launch)
        return OpenedHandIn(spec, mistake, " ".join(filter(None, (note, assumed, where))))

    def _buffers(self, spec: KernelSpec, draft: Draft) -> tuple[list[BufferOutline], list[BufferOutline]]:
        """The memory of the inputs and of the outputs; without that which is both."""
        found = [(each.buffer, role) for each, role in zip(draft.parameters, spec.args, strict=True) if each.buffer is not None]
        outputs = [buffer for buffer, role in found if role in spec.problem.output_names]
        names = {each.name for each in outputs}
        return [buffer for buffer, role in found if buffer.name not in names], outputs

    def _outline(self, main: str) -> FileOutline:
        return outline_of(Project(Path(), main, self.texts))

    # Which kernel

    def _kernel(self) -> tuple[KernelOutline, str]:
        """The kernel that the task names, else the first one that is launched and has as many arrays as the problem."""
        kernels = list(self.outline.kernels)
        if not kernels:
            raise SourceError(
                "the file has no kernel", file=self.main, remedy="a kernel is a function that begins with __global__ void"
            )
        entry = self.task.launch.entry.split("<")[0].strip()
        named = [each for each in kernels if f"::{each.name}".endswith(f"::{entry}")] if entry else []
        if named:
            return named[0], ""
        if entry and len(kernels) > 1:
            names = [each.name for each in kernels]
            raise UsageError(
                f"the file has no kernel {entry}",
                file=self.main,
                remedy=closest(entry, names) or f"its kernels are {', '.join(names)}",
            )
        launched = [each.kernel for each in self.outline.launches]
        arrays = (
            len(PROBLEM_KINDS[self.task.launch.kind].arrays) if self.task.launch.kind else len(self.task.problem.kind.arrays)
        )

        def rank(kernel: KernelOutline) -> tuple[bool, bool, int]:
            fits = sum(each.is_pointer for each in kernel.parameters) == arrays
            return not fits, kernel.name not in launched, launched.index(kernel.name) if kernel.name in launched else 0

        chosen = min(kernels, key=rank)
        note = f"The task names the kernel {entry}; {chosen.name} is judged." if entry else ""
        if len(kernels) > 1:
            note = f"Of {len(kernels)} kernels, {chosen.name} is judged."
        return chosen, note

    # Its launch

    def _launch_of(self, kernel: KernelOutline) -> tuple[LaunchOutline | None, str]:
        """The first launch of the kernel that can be read, in this file or another one; and what can't be read of it."""
        launches, count = list(self.outline.launches_of(kernel.name)), len(kernel.parameters)
        if sum(each.name == kernel.name for each in self.outline.kernels) > 1:
            launches = [each for each in launches if len(each.arguments) == count]
        function = kernel.name.rpartition("::")[2]
        for name in [each for each, text in self.texts.items() if each != self.main and function in text][:_MOST_FILES]:
            if launches:
                break
            launches = [each for each in self._outline(name).launches if each.kernel.rpartition("::")[2] == function]
        launch = next((each for each in launches if each.is_read), launches[0] if launches else None)
        if launch is None or launch.is_read:
            return launch, ""
        return launch, " ".join(f"The {each.part} can't be read: {each.reason}." for each in launch.unread[:2])

    def _without_launch(self, kernel: KernelOutline, launch: LaunchOutline | None) -> tuple[KernelSpec, str]:
        """The kernel with the task's launch; without one, with the usual launch that gives a right result. Raises UsageError if
        none does: it can't be told then whether the launch or the kernel is wrong.
        """
        given = self.task.launch
        tiles = next(tilings(kernel))
        draft = draft_of(kernel, launch_by_names(kernel, tiles) if launch is None else completed(launch, kernel, tiles))
        if given.block and given.grid:
            spec = self._spec(draft, GivenLaunch(block=given.block, grid=given.grid, shared_bytes=given.shared_bytes))
            self._check_names(spec)
            return spec, ""
        specs = self._guessed(draft)
        chosen = self._right_one(specs)
        if chosen is None and launch is not None:  # there is a launch that can't be read: the kernel isn't to blame
            first = launch.unread[0]
            what = tr(NOT_READ, part=first.part, line=first.place.line, reason=first.reason)
            error = not_confirmed(replace(specs[0], unconfirmed=what))
            assert error is not None
            raise UsageError(
                error.message, launch.place, file=launch.file, remedy="launch it with the sizes themselves", id="unsupported"
            )
        if chosen is None:
            raise self._without_usual_launch(kernel, specs)
        return chosen, f"The launch is assumed: block ({', '.join(chosen.block)}), grid ({', '.join(chosen.grid)})."

    def _has_sizes(self, draft: Draft) -> bool:
        """Whether a kernel has a parameter for each size, so that it can be judged at others than those of the host code."""
        return len([each for each in draft.parameters if each.kind == "whole"]) >= len(self._sizes())

    def _untied(self, kernel: KernelOutline, launch: LaunchOutline, tied: KernelSpec) -> tuple[KernelSpec, str]:
        """The kernel of host code that passes one number for several sizes, launched with its block for sizes that differ.
        Raises UsageError if no usual grid gives a right result: it can't be told then whether the grid or the kernel is wrong.
        """
        named = launch_by_names(kernel, {})
        names = (*launch.names, *(each for each in named.names if each.name not in launch.values))
        draft = draft_of(kernel, replace(launch, arguments=named.arguments, names=names, buffers=named.buffers, grid=()))
        rows, columns, *_ = self._sizes() * 2
        grids = [
            tuple(
                renamed(each, dict.fromkeys(self._sizes(), size)) for each, size in zip(tied.grid, (*order, rows), strict=False)
            )
            for order in ((columns, rows), (rows, columns))
        ]
        specs = [*(self._spec(draft, GivenLaunch(grid=each)) for each in grids), *self._guessed(draft)]
        chosen = self._right_one(specs)
        if chosen is None and (error := _first_error(specs[0])) is not None and error.id == "unsupported":
            raise error
        if chosen is None:
            message = (
                f"the host code passes one number for several sizes, and no usual grid makes {kernel.name} right at others"
            )
            remedy = "launch it with a variable for each size"
            raise UsageError(message, launch.place, file=launch.file, remedy=remedy, id="unsupported")
        return chosen, f"The host code passes one number for several sizes; the grid is assumed: ({', '.join(chosen.grid)})."

    def _sizes(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.task.problem.kind.sizes if not each.is_optional)

    def _guessed(self, draft: Draft) -> list[KernelSpec]:
        """The kernel with usual launches; with the block of the draft if it has one."""
        found = guesses(self.source.text, draft.tile_values, self._sizes())
        return [
            self._spec(draft, replace(each, block=() if draft.block else each.block)) for each in islice(found, _MOST_GUESSES)
        ]

    def _right_one(self, specs: list[KernelSpec]) -> KernelSpec | None:
        """The first kernel whose result is right at its own sizes, rather one that is right at the largest size too."""
        right = [each for each in specs if _is_right(each)]
        return next((each for each in right if self._is_right_at_most(each)), right[0] if right else None)

    def _is_right_at_most(self, spec: KernelSpec) -> bool:
        """Whether the result is right at the largest size: a block that is larger than a tile may be right at small ones."""
        largest = max(self.task.sizes, key=lambda each: math.prod(each.problem.values()))
        try:
            return _is_right(replace(spec, problem=setup_for(spec).changed(**largest.problem).problem))
        except GemmvizError:
            return False

    def _check_names(self, spec: KernelSpec) -> None:
        """Raises UsageError if the task's launch uses a name that the hand-in doesn't define."""
        setup = setup_for(spec, device=self.task.device)
        known = names_for(setup, device_for(setup))
        formulas = (*spec.block, *spec.grid, spec.shared_bytes)
        for name in names_in(formulas):
            if not name.isdigit() and name not in known:
                message = f"the task launches the kernel with {name}, which the file doesn't define"
                raise UsageError(message, file=self.main, remedy=f"define {name} as a macro or a template parameter")

    def _without_usual_launch(self, kernel: KernelOutline, specs: list[KernelSpec]) -> GemmvizError:
        """The error of a kernel that no usual launch makes right: what the interpreter can't run is no mistake, and what the
        likeliest launch shows tells the student where to look.
        """
        message = f"{kernel.name} is launched nowhere, and no usual launch gives a right result"
        error = _first_error(specs[0]) if specs else None
        if error is not None and error.id == "unsupported":
            return error
        if error is not None:
            where = "" if error.place is None else f"line {error.place.line}: "
            message += f"; with block ({', '.join(specs[0].block)}), {where}{error.message}"
        return UsageError(message, file=self.main, remedy="launch it in the host code, as the task says")

    # Its parameters

    def _spec(self, draft: Draft, launch: GivenLaunch) -> KernelSpec:
        """The kernel with its launch and the roles of its parameters."""
        kind = self.task.problem.kind
        self._check_count(draft)
        given = replace(self.task.launch, block=launch.block, grid=launch.grid, shared_bytes=launch.shared_bytes, entry="")
        specs = [given.applied(each) for each in islice(self._specs(draft), _MOST_ROLES)]
        if not specs:
            arrays = ", ".join(each.name for each in kind.arrays)
            raise UsageError(
                f"{draft.entry} has {len(draft.pointers)} pointers; the task has the arrays {arrays}", file=self.main,
                remedy="write the parameters that the task gives",
            )  # fmt: skip
        if len(specs) == 1 or (given.args and kind.name not in IN_PARTS):
            return specs[0]
        return self._right_one(specs) or specs[0]

    def _check_count(self, draft: Draft) -> None:
        """Raises UsageError for a kernel with other parameters than the task gives in order."""
        given, names = self.task.launch.args, [each.name for each in draft.parameters]
        if given and not any("=" in each for each in given) and len(given) != len(names):
            message = f"{draft.entry} has {len(names)} parameters, {', '.join(names)}; the task wants {len(given)}"
            raise UsageError(message, file=self.main, remedy=f"write them in the order {', '.join(given)}")

    def _specs(self, draft: Draft) -> Iterator[KernelSpec]:
        """The kernel with each likely choice of its parameters' roles: those of the task alone if it gives them. Otherwise the
        arrays are those of the likeliest choice: a kernel whose result is right for exchanged arrays is wrong.
        """
        task, arrays = self.task, None
        for roles in candidates(draft, task.problem.kind):
            if arrays not in (None, roles.arrays):
                continue
            spec = self._with_roles(draft, roles)
            if not task.launch.args or _agrees(spec, task.launch):
                arrays = roles.arrays
                yield spec
                for problem in problems_of(self.source, draft, roles):
                    if problem != spec.problem:  # a sum for each block
                        yield replace(spec, problem=problem)
        if arrays is None and task.launch.args:
            yield from self._by_arguments(draft)

    def _by_arguments(self, draft: Draft) -> Iterator[KernelSpec]:
        """The kernel with the task's roles, whatever the names are."""
        for roles in islice(candidates(draft, self.task.problem.kind), 1):
            yield self._with_roles(draft, roles)

    def _with_roles(self, draft: Draft, roles: Roles) -> KernelSpec:
        column_major = self.task.launch.column_major or frozenset()
        return spec_of(self.source, draft, roles, problem_of(self.source, draft, roles), column_major)


def _agrees(spec: KernelSpec, given: GivenLaunch) -> bool:
    """Whether the roles of a kernel's parameters are the given ones."""
    named = given.arguments(spec.parameter_names)
    return all(named.get(name, own) == own for name, own in zip(spec.parameter_names, spec.args, strict=True))


def _first_error(spec: KernelSpec) -> GemmvizError | None:
    """The error that a run of the kernel ends with; None if it ends without one, or takes too long."""
    try:
        setup = setup_for(spec)
        if can_run(setup):
            trial_of(setup, WorkBudget())
    except GemmvizError as error:
        return error
    return None


def _is_right(spec: KernelSpec) -> bool:
    try:
        return is_right(spec, WorkBudget())
    except GemmvizError:
        return False
