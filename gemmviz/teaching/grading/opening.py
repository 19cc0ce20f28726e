"""A hand-in to the kernel that is judged: its text as a student wrote it, its launch, and the roles of its parameters."""

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct, structs

from gemmviz.cuda.launch.draft import Draft, draft_of
from gemmviz.cuda.launch.formula import names_in, renamed
from gemmviz.cuda.launch.guessed_launch import FACTOR, completed, launch_by_names
from gemmviz.cuda.launch.launch_form import not_confirmed
from gemmviz.cuda.launch.legality import can_run, device_for, names_for, setup_for
from gemmviz.cuda.launch.roles import fits
from gemmviz.cuda.parser.source_text import SourceText
from gemmviz.cuda.program import reader
from gemmviz.files.kernel_file import has_header, parse_kernel
from gemmviz.model.element_types import element_type_of_c
from gemmviz.model.kernel import BLANK, KernelSpec
from gemmviz.model.messages import GemmvizError, SourceError, UsageError
from gemmviz.model.outline import COMMENT, BufferOutline, KernelOutline, LaunchOutline
from gemmviz.model.problem import Problem
from gemmviz.model.problems import MULTIPLY
from gemmviz.run.cpu.executor import bound
from gemmviz.run.data import rounding_in
from gemmviz.run.loader import LaunchSearch, LaunchUnknown
from gemmviz.run.project import Project
from gemmviz.run.trial import WorkBudget, is_right, trial_of
from gemmviz.teaching.grading.task import LAUNCH, HandIn, Task

# Host code to the mistake in it that leaves the result unwritten on a GPU: no launch, or a copy that is missing or wrong.

_COPY_FINDING = "host-copy"
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
        is_program = any(_MAIN.search(COMMENT.sub(" ", text)) for text in texts.values())
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
        if each.memory in ("host", "none"):
            message = f"{each.name} is " + ("memory of the host" if each.memory == "host" else "never allocated")
            remedy = "allocate memory of the GPU with cudaMalloc and copy with cudaMemcpy, or use cudaMallocManaged"
            return HostMistake(_COPY_FINDING, UsageError(message, launch.place, file=launch.file, remedy=remedy))
        if each.memory == "device" and each.misdirected is not None and not each.passed:
            message = f"{each.name} is memory of the GPU, and the direction of this copy is the opposite one"
            remedy = f"{_TO_DEVICE} copies to the GPU, {_TO_HOST} from it"
            return HostMistake(_COPY_FINDING, UsageError(message, each.misdirected, file=launch.file, remedy=remedy))
    for each in inputs:
        if each.memory == "device" and not (each.is_copied_in or each.is_zeroed or "before" in each.passed):
            message = f"{each.name} is never filled before the launch: nothing is copied to it"
            remedy = f"copy the values to it with cudaMemcpy(…, {_TO_DEVICE})"
            return HostMistake(_COPY_FINDING, UsageError(message, launch.place, file=launch.file, remedy=remedy))
    for each in outputs:
        if each.memory == "device" and not (each.is_copied_out or "after" in each.passed):
            message = f"the result is never copied back from the GPU: {each.name} is not read behind the launch"
            remedy = f"copy it with cudaMemcpy(…, {_TO_HOST})"
            return HostMistake(_COPY_FINDING, UsageError(message, launch.place, file=launch.file, remedy=remedy))
    return None


def is_unset(buffer: BufferOutline) -> bool:
    """Whether the host code allocates memory and gives it no values before the launch."""
    return buffer.memory == "device" and not (buffer.is_zeroed or buffer.is_copied_in or "before" in buffer.passed)


def _joined_notes(notes: Iterable[str]) -> str:
    return " ".join(filter(None, notes))


class OpenedHandIn(Struct, frozen=True):
    """The kernel of a hand-in. ``host``: a mistake in the host code, None if it has none; ``note``: what was assumed;
    ``is_unset``: the result's memory holds no values before the launch; ``refusal``: why a compiler refuses the file, although
    its kernel can be run; None if it doesn't.
    """

    kernel: KernelSpec
    host: HostMistake | None = None
    note: str = ""
    is_unset: bool = False
    refusal: SourceError | None = None


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
    texts = _texts_with_task(hand_in, task)
    refusal: SourceError | None = None
    if task.shot is not None and task.shot.setup.kernel.blanks:
        spec = structs.replace(task.shot.setup.kernel, text=text, file=main, is_shipped=False)
        refusal = _compiler_error(SourceText(main, texts, main, {name: str(value) for name, value in spec.defaults.items()}))
        return OpenedHandIn(spec, refusal=refusal)
    try:
        if has_header(text) and not any(LAUNCH in each for each in texts.values()):
            spec = parse_kernel(text, main)
            refusal = _compiler_error(
                SourceText(main, texts, main, {name: str(value) for name, value in spec.defaults.items()})
            )
            others = Project(None, main, texts).others
            spec = structs.replace(_without_claims(spec, task), own_name=main if others else spec.own_name, project=others)
            opened = OpenedHandIn(task.launch.applied(spec))
        else:
            refusal = _compiler_error(SourceText(main, texts, main))
            opened = _Opening(task, main, texts).opened()
    except GemmvizError:
        if refusal is None:
            raise
        raise refusal from None
    kernel = structs.replace(opened.kernel, problem=_judged_problem(opened.kernel.problem, task))
    return structs.replace(opened, kernel=kernel, refusal=refusal)


def _texts_with_task(hand_in: HandIn, task: Task) -> dict[str, str]:
    """The files of a hand-in and of the task. A hand-in can't replace one of the task's, in any folder."""
    given = dict(task.files)
    own = {name: text for name, text in hand_in.texts.items() if name.rpartition("/")[2] not in given}
    return {**own, **given}


def _without_claims(spec: KernelSpec, task: Task) -> KernelSpec:
    """A kernel with a header, without what its header says about the problem: the task alone says what is right."""
    return structs.replace(
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
    rounding = rounding_in(binding.setup.problem, binding.element_types, binding.program)
    if max(rounding.each, rounding.once, *(each.roundoff for each in types)) <= wanted.roundoff:
        return None
    message = f"the arrays or the arithmetic of {kernel.function} are less precise than {task.type}"
    return UsageError(message, remedy=f"use {task.type} for arrays and sums")


def _compiler_error(source: SourceText) -> SourceError | None:
    """The first error of a compiler; None if there is none, or if it may come from a header that isn't there."""
    refusal: SourceError | None = reader().run("refusal", source)
    if refusal is None or _missing_headers(source):
        return None
    refusal.in_file(source.main)
    return refusal


def _missing_headers(source: SourceText) -> tuple[str, ...]:
    """Headers that neither the hand-in nor gemmviz has."""
    missing: tuple[str, ...] = reader().run("missing", source)
    return missing


class _Opening:
    """Opens a kernel without a header as the window does, with what the task gives of its launch."""

    def __init__(self, task: Task, main: str, texts: dict[str, str]) -> None:
        self.task, self.main, self.texts = task, main, texts
        by_columns = task.launch.column_major or frozenset()
        self.given = structs.replace(task.launch, kind=task.problem.kind.name, column_major=by_columns)
        self.search = LaunchSearch(
            Project(None, main, texts), Path(main), self.given, as_written=True, accepts=self._is_right_at_most
        )
        (self.kernel,) = self.search.kernels
        launches = self.search.launches_of(self.kernel)
        self.launch = next((each for each in launches if each.is_read), launches[0] if launches else None)

    def opened(self) -> OpenedHandIn:
        launch, notes = self.launch, [self._which()]
        if missing := _missing_headers(SourceText(self.main, self.texts, self.main)):
            notes.append(f"Headers that were not handed in: {', '.join(missing)}.")
        draft = draft_of(self.kernel, completed(launch or launch_by_names(self.kernel, {}), self.kernel, {}))
        self._check_parameters(draft)
        mistake = launch_mistake(self.texts, self.kernel, launch, has_launch_elsewhere=bool(self.given.grid))
        try:
            spec = self.search.kernel()
        except LaunchUnknown as error:
            raise self._unknown(error) from None
        if launch is None or not launch.is_read:
            if spec.unconfirmed:
                notes.append(f"The launch is assumed: block ({', '.join(spec.block)}), grid ({', '.join(spec.grid)}).")
            notes += [f"The {each.part} can't be read: {each.reason}." for each in launch.unread[:2]] if launch else []
            self._check_names(spec)
            return OpenedHandIn(spec, mistake, _joined_notes(notes))
        inputs, outputs = _buffers(spec, draft)
        mistake = mistake or copy_mistake(launch, inputs, outputs)
        has_factors = any(each.kind == "real" for each in draft.parameters)  # which may multiply old values by 0
        has_no_values = bool(outputs) and not has_factors and all(map(is_unset, outputs))
        if spec.tied_sizes and len([each for each in draft.parameters if each.kind == "whole"]) >= len(self._sizes()):
            spec = self._untied(launch, spec)
            notes.append(f"The host code passes one number for several sizes; the grid is assumed: ({', '.join(spec.grid)}).")
        return OpenedHandIn(spec, mistake, _joined_notes(notes), has_no_values)

    def _which(self) -> str:
        """Which kernel is judged, where the task leaves it open or names another one."""
        count, entry = len(self.search.names), self.task.launch.entry.split("<")[0].strip()
        if f"::{self.kernel.name}".endswith(f"::{entry}") and entry:
            return ""
        if count > 1:
            return f"Of {count} kernels, {self.kernel.name} is judged."
        return f"The task names the kernel {entry}; {self.kernel.name} is judged." if entry else ""

    def _check_parameters(self, draft: Draft) -> None:
        """Raises UsageError for a kernel with other parameters than the task gives in order, or with other arrays."""
        given, names, kind = self.given, [each.name for each in draft.parameters], self.task.problem.kind
        if given.is_complete and len(given.args) != len(names):
            message = f"{draft.entry} has {len(names)} parameters, {', '.join(names)}; the task wants {len(given.args)}"
            raise UsageError(message, file=self.main, remedy=f"write them in the order {', '.join(given.args)}")
        if not draft.has_open_parameters and not fits(draft, kind):
            arrays = ", ".join(each.name for each in kind.arrays)
            message = f"{draft.entry} has {len(draft.pointers)} pointers; the task has the arrays {arrays}"
            raise UsageError(message, file=self.main, remedy="write the parameters that the task gives")

    def _check_names(self, spec: KernelSpec) -> None:
        """Raises UsageError if the task's launch uses a name that the hand-in doesn't define."""
        setup = setup_for(spec, device=self.task.device)
        known = names_for(setup, device_for(setup))
        for name in names_in((*spec.block, *spec.grid, spec.shared_bytes)):
            if not name.isdigit() and name not in known:
                message = f"the task launches the kernel with {name}, which the file doesn't define"
                raise UsageError(message, file=self.main, remedy=f"define {name} as a macro or a template parameter")

    def _sizes(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.task.problem.kind.sizes if not each.is_optional)

    def _untied(self, launch: LaunchOutline, tied: KernelSpec) -> KernelSpec:
        """The kernel of host code that passes one number for several sizes, launched with its block for sizes that differ.
        Raises UsageError if no usual grid gives a right result: it can't be told then whether the grid or the kernel is wrong.
        """
        named = launch_by_names(self.kernel, {})
        names = (*launch.names, *(each for each in named.names if each.name not in launch.values))
        draft = draft_of(
            self.kernel, structs.replace(launch, arguments=named.arguments, names=names, buffers=named.buffers, grid=())
        )
        rows, columns, *_ = self._sizes() * 2
        grids = [
            tuple(
                renamed(each, dict.fromkeys(self._sizes(), size)) for each, size in zip(tied.grid, (*order, rows), strict=False)
            )
            for order in ((columns, rows), (rows, columns))
        ]
        message = "the host code passes one number for several sizes"
        spec = self.search.relaunched(draft, grids, f"{message}, and this grid is assumed")
        if spec is not None:
            return spec
        error = _first_error(self.search.likeliest(self.kernel))
        if error is not None and error.id == "unsupported":
            raise error
        message += f", and no usual grid makes {self.kernel.name} right at others"
        remedy = "launch it with a variable for each size"
        raise UsageError(message, launch.place, file=launch.file, remedy=remedy, id="unsupported")

    def _is_right_at_most(self, spec: KernelSpec) -> bool:
        """Whether the result is right at the largest size: a block that is larger than a tile may be right at small ones."""
        largest = max(self.task.sizes, key=lambda each: math.prod(each.problem.values()))
        try:
            return is_right(structs.replace(spec, problem=setup_for(spec).changed(**largest.problem).problem), WorkBudget())
        except GemmvizError:
            return False

    def _unknown(self, unknown: LaunchUnknown) -> GemmvizError:
        """The error of a kernel that no usual launch makes right: what the interpreter can't run is no mistake, and what the
        likeliest launch shows tells the student where to look.
        """
        spec, launch = self.search.likeliest(self.kernel), self.launch
        if launch is not None:  # the kernel isn't to blame
            doubt = None if spec is None else not_confirmed(spec)
            message = unknown.message if doubt is None else doubt.message
            remedy = "launch it with the sizes themselves"
            return UsageError(message, launch.place, file=launch.file, remedy=remedy, id="unsupported")
        message = f"{self.kernel.name} is launched nowhere, and no usual launch gives a right result"
        error = None if spec is None else _first_error(structs.replace(spec, unconfirmed=""))
        if error is not None and error.id == "unsupported":
            return error
        if spec is not None and error is not None:
            where = "" if error.place is None else f"line {error.place.line}: "
            message += f"; with block ({', '.join(spec.block)}), {where}{error.message}"
        return UsageError(message, file=self.main, remedy="launch it in the host code, as the task says")


def _buffers(spec: KernelSpec, draft: Draft) -> tuple[list[BufferOutline], list[BufferOutline]]:
    """The memory of the inputs and of the outputs; without that which is both."""
    roles = dict(zip(spec.parameter_names, spec.args, strict=True))
    found = [(each.buffer, roles.get(each.name)) for each in draft.parameters if each.buffer is not None]
    outputs = [buffer for buffer, role in found if role in spec.problem.output_names]
    names = {each.name for each in outputs}
    return [buffer for buffer, role in found if buffer.name not in names], outputs


def _first_error(spec: KernelSpec | None) -> GemmvizError | None:
    """The error that a run of the kernel ends with; None if it ends without one, or takes too long."""
    try:
        setup = None if spec is None else setup_for(spec)
        if setup is not None and can_run(setup):
            trial_of(setup, WorkBudget())
    except GemmvizError as error:
        return error
    return None
