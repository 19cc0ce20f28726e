"""Verdicts on exercises: what a kernel must meet, whether a student's does at each size at which it is judged, and where the
first wrong access is if it doesn't.
"""

import re
from collections.abc import Callable, Iterable
from itertools import zip_longest
from random import Random
from typing import Any, Literal

import numpy as np
from msgspec import Struct, structs

from gemmviz.analysis.counts import LaunchCounter
from gemmviz.analysis.replay.focus import Position, thread_text
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.launch_form import not_confirmed
from gemmviz.cuda.launch.legality import can_run, device_for
from gemmviz.cuda.program import check_source, program_for
from gemmviz.files.answer_file import answer_key
from gemmviz.model.kernel import BLANK, KernelSpec
from gemmviz.model.messages import GemmvizError, Place, SourceError, marked, tr
from gemmviz.model.outline import COMMENT
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import SumKey
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import Triple
from gemmviz.model.trace import Outcome, Trace, Watched
from gemmviz.run.engine import CountRequest, Engine, EngineRequest, TraceRequest, WatchRequest
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson import Exercise, ExerciseSize, Expectation, answers_of, shown_value
from gemmviz.teaching.quantities.catalog import quantity_title, quantity_value
from gemmviz.teaching.quantities.quantity import QuantityValue, parse_reference

# Requirements on a kernel, judged at one size: a kernel's run to the values of quantities, and whether each is as required.

# The first wrong access of a run that fails an exercise, as the shot that shows it: a fault, a hazard, the store of a wrong
# element of C, or the end if elements are never written.


def at_wrong_access(facts: Knowledge) -> Shot:
    """The shot, moved to the wrong access of its run and to the block in which it happens; unchanged if none is known."""
    shot, trace = facts.shot, facts.outcome.trace
    if trace is None:
        return shot
    if (fault := facts.outcome.fault) is not None:
        place: tuple[int, Triple] | None = trace.steps - 1, fault.block or shot.focus.block
    else:
        place = _hazard(facts.replay) or _wrong_store(facts.replay) or _end_without(facts)
    if place is None:
        return shot
    step, block = place
    return structs.replace(shot, at=Position(step=step), focus=structs.replace(shot.focus, block=block, warp=None, thread=None))


def _hazard(replay: Replay) -> tuple[int, Triple] | None:
    first = next(iter(replay.hazards), None)
    return None if first is None else (first.step, first.block)


def _wrong_store(replay: Replay) -> tuple[int, Triple] | None:
    """The step that stores the first wrong element, and its block."""
    wrong, owners = replay.trace.check.wrong_elements[:1], replay.owners
    at = np.flatnonzero(owners.elements == wrong[0]) if wrong else np.zeros(0, np.int64)
    return None if not len(at) else (int(owners.steps[at[0]]), replay.trace.space.indices(int(owners.threads[at[0]]))[0])


def _end_without(facts: Knowledge) -> tuple[int, Triple] | None:
    """The last step of a run that leaves elements unwritten, and the block in focus."""
    trace = facts.replay.trace
    return (trace.steps - 1, facts.shot.focus.block) if trace.check.unwritten else None


Relation = Literal["is", "at_most", "at_least"]


class QuantityRequirement(Struct, frozen=True):
    """What a quantity must be. ``relation``: how its value must compare with ``value``; ``about``: tolerance of "is", as a
    fraction of ``value``.
    """

    quantity: str
    value: QuantityValue
    relation: Relation = "is"
    about: float = 0.0

    def is_met_by(self, actual: QuantityValue) -> bool:
        """Whether a computed value is as required. A limit is never met by a text."""
        if self.relation == "is":
            return Expectation(self.quantity, self.value, about=self.about).is_met_by(actual)
        if isinstance(actual, str) or isinstance(self.value, str):
            return False
        return actual <= self.value if self.relation == "at_most" else actual >= self.value

    @property
    def words(self) -> str:
        """The required value, as in ``at most 4``."""
        value = shown_value(self.value) or "none"
        match self.relation:
            case "at_most":
                return tr("at most {shown_value}", shown_value=value)
            case "at_least":
                return tr("at least {shown_value}", shown_value=value)
        return f"{value} ± {100 * self.about:g} %" if self.about else value


class JudgedQuantity(Struct, frozen=True):
    """A requirement: the displayed name of a quantity, its value, the ``required`` one, and whether it is met."""

    title: str
    value: str
    required: str
    is_met: bool


class SizeRun:
    """The run of a kernel at one size, whose requirements are judged. Raises GemmvizError for a size that the kernel can't
    have.
    """

    def __init__(self, size: ExerciseSize, shot: Shot, engine: Engine) -> None:
        self.size = size
        self.shot = structs.replace(shot, setup=shot.setup.changed(**size.problem, **size.parameters))
        self.facts = Knowledge(self.shot, engine)

    def judged(self, requirements: Iterable[QuantityRequirement]) -> tuple[tuple[JudgedQuantity, ...], GemmvizError | None]:
        """The requirements in order, and the error of the first one whose value can't be computed, which ends them. One that
        isn't met is no finding if the launch isn't confirmed: the error says so.
        """
        rows: list[JudgedQuantity] = []
        try:
            for each in requirements:
                rows.append(_judged_row(each, quantity_value(each.quantity, self.facts)))
        except GemmvizError as error:
            return tuple(rows), error
        return tuple(rows), None if all(each.is_met for each in rows) else not_confirmed(self.shot.setup.kernel)

    def wrong_access(self) -> Shot | None:
        """The shot of what is wrong; None for a kernel that can't be run."""
        try:
            return at_wrong_access(self.facts)
        except GemmvizError:
            return None


def _judged_row(requirement: QuantityRequirement, value: QuantityValue) -> JudgedQuantity:
    title = quantity_title(requirement.quantity)
    return JudgedQuantity(title, shown_value(value) or "none", requirement.words, requirement.is_met_by(value))


# The costliest access of a run whose counts are beyond a limit, as the shot that shows it.

_SHARED_WORDS = ("wavefronts", "bank", "shared")


def at_costly_access(facts: Knowledge, requirements: Iterable[QuantityRequirement]) -> Shot:
    """The shot, moved to the first access that moves most sectors per request, or takes most wavefronts where the requirements
    are about shared memory; of the array that they name, if they name one; of equal ones the most frequent one.
    """
    references = [parse_reference(each.quantity) for each in requirements]
    is_shared = any(
        word in text for each in references for text in (each.id, *each.arguments.values()) for word in _SHARED_WORDS
    )
    array = next((each.arguments["array"] for each in references if "array" in each.arguments), None)
    trace, reader = facts.replay.trace, Reader(facts.replay, facts.shot.focus)
    best, at = (-1, 0), 0
    for step, times in _first_steps(facts).items():
        names = {trace.arrays[each.array].name for each in trace.site_of(step).operands}
        if array is not None and array not in names:
            continue
        cost = reader.at(step).cost
        excess = cost.excessive_wavefronts if is_shared else cost.excessive_sectors
        if (excess, times) > best:
            best, at = (excess, times), step
    return structs.replace(facts.shot, at=Position(step=at))


def _first_steps(facts: Knowledge) -> dict[int, int]:
    """The first step of each site, and the number of its steps."""
    sites, first, times = np.unique(facts.replay.trace.site, return_index=True, return_counts=True)
    return {int(first[number]): int(times[number]) for number in range(len(sites))}


# An engine that asks another one, and remembers its counts, its latest runs and what was watched in them: steps of a lesson
# often share a launch.

_MOST_KEPT_BYTES = 256 << 20  # of remembered traces and values
_VALUE_BYTES = 64  # about, of a watched variable at a step
_Sums = tuple[tuple[MemoryArray, ...], dict[SumKey, tuple[int, ...]]]


class RememberedAnswers(Engine):
    """The answers of ``engine``, each computed once. Its faults and errors are raised each time."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.name = engine, engine.name
        self._sums: dict[str, _Sums] = {}
        self._runs: dict[tuple[object, ...], Outcome | Watched] = {}

    def answer(self, request: EngineRequest) -> Any:
        match request:
            case TraceRequest(setup, blocks, recording):
                return self._run((_setup_key(setup), blocks, recording.values, recording.origins), request)
            case WatchRequest(setup, block, thread):
                return self._run((_setup_key(setup), block, thread), request)
            case CountRequest(setup, counter):
                return counter.add_sums(*self._sums_of(setup))
        return self.engine.answer(request)

    def _run(self, key: tuple[object, ...], request: EngineRequest) -> Outcome | Watched:
        answer = self._runs.pop(key, None)
        if answer is None:
            answer = self.engine.answer(request)
        self._runs[key] = answer  # at the end: the latest
        while len(self._runs) > 1 and sum(map(_size_bytes, self._runs.values())) > _MOST_KEPT_BYTES:
            self._runs.pop(next(iter(self._runs)))
        return answer

    def _sums_of(self, setup: Setup) -> _Sums:
        key = _setup_key(setup)
        if key not in self._sums:
            own = LaunchCounter(device_for(setup).rules)
            self.engine.count(setup, own)
            self._sums[key] = own.arrays, own.sums
        return self._sums[key]


def _setup_key(setup: Setup) -> str:
    return answer_key(setup, device_for(setup))


def _size_bytes(answer: Outcome | Watched) -> int:
    if isinstance(answer, Watched):
        return len(answer.rows) * len(answer.variables) * _VALUE_BYTES
    return 0 if answer.trace is None else answer.trace.element.nbytes


Fillings = tuple[str, ...]  # for the blanks of a kernel, in order

# Names in a student's answers that nvcc knows only after an #include, which the kernel's file hasn't. Reading a kernel is
# more lenient: a project's header that isn't at hand may have included them.

# What CUDA's own headers, which nvcc includes before each file, overload in std for a kernel.
_MATH_NAMES = (
    "abs|a?cosh?|a?sinh?|a?tanh?|atan2|ceil|floor|trunc|round|exp2?|log(?:10|2)?|pow|sqrt|fabs|fmod|fm(?:in|ax|a)|isnan|isinf"
)
_NAMES_OF_HEADERS = (
    (re.compile(rf"\bstd\s*::\s*(?!(?:{_MATH_NAMES})\b)\w+"), marked("a header of the standard library")),
    (re.compile(r"\b(?:cooperative_groups|cg)\s*::\s*\w+"), "cooperative_groups.h"),
    (re.compile(r"\bnvcuda\s*::\s*\w+"), "mma.h"),
    (re.compile(r"\bcuda\s*::\s*\w+"), marked("a header of libcu++")),
    (re.compile(r"\b(?:__)?half2?\b|\b__(?:half|float)2(?:half|float)\w*"), "cuda_fp16.h"),
    (re.compile(r"\b(?:__)?nv_bfloat16\w*"), "cuda_bf16.h"),
    (re.compile(r"\bCUDART_\w+"), "math_constants.h"),
    (re.compile(r"\b(?:FLT|DBL)_(?:MAX|MIN|EPSILON)\b"), "float.h"),
)
_REMOVED = re.compile(r"\b__(?:shfl(?:_up|_down|_xor)?|ballot|all|any)\b(?=\s*\()")


def check_names(answers: Iterable[str]) -> None:
    """Check the names in answers for a kernel without includes. Raises SourceError for one that nvcc doesn't know."""
    for answer in answers:
        code = COMMENT.sub("", answer)
        for pattern, header in _NAMES_OF_HEADERS:
            if name := pattern.search(code):
                remedy = tr("use what CUDA C++ has without an include")
                message = tr("{name} needs {header}, which isn't included", name=name[0], header=header)
                raise SourceError(message, remedy=remedy)
        if name := _REMOVED.search(code):
            remedy = tr("{name}_sync is the one with a mask", name=name[0])
            raise SourceError(tr("{name} is not in CUDA any more", name=name[0]), remedy=remedy)


# Sizes that are drawn at each try of an exercise, so that an answer can't know them.

_LARGEST_SIZE = 48  # of each size
_MOST_SIZES_TRIED = 20


def drawn_sizes(exercise: Exercise, setup: Setup, random: Random) -> list[ExerciseSize]:
    """Up to two sizes that an exercise doesn't list, without its limits: one between those that it lists, and one that is a
    fifth or more larger, with the parameters of the largest.
    """
    listed = sorted((each for each in exercise.sizes if each.problem), key=lambda each: max(each.problem.values()))
    if not listed:
        return []
    first, last = (max(each.problem.values()) for each in (listed[0], listed[-1]))
    ways = ((random.choice(listed), first, last), (listed[-1], last + last // 5, _LARGEST_SIZE))
    drawn = (_random_size(each, first, last, setup, random) for each, first, last in ways if first < last)
    return [each for each in drawn if each is not None and each.problem not in [one.problem for one in listed]]


def _random_size(like: ExerciseSize, first: int, last: int, setup: Setup, random: Random) -> ExerciseSize | None:
    """A size with the parameters of another one: a multiple of the largest of them if nothing else runs."""
    tied = len(set(like.problem.values())) == 1
    width = max(like.parameters.values(), default=1)
    for number in range(_MOST_SIZES_TRIED):
        same = random.randint(first, last)
        values = [same if tied else random.randint(first, last) for _ in like.problem]
        if number % 2:
            values = [-(-value // width) * width for value in values]
        problem = dict(zip(like.problem, values, strict=True))
        if can_run(setup.changed(**problem, **like.parameters)):
            return structs.replace(like, problem=problem, at_most={})
    return None


# The blank of an exercise whose answer is wrong, and the first access that differs from what is right there.


def wrong_blank(answers: Fillings, key: Fillings, fails: Callable[[Fillings], bool]) -> int | None:
    """Number of the first blank whose answer fails among the right answers for the others, or else of the first that fails
    behind the answers before it; None if there is none.
    """
    other = [place for place, answer in enumerate(answers) if answer.strip() != key[place].strip()]
    if len(other) == 1:
        return other[0] + 1
    alone = ((at, (*key[:at], answers[at], *key[at + 1 :])) for at in other)
    behind = ((at, (*answers[: at + 1], *key[at + 1 :])) for at in other)
    return next((at + 1 for at, tried in (*alone, *behind) if fails(tried)), None)


class AccessDifference(Struct, frozen=True):
    """A sentence about an access that differs, its step in the run, None if the run lacks it, and the block."""

    sentence: str
    step: int | None
    block: Triple


def first_difference(shot: Shot, answers: Fillings, right_answers: Fillings, engine: Engine) -> AccessDifference | None:
    """The first access in which the run with ``answers`` differs from that with the right ones; None if there is none, or one
    of them can't be run.
    """
    kernel = shot.setup.kernel
    try:
        own, right = (
            engine.trace(structs.replace(shot.setup, kernel=kernel.filled(each))).trace for each in (answers, right_answers)
        )
    except GemmvizError:
        return None
    if own is None or right is None:
        return None
    for at, expected in zip_longest(_accessing_steps(own), _accessing_steps(right)):
        one, other = _access_text(own, at), _access_text(right, expected)
        threads = _threads_apart(own, at, right, expected)
        thread = next((thread for thread in threads if one(thread) != other(thread)), None)
        if thread is not None:
            block, _ = own.space.indices(thread)
            sentence = tr(
                "first difference: thread {thread} of block {block}, line {line}: {own}, expected: {right}",
                thread=thread_text(thread % own.space.threads_per_block, own.launch),
                block=f"({', '.join(map(str, block[: 3 if own.launch.grid[2] > 1 else 2]))})",
                line=(own.site_of(at) if at is not None else right.site_of(expected)).place.line,
                own=one(thread), right=other(thread),
            )  # fmt: skip
            return AccessDifference(sentence, at, block)
    return None


def _threads_apart(own: Trace, at: int | None, right: Trace, expected: int | None) -> Iterable[int]:
    """The threads that may do something else at two steps: those with other elements, if the steps access the same arrays."""
    if at is not None and expected is not None:
        (site, *one), (other_site, *other) = (
            (trace.site_of(step), *trace.element[trace.row[step] : trace.row[step + 1]])
            for trace, step in ((own, at), (right, expected))
        )
        arrays, others = (
            [(each.access, trace.arrays[each.array]) for each in of.operands]
            for trace, of in ((own, site), (right, other_site))
        )
        if (site.kind, arrays, len(one)) == (other_site.kind, others, len(other)) and own.space == right.space:
            return np.flatnonzero(np.any([a != b for a, b in zip(one, other, strict=True)], axis=0)).tolist()  # type: ignore[no-any-return]
    return range(own.space.thread_count)


def _accessing_steps(trace: Trace) -> list[int]:
    """The steps that read, write or wait."""
    return [step for step in range(trace.steps) if trace.site_of(step).kind != "branch"]


def _access_text(trace: Trace, step: int | None) -> Callable[[int], str]:
    """The function that says what a thread does at a step, as in "read Md[5]"."""
    if step is None:
        return lambda thread: tr("nothing")
    site, rows = trace.site_of(step), trace.element[trace.row[step] : trace.row[step + 1]]

    def said(thread: int) -> str:
        elements = np.asarray(rows[:, thread])
        parts = [
            f"{tr(operand.access)} {trace.arrays[operand.array].subscripted(int(element))}"
            for operand, element in zip(site.operands, elements, strict=False)
            if element >= 0
        ]
        return ", ".join(parts) or (tr(site.kind) if (elements >= 0).any() else tr("nothing"))

    return said


class Verdict(Struct, frozen=True):
    """The result of an exercise. ``size``: the size at which it failed, all sizes if it passed; ``rows``: the requirements at
    the last size that was run; ``error``: why there is no result; ``shot``: the picture of the wrong access, or of the first
    size if all are right; None if there is none. ``blank``: number of the blank that is wrong; ``difference``: the first access
    that differs from what is right there, or what else is said about that blank.
    """

    size: str = ""
    rows: tuple[JudgedQuantity, ...] = ()
    error: GemmvizError | None = None
    shot: Shot | None = None
    blank: int | None = None
    difference: str = ""

    @property
    def passed(self) -> bool:
        return self.error is None and not self.unmet

    @property
    def unmet(self) -> list[JudgedQuantity]:
        return [row for row in self.rows if not row.is_met]

    @property
    def lines(self) -> list[str]:
        """Lines for the student: the size, and the unmet requirements with the actual values."""
        at = tr("At {size}: ", size=self.size) if self.size else ""
        if self.error is not None:
            return [f"{at}{self.error}" if self.shot is not None else str(self.error)]
        if self.passed:
            return [tr("Done. {at}", at=at) + ", ".join(f"{row.title}: {row.value}" for row in self.rows)]
        about = "" if self.blank is None else tr("blank {number}: ", number=self.blank)
        said = [
            tr("{row_title}: {row_value}, required: {required}",
               row_title=row.title, row_value=row.value, required=row.required)
            for row in self.unmet if not (self.difference and _is_of_result(row))
        ]  # fmt: skip
        first, *others = [*filter(None, (self.difference,)), *said]
        return [at + about + first, *others]


def judged(exercise: Exercise, shot: Shot, engine: Engine, answers: Fillings = (), random: Random | None = None) -> Verdict:
    """The verdict on a shot, whose kernel is run with the ``answers`` in its blanks, at the sizes of the exercise and at others
    that ``random`` draws. The first size that fails ends it.
    """
    kernel = shot.setup.kernel
    filled = _with_answers(shot, answers)
    if left := filled.setup.kernel.blanks:
        return Verdict(
            error=GemmvizError(tr("{left} of the blanks are empty", left=left), remedy=tr("write something for each /*?*/"))
        )
    key = _right_answers(exercise)
    if answers and (error := _refusal(filled, answers)) is not None:
        number = _blank_of(error, kernel, answers, key, lambda tried: _refusal(_with_answers(shot, tried), tried) is not None)
        return Verdict(error=_with_blank(error, number, answers), blank=number)
    verdicts: list[Verdict] = []
    for size in (*(exercise.sizes or (ExerciseSize(),)), *drawn_sizes(exercise, shot.setup, random or Random())):
        verdict = _judged_at(exercise, size, filled, engine)
        if not verdict.passed:
            return _explained(verdict, exercise, size, shot, answers, engine)
        verdicts.append(verdict)
    return structs.replace(verdicts[-1], size="; ".join(each.size for each in verdicts), shot=verdicts[0].shot)


def _with_answers(shot: Shot, answers: Fillings) -> Shot:
    return structs.replace(shot, setup=structs.replace(shot.setup, kernel=shot.setup.kernel.filled(answers)))


def _right_answers(exercise: Exercise) -> Fillings:
    """The right answers for the blanks; () without any."""
    return answers_of(exercise.key) if exercise.key else exercise.solution.answers if exercise.solution else ()


def _explained(
    verdict: Verdict, exercise: Exercise, size: ExerciseSize, shot: Shot, answers: Fillings, engine: Engine
) -> Verdict:
    """The verdict at a size that failed, with the blank that is wrong, and the first access of a complete run that differs from
    that with the right answer there, or with all right answers if that one alone changes none.
    """
    key = _right_answers(exercise)

    def fails(tried: Fillings) -> bool:
        return not _judged_at(exercise, size, _with_answers(shot, tried), engine).passed

    number = _blank_of(verdict.error, shot.setup.kernel, answers, key, fails)
    if verdict.error is not None:
        return structs.replace(verdict, error=_with_blank(verdict.error, number, answers), blank=number)
    if number is None or len(key) != len(answers):
        return verdict
    at = structs.replace(shot, setup=shot.setup.changed(**size.problem, **size.parameters))
    mended = (*answers[: number - 1], key[number - 1], *answers[number:])
    found, is_wrong = first_difference(at, answers, mended, engine), [_is_of_result(row) for row in verdict.unmet]
    if found is None and fails(mended):
        found = first_difference(at, answers, key, engine)
    if found is None:
        wrong_value = tr("each thread reads and writes the right elements, but the value that it writes is wrong")
        return structs.replace(verdict, blank=number, difference=wrong_value if any(is_wrong) else "")
    shown = verdict.shot
    if shown is not None and found.step is not None and all(is_wrong):  # of a hazard, the shot shows the collision
        shown = structs.replace(shown, at=Position(step=found.step), focus=structs.replace(shown.focus, block=found.block))
    return structs.replace(verdict, blank=number, difference=found.sentence, shot=shown)


def _is_of_result(row: JudgedQuantity) -> bool:
    return row.title == quantity_title("result")


def _refusal(filled: Shot, answers: Fillings) -> GemmvizError | None:
    """Why a compiler would refuse the filled text; None for one that it takes."""
    setup = filled.setup
    try:
        check_source(setup.kernel, setup.definitions)
        program_for(setup.kernel, setup.definitions)
        if "#include" not in setup.kernel.text:
            check_names(answers)
    except GemmvizError as error:
        return error
    return None


def _judged_at(exercise: Exercise, size: ExerciseSize, filled: Shot, engine: Engine) -> Verdict:
    """The verdict at one size."""
    try:
        run = SizeRun(size, filled, engine)
    except GemmvizError as error:
        return Verdict(size.words, error=error)
    rows, reason = run.judged(requirements_of(exercise, size))
    if reason is not None:
        return Verdict(size.words, rows, reason, run.wrong_access())
    passed = all(row.is_met for row in rows)
    return Verdict(size.words, rows, shot=run.shot if passed else run.wrong_access())


def requirements_of(exercise: Exercise, size: ExerciseSize) -> tuple[QuantityRequirement, ...]:
    """What an exercise requires at a size: its expectations, then the limits of the size."""
    until = (QuantityRequirement(each.quantity, each.value, about=each.about) for each in exercise.until)
    return (*until, *(QuantityRequirement(name, most, "at_most") for name, most in size.at_most.items()))


# Blanks that errors are in


def _blank_of(
    error: GemmvizError | None, kernel: KernelSpec, answers: Fillings, key: Fillings, fails: Callable[[Fillings], bool]
) -> int | None:
    """Number of the blank that is wrong: by the key if there is one, since an error may be in a line that is right; else of the
    blank that the error is in.
    """
    if answers and len(key) == len(answers) and (number := wrong_blank(answers, key, fails)) is not None:
        return number
    return None if error is None or error.place is None else blank_at(kernel, answers, error.place)


def _with_blank(error: GemmvizError, number: int | None, answers: Fillings) -> GemmvizError:
    """The error, with the number of the blank that is wrong."""
    if number is None:
        return error
    remedy = error.remedy or tr("change blank {number}", number=number)
    if answers[number - 1].count("{") != answers[number - 1].count("}"):
        remedy = tr("look at the brackets in blank {unbalanced}", unbalanced=number)
    if not answers[number - 1].strip():
        remedy = tr("nothing is written for blank {number}", number=number)
    message = (
        tr("blank {number}: {message}", number=number, message=error.message) if error.place is None
        else tr("blank {number}, line {line}: {message}", number=number, line=error.place.line, message=error.message)
    )  # fmt: skip
    return GemmvizError(message, remedy=remedy, id=error.id)


def blank_at(kernel: KernelSpec, answers: Fillings, place: Place) -> int | None:
    """Number, from 1, of the blank whose answer is at a place of the filled text, or else of the only one in its line; None if
    there is none.
    """
    text = kernel.filled(answers).text
    offset = sum(len(line) + 1 for line in text.split("\n")[: place.line - 1]) + place.column - 1
    spans, shift = [], 0
    for hole, answer in zip(BLANK.finditer(kernel.text), answers, strict=False):
        spans.append((hole.start() + shift, hole.start() + shift + len(answer)))
        shift += len(answer) - len(hole[0])
    at = [number for number, (start, end) in enumerate(spans, 1) if start <= offset <= end]
    beside = [
        number
        for number, (start, end) in enumerate(spans, 1)
        if text.count("\n", 0, start) < place.line <= text.count("\n", 0, end) + 1
    ]
    return at[0] if at else beside[0] if len(beside) == 1 else None
