"""Checks of a lesson: its texts, pictures, runs and questions, and every expectation compared with the computed value."""

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import cached_property
from math import prod
from multiprocessing import get_context
from random import Random
from typing import get_args

import numpy as np
from msgspec import Struct, structs

from gemmviz.analysis.hazard import Hazard
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import can_run, setup_for
from gemmviz.files.recordings import checksum_errors
from gemmviz.model.messages import GemmvizError, Place, UsageError, tr
from gemmviz.model.setup import Setup
from gemmviz.run.choosing import MOST_BYTES, EngineOf, engine_for, opened_engines
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import Recording
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Rects, Scene, Squares
from gemmviz.shots.export import ExportOptions, Prepared, frame_at, prepared
from gemmviz.shots.knowledge import FactAnswer, Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.teaching.captions import UNAVAILABLE
from gemmviz.teaching.exercises import RememberedAnswers, judged
from gemmviz.teaching.lesson import (
    FIELD,
    Choice,
    Exercise,
    Expectation,
    Lesson,
    LessonStep,
    Question,
    Solution,
    answers_of,
    shown_value,
)
from gemmviz.teaching.lesson_file import shipped_lesson
from gemmviz.teaching.quantities.catalog import quantity_origin, quantity_title, quantity_value
from gemmviz.teaching.quantities.counts import HazardId
from gemmviz.teaching.quantities.launch import piece_errors
from gemmviz.teaching.quantities.quantity import ERROR_QUANTITIES, QuantityReference, QuantityValue, parse_reference
from gemmviz.teaching.text_checks import text_errors

# Checks of an exercise itself: its own solution passes, and what a student begins with doesn't.


def exercise_faults(step: LessonStep) -> list[GemmvizError]:
    """What is wrong with the exercise of a step, at the place of the step; nothing if it has none, or a right one."""
    exercise = step.exercise
    if exercise is None:
        return []
    faults = []
    try:
        shot, answers = solved(exercise, step.shot)
        verdict = judged(exercise, shot, Interpreter(), answers, Random(0))
        if not verdict.passed:
            faults.append(GemmvizError(f"the exercise's own solution fails: {'; '.join(verdict.lines)}"))
    except GemmvizError as error:
        faults.append(GemmvizError(error.message, remedy=error.remedy))
    untouched = ("",) * step.shot.setup.kernel.blanks
    if judged(exercise, step.shot, Interpreter(), untouched, Random(0)).passed:
        what = "empty blanks" if untouched else "the step as it is shown"
        faults.append(GemmvizError(f"the exercise is passed by {what}", remedy="require what only a solution has"))
    for fault in faults:
        fault.place = step.place
    return faults


def solved(exercise: Exercise, shot: Shot) -> tuple[Shot, tuple[str, ...]]:
    """The shot of an exercise's solution, and its answers for the blanks. Raises GemmvizError for an exercise without a
    solution, or for one whose number of answers isn't that of the blanks.
    """
    solution = exercise.solution or Solution()
    answers = answers_of(exercise.key) if exercise.key else solution.answers
    setup, blanks = shot.setup, shot.setup.kernel.blanks
    if not exercise.key and exercise.solution is None:
        raise GemmvizError("the exercise has no solution to be checked with", remedy="give it a key, or solution = { … }")
    if len(answers) != blanks:
        where = f"the key {exercise.key!r}" if exercise.key else "the solution"
        raise GemmvizError(f"{where} has {len(answers)} answers for {blanks} blanks", remedy="write one for each blank")
    if solution.kernel:
        setup = setup_for(load_kernel(solution.kernel), setup.problem, device=setup.device)
    return structs.replace(shot, setup=setup.changed(**solution.parameters)), answers


# Checks of a step's picture: it has marks, and no text that stands in for something missing.


def picture_errors(scene: Scene) -> Iterator[GemmvizError]:
    """What is missing in a picture: it has a message instead of content, a value that isn't known, or no marks."""
    for each in scene.all:
        if isinstance(each, Labels) and each.meaning == "message":
            yield GemmvizError(f"the picture is a message: {' '.join(each.texts)}")
        elif _has_unknown(each):
            yield GemmvizError(f"a value in the picture is unknown: {each.key} reads {UNAVAILABLE}")
    if not any(_is_mark(each) for each in scene.all):
        yield GemmvizError("the picture is empty: it has no cells, marks or curves")


def _errors_in_picture(stage: Prepared) -> list[GemmvizError]:
    return list(picture_errors(frame_at(stage, stage.step, stage.moment(stage.step), ExportOptions()).scene))


def _has_unknown(each: object) -> bool:
    """Whether a text, or the text of a cell, is a question mark alone."""
    match each:
        case Labels(meaning=meaning, texts=texts):
            return meaning != "source" and UNAVAILABLE in texts
        case Cells(labels=np.ndarray() as labels) | Squares(labels=np.ndarray() as labels):
            return UNAVAILABLE in labels
    return False


def _is_mark(each: object) -> bool:
    match each:
        case (
            Rects(meaning=meaning, boxes=items) | Lines(meaning=meaning, segments=items) | Squares(meaning=meaning, boxes=items)
        ):
            return meaning != "frame" and len(items) > 0
        case Cells(fill=fill):
            return fill.size > 0
    return False


# Checks of a question: what makes the right choice right is true, and of any other choice it is not.

Fault = tuple[str, Place | None, GemmvizError]  # subject, place, error


def question_faults(step: LessonStep, known: Knowledge, *, is_quiz: bool = False) -> Iterator[Fault]:
    """What is wrong with the questions of a step and of its guide; nothing if it has none. ``known``: of the step's shot."""
    for path, question in step.questions.items():
        yield from _faults_of_question(step, path, question, known, is_quiz or path[0] == "guide")


def _faults_of_question(
    step: LessonStep, path: tuple[str, ...], question: Question, known: Knowledge, is_quiz: bool
) -> Iterator[Fault]:
    asked = known.about(question.choices[question.right].shot or step.shot)
    for what, remedy in _likeness_of_choices(question):
        yield "the choices", step.written.place(*path), GemmvizError(what, remedy=remedy)
    for number, choice in enumerate(question.choices):
        expected = ("choices", number, "expect", 0) if choice.expect else ()
        place = step.written.place(*path, *expected)
        subject = f"choice {number + 1}, {choice.text!r}"
        try:
            if choice.shot is not None:
                yield from ((subject, place, error) for error in _errors_in_picture(prepared(known.about(choice.shot))))
            yield from (
                (subject, place, GemmvizError(what, remedy=remedy)) for what, remedy in _choice_mistakes(choice, asked, is_quiz)
            )
        except GemmvizError as error:
            yield subject, place, error


def _likeness_of_choices(question: Question) -> Iterator[tuple[str, str]]:
    """What keeps the choices of a question from being different answers to it, with a remedy."""
    shown = [choice.text.strip().lower() for choice in question.with_own_numbers().choices]
    if len(set(shown)) < len(shown):
        yield "two of them read the same", "change one"
    if not any(FIELD.search(choice.text) for choice in question.choices):
        return
    right = question.choices[question.right]
    asked = next((each for each in right.expect if f"{{{each.name}}}" in right.text), None)
    if asked is None:
        yield "the right one doesn't show what makes it right", "write {name} of its expectation into its text"
        return
    values = [
        next((each.value for each in choice.expect if each.quantity == asked.quantity), None) for choice in question.choices
    ]
    if None in values or len(set(values)) < len(values):
        yield f"they don't say different values of {asked.quantity}", "expect another value of it in each choice"


def _choice_mistakes(choice: Choice, asked: Knowledge, is_quiz: bool) -> Iterator[tuple[str, str | None]]:
    """What contradicts a choice in the right answer's view, ``asked``, with a remedy. Raises GemmvizError where it can't be
    computed.
    """
    if choice.right and not any(quantity_origin(each.quantity) != "definition" for each in choice.expect):
        yield "nothing says that it is right", "give it expect = [{ quantity = …, is = … }] of what the run says"
    if not choice.right and not choice.expect and not is_quiz:
        yield "nothing says that it is wrong", "give it expect = [{ quantity = …, is = … }] with what would make it right"
    is_true = all(each.is_met_by(quantity_value(each.quantity, asked)) for each in choice.expect)
    if choice.right and not is_true:
        yield "it is marked right, and what it expects is false", None
    if choice.expect and not choice.right and is_true:
        yield "it is marked wrong, and what it expects is true", None


# Checks of every step's run, unless an expectation of the step says otherwise: C is right, and there are no hazards.

RIGHT = Expectation("result", "right")
_OF_ALL_SIZES = ("right", "unwritten")  # results that don't depend on the sizes


QUICK_SIZE = 1 << 18  # product of a problem's sizes up to which it is run as a whole: 64³


class WholeRun(Struct, frozen=True):
    """What is known of the run of all blocks of a launch: its result, or why that is unknown, and its hazards. ``is_other``: it
    has other sizes than the step for which it was run.
    """

    setup: Setup
    result: FactAnswer[QuantityValue]
    hazards: tuple[Hazard, ...]
    is_other: bool


def _whole_run(setup: Setup, of_step: Knowledge, runs: list[WholeRun], *, is_other: bool = False) -> WholeRun:
    """The run of a setup, among those that are known or added to them."""
    run = next((each for each in runs if each.setup == setup), None)
    if run is None:
        try:
            known = _known_run(setup, of_step)
            result = FactAnswer.by(lambda: quantity_value(RIGHT.quantity, known))
            hazards = FactAnswer.by(lambda: known.replay.hazards).value or ()  # an error is that of the result
        except GemmvizError as error:
            result, hazards = FactAnswer(error=error.kept()), ()
        runs.append(run := WholeRun(setup, result, hazards, is_other))
    return run


def _known_run(setup: Setup, of_step: Knowledge) -> Knowledge:
    """What is known of a run: of a quick one that isn't the step's own, without the origins that pictures show."""
    if setup == of_step.setup or prod(setup.problem.sizes.values()) > QUICK_SIZE:
        return of_step.about(Shot(setup))
    recording = Recording(values=True, origins=False, limit_bytes=MOST_BYTES)
    return Knowledge(Shot(setup), of_step.engine, of_step.engine.trace(setup, None, recording))


def quick_setup(setup: Setup) -> Setup:
    """All blocks and phases of a setup, with its sizes halved until it runs quickly, as far as its kernel can run them."""
    setup = structs.replace(setup, blocks="", phases="")
    while prod(setup.problem.sizes.values()) > QUICK_SIZE:
        smaller = setup.changed(**{name: -(-size // 2) for name, size in setup.problem.sizes.items()})
        if not can_run(smaller):
            break
        setup = smaller
    return setup


def other_setup(setup: Setup) -> Setup | None:
    """The setup with sizes that no block or tile divides, a little larger and odd; for a kernel that can't run these, with
    twice its sizes, so that it has several blocks and phases. None if it can't run them either, or not quickly.
    """
    sizes = setup.problem.sizes
    ragged = setup.changed(**{name: size + 1 + size % 2 + 2 * number for number, (name, size) in enumerate(sizes.items())})
    if can_run(ragged):
        return ragged
    doubled = setup.changed(**{name: 2 * size for name, size in sizes.items()})
    return doubled if prod(doubled.problem.sizes.values()) <= QUICK_SIZE and can_run(doubled) else None


class Finding(Struct, frozen=True):
    """What was found of a run. ``subject``: what it is about; ``actual``: None if ``error`` says why it can't be computed.
    ``is_advice``: the step's own launch is right, another one of its kernel isn't.
    """

    subject: str
    expectation: Expectation
    actual: QuantityValue | None = None
    error: GemmvizError | None = None
    is_advice: bool = False

    @property
    def is_true(self) -> bool:
        return self.actual is not None and self.expectation.is_met_by(self.actual)


def run_findings(step: LessonStep, known: Knowledge, runs: list[WholeRun]) -> Iterator[Finding]:
    """Findings about the step's run, and about that of the launch that it is compared with. A kernel is checked with other
    sizes once, too, which no block or tile divides if it can run them. ``known``: of the step's shot.
    """
    kernel, against = step.shot.setup.kernel, step.shot.against
    if _shows_error(step) or (kernel.blanks and step.exercise is not None):
        return  # what is wrong has a name; the blanks are checked with their solution
    named, quick = _references(step), quick_setup(known.setup)
    run, where = _whole_run(quick, known, runs), _at_other_sizes(quick, known.setup)
    stated = next((structs.replace(each, name="") for each in step.expect if each.quantity == RIGHT.quantity), None)
    own = [*([] if stated else [_result_finding(run, f"C{where}")]), *_hazards(run, where, named)]
    yield from own
    is_known = any(each.is_other and structs.replace(each.setup, problem=quick.problem) == quick for each in runs)
    ragged, expected = None if is_known else other_setup(quick), stated or RIGHT
    if ragged is not None and expected.value in _OF_ALL_SIZES and all(each.is_true for each in own):
        other, where = _whole_run(ragged, known, runs, is_other=True), _at_other_sizes(ragged, known.setup)
        for each in (_result_finding(other, f"C{where}", expected), *_hazards(other, where, named)):
            yield structs.replace(each, is_advice=not kernel.is_shipped)
    if against is not None and not against.setup.kernel.unfinished and not any(each.id == "compared_result" for each in named):
        beside = _whole_run(quick_setup(against.setup), known.compared, runs)
        yield _result_finding(beside, f"C of the compared launch{_at_other_sizes(beside.setup, against.setup)}")


def _at_other_sizes(setup: Setup, of_step: Setup) -> str:
    """The sizes of a run in words, if it is another problem than the step's."""
    return tr(" at {problem}", problem=setup.problem) if setup.problem != of_step.problem else ""


def _shows_error(step: LessonStep) -> bool:
    """Whether a step expects a launch that is refused, or a run that faults."""
    return any(each.quantity in ERROR_QUANTITIES and each.value for each in step.expect)


def _references(step: LessonStep) -> list[QuantityReference]:
    """The quantities that a step expects; what names none is reported as an expectation that can't be computed."""
    references = []
    for each in step.expect:
        try:
            references.append(parse_reference(each.quantity))
        except UsageError:
            continue
    return references


def _result_finding(run: WholeRun, subject: str, expected: Expectation = RIGHT) -> Finding:
    return Finding(subject, expected, run.result.value, run.result.error)


def _hazards(run: WholeRun, where: str, named: list[QuantityReference]) -> Iterator[Finding]:
    """A finding for each kind of hazard over an array that no expectation names."""
    arguments = [each.arguments for each in named if each.id == "hazards"]
    for kind in get_args(HazardId):
        counts = Counter[str]()
        for each in run.hazards:
            counts[each.array] += each.count * (each.kind == kind.replace("-", " "))
        for array, count in counts.items():
            if count and not any(each.get("kind") == kind and each.get("array", array) == array for each in arguments):
                expected = Expectation(f"hazards(kind={kind}, array={array})", 0)
                yield Finding(f"{kind} hazards of {array}{where}", expected, count)


# One check of a lesson's step: what is expected, what was found, and where the lesson says it.


class LessonCheck(Struct, frozen=True):
    """One check of a step. ``subject``: what is checked, such as the title of a quantity; ``place``: where the step's file
    states it. ``expectation``: None for a check that only fails by an error. ``actual``: the computed value. ``error``: why it
    can't be computed, or what is wrong. ``is_remark``: a failure is advice, not a fault. ``number``: the step's number in the
    lesson, from 1.
    """

    step: LessonStep
    subject: str
    place: Place | None
    expectation: Expectation | None = None
    actual: QuantityValue | None = None
    error: GemmvizError | None = None
    is_remark: bool = False
    number: int = 1

    @property
    def is_true(self) -> bool:
        """Whether nothing is wrong, and the value, if one is expected, is the expected one."""
        if self.error is not None or self.expectation is None:
            return self.error is None
        return self.actual is not None and self.expectation.is_met_by(self.actual)

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The same for a step in its own lesson and in others that include it."""
        return self.step.file, str(self.place), self.subject, str(self.error or self.actual)

    @property
    def sentence(self) -> str:
        """Description of a failed check."""
        step = (
            f"{'remark: ' * self.is_remark}step {self.number}, {self.step.with_numbers({}).title or self.step.id or 'untitled'}"
        )
        if self.expectation is None:
            return f"{step}: {self.subject}: {self.error}"
        if self.error is not None:
            return f"{step}: {self.subject} is not available: {self.error}"
        actual, expected = (shown_value(each) or "none" for each in (self.actual, self.expectation.value))
        return f"{step}: {self.subject} is {actual}, not {expected}"

    def as_error(self) -> GemmvizError:
        """The check as an error in the step's file."""
        return GemmvizError(self.sentence, self.place, file=self.step.file or None)


class LessonChecker:
    """Checks lessons. Launches that several steps share run once, other sizes of a kernel run once, and a step that several
    lessons include is checked once.
    """

    def __init__(self, engine_of: EngineOf) -> None:
        self._engine_of = engine_of
        self._latest: Knowledge | None = None
        self._runs: list[WholeRun] = []
        self._checked: dict[tuple[str, Place | None], list[LessonCheck]] = {}

    def adopt(self, steps: Iterable[list[LessonCheck]]) -> None:
        """Take over the checks of steps that were checked by another process."""
        self._checked.update({(checks[0].step.file, checks[0].step.place): checks for checks in steps if checks})

    def checks_of(self, lesson: Lesson) -> Iterator[LessonCheck]:
        """All checks of a lesson in order; first of the files whose figures its pictures show."""
        for error in self._of_files:
            yield LessonCheck(lesson.steps[0], "the recordings and devices", None, error=error)
        for number, step in enumerate(lesson.steps, 1):
            known = {each.id.rpartition("/")[2] for each in lesson.steps[:number]}
            if "/" not in step.id and (unknown := [need for need in step.needs if need not in known]):
                error = GemmvizError(f"no step before it has the id {unknown[0]!r}", remedy="name an earlier step")
                yield LessonCheck(step, "needs", step.place, error=error, number=number)
            titles = {each.title for each in lesson.steps[: number - 1] if each.file == step.file}
            if step.title in titles and not FIELD.search(step.title):
                yield LessonCheck(step, "the title", step.place, error=GemmvizError("an earlier step has it"), number=number)
            key = step.file, step.place
            checks = self._checked.get(key) if step.file else None
            if checks is None:
                of_launches = (check for each in step.variants for check in self._of_launch(each, lesson.is_quiz))
                checks = self._checked[key] = [*self._of_texts(step, lesson.is_quiz), *of_launches]
            yield from (structs.replace(each, number=number) for each in checks)

    @cached_property
    def _of_files(self) -> list[GemmvizError]:
        return list(checksum_errors())

    def _of_texts(self, step: LessonStep, is_quiz: bool) -> Iterator[LessonCheck]:
        """Checks of what a step says and asks for, whatever it is drawn at. The texts of a quiz were computed."""
        for field, wrong in () if is_quiz else text_errors(step):
            yield LessonCheck(step, f"the {field}", step.written.place(field), error=wrong)
        for error in piece_errors(step.shot.setup.kernel):
            yield LessonCheck(step, "the kernel", step.place, error=error)
        for fault in exercise_faults(step):
            yield LessonCheck(step, "the exercise", step.written.place("exercise"), error=fault)
        if not says_something(step):
            remedy = "expect something of the run, the counts, a recording or a model"
            remark = GemmvizError("they read back what the step sets", remedy=remedy)
            yield LessonCheck(step, "the expectations", step.place, error=remark, is_remark=True)

    def _of_launch(self, step: LessonStep, is_quiz: bool) -> Iterator[LessonCheck]:
        """Checks of the run, picture and questions of a step, or of a draw of its question."""
        with opened_engines(self._engine_of) as engine:
            known = self._latest = Knowledge(step.shot, engine, like=filter(None, (self._latest,)))
            for error in _view_errors(step, known):
                yield LessonCheck(step, "the view", step.place, error=error)
            for index, expectation in enumerate(step.expect):
                yield _checked_expectation(step, expectation, step.written.place("expect", index), known)
            for each in run_findings(step, known, self._runs):
                yield LessonCheck(step, each.subject, step.place, each.expectation, each.actual, each.error, each.is_advice)
            for subject, place, error in question_faults(step, known, is_quiz=is_quiz):
                yield LessonCheck(step, subject, place, error=error)


def says_something(step: LessonStep) -> bool:
    """Whether an expectation of a step could be contradicted by something else than its setup, or it asks the student."""
    if step.question is not None or step.exercise is not None:
        return True
    return any(quantity_origin(each.quantity) not in ("definition", None) for each in step.expect)


def _checked_expectation(step: LessonStep, expectation: Expectation, place: Place | None, facts: Knowledge) -> LessonCheck:
    subject = quantity_title(expectation.quantity)
    try:
        value = quantity_value(expectation.quantity, facts)
        expectation = expectation.at(facts.setup.problem.sizes | dict(facts.setup.parameters), value)
    except GemmvizError as error:
        return LessonCheck(step, subject, place, expectation, error=error)
    return LessonCheck(step, subject, place, expectation, value)


def _view_errors(step: LessonStep, known: Knowledge) -> list[GemmvizError]:
    """What is missing in a step's picture, unless the step expects an error: then its picture may be one."""
    if any(each.quantity in ERROR_QUANTITIES for each in step.expect):
        return []
    try:
        return _errors_in_picture(prepared(known))
    except GemmvizError as error:
        return [error]


# Checks of several lessons by two processes: a lesson is checked by one of them, and its findings are sent back.

_PROCESSES = 2
_Sent = tuple[int, str, Place | None, Expectation | None, QuantityValue | None, GemmvizError | None, bool]


def new_checker() -> LessonChecker:
    """A checker that runs kernels in the interpreter."""
    engine = RememberedAnswers(engine_for("cpu"))
    return LessonChecker(lambda kernel: nullcontext(engine))


def checks_by_step(names: Iterable[str]) -> list[list[LessonCheck]]:
    """The checks of each step of some shipped lessons, computed by two processes; the longest lessons come first."""
    names = sorted(names, key=lambda name: -len(shipped_lesson(name).steps))
    steps: list[list[LessonCheck]] = []
    with ProcessPoolExecutor(_PROCESSES, get_context("spawn")) as pool:
        for name, sent in zip(names, pool.map(_sent_checks, names), strict=True):
            own: list[list[LessonCheck]] = [[] for _ in shipped_lesson(name).steps]
            for number, subject, place, expectation, actual, error, is_remark in sent:
                step = shipped_lesson(name).steps[number - 1]
                own[number - 1].append(LessonCheck(step, subject, place, expectation, actual, error, is_remark, number))
            steps += own
    return steps


def _sent_checks(name: str) -> list[_Sent]:
    """The checks of a lesson without their steps, which the other process has."""
    return [
        (each.number, each.subject, each.place, each.expectation, each.actual, _sendable_error(each.error), each.is_remark)
        for each in new_checker().checks_of(shipped_lesson(name))
    ]


def _sendable_error(error: GemmvizError | None) -> GemmvizError | None:
    """An error that can be sent: those of other classes need more arguments than their message."""
    if error is None:
        return None
    return GemmvizError(error.message, error.place, file=error.file, remedy=error.remedy, id=error.id)
