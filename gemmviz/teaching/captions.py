"""Captions with computed numbers, and how numbers are displayed."""

import math
from typing import Any

from gemmviz.model.errors import GemmvizError
from gemmviz.model.words import spaced
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.lesson import Expectation, LessonStep
from gemmviz.teaching.quantities.catalog import quantity_value
from gemmviz.teaching.quantities.quantity import QuantityValue
from gemmviz.teaching.stored_numbers import stored_number


def shown_value(value: Any) -> str:
    """A value as captions display it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return spaced(round(value)) if 1000 <= abs(value) < math.inf else f"{value:.4g}"
    return spaced(value) if isinstance(value, int) else str(value)


def caption_with_numbers(stop: LessonStep, facts: ShotFacts) -> str:
    """The caption with its numbers, stored or computed; ``?`` for those that can't be."""
    if not stop.needed:
        return stop.caption
    needed = [each for each in stop.expect if each.name in stop.needed]
    values = {}
    for each in needed:
        try:
            number = stored_number(stop.shot, each.quantity)
            values[each.name] = shown_value(_rounded(quantity_value(each.quantity, facts) if number is None else number, each))
        except GemmvizError:
            values[each.name] = "?"
    return stop.caption_with(values)


def _rounded(value: QuantityValue, like: Expectation) -> QuantityValue:
    """A number rounded to the digits of the expected value."""
    if isinstance(value, float) and not isinstance(like.value, str | bool) and math.isfinite(value):
        return round(value, like.digits) if like.digits else round(value)
    return value
