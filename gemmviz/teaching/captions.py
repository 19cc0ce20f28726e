"""Texts of lessons with computed numbers."""

import hashlib
import math

from gemmviz.files.codec import to_json, to_plain
from gemmviz.model.errors import GemmvizError
from gemmviz.run.stored import stored_answers
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson import Expectation, LessonStep, shown_value
from gemmviz.teaching.quantities.catalog import quantity_value
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
