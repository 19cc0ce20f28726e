"""Checks of a question: what makes the right choice right is true, and of any other choice it is not."""

from collections.abc import Iterator

from gemmviz.export.prepare import prepare
from gemmviz.model.errors import GemmvizError, Place
from gemmviz.state.shot import Shot
from gemmviz.subjects.facts import ShotFacts
from gemmviz.subjects.gathering import EngineOf
from gemmviz.teaching.lesson import Choice, LessonStep
from gemmviz.teaching.quantities.catalog import quantity_origin, quantity_value

Fault = tuple[str, Place | None, GemmvizError]  # subject, place, error


def question_faults(step: LessonStep, engine_of: EngineOf) -> Iterator[Fault]:
    """What is wrong with the question of a step; nothing if it has none."""
    question = step.question
    for number, choice in enumerate(() if question is None else question.choices):
        place = choice.expect[0].place if choice.expect else step.place_of("question")
        subject = f"choice {number + 1}, {choice.text!r}"
        try:
            if choice.shot is not None:
                prepare(choice.shot, engine_of)
            yield from ((subject, place, GemmvizError(what, remedy=remedy)) for what, remedy in _wrong(step, choice, engine_of))
        except GemmvizError as error:
            yield subject, place, error


def _wrong(step: LessonStep, choice: Choice, engine_of: EngineOf) -> Iterator[tuple[str, str | None]]:
    """What contradicts a choice, with a remedy. Raises GemmvizError for an expectation that can't be computed."""
    if choice.right and not any(quantity_origin(each.quantity) != "definition" for each in choice.expect):
        yield "nothing says that it is right", "give it expect = [{ quantity = …, is = … }] of what the run says"
    is_true = _is_true(choice, choice.shot if choice.right and choice.shot is not None else step.shot, engine_of)
    if choice.right and not is_true:
        yield "it is marked right, and what it expects is false", None
    if choice.expect and not choice.right and is_true:
        yield "it is marked wrong, and what it expects is true", None


def _is_true(choice: Choice, shot: Shot, engine_of: EngineOf) -> bool:
    """Whether all that a choice expects is true of a shot."""
    with engine_of(shot.setup.kernel) as engine:
        facts = ShotFacts(shot, engine)
        return all(each.is_met_by(quantity_value(each.quantity, facts)) for each in choice.expect)
