"""Checks of a lesson: every expectation of every step is compared with the computed value."""

from collections.abc import Iterator
from dataclasses import dataclass

from gemmviz.export.prepare import prepare
from gemmviz.model.errors import GemmvizError, Place
from gemmviz.model.outcome import Outcome
from gemmviz.state.shot import Shot
from gemmviz.subjects.facts import ShotFacts
from gemmviz.subjects.gathering import EngineOf
from gemmviz.teaching.captions import shown_value
from gemmviz.teaching.lesson import Expectation, Lesson, LessonStep
from gemmviz.teaching.quantities.catalog import quantity_title, quantity_value
from gemmviz.teaching.quantities.quantity import ERROR_QUANTITIES, QuantityValue


@dataclass(frozen=True, slots=True)
class LessonCheck:
    """One check of a step. ``subject``: name of the checked quantity. ``expectation``: None where only drawing is checked.
    ``actual``: the computed value. ``error``: why it can't be computed or drawn.
    """

    step: int
    title: str
    subject: str
    place: Place | None
    expectation: Expectation | None = None
    actual: QuantityValue | None = None
    error: GemmvizError | None = None

    @property
    def is_true(self) -> bool:
        """Whether the value could be computed and is the expected one."""
        return (
            self.error is None
            and self.actual is not None
            and self.expectation is not None
            and self.expectation.is_met_by(self.actual)
        )

    @property
    def sentence(self) -> str:
        """Description of a failed check."""
        if self.error is not None or self.expectation is None:
            return f"step {self.step}, {self.title}: {self.subject} is not available: {self.error}"
        actual, expected = (shown_value(each) or "none" for each in (self.actual, self.expectation.value))
        return f"step {self.step}, {self.title}: {self.subject} is {actual}, not {expected}"

    def as_error(self, file: str) -> GemmvizError:
        """The check as an error in ``file``."""
        return GemmvizError(self.sentence, self.place, file=file)


def checks_of(lesson: Lesson, engine_of: EngineOf) -> Iterator[LessonCheck]:
    """All checks of a lesson in order. A step that can't be drawn is an additional check that fails, unless the step expects
    an error.
    """
    for number, step in enumerate(lesson.stops, 1):
        title = step.title or step.id or "untitled"
        outcome: Outcome | None = None
        try:
            outcome = prepare(step.shot, engine_of).outcome
        except GemmvizError as error:
            if not any(each.quantity in ERROR_QUANTITIES for each in step.expect):
                yield LessonCheck(number, title, "the view", step.place, error=error)
        with engine_of(step.shot.setup.kernel) as engine:
            facts = ShotFacts(step.shot, engine, outcome)
            for expectation in step.expect:
                yield _checked(number, title, expectation, facts)
        yield from _choice_checks(number, title, step, engine_of)


def _checked(number: int, title: str, expectation: Expectation, facts: ShotFacts) -> LessonCheck:
    subject = quantity_title(expectation.quantity)
    try:
        value = quantity_value(expectation.quantity, facts)
    except GemmvizError as error:
        return LessonCheck(number, title, subject, expectation.place, expectation, None, error)
    return LessonCheck(number, title, subject, expectation.place, expectation, value)


def _choice_checks(number: int, title: str, step: LessonStep, engine_of: EngineOf) -> Iterator[LessonCheck]:
    """Checks that fail, for choices of a question whose views can't be drawn."""
    for choice in step.question.choices if step.question is not None else ():
        error = None if choice.shot is None else _drawing_error(choice.shot, engine_of)
        if error is not None:
            yield LessonCheck(number, title, f"the view of {choice.text!r}", step.place, error=error)


def _drawing_error(shot: Shot, engine_of: EngineOf) -> GemmvizError | None:
    try:
        prepare(shot, engine_of)
    except GemmvizError as error:
        return error
    return None
