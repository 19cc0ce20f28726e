"""One check of a lesson's step: what is expected, what was found, and where the lesson says it."""

from msgspec import Struct

from gemmviz.model.errors import GemmvizError, Place
from gemmviz.teaching.lesson import Expectation, LessonStep, shown_value
from gemmviz.teaching.quantities.quantity import QuantityValue


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
