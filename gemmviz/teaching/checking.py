"""Whether what a lesson says is true: every expectation of every step, asked of what is shown."""

from collections.abc import Iterator
from dataclasses import dataclass

from gemmviz.export.prepare import prepare
from gemmviz.model.errors import GemmvizError, Place
from gemmviz.model.outcome import Outcome
from gemmviz.subjects.facts import ShotFacts
from gemmviz.subjects.gathering import EngineOf
from gemmviz.teaching.captions import shown_value
from gemmviz.teaching.lesson import Answer, Expectation, Lesson, LessonStep
from gemmviz.teaching.quantities import quantity


@dataclass(frozen=True, slots=True)
class Finding:
    """What was asked of a step, and what was ``found``; ``error`` where nobody could tell."""

    step: int
    title: str
    expectation: Expectation
    found: Answer | None
    error: GemmvizError | None = None

    @property
    def is_true(self) -> bool:
        return self.error is None and self.found is not None and self.expectation.is_met_by(self.found)

    @property
    def sentence(self) -> str:
        """What is wrong."""
        if self.error is not None:
            return f"step {self.step}, {self.title}: {self.expectation.what} can't be told: {self.error}"
        return (
            f"step {self.step}, {self.title}: {self.expectation.what} is {shown_value(self.found)}, "
            f"not {shown_value(self.expectation.value)}"
        )


def asked(stop: LessonStep, facts: ShotFacts) -> list[tuple[Expectation, Answer | None, GemmvizError | None]]:
    """All that a step expects, with what is found."""
    rows: list[tuple[Expectation, Answer | None, GemmvizError | None]] = []
    for each in stop.expect:
        try:
            rows.append((each, quantity(each.what, facts), None))
        except GemmvizError as error:
            rows.append((each, None, error))
    return rows


def findings(lesson: Lesson, engine_of: EngineOf) -> Iterator[Finding]:
    """Step by step; what a step shows is made, too, and where that fails the step is named."""
    for number, stop in enumerate(lesson.stops, 1):
        title = stop.title or stop.id or "untitled"
        outcome: Outcome | None = None
        try:
            outcome = prepare(stop.shot, engine_of).outcome
        except GemmvizError as error:
            shown = Expectation("what it shows", "", line=stop.line)
            if not any(each.what in ("refusal", "fault") for each in stop.expect):
                yield Finding(number, title, shown, None, error)
        with engine_of(stop.shot.setup.kernel) as engine:
            for expectation, value, wrong in asked(stop, ShotFacts(stop.shot, engine, outcome)):
                yield Finding(number, title, expectation, value, wrong)
        for choice in stop.question.choices if stop.question is not None else ():
            if choice.shot is not None:
                try:
                    prepare(choice.shot, engine_of)
                except GemmvizError as error:
                    yield Finding(number, title, Expectation(f"what shows {choice.text!r}", "", line=stop.line), None, error)


def complaint(finding: Finding, file: str) -> GemmvizError:
    """A finding that is not true, as an error with its place."""
    line = finding.expectation.line
    place = Place(line, 1, line, 2) if line else None
    return GemmvizError(finding.sentence, place, file=file)
