"""Checks of a lesson: its texts, pictures, runs and questions, and every expectation compared with the computed value."""

from collections.abc import Iterable, Iterator
from functools import cached_property

from gemmviz.export.prepare import ExportOptions, frame_at, prepare
from gemmviz.files.checksums import checksum_errors
from gemmviz.model.errors import GemmvizError, Place
from gemmviz.model.outcome import Outcome
from gemmviz.model.records import replace
from gemmviz.subjects.facts import ShotFacts
from gemmviz.subjects.gathering import EngineOf
from gemmviz.teaching.exercise_faults import exercise_faults
from gemmviz.teaching.lesson import FIELD, Expectation, Lesson, LessonStep
from gemmviz.teaching.lesson_check import LessonCheck
from gemmviz.teaching.picture_checks import picture_errors
from gemmviz.teaching.piece_checks import piece_errors
from gemmviz.teaching.quantities.catalog import quantity_origin, quantity_title, quantity_value
from gemmviz.teaching.quantities.quantity import ERROR_QUANTITIES
from gemmviz.teaching.question_checks import question_faults
from gemmviz.teaching.run_checks import run_findings
from gemmviz.teaching.text_checks import text_errors
from gemmviz.teaching.whole_runs import WholeRuns


class LessonChecker:
    """Checks lessons. Launches that several steps share run once, and a step that several lessons include is checked once."""

    def __init__(self, engine_of: EngineOf) -> None:
        self._engine_of = engine_of
        self._runs = WholeRuns()
        self._checked: dict[tuple[str, Place | None], list[LessonCheck]] = {}

    def adopt(self, steps: Iterable[list[LessonCheck]]) -> None:
        """Take over the checks of steps that were checked by another process."""
        self._checked.update({(checks[0].step.file, checks[0].step.place): checks for checks in steps if checks})

    def checks_of(self, lesson: Lesson) -> Iterator[LessonCheck]:
        """All checks of a lesson in order; first of the files whose figures its pictures show."""
        for error in self._of_files:
            yield LessonCheck(lesson.stops[0], "the recordings and devices", None, error=error)
        for number, step in enumerate(lesson.stops, 1):
            known = {each.id.rpartition("/")[2] for each in lesson.stops[:number]}
            if "/" not in step.id and (unknown := [need for need in step.needs if need not in known]):
                error = GemmvizError(f"no step before it has the id {unknown[0]!r}", remedy="name an earlier step")
                yield LessonCheck(step, "needs", step.place, error=error, number=number)
            titles = {each.title for each in lesson.stops[: number - 1] if each.file == step.file}
            if step.title in titles and not FIELD.search(step.title):
                yield LessonCheck(step, "the title", step.place, error=GemmvizError("an earlier step has it"), number=number)
            key = step.file, step.place
            checks = self._checked.get(key) if step.file else None
            if checks is None:
                checks = self._checked[key] = list(self._of_step(step, lesson.is_quiz))
            yield from (replace(each, number=number) for each in checks)

    @cached_property
    def _of_files(self) -> list[GemmvizError]:
        return list(checksum_errors())

    def _of_step(self, step: LessonStep, is_quiz: bool) -> Iterator[LessonCheck]:
        """All checks of a step: its expectations, and what holds of every step. The texts of a quiz were computed."""
        for field, wrong in () if is_quiz else text_errors(step):
            yield LessonCheck(step, f"the {field}", step.written.place(field), error=wrong)
        for error in piece_errors(step.shot.setup.kernel):
            yield LessonCheck(step, "the kernel", step.place, error=error)
        outcome, errors = _drawn(step, self._engine_of)
        for error in errors:
            yield LessonCheck(step, "the view", step.place, error=error)
        with self._engine_of(step.shot.setup.kernel) as engine:
            facts = ShotFacts(step.shot, engine, outcome)
            for index, expectation in enumerate(step.expect):
                yield _checked(step, expectation, step.written.place("expect", index), facts)
            for each in run_findings(step, engine, self._runs):
                yield LessonCheck(step, each.subject, step.place, each.expectation, each.actual, each.error, each.is_advice)
        for subject, place, error in question_faults(step, self._engine_of, is_quiz=is_quiz):
            yield LessonCheck(step, subject, place, error=error)
        for fault in exercise_faults(step):
            yield LessonCheck(step, "the exercise", step.written.place("exercise"), error=fault)
        if not says_something(step):
            remedy = "expect something of the run, the counts, a recording or a model"
            remark = GemmvizError("they read back what the step sets", remedy=remedy)
            yield LessonCheck(step, "the expectations", step.place, error=remark, is_remark=True)


def says_something(step: LessonStep) -> bool:
    """Whether an expectation of a step could be contradicted by something else than its setup, or it asks the student."""
    if step.question is not None or step.exercise is not None:
        return True
    return any(quantity_origin(each.quantity) not in ("definition", None) for each in step.expect)


def _checked(step: LessonStep, expectation: Expectation, place: Place | None, facts: ShotFacts) -> LessonCheck:
    subject = quantity_title(expectation.quantity)
    try:
        value = quantity_value(expectation.quantity, facts)
        expectation = expectation.at(facts.setup.problem.sizes | dict(facts.setup.parameters), value)
    except GemmvizError as error:
        return LessonCheck(step, subject, place, expectation, error=error)
    return LessonCheck(step, subject, place, expectation, value)


def _drawn(step: LessonStep, engine_of: EngineOf) -> tuple[Outcome | None, list[GemmvizError]]:
    """The outcome of the run that a step's picture shows, and what is missing in the picture, unless the step expects an error:
    then its picture may be one.
    """
    is_error = any(each.quantity in ERROR_QUANTITIES for each in step.expect)
    try:
        stage = prepare(step.shot, engine_of)
        errors = list(picture_errors(frame_at(stage, stage.step, stage.moment(stage.step), ExportOptions()).scene))
    except GemmvizError as error:
        return None, [] if is_error else [error]
    return stage.outcome, [] if is_error else errors
