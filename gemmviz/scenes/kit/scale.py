"""The scale of an axis of a chart: the range of what is plotted, where values lie in units, and which ticks an axis has."""

import math

from msgspec import Struct

from gemmviz.model.cases import LaunchCase
from gemmviz.model.chart import Axis, Chart
from gemmviz.model.device import Device
from gemmviz.model.kernel import KernelSpec, Launch
from gemmviz.model.messages import grouped, many, tr
from gemmviz.scenes.kit.layout import Box, baseline, text_at
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, boxes, fitted, points, text_line, text_width
from gemmviz.scenes.kit.view import MARGIN, ViewOptions, eased_in_turn

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


# A grid that is longer than a device allows, cut into strips: a host's loop launches one after another.

_TOP, _BAR, _GAP = 168.0, 84.0, 70.0
_MOST_DRAWN = 5  # strips


class Strips(Struct, frozen=True):
    """Blocks along an axis of a grid, cut into strips of at most ``most``. ``axis``: x, y or z."""

    axis: str
    blocks: int
    most: int

    @property
    def count(self) -> int:
        return -(-self.blocks // self.most)

    def strip(self, number: int) -> tuple[int, int]:
        """Return the first block of a strip and the one after its last."""
        return number * self.most, min(self.blocks, (number + 1) * self.most)


def strips_of(launch: Launch, device: Device) -> Strips | None:
    """Return the strips of the first axis along which a grid is longer than the device allows; None if it isn't."""
    extents = zip("xyz", launch.grid, device.max_grid, strict=True)
    return next((Strips(axis, blocks, most) for axis, blocks, most in extents if blocks > most), None)


def strips_still(case: LaunchCase, strips: Strips, options: ViewOptions) -> list[Primitive]:
    """Draw the whole grid as a bar with the device's limit, and the host's loop. The strips are drawn by ``strips_motion``."""
    theme, size, bar = options.theme, options.theme.type.words, _whole(options)
    limit = bar.x + bar.width * strips.most / strips.blocks
    rest = boxes((limit, bar.y, bar.right - limit, bar.height))
    name = tr("the grid: {blocks} blocks along {axis}", blocks=grouped(strips.blocks), axis=strips.axis)
    allowed = tr("{device} allows {most}", device=case.device.name, most=grouped(strips.most))
    left = limit - 12 - text_width(allowed, size) > bar.x + text_width(name, size, "semibold") + 24
    at = (limit if left else bar.right, bar.y - 14)
    return [
        text_line("grid-name", (bar.x, bar.y - 14), name, size, bar.width, theme.text, "semibold"),
        text_at("limit-name", at, allowed, size, theme.faint, "end"),
        Rects("grid", boxes((bar.x, bar.y, limit - bar.x, bar.height)), theme.slate),
        Rects("grid-beyond", rest, theme.warning),
        Lines("limit", boxes((limit, bar.y - 10, limit, bar.bottom + 10)), theme.text, 3.0),
        *_host_loop(case.setup.kernel, strips, options),
    ]


def strips_motion(strips: Strips, options: ViewOptions) -> list[Primitive]:
    """Draw the strips on their way out of the bar, each into the row of its launch."""
    theme, size, bar = options.theme, options.theme.type.words, _whole(options)
    pieces, count = list[Primitive](), min(strips.count, _MOST_DRAWN)
    for number in range(count):
        first, last = strips.strip(number)
        share = eased_in_turn(options.passed, number, count)
        x = bar.x + bar.width * first / strips.blocks * (1 - share)
        y, wide = bar.y + share * (_row(number, count, options) - bar.y), bar.width * (last - first) / strips.blocks
        pieces.append(Rects(f"strip-{number}", boxes((x, y, wide, bar.height)), theme.load, None, radius=4.0))
        if share >= 1.0:
            text = tr(
                "launch {number}: blocks {first} to {last}, {count} in all",
                number=number + 1,
                first=grouped(first),
                last=grouped(last - 1),
                count=grouped(last - first),
            )
            fits = text_width(text, size, "semibold") + 24 <= wide
            at = points((x + 14 if fits else x + wide + 14, baseline(y + bar.height / 2, size)))
            ink = theme.ink_on(theme.load) if fits else theme.text
            pieces.append(Labels(f"strip-{number}-name", at, (text,), size, ink, "start", "semibold"))
    if strips.count > count and options.moment >= 1.0:
        at = points((bar.x, _row(count, count, options) + size))
        pieces.append(
            Labels(
                "more",
                at,
                (tr("and {more_launches}", more_launches=many(strips.count - count, "more launch")),),
                size,
                theme.faint,
            )
        )
    return pieces


def _whole(options: ViewOptions) -> Box:
    return options.room(_TOP)._replace(height=_BAR)


def _row(number: int, count: int, options: ViewOptions) -> float:
    """Return the top of a launch's row, below the loop."""
    first = _whole(options).bottom + _GAP + 5 * options.theme.type.sentence
    room = options.height - 40 - first
    return first + number * min(_BAR + 14, room / max(1, count))


def _host_loop(kernel: KernelSpec, strips: Strips, options: ViewOptions) -> list[Primitive]:
    """Draw the host's loop around the launch."""
    theme, sizes = options.theme, options.theme.type
    args, index = ", ".join((*kernel.args, "first")), f"blockIdx.{strips.axis}"
    lines = (
        f"for (int first = 0; first < {strips.blocks}; first += {strips.most})",
        f"    {kernel.function}<<<min({strips.most}, {strips.blocks} - first), block>>>({args});",
    )
    y, room = _whole(options).bottom + _GAP, options.width - 2 * MARGIN
    fits = all(text_width(line, sizes.caption, "mono") <= room for line in lines)
    size = sizes.caption if fits else sizes.code
    said = tr("The kernel gets one parameter more, first, and uses first + {index} in the place of {index}", index=index)
    below = (MARGIN, y + 1.5 * len(lines) * size)
    return [
        *(
            text_at(
                f"loop-{place}",
                (MARGIN, y + 1.5 * place * size),
                fitted(line, size, room, "mono"),
                size,
                theme.text,
                "start",
                "mono",
            )
            for place, line in enumerate(lines)
        ),
        text_line("loop-said", below, said, sizes.words, room, theme.faint),
    ]
