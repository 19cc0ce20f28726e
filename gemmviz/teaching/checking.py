"""Checks of a lesson: its texts, and every expectation of every step compared with the computed value."""

from collections.abc import Iterator

from gemmviz.export.prepare import prepare
from gemmviz.model.errors import GemmvizError
from gemmviz.model.outcome import Outcome
from gemmviz.state.shot import Shot
from gemmviz.subjects.facts import ShotFacts
from gemmviz.subjects.gathering import EngineOf
from gemmviz.teaching.lesson import Expectation, Lesson, LessonStep
from gemmviz.teaching.lesson_check import LessonCheck
from gemmviz.teaching.quantities.catalog import quantity_title, quantity_value
from gemmviz.teaching.quantities.quantity import ERROR_QUANTITIES
from gemmviz.teaching.text_checks import text_errors


def checks_of(lesson: Lesson, engine_of: EngineOf) -> Iterator[LessonCheck]:
    """All checks of a lesson in order. A step that can't be drawn is an additional check that fails, unless the step expects
    an error.
    """
    for number, step in enumerate(lesson.stops, 1):
        for field, error in text_errors(step):
            yield LessonCheck(number, step, f"the {field}", step.place_of(field), error=error)
        outcome: Outcome | None = None
        try:
            outcome = prepare(step.shot, engine_of).outcome
        except GemmvizError as error:
            if not any(each.quantity in ERROR_QUANTITIES for each in step.expect):
                yield LessonCheck(number, step, "the view", step.place, error=error)
        with engine_of(step.shot.setup.kernel) as engine:
            facts = ShotFacts(step.shot, engine, outcome)
            for expectation in step.expect:
                yield _checked(number, step, expectation, facts)
        yield from _choice_checks(number, step, engine_of)


def _checked(number: int, step: LessonStep, expectation: Expectation, facts: ShotFacts) -> LessonCheck:
    subject = quantity_title(expectation.quantity)
    try:
        value = quantity_value(expectation.quantity, facts)
    except GemmvizError as error:
        return LessonCheck(number, step, subject, expectation.place, expectation, error=error)
    return LessonCheck(number, step, subject, expectation.place, expectation, value)


def _choice_checks(number: int, step: LessonStep, engine_of: EngineOf) -> Iterator[LessonCheck]:
    """Checks that fail, for choices of a question whose views can't be drawn."""
    for choice in step.question.choices if step.question is not None else ():
        error = None if choice.shot is None else _drawing_error(choice.shot, engine_of)
        if error is not None:
            yield LessonCheck(number, step, f"the view of {choice.text!r}", step.place, error=error)


def _drawing_error(shot: Shot, engine_of: EngineOf) -> GemmvizError | None:
    try:
        prepare(shot, engine_of)
    except GemmvizError as error:
        return error
    return None
