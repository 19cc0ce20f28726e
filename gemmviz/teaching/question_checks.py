"""Checks of a question: what makes the right choice right is true, and of any other choice it is not."""

from collections.abc import Iterator

from gemmviz.export.prepare import prepare
from gemmviz.model.errors import GemmvizError, Place
from gemmviz.state.shot import Shot
from gemmviz.subjects.facts import ShotFacts
from gemmviz.subjects.gathering import EngineOf
from gemmviz.teaching.lesson import FIELD, Choice, LessonStep, Question
from gemmviz.teaching.quantities.catalog import quantity_origin, quantity_value

Fault = tuple[str, Place | None, GemmvizError]  # subject, place, error


def question_faults(step: LessonStep, engine_of: EngineOf, *, is_quiz: bool = False) -> Iterator[Fault]:
    """What is wrong with the question of a step; nothing if it has none."""
    question = step.question
    if question is None:
        return
    asked = question.choices[question.right].shot or step.shot
    for what, remedy in _alike(question):
        yield "the choices", step.written.place("question"), GemmvizError(what, remedy=remedy)
    for number, choice in enumerate(question.choices):
        expected = ("choices", number, "expect", 0) if choice.expect else ()
        place = step.written.place("question", *expected)
        subject = f"choice {number + 1}, {choice.text!r}"
        try:
            if choice.shot is not None:
                prepare(choice.shot, engine_of)
            yield from (
                (subject, place, GemmvizError(what, remedy=remedy))
                for what, remedy in _wrong(choice, asked, engine_of, is_quiz)
            )
        except GemmvizError as error:
            yield subject, place, error


def _alike(question: Question) -> Iterator[tuple[str, str]]:
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


def _wrong(choice: Choice, shot: Shot, engine_of: EngineOf, is_quiz: bool) -> Iterator[tuple[str, str | None]]:
    """What contradicts a choice in the right answer's view, with a remedy. Raises GemmvizError where it can't be computed."""
    if choice.right and not any(quantity_origin(each.quantity) != "definition" for each in choice.expect):
        yield "nothing says that it is right", "give it expect = [{ quantity = …, is = … }] of what the run says"
    if not choice.right and not choice.expect and not is_quiz:
        yield "nothing says that it is wrong", "give it expect = [{ quantity = …, is = … }] with what would make it right"
    is_true = _is_true(choice, shot, engine_of)
    if choice.right and not is_true:
        yield "it is marked right, and what it expects is false", None
    if choice.expect and not choice.right and is_true:
        yield "it is marked wrong, and what it expects is true", None


def _is_true(choice: Choice, shot: Shot, engine_of: EngineOf) -> bool:
    """Whether all that a choice expects is true of a shot."""
    with engine_of(shot.setup.kernel) as engine:
        facts = ShotFacts(shot, engine)
        return all(each.is_met_by(quantity_value(each.quantity, facts)) for each in choice.expect)
