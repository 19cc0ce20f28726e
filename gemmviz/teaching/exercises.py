"""Verdicts on exercises: whether a student's kernel meets the expectations at each size at which it is judged, and where the
first wrong access is if it doesn't.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from random import Random

import numpy as np
from msgspec import Struct

from gemmviz.analysis.declarations import COMMENT
from gemmviz.analysis.replay.focus import thread_text
from gemmviz.cuda.launch.legality import can_run
from gemmviz.cuda.program import check_source, program_for
from gemmviz.model.errors import GemmvizError, Place, SourceError
from gemmviz.model.kernel import BLANK, KernelSpec
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.model.trace import Trace
from gemmviz.model.translation import marked, tr
from gemmviz.run.engine import Engine
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson import Exercise, ExerciseSize, answers_of
from gemmviz.teaching.requirements import JudgedQuantity, QuantityRequirement, SizeRun

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
    """Check the names in answers for a kernel without includes. Raises SourceError for one that nvcc doesn't know, with the
    number of the blank.
    """
    for number, answer in enumerate(answers, 1):
        code = COMMENT.sub("", answer)
        for pattern, header in _NAMES_OF_HEADERS:
            if name := pattern.search(code):
                remedy = tr("use what CUDA C++ has without an include")
                raise SourceError(
                    tr(
                        "blank {number}: {name} needs {header}, which isn't included",
                        number=number,
                        name=name[0],
                        header=header,
                    ),
                    remedy=remedy,
                )
        if name := _REMOVED.search(code):
            remedy = tr("{name}_sync is the one with a mask", name=name[0])
            raise SourceError(tr("blank {number}: {name} is not in CUDA any more", number=number, name=name[0]), remedy=remedy)


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


# The blank of an exercise whose answer is wrong by itself, and the first access that differs from the solution's.


def wrong_blank(answers: Sequence[str], key: Sequence[str], passes: Callable[[tuple[str, ...]], bool]) -> int | None:
    """Number of the first blank whose answer fails among the right answers for the others; None if each of them passes."""
    other = [place for place, answer in enumerate(answers) if answer.strip() != key[place].strip()]
    if len(other) == 1:
        return other[0] + 1
    return next((at + 1 for at in other if not passes((*key[:at], answers[at], *key[at + 1 :]))), None)


def difference_text(shot: Shot, answers: Sequence[str], key: Sequence[str], engine: Engine) -> str:
    """A sentence about the first access in which the run with ``answers`` differs from that with the key; "" if there is none,
    or one of them can't be run.
    """
    kernel = shot.setup.kernel
    try:
        own, right = (engine.trace(replace(shot.setup, kernel=kernel.filled(each))).trace for each in (answers, key))
    except GemmvizError:
        return ""
    if own is None or right is None:
        return ""
    for step in range(min(own.steps, right.steps)):
        one, other = _access_text(own, step), _access_text(right, step)
        thread = next((thread for thread in range(own.space.thread_count) if one(thread) != other(thread)), None)
        if thread is not None:
            block, _ = own.space.indices(thread)
            return tr(
                "first difference: thread {thread} of block {block}, line {line}: {own}; the solution: {right}",
                thread=thread_text(thread % own.space.threads_per_block, own.launch), block=f"({', '.join(map(str, block))})",
                line=own.site_of(step).place.line, own=one(thread), right=other(thread),
            )  # fmt: skip
    return ""


def _access_text(trace: Trace, step: int) -> Callable[[int], str]:
    """The function that says what a thread does at a step, as in "read Md[5]"."""
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
    size if all are right; None if there is none. ``hints``: which blank is wrong, and the first access that differs.
    """

    size: str = ""
    rows: tuple[JudgedQuantity, ...] = ()
    error: GemmvizError | None = None
    shot: Shot | None = None
    hints: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return self.error is None and all(row.is_met for row in self.rows)

    @property
    def lines(self) -> list[str]:
        """Lines for the student: the size, and the unmet requirements with the actual values."""
        at = f"At {self.size}: " if self.size else ""
        if self.error is not None:
            return [f"{at}{self.error}" if self.shot is not None else str(self.error), *self.hints]
        if self.passed:
            return [tr("Done. {at}", at=at) + ", ".join(f"{row.title}: {row.value}" for row in self.rows)]
        unmet = [row for row in self.rows if not row.is_met]
        said = [
            tr(
                "{at}{row_title}: {row_value}, required: {required}",
                at=at,
                row_title=row.title,
                row_value=row.value,
                required=row.required,
            )
            for row in unmet
        ]
        return [*said, *self.hints]


def judged(
    exercise: Exercise, shot: Shot, engine: Engine, answers: tuple[str, ...] = (), random: Random | None = None
) -> Verdict:
    """The verdict on a shot, whose kernel is run with the ``answers`` in its blanks, at the sizes of the exercise and at others
    that ``random`` draws. The first size that fails ends it.
    """
    kernel = shot.setup.kernel
    filled = replace(shot, setup=replace(shot.setup, kernel=kernel.filled(answers)))
    if left := filled.setup.kernel.blanks:
        return Verdict(
            error=GemmvizError(tr("{left} of the blanks are empty", left=left), remedy=tr("write something for each /*?*/"))
        )
    if answers and (error := _refusal(filled, answers)) is not None:
        return Verdict(error=_with_blank(error, kernel, answers))
    verdicts: list[Verdict] = []
    for size in (*(exercise.sizes or (ExerciseSize(),)), *drawn_sizes(exercise, shot.setup, random or Random())):
        verdict = _judged_at(exercise, size, filled, engine)
        if not verdict.passed:
            verdict = replace(verdict, error=_with_blank(verdict.error, kernel, answers)) if verdict.error else verdict
            return replace(verdict, hints=_hints(verdict, exercise, size, shot, answers, engine))
        verdicts.append(verdict)
    return replace(verdicts[-1], size="; ".join(each.size for each in verdicts), shot=verdicts[0].shot)


def _hints(
    verdict: Verdict, exercise: Exercise, size: ExerciseSize, shot: Shot, answers: tuple[str, ...], engine: Engine
) -> tuple[str, ...]:
    """Which blank is wrong at a verdict's size, and the first access of a complete run that differs from the solution's."""
    key = answers_of(exercise.key) if exercise.key else ()
    if len(key) != len(answers) or not key:
        return ()
    at = replace(shot, setup=shot.setup.changed(**size.problem, **size.parameters))

    def passes(others: tuple[str, ...]) -> bool:
        kernel = shot.setup.kernel.filled(others)
        return _judged_at(exercise, size, replace(shot, setup=replace(shot.setup, kernel=kernel)), engine).passed

    number = wrong_blank(answers, key, passes)
    difference = "" if verdict.error is not None else difference_text(at, answers, key, engine)
    named = () if number is None else (tr("look at blank {number}", number=number),)
    return (*named, difference) if difference else named


def _refusal(filled: Shot, answers: tuple[str, ...]) -> GemmvizError | None:
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


def _with_blank(error: GemmvizError, kernel: KernelSpec, answers: tuple[str, ...]) -> GemmvizError:
    """The error, with the number of the blank that it is in."""
    number = None if error.place is None else blank_at(kernel, answers, error.place)
    if number is None or error.place is None:
        empty = [str(place) for place, answer in enumerate(answers, 1) if not answer.strip()]
        if empty and error.place is not None:
            error.remedy = tr("nothing is written for blank {empty}", empty=", ".join(empty))
        if unbalanced := _unbalanced(answers):
            error.remedy = tr("look at the brackets in blank {unbalanced}", unbalanced=unbalanced)
        return error
    is_empty = not answers[number - 1].strip()
    remedy = (
        tr("nothing is written for blank {number}", number=number)
        if is_empty
        else error.remedy or tr("change blank {number}", number=number)
    )
    return GemmvizError(
        tr("blank {number}, line {line}: {message}", number=number, line=error.place.line, message=error.message),
        remedy=remedy,
        id=error.id,
    )


def _unbalanced(answers: tuple[str, ...]) -> int | None:
    """Number of the first answer that opens and closes unequal numbers of braces."""
    return next((number for number, answer in enumerate(answers, 1) if answer.count("{") != answer.count("}")), None)


def blank_at(kernel: KernelSpec, answers: tuple[str, ...], place: Place) -> int | None:
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
