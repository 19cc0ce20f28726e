"""Texts of lessons with computed numbers, and how numbers are displayed."""

import math
from typing import Any

from gemmviz.model.errors import GemmvizError
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import spaced
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.lesson import Expectation, LessonStep
from gemmviz.teaching.quantities.catalog import quantity_value
from gemmviz.teaching.quantities.quantity import QuantityValue
from gemmviz.teaching.stored_numbers import stored_number

UNAVAILABLE = "?"
_SHOWN_DIGITS = 3
_WORDS = marked("right"), marked("wrong"), marked("unwritten"), marked("unchecked")  # values of "result"


def shown_value(value: Any) -> str:
    """A value as captions display it."""
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    if isinstance(value, float):
        return spaced(round(value)) if 1000 <= abs(value) < math.inf else f"{value:.4g}"
    if isinstance(value, int):
        return spaced(value)
    return tr(value) if value in _WORDS else str(value)


def filled_step(stop: LessonStep, facts: ShotFacts) -> LessonStep:
    """The step with the numbers in its texts, stored or computed; ``?`` for those that can't be computed."""
    needed = set(stop.needed)
    if not needed:
        return stop
    return stop.with_numbers({each.name: _number(stop, each, facts) for each in stop.expect if each.name in needed})


def unavailable_step(stop: LessonStep) -> LessonStep:
    """A step that can't be computed: ``?`` for each number in its texts."""
    return stop.with_numbers(dict.fromkeys(stop.needed, UNAVAILABLE))


def _number(stop: LessonStep, each: Expectation, facts: ShotFacts) -> str:
    try:
        number = stored_number(stop.shot, each.quantity)
        return named_value(each, quantity_value(each.quantity, facts) if number is None else number)
    except GemmvizError:
        return UNAVAILABLE


def named_value(each: Expectation, value: QuantityValue) -> str:
    """A value as texts display it in place of an expectation's name."""
    return shown_value(_rounded(value, each))


def _rounded(value: QuantityValue, like: Expectation) -> QuantityValue:
    """A number rounded to the digits of the expected value, but to no fewer than the three digits that pictures show."""
    if isinstance(value, float) and not isinstance(like.value, str | bool) and math.isfinite(value):
        digits = max(like.digits, _SHOWN_DIGITS - 1 - _power(value))
        return round(value, digits) if digits > 0 else round(value)
    return value


def _power(value: float) -> int:
    """The power of ten of a number's first digit."""
    return math.floor(math.log10(abs(value))) if value else 0
