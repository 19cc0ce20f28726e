"""Questions generated from a run: answers are computed from its trace, wrong choices from known mistakes."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, islice
from random import Random

from gemmviz.files.extensions import Catalog, extensions_in
from gemmviz.model.errors import UsageError
from gemmviz.model.labels import PLAIN, LabelStyle
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup, kernel_title
from gemmviz.model.translation import many, tr
from gemmviz.run.engine import Engine
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson import Choice, Expectation, Lesson, LessonStep, Question
from gemmviz.teaching.quantities.catalog import quantity_value
from gemmviz.teaching.quiz_source import GeneratedQuestion, QuizKind, QuizSource

_MOST_CHOICES, _LEAST_CHOICES = 4, 3
_MOST_MIXED = 9  # wrong choices among which some are chosen
_MOST_DRAWS = 60
_NUMBER_IN_TEXT = re.compile(r"\d+")
Wrong = Sequence[tuple[str, str]]


@cache
def quiz_kinds() -> Catalog[QuizKind]:
    """All kinds of questions."""
    return extensions_in("gemmviz.teaching.quiz_kinds", "QUIZ_KIND", QuizKind)


def quiz_of(setup: Setup, engine: Engine, count: int, seed: int = 0, labels: LabelStyle = PLAIN) -> Lesson:
    """A lesson with ``count`` different questions about a run; ``labels``: how elements and threads are written. Raises
    UsageError if the run doesn't give that many, or the run's fault.
    """
    if count < 1:
        raise UsageError(tr("a quiz needs at least one question"))
    known = Knowledge(Shot(setup, view="listing", labels=labels), engine)
    if known.outcome.fault is not None:
        raise known.outcome.fault
    random = Random(f"{seed} {kernel_title(setup)} {setup.problem} {setup.kernel.text_hash}")  # other launches, other choices
    source, wrong = QuizSource(known, random, labels), _wrong_with(known)
    steps = [_quiz_step(number, each, wrong, source) for number, each in enumerate(islice(_questions(source, count), count), 1)]
    if len(steps) < count:
        raise UsageError(
            tr("this run gives only {questions} of {count}", questions=many(len(steps), "question"), count=count),
            remedy=tr("ask for fewer, or choose larger sizes"),
        )
    return Lesson(
        tr("Questions about {kernel}", kernel=setup.kernel.name), tuple(steps), source.words.launch.legend, is_quiz=True
    )


def _questions(source: QuizSource, count: int) -> Iterator[GeneratedQuestion]:
    """Different questions with enough choices, of each kind in turn."""
    texts, kinds = set[str](), tuple(quiz_kinds().values())
    for number in range(_MOST_DRAWS * count):
        question = kinds[number % len(kinds)].question(source)
        if question is None or question.text in texts:
            continue
        wrong = _wrong_choices(question, source.random)
        if len(wrong) + 1 >= _LEAST_CHOICES:
            texts.add(question.text)
            yield replace(question, wrong=wrong)


def _wrong_choices(question: GeneratedQuestion, random: Random) -> list[tuple[str, str]]:
    """Some of the wrong choices. As far as the mistakes allow, the right one isn't the one that has most numbers in common with
    the others, and its rank among them is drawn.
    """
    mistakes = _distinct_choices(question.right, question.wrong)
    random.shuffle(mistakes)
    every = _distinct_choices(question.right, [*mistakes, *question.beside])[:_MOST_MIXED]
    mixtures = list(combinations(every, min(len(every), _MOST_CHOICES - 1)))
    random.shuffle(mixtures)
    rank = random.randrange(_MOST_CHOICES)

    def trouble(wrong: Wrong) -> tuple[int, ...]:
        standing, own_rank = _standing(question.right, [text for text, _ in wrong])
        return standing > 1, own_rank != rank, len({*wrong} - {*mistakes}), standing

    chosen: Wrong = min(mixtures, key=trouble)
    return list(chosen)


def _standing(right: str, wrong: list[str]) -> tuple[int, int]:
    """Whether the right choice shares most numbers, place by place, with the other choices: 0 for no, 1 for as many as another,
    2 for yes; and the number of choices that are smaller than it.
    """
    numbers = [list(map(int, _NUMBER_IN_TEXT.findall(each))) for each in (right, *wrong)]
    shared = [sum(a == b for other in numbers for a, b in zip(own, other, strict=False)) for own in numbers]
    most = max(shared[1:], default=0)
    standing = 0 if len(numbers[0]) < 2 or shared[0] < most else 1 if shared[0] == most else 2
    return standing, sum(each < numbers[0] for each in numbers)


def _distinct_choices(right: str, wrong: Wrong) -> list[tuple[str, str]]:
    """The wrong choices, each once, with the first of its reasons."""
    others: dict[str, str] = {}
    for choice, reason in wrong:
        if choice != right:
            others.setdefault(choice, reason)
    return list(others.items())


def _quiz_step(number: int, question: GeneratedQuestion, known: tuple[Expectation, ...], source: QuizSource) -> LessonStep:
    """A lesson step with the question and its shuffled choices."""
    shot = question.shot
    right = Choice(question.right, True, question.why, shot, question.expect)
    choices = [right, *(Choice(choice, False, reason, shot) for choice, reason in question.wrong)]
    source.random.shuffle(choices)
    return LessonStep(
        replace(shot, view="listing"),  # the view with the answer is shown with the choices
        tr("Question {number}", number=number),
        id=f"question-{number}",
        minutes=1.0,
        expect=known,
        question=Question(question.text, tuple(choices)),
        text=source.words.launch.legend,
    )


def _wrong_with(known: Knowledge) -> tuple[Expectation, ...]:
    """What is wrong with a run: a result that isn't right, and hazards, by kind."""
    result = str(quantity_value("result", known))
    wrong = [] if result == "right" else [Expectation("result", result)]
    for kind in sorted({hazard.kind.replace(" ", "-") for hazard in known.replay.hazards}):
        reference = f"hazards(kind={kind})"
        wrong.append(Expectation(reference, quantity_value(reference, known)))
    return tuple(wrong)
