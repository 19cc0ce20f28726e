"""Verdicts on exercises: whether a student's kernel meets the expectations at each size at which it is judged, and where the
first wrong access is if it doesn't.
"""

import re
from collections.abc import Callable, Iterable
from itertools import zip_longest
from random import Random

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.focus import Position, thread_text
from gemmviz.cuda.launch.legality import can_run
from gemmviz.cuda.program import check_source, program_for
from gemmviz.model.errors import GemmvizError, Place, SourceError
from gemmviz.model.kernel import BLANK, KernelSpec
from gemmviz.model.outline import COMMENT
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.model.threads import Triple
from gemmviz.model.trace import Trace
from gemmviz.model.translation import marked, tr
from gemmviz.run.engine import Engine
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson import Exercise, ExerciseSize, answers_of
from gemmviz.teaching.quantities.catalog import quantity_title
from gemmviz.teaching.requirements import JudgedQuantity, QuantityRequirement, SizeRun

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
            return replace(like, problem=problem, at_most={})
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
        own, right = (engine.trace(replace(shot.setup, kernel=kernel.filled(each))).trace for each in (answers, right_answers))
    except GemmvizError:
        return None
    if own is None or right is None:
        return None
    for at, expected in zip_longest(_accessing_steps(own), _accessing_steps(right)):
        one, other = _access_text(own, at), _access_text(right, expected)
        thread = next((thread for thread in range(own.space.thread_count) if one(thread) != other(thread)), None)
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
    key = _key_of(exercise)
    if answers and (error := _refusal(filled, answers)) is not None:
        number = _blank_of(error, kernel, answers, key, lambda tried: _refusal(_with_answers(shot, tried), tried) is not None)
        return Verdict(error=_with_blank(error, number, answers), blank=number)
    verdicts: list[Verdict] = []
    for size in (*(exercise.sizes or (ExerciseSize(),)), *drawn_sizes(exercise, shot.setup, random or Random())):
        verdict = _judged_at(exercise, size, filled, engine)
        if not verdict.passed:
            return _explained(verdict, exercise, size, shot, answers, engine)
        verdicts.append(verdict)
    return replace(verdicts[-1], size="; ".join(each.size for each in verdicts), shot=verdicts[0].shot)


def _with_answers(shot: Shot, answers: Fillings) -> Shot:
    return replace(shot, setup=replace(shot.setup, kernel=shot.setup.kernel.filled(answers)))


def _key_of(exercise: Exercise) -> Fillings:
    """The right answers for the blanks; () without any."""
    return answers_of(exercise.key) if exercise.key else exercise.solution.answers if exercise.solution else ()


def _explained(
    verdict: Verdict, exercise: Exercise, size: ExerciseSize, shot: Shot, answers: Fillings, engine: Engine
) -> Verdict:
    """The verdict at a size that failed, with the blank that is wrong, and the first access of a complete run that differs from
    that with the right answer there, or with all right answers if that one alone changes none.
    """
    key = _key_of(exercise)

    def fails(tried: Fillings) -> bool:
        return not _judged_at(exercise, size, _with_answers(shot, tried), engine).passed

    number = _blank_of(verdict.error, shot.setup.kernel, answers, key, fails)
    if verdict.error is not None:
        return replace(verdict, error=_with_blank(verdict.error, number, answers), blank=number)
    if number is None or len(key) != len(answers):
        return verdict
    at = replace(shot, setup=shot.setup.changed(**size.problem, **size.parameters))
    mended = (*answers[: number - 1], key[number - 1], *answers[number:])
    found, is_wrong = first_difference(at, answers, mended, engine), [_is_of_result(row) for row in verdict.unmet]
    if found is None and fails(mended):
        found = first_difference(at, answers, key, engine)
    if found is None:
        wrong_value = tr("each thread reads and writes the right elements, but the value that it writes is wrong")
        return replace(verdict, blank=number, difference=wrong_value if any(is_wrong) else "")
    shown = verdict.shot
    if shown is not None and found.step is not None and all(is_wrong):  # of a hazard, the shot shows the collision
        shown = replace(shown, at=Position(step=found.step), focus=replace(shown.focus, block=found.block))
    return replace(verdict, blank=number, difference=found.sentence, shot=shown)


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
