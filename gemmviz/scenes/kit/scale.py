"""The scale of an axis of a chart: the range of what is plotted, where values lie in units, and which ticks an axis has."""

import math

from msgspec import Struct

from gemmviz.model.chart import Axis, Chart
from gemmviz.model.messages import grouped

_BETWEEN, _LEAST_TICKS = ((1,), (1, 2, 5), (1, 2, 3, 5, 7)), 4  # steps from one power of ten to the next
_POWERS_FROM = 1e7  # values from which on a power of ten is written
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_LEAST = 1e-12  # a logarithmic axis has no zero


class Scale(Struct, frozen=True):
    """The mapping of an axis: ``at`` maps values to scene units, ``value`` maps back."""

    low: float
    high: float
    start: float
    stop: float
    is_log: bool

    def at(self, value: float) -> float:
        low, high, value = (math.log10(max(each, _LEAST)) if self.is_log else each for each in (self.low, self.high, value))
        return self.start + (value - low) / (high - low) * (self.stop - self.start)

    def value(self, at: float) -> float:
        low, high = (math.log10(each) if self.is_log else each for each in (self.low, self.high))
        result = low + (at - self.start) / (self.stop - self.start) * (high - low)
        return 10**result if self.is_log else result


def y_range(chart: Chart) -> tuple[float, float]:
    """Return the range of the plotted values, with a margin."""
    values = [y for curve in chart.curves for _, y in curve.points] + [aside.y for aside in chart.asides]
    for bars in chart.bars:
        values += [0.0, *bars.bottoms, *(b + h for b, h in zip(bars.bottoms, bars.heights, strict=True))]
    low, high = min(values), max(values)
    if chart.y.is_log:
        air = (high / low) ** 0.05 if high > low else 1.5
        below = air**2 if any(curve.values for curve in chart.curves) else air  # for values below the lowest points
        return low / below, high * air
    air = (high - low) * 0.05 or 1.0
    return low - (air if low < 0 else 0.0), high + air


def ticks(axis: Axis, low: float, high: float) -> list[tuple[float, str]]:
    """Return the positions and texts of the ticks from ``low`` to ``high``.

    They are the axis's own ticks if it has some; else powers of ten with values between them if there are few; else round
    steps, also on a logarithmic axis that is too short for powers of ten.
    """
    if axis.ticks is not None:
        return [(at, text) for at, text in axis.ticks if low <= at * (1 + 1e-9) and at <= high * (1 + 1e-9)]
    if axis.is_log:
        inside = _log_ticks(low, high)
        if len(inside) >= _LEAST_TICKS:
            return [(at, _of_log(at)) for at in inside]
    rough = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough)
    values = [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return [(at, grouped(round(abs(at) if axis.unsigned else at)) if step >= 1 else f"{at:g}") for at in values]


def _of_log(at: float) -> str:
    """Return the text of a value on a logarithmic axis: all digits, or a power of ten of many."""
    if at < _POWERS_FROM:
        return grouped(round(at)) if at >= 1 else f"{at:g}"
    power = math.floor(math.log10(at) + 1e-9)
    times = round(at / 10.0**power)
    return f"{'' if times == 1 else f'{times}·'}10{str(power).translate(_RAISED)}"


def _log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten, with as many values between them as make at least four ticks."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    inside: list[float] = []
    for between in _BETWEEN:
        inside = [step * 10.0**power for power in powers for step in between if low <= step * 10.0**power <= high]
        if len(inside) >= _LEAST_TICKS:
            break
    return inside
