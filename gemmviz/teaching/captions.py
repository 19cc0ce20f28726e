"""Captions with their numbers, and how a number is written in one."""

import math
from typing import Any

from gemmviz.model.errors import GemmvizError
from gemmviz.model.words import spaced
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.lesson import Answer, Expectation, LessonStep
from gemmviz.teaching.quantities import quantity


def shown_value(value: Any) -> str:
    """A value as a caption says it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return spaced(round(value)) if 1000 <= abs(value) < math.inf else f"{value:.4g}"
    return spaced(value) if isinstance(value, int) else str(value)


def caption_with_numbers(stop: LessonStep, facts: ShotFacts) -> str:
    """The caption of a step with its numbers; "?" for those that can't be had."""
    if not stop.needed:
        return stop.caption
    needed = [each for each in stop.expect if each.name in stop.needed]
    values = {}
    for each in needed:
        try:
            values[each.name] = shown_value(_rounded(quantity(each.what, facts), each))
        except GemmvizError:
            values[each.name] = "?"
    return stop.said(values)


def _rounded(value: Answer, like: Expectation) -> Answer:
    """A number in the digits that are written where it is expected."""
    if isinstance(value, float) and not isinstance(like.value, str | bool) and math.isfinite(value):
        return round(value, like.digits) if like.digits else round(value)
    return value
