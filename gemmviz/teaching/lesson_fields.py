"""Fields of a lesson file: what each table may hold, and the fields of a lesson that are written."""

from typing import Any

import msgspec
from msgspec import Struct, field

from gemmviz.state.shot import plain_of
from gemmviz.teaching.lesson import (
    Choice,
    CountLimit,
    Exercise,
    ExerciseSize,
    Expectation,
    Lesson,
    LessonStep,
    Question,
    Solution,
)
from gemmviz.teaching.quantities.quantity import QuantityValue

Texts = tuple[str, ...]
_MOST = 2**63


class ExpectationFields(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """``{ quantity = "block_count", is = 4, name = "blocks" }``"""

    quantity: str
    value: QuantityValue = field(name="is")
    name: str = ""
    about: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.value, int) and not -_MOST <= self.value < _MOST:
            raise ValueError("a whole number has at most 64 bits")  # as in TOML


class ChoiceFields(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """``[[step.question.choices]]``"""

    text: str
    right: bool = False
    why: str = ""
    shot: dict[str, Any] | None = None
    expect: tuple[ExpectationFields, ...] = ()


class QuestionFields(Struct, forbid_unknown_fields=True):
    """``[step.question]``"""

    choices: tuple[ChoiceFields, ...]
    text: str = ""


class ExerciseSizeFields(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """``[[step.exercise.sizes]]``"""

    problem: dict[str, int] = {}
    parameters: dict[str, int] = {}
    at_most: dict[str, int | float] = {}


class SolutionFields(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """``solution = { kernel = "03_coalesced" }``"""

    kernel: str = ""
    parameters: dict[str, int] = {}
    answers: Texts = ()


class ExerciseFields(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """``[step.exercise]``"""

    task: str
    until: tuple[ExpectationFields, ...]
    hints: Texts = ()
    key: str = ""
    sizes: tuple[ExerciseSizeFields, ...] = ()
    solution: SolutionFields | None = None


class StepFields(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """``[[step]]``: either ``from`` alone, or a shot and the rest."""

    title: str = ""
    caption: str = ""
    text: str = ""
    notes: str = ""
    build: str = ""
    id: str = ""
    minutes: float = 2.0
    sources: Texts = ()
    needs: Texts = ()
    shot: dict[str, Any] | None = None
    expect: tuple[ExpectationFields, ...] = ()
    question: QuestionFields | None = None
    exercise: ExerciseFields | None = None
    origin: str = field(name="from", default="")

    @property
    def names_beside_origin(self) -> list[str]:
        """Names of the fields besides ``from`` that differ from their defaults."""
        return [name for name in msgspec.to_builtins(self) if name != "from"]


class LessonFields(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A lesson file without ``format`` and ``version``."""

    title: str = field(default="Lesson")
    about: str = ""
    sources: Texts = ()
    needs: Texts = ()
    step: tuple[StepFields, ...] = ()
    quiz: bool = False


def plain_lesson(lesson: Lesson) -> dict[str, Any]:
    """The fields of a lesson as dicts, lists and values; those with their default value are left out."""
    steps = tuple(_step_fields(each) for each in lesson.stops)
    fields = LessonFields(lesson.title, lesson.about, lesson.sources, lesson.needs, steps, quiz=lesson.is_quiz)
    plain: dict[str, Any] = {"title": lesson.title, **msgspec.to_builtins(fields)}
    return plain | {"step": plain.get("step", [])}


def _step_fields(step: LessonStep) -> StepFields:
    return StepFields(
        step.title,
        step.caption,
        step.text,
        step.notes,
        step.build,
        step.id,
        step.minutes,
        step.sources,
        step.needs,
        plain_of(step.shot),
        tuple(map(_expectation_fields, step.expect)),
        None if step.question is None else _question_fields(step.question),
        None if step.exercise is None else _exercise_fields(step.exercise),
    )


def _expectation_fields(each: Expectation) -> ExpectationFields:
    return ExpectationFields(each.quantity, each.value, each.name, each.about)


def _choice_fields(each: Choice) -> ChoiceFields:
    shot = None if each.shot is None else plain_of(each.shot)
    return ChoiceFields(each.text, each.right, each.why, shot, tuple(map(_expectation_fields, each.expect)))


def _question_fields(question: Question) -> QuestionFields:
    return QuestionFields(tuple(map(_choice_fields, question.choices)), question.text)


def _exercise_fields(exercise: Exercise) -> ExerciseFields:
    sizes = tuple(
        ExerciseSizeFields(dict(each.problem), dict(each.parameters), {limit.quantity: limit.most for limit in each.at_most})
        for each in exercise.sizes
    )
    solution = exercise.solution
    return ExerciseFields(
        exercise.task,
        tuple(map(_expectation_fields, exercise.until)),
        exercise.hints,
        exercise.key,
        sizes,
        None if solution is None else SolutionFields(solution.kernel, dict(solution.parameters), solution.answers),
    )


def exercise_size(fields: ExerciseSizeFields) -> ExerciseSize:
    """A size of an exercise."""
    limits = tuple(CountLimit(quantity, most) for quantity, most in fields.at_most.items())
    return ExerciseSize(tuple(fields.problem.items()), tuple(fields.parameters.items()), limits)


def solution_in(fields: ExerciseFields) -> Solution | None:
    """The solution of an exercise; None if it gives none."""
    given = fields.solution
    return None if given is None else Solution(given.kernel, tuple(given.parameters.items()), given.answers)
