"""Captions with their numbers, and how a number is written in one."""

from decimal import Decimal
from typing import Any

import numpy as np

from gemmviz.model.errors import GemmvizError
from gemmviz.show.facts import Facts
from gemmviz.show.lesson import Stop, Value
from gemmviz.show.quantities import quantity


def shown_value(value: Any) -> str:
    """A value as a caption says it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\u202f")
    if isinstance(value, float):
        text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
        return text.replace(",", "\u202f")
    return str(value)


def caption_with_numbers(stop: Stop, facts: Facts | None = None) -> str:
    """The caption with its numbers worked out; those that nobody can tell as "?"."""
    if not stop.needed:
        return stop.caption
    needed = [each for each in stop.expect if each.name in stop.needed]
    facts, values = facts or Facts(stop.shot), {}
    for each in needed:
        try:
            values[each.name] = shown_value(_rounded(quantity(each.what, facts), each.value))
        except GemmvizError:
            values[each.name] = "?"
    return stop.said(values)


def _rounded(value: Value, like: Value) -> Value:
    """A number in the digits that are written where it is expected."""
    if isinstance(value, float) and not isinstance(like, str | bool):
        digits = digits_of(like)
        return value if not np.isfinite(value) else round(value, digits) if digits else round(value)
    return value


def digits_of(value: Value) -> int:
    """So many are written after the point."""
    exponent = Decimal(str(value)).as_tuple().exponent if isinstance(value, float) else 0
    return max(0, -exponent) if isinstance(exponent, int) and value != int(value) else 0
