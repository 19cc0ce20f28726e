"""Questions generated from a run: answers are computed from its trace, wrong choices from known misconceptions."""

from dataclasses import replace
from functools import cache
from random import Random

import gemmviz.teaching.quiz_kinds as folder
from gemmviz.files.extensions import Extensions, extensions_in
from gemmviz.launch.legality import device_for
from gemmviz.model.errors import UsageError
from gemmviz.model.setup import Setup
from gemmviz.model.words import many
from gemmviz.run.engine import Engine
from gemmviz.subjects.runs import replay_of, run
from gemmviz.subjects.titles import launch_title
from gemmviz.teaching.lesson import Choice, Lesson, LessonStep, Question
from gemmviz.teaching.quiz_source import GeneratedQuestion, QuizKind, QuizSource

_MOST_CHOICES, _LEAST_CHOICES = 4, 3
_TRIES = 60


@cache
def quiz_extensions() -> Extensions[QuizKind]:
    """All kinds of questions, and the modules of ``gemmviz.teaching.quiz_kinds`` that could not be loaded."""
    return extensions_in(folder, "QUIZ_KIND", QuizKind)


def quiz_of(setup: Setup, engine: Engine, count: int, seed: int = 0) -> Lesson:
    """A lesson with ``count`` different questions about a run. Raises UsageError if the run doesn't give that many, or the
    run's fault.
    """
    if count < 1:
        raise UsageError("a quiz needs at least one question")
    outcome = run(setup, (0, 0, 0), engine, values=False)
    if outcome.fault is not None:
        raise outcome.fault
    source = QuizSource(setup, replay_of(outcome, hazards=False), engine, Random(seed))
    stops: list[LessonStep] = []
    texts: set[str] = set()
    kinds = tuple(quiz_extensions().items.values())
    for number in range(_TRIES * count):
        if len(stops) == count:
            break
        question = kinds[number % len(kinds)].question(source)
        if question is None or question.text in texts:
            continue
        stop = _stop(source, len(stops) + 1, question)
        if stop is not None:
            texts.add(question.text)
            stops.append(stop)
    if len(stops) < count:
        raise UsageError(
            f"this run gives only {many(len(stops), 'question')} of {count}", remedy="ask for fewer, or choose larger sizes"
        )
    about = f"{launch_title(setup)}, on {device_for(setup).name}; steps count from 1"
    return Lesson(f"Questions about {setup.kernel.name}", tuple(stops), about)


def _stop(source: QuizSource, number: int, question: GeneratedQuestion) -> LessonStep | None:
    """A lesson step with the question and its shuffled choices; None if too few choices differ."""
    right, shot = question.right, question.shot
    others: dict[str, str] = {}
    for choice, reason in question.wrong:
        if choice != right and choice not in others:
            others[choice] = reason
    if len(others) + 1 < _LEAST_CHOICES:
        return None
    likeliest = list(others.items())[: _MOST_CHOICES - 1]
    choices = [Choice(right, True, question.why, shot), *(Choice(choice, False, reason, shot) for choice, reason in likeliest)]
    source.random.shuffle(choices)
    unanswered = replace(shot, view="code")  # the view with the answer is shown with the choices
    text = question.text
    return LessonStep(unanswered, f"Question {number}", text, minutes=1.0, question=Question(text, tuple(choices)))
