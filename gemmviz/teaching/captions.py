"""Texts of lessons with computed numbers; and the parts of a step in the order in which they are revealed, such as a question
and then its answers.
"""

import hashlib
import math
import re
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from msgspec import structs

from gemmviz.analysis.replay.focus import Focus, position_of, scope_of, step_at
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay, beats_of_phases, steps_in_use
from gemmviz.files.codec import to_json, to_plain
from gemmviz.model.kernel import BLANK
from gemmviz.model.messages import GemmvizError, letter, tr
from gemmviz.run.stored import stored_answers
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.band import Caption
from gemmviz.scenes.kit.sentence import beat
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson import FIELD, Expectation, LessonStep, Question, answers_of, shown_value
from gemmviz.teaching.quantities.catalog import quantity_title, quantity_value
from gemmviz.teaching.quantities.quantity import QuantityValue

# Numbers of captions that are stored with the shipped lessons.

_KEY_LENGTH = 16


def number_key(shot: Shot, quantity: str) -> str:
    """Key of a quantity's value among the answers about a shot's setup: a hash of the quantity and of all other parts of the
    shot that a value may depend on.
    """
    parts = (quantity, shot.view, shot.focus, shot.at, shot.trial, shot.chart, shot.against)
    return hashlib.sha256(to_json([to_plain(each) for each in parts])).hexdigest()[:_KEY_LENGTH]


def stored_number(shot: Shot, quantity: str) -> QuantityValue | None:
    """The stored value of a quantity of a shot; None if there is none."""
    answers = stored_answers(shot.setup)
    return None if answers is None else answers.numbers.get(number_key(shot, quantity))


UNAVAILABLE = "?"
_SHOWN_DIGITS = 3


def filled_step(step: LessonStep, facts: Knowledge) -> LessonStep:
    """The step with the numbers in its texts, stored or computed; ``?`` for those that can't be computed."""
    needed = set(step.needed)
    if not needed:
        return step.with_numbers({})
    return step.with_numbers({each.name: _caption_value(step, each, facts) for each in step.expect if each.name in needed})


def unavailable_step(step: LessonStep) -> LessonStep:
    """A step that can't be computed: ``?`` for each number in its texts."""
    return step.with_numbers(dict.fromkeys(step.needed, UNAVAILABLE))


def _caption_value(step: LessonStep, each: Expectation, facts: Knowledge) -> str:
    try:
        number = stored_number(step.shot, each.quantity)
        return named_value(each, quantity_value(each.quantity, facts) if number is None else number)
    except GemmvizError:
        return UNAVAILABLE


def named_value(each: Expectation, value: QuantityValue) -> str:
    """A value as texts display it in place of an expectation's name: the formula, if that is what is expected of a number."""
    if isinstance(each.value, str) and not isinstance(value, str):
        return each.value
    return shown_value(_rounded_like(value, each))


def _rounded_like(value: QuantityValue, like: Expectation) -> QuantityValue:
    """A number rounded to the digits of the expected value, but to no fewer than the three digits that pictures show."""
    if isinstance(value, float) and not isinstance(like.value, str | bool) and math.isfinite(value):
        digits = max(like.digits, _SHOWN_DIGITS - 1 - _power(value))
        return round(value, digits) if digits > 0 else round(value)
    return value


def _power(value: float) -> int:
    """The power of ten of a number's first digit."""
    return math.floor(math.log10(abs(value))) if value else 0


# Parts of a lesson step in the order in which they are revealed, such as a question and then its answers.

_OF_LAUNCH = ("block", "thread", "warp", "phase")  # nouns that a launch has so many of


@dataclass(frozen=True)
class Reveal:
    """One part: the shot and the caption of the whole step. ``replay``: that of the run of which the part shows one step, whose
    sentence is its caption; None if the caption is that of the whole.
    """

    shot: Shot
    whole: Caption
    replay: Replay | None = field(default=None, compare=False)

    @cached_property
    def caption(self) -> Caption:
        """The caption: what happens at this step and nothing that has not happened yet."""
        if self.replay is None:
            return self.whole
        moment = Reader(self.replay, self.shot.focus).at(step_at(self.replay.trace, self.shot.at))
        words = beat(moment, self.shot.labels)
        return structs.replace(self.whole, caption=words.text, is_beat=True, number=words.number)


def caption_of(step: LessonStep) -> Caption:
    """Title and caption of a step; a caption whose numbers are not computed yet is empty."""
    return Caption(step.with_numbers({}).title, "" if FIELD.search(step.caption) else step.caption)


def parts_of(step: LessonStep, replay: Replay | None = None) -> list[Reveal]:
    """All parts of a step, with numbers if the step is one of ``filled_step``. ``replay``: the replay of the step's run, which
    gives phases, steps and lanes; without it they are revealed at once.
    """
    if step.question is not None:
        return _of_question(step.with_numbers({}))
    whole = caption_of(step)
    built = _built(step, replay)
    if step.build == "blanks":
        return [Reveal(shot, structs.replace(whole, caption=text)) for shot, text in zip(built, _of_blanks(step), strict=True)]
    parts = [*(Reveal(shot, whole, replay) for shot in built[:-1]), Reveal(built[-1], whole)]
    if step.exercise is not None:
        parts += [
            Reveal(step.shot, structs.replace(whole, caption=tr("Hint: {hint}", hint=hint))) for hint in step.exercise.hints
        ]
    return parts


def _of_question(step: LessonStep) -> list[Reveal]:
    """The question alone, then the right choice with its view."""
    question = step.question
    assert question is not None
    asked = Reveal(step.shot, Caption(step.title, question.text, _choice_texts(question), facts=_facts_beside(question)))
    return [asked, answer_of(step, question, question.right)]


def _facts_beside(question: Question) -> frozenset[str]:
    """The nouns of a launch whose counts neither the question nor what makes its answer right is about."""
    titles = (quantity_title(each.quantity) for each in question.choices[question.right].expect)
    asked = " ".join((*titles, *re.findall(r"[Hh]ow many (\w+)", question.text)))
    return frozenset(noun for noun in _OF_LAUNCH if not re.search(rf"\b{noun}s?\b", asked))


def answer_of(step: LessonStep, question: Question, place: int) -> Reveal:
    """The view and the reason of one choice, with the right choice marked."""
    choice = question.choices[place]
    why = (
        tr("{letter} is right: {why}", letter=letter(place), why=choice.why)
        if choice.right
        else tr("{letter} is wrong: {why}", letter=letter(place), why=choice.why)
    )
    return Reveal(choice.shot or step.shot, Caption(step.title, why, _choice_texts(question), question.right, place))


def _choice_texts(question: Question) -> tuple[str, ...]:
    return tuple(choice.text for choice in question.choices)


def _built(stop: LessonStep, replay: Replay | None) -> list[Shot]:
    shot = stop.shot
    if stop.build == "blanks":
        return _shots_with_blanks_filled(stop)
    if not stop.build or replay is None:
        return [shot]
    trace = replay.trace
    if stop.build == "lanes":
        lanes = min(trace.rules.warp_size, trace.space.threads_per_block)
        return [*(structs.replace(shot, focus=Focus(shot.focus.block, None, lane)) for lane in range(lanes)), shot]
    if stop.build == "phases":
        steps = beats_of_phases(replay) if view_named(shot.view).moves else steps_in_use(replay)
    else:
        steps = _term_steps(shot, replay) if stop.build == "terms" else list(range(replay.steps))
    return [*(structs.replace(shot, at=position_of(trace, step)) for step in steps if step < shot.at.step), shot]


def _term_steps(shot: Shot, replay: Replay) -> list[int]:
    """Steps at which the sum of the first thread in focus gains a term."""
    scope = scope_of(shot.focus, replay.trace)
    terms = replay.terms(scope)
    own = [] if terms is None else np.flatnonzero(terms.threads == scope.first_thread).tolist()
    if terms is None or not own:
        return []
    steps = np.unique(terms.steps[terms.kind[own[0]]])
    return [int(step) for step in steps if step < replay.steps]


def _shots_with_blanks_filled(step: LessonStep) -> list[Shot]:
    """The kernel with its blanks, then with one more blank filled in at a time."""
    answers = answers_of(step.exercise.key) if step.exercise is not None and step.exercise.key else ()
    setup = step.shot.setup
    kernels = (setup.kernel.filled(answers[:count]) for count in range(len(answers) + 1))
    return [structs.replace(step.shot, setup=structs.replace(setup, kernel=kernel)) for kernel in kernels]


def _of_blanks(step: LessonStep) -> list[str]:
    """The caption of the step, then for each blank the comment above it in the kernel, which says what is filled in."""
    captions, above = [step.caption], step.caption
    for line in step.shot.setup.kernel.text.split("\n"):
        if line.startswith(" ") and line.lstrip().startswith("//"):
            above = line.lstrip().removeprefix("//").strip()
        captions += [above] * len(BLANK.findall(line))
    return captions
