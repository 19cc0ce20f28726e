"""A chart as a scene: axes, curves with their names beside their ends, bars, marks and notes. Curves are drawn from left to
right and bars grow; at the end of the step, the chart is whole.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from msgspec import Struct

from gemmviz.model.chart import Bars, Chart
from gemmviz.model.records import replace
from gemmviz.model.translation import capital, language, number, shown_facts, tr
from gemmviz.scenes.kit.curves import (
    ASIDES,
    asides_drawn,
    curve_colours,
    curve_drawn,
    curve_names,
    names_drawn,
    threads_drawn,
    values_drawn,
)
from gemmviz.scenes.kit.layout import text_at
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, Scene, points
from gemmviz.scenes.kit.scale import Scale, ticks, y_range
from gemmviz.scenes.kit.text import text_width, wrap_text
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.view import MARGIN, View, ViewOptions, eased_from, title_words

_LEADING = 1.3  # distance of lines, of their size
_TOP, _FOOT, _X_LABELS = 62.0, 22.0, 76.0  # above the plot; below the notes; below the plot, for the words of the x axis
_APART, _NAMES_ROOM, _FOOT_LEAVES, _Y_LABEL = 24.0, 54.0, 18.0, 34.0


class _Frame(Struct, frozen=True):
    """The scales of a chart in a frame, its sentences above and below, and the baseline of the first line below."""

    x: Scale
    y: Scale
    remark: tuple[str, ...]
    notes: tuple[str, ...]
    notes_y: float


def chart_scene(chart: Chart, options: ViewOptions) -> Scene:
    """Return the whole chart in the format of a frame, with the curves that ``options.curves`` selects."""
    still = chart_still(chart, options)
    return replace(still, primitives=(*still.primitives, *chart_motion(chart, options)))


def chart_view(title: str, subject: type, chart: Callable[[Any], Chart], order: int, grows: bool = True) -> View:
    """Return a view that is a chart of its subject. ``grows``: whether the chart is drawn bit by bit within a step, which a
    chart of the steps themselves is not.
    """
    latest = _Latest(chart)

    def draw(shown: Any, options: ViewOptions) -> Scene:
        return chart_still(latest.of(shown), options) if grows else chart_scene(latest.of(shown), replace(options, moment=1.0))

    def draw_motion(shown: Any, options: ViewOptions) -> tuple[Primitive, ...]:
        return chart_motion(latest.of(shown), options)

    if not grows:
        return View(title, subject, draw, chart=chart, order=order)
    return View(title, subject, draw, draw_motion, chart=chart, order=order)


class _Latest:
    """The chart of the subject that was drawn last, in its language: it is made once for all frames of a motion. Another one is
    made while a question is open.
    """

    def __init__(self, make: Callable[[Any], Chart]) -> None:
        self._make = make
        self._last: tuple[Any, tuple[str, frozenset[str] | None], Chart] | None = None

    def of(self, subject: Any) -> Chart:
        last, words = self._last, (language(), shown_facts())
        if last is None or last[0] is not subject or last[1] != words:
            last = self._last = subject, words, self._make(subject)
        return last[2]


def bar_colour(bars: Bars, theme: Theme) -> str:
    return {"needed": theme.faint, "also needed": mixed(theme.background, theme.faint, 0.6), "lost": theme.warning}[bars.role]


def scales(chart: Chart, top: float, bottom: float, width: float, theme: Theme) -> tuple[Scale, Scale]:
    """Return the scales of the x and the y axis, with space for numbers on the left and names on the right."""
    low, high = y_range(chart)
    sizes = theme.type
    numbers = max(text_width(text, sizes.note) for _, text in ticks(chart.y, low, high))
    names = max((text_width(name, sizes.note, "semibold") for name in curve_names(chart).values()), default=0.0)
    beside = (names + _NAMES_ROOM if names else 0) + (ASIDES if chart.asides else 0.0)
    left, right = MARGIN + numbers + 18, width - MARGIN - beside
    least, most = chart.xs[0], chart.xs[-1]
    if chart.bars:
        least, most = min(0.5, least - 0.5), most + 0.5
    elif least == most:
        least, most = least / 1.5, most * 1.5
    return Scale(least, most, left, right, chart.x.is_log), Scale(low, high, bottom, top, chart.y.is_log)


def _chosen(chart: Chart, options: ViewOptions) -> Chart:
    chart = chart.showing(options.curves)
    return chart.evenly() if options.is_even else chart


def _frame(chart: Chart, options: ViewOptions) -> _Frame:
    sizes, room, height = options.theme.type, options.width - 2 * MARGIN, options.height
    has_two_lines = any("\n" in text for _, text in chart.x.ticks or ())
    remark = notes = tuple[str, ...]()
    foot = _FOOT + options.lacking(_FOOT_LEAVES)
    top, bottom = 46.0 + options.lacking(12.0), height - 62.0 - options.lacking(4.0)
    if options.words:
        remark = wrap_text(chart.remark, sizes.words, room, 2) if chart.remark else ()
        notes = wrap_text("; ".join(chart.notes), sizes.least, room, 2)
        top = max(options.room(_TOP + 48.0).y, options.edge + _Y_LABEL) + _LEADING * sizes.words * len(remark)
        bottom = height - foot - _LEADING * sizes.least * len(notes) - _X_LABELS
    bottom -= sizes.note if has_two_lines else 0.0
    x, y = scales(chart, top, bottom, options.width, options.theme)
    return _Frame(x, y, remark, notes, height - foot - _LEADING * sizes.least * (len(notes) - 1))


def chart_still(chart: Chart, options: ViewOptions) -> Scene:
    """Draw everything but the bars and curves."""
    chart, theme = _chosen(chart, options), options.theme
    if not chart.xs:
        at = (options.width / 2, options.height / 2)
        nothing = text_at("message", at, tr("No data to plot"), theme.type.title, theme.faint, "middle", meaning="message")
        return Scene(options.width, options.height, theme.background, (nothing,))
    frame = _frame(chart, options)
    x, y, colours = frame.x, frame.y, curve_colours(chart, theme)
    drawn = (*_axes(chart, x, y, theme), *_marks(chart, x, y, theme), *names_drawn(chart, colours, x, y, theme))
    words = _words(chart, frame, options) if options.words else ()
    return Scene(options.width, options.height, theme.background, drawn, words=words)


def chart_motion(chart: Chart, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the bars and curves as far as they are at ``options.moment``."""
    chart, theme = _chosen(chart, options), options.theme
    if not chart.xs:
        return ()
    frame, share = _frame(chart, options), eased_from(options.moment, 0.0, 1.0)
    x, y, colours = frame.x, frame.y, curve_colours(chart, theme)
    until = x.start + share * (x.stop - x.start) + 0.01
    primitives: list[Primitive] = [_bars(bars, number, x, y, share, theme) for number, bars in enumerate(chart.bars)]
    primitives += threads_drawn(chart, colours, x, y, until, theme)
    for curve in chart.curves:
        family = chart.families.index(curve.family)
        primitives += curve_drawn(curve, colours[curve.family], family, (x, y), until, theme)
    if options.words:
        primitives += values_drawn(chart, colours, (x, y), until, theme)
    return (*primitives, *asides_drawn(chart, colours, (x, y), share, theme))


def _words(chart: Chart, frame: _Frame, options: ViewOptions) -> tuple[Primitive, ...]:
    theme, sizes = options.theme, options.theme.type
    above = points(*((MARGIN, options.note_y - 2 + _LEADING * sizes.words * row) for row in range(len(frame.remark))))
    below = points(*((MARGIN, frame.notes_y + _LEADING * sizes.least * row) for row in range(len(frame.notes))))
    return (
        title_words(chart.title, options.width - 2 * MARGIN, options),
        *([Labels("remark", above, frame.remark, sizes.words, theme.text)] if frame.remark else []),
        Labels("notes", below, frame.notes, sizes.least, theme.faint),
    )


def _axes(chart: Chart, x: Scale, y: Scale, theme: Theme) -> list[Primitive]:
    size = theme.type.note
    down, across = ticks(chart.y, y.low, y.high), ticks(chart.x, x.low, x.high)
    widest = max((text_width(line, size) for _, text in across for line in text.split("\n")), default=0.0) + 18
    shown = [across[0]] if across else []
    for tick in across[1:]:
        if x.at(tick[0]) - x.at(shown[-1][0]) >= widest:
            shown.append(tick)
    grid = [(x.start, y.at(at), x.stop, y.at(at)) for at, _ in down]
    grid += [(x.at(at), y.start, x.at(at), y.stop) for at, _ in shown]
    frame = [(x.start, y.start, x.stop, y.start), (x.start, y.start, x.start, y.stop)]
    lines = [(x.at(at), y.start + 30 + 26 * row, line) for at, text in shown for row, line in enumerate(text.split("\n"))]
    below = y.start + (86 if any("\n" in text for _, text in shown) else 60)
    return [
        Lines("grid", np.array(grid, np.float64).reshape(-1, 4), theme.line, 1.0, meaning="frame"),
        Lines("axes", np.array(frame), theme.faint, 2.0, meaning="frame"),
        Labels("y-ticks", points(*((x.start - 12, y.at(at) + 8) for at, _ in down)), tuple(text for _, text in down), size,
               theme.text, "end", meaning="scale"),
        Labels("x-ticks", points(*(line[:2] for line in lines)), tuple(line[2] for line in lines), size, theme.text, "middle",
               meaning="scale"),
        text_at("y-label", (x.start, y.stop - 16), chart.y.label, size, theme.faint),
        text_at("x-label", (x.stop, below), chart.x.label, size, theme.faint, "end"),
    ]  # fmt: skip


def _bars(bars: Bars, number: int, x: Scale, y: Scale, share: float, theme: Theme) -> Rects:
    at, low, high = np.array(bars.x), share * np.array(bars.bottoms), share * np.array(bars.heights)
    unit = (x.stop - x.start) / (x.high - x.low)
    tops = np.array([y.at(value) for value in np.maximum(low, low + high)])
    heights = np.abs(high) * abs(y.stop - y.start) / (y.high - y.low)
    left = x.start + (at - bars.width / 2 - x.low) * unit
    wide = np.full(len(at), max(1.0, bars.width * unit))
    return Rects(f"bars-{number}", np.column_stack([left, tops, wide, heights]), bar_colour(bars, theme))


def _marks(chart: Chart, x: Scale, y: Scale, theme: Theme) -> list[Primitive]:
    primitives: list[Primitive] = []
    size = theme.type.least
    taken = [(x.start, x.start + text_width(chart.y.label, theme.type.note) + _APART, 0)]
    for index, mark in enumerate(chart.marks):
        at = x.at(mark.x)
        colour = theme.text if mark.is_here else theme.faint
        line = np.array([(at, y.start, at, y.stop)])
        primitives.append(Lines(f"mark-{index}", line, colour, 2.0 if mark.is_here else 1.5, dashed=not mark.is_here))
        if mark.text:
            wide = text_width(mark.text, size)
            sides = [at - 6 - wide, at] if index + 1 < len(chart.marks) else [at, at - 6 - wide]
            left, row = _free_place(sides, wide, taken)
            taken.append((left, left + wide + _APART, row))
            place = (left, y.stop - 12 - 1.2 * size * row)
            primitives.append(text_at(f"mark-{index}-text", place, mark.text, size, theme.faint))
    return primitives


def _free_place(sides: list[float], wide: float, taken: list[tuple[float, float, int]]) -> tuple[float, int]:
    """Return the first left edge and row above the plot where a text covers no other."""
    for row in (0, 1):
        for left in sides:
            if left >= MARGIN and not any(at == row and left < end and start < left + wide for start, end, at in taken):
                return left, row
    return sides[0], 1


# A chart in words, and its points and bars as rows of a table.

ChartRow = tuple[str, str, str, str]


def chart_columns(chart: Chart) -> ChartRow:
    """Return the names of the columns of ``chart_rows``."""
    return tr("curve or part"), chart.x.label, chart.y.label, tr("what was measured")


def chart_rows(chart: Chart) -> Iterator[ChartRow]:
    """Yield a row for each point of a curve, each segment of a bar, and each value beside the curves."""
    for curve in chart.curves:
        for (x, y), text in zip(curve.points, curve.texts, strict=True):
            yield tr(curve.label), f"{x:g}", number(y), text
    for bars in chart.bars:
        for x, bottom, height in zip(bars.x, bars.bottoms, bars.heights, strict=True):
            yield (
                tr(bars.role),
                f"{x:g}",
                number(height),
                tr("from {least} to {most}", least=number(bottom), most=number(bottom + height)),
            )
    for aside in chart.asides:
        yield aside.family, "", number(aside.y), aside.text


def chart_facts(chart: Chart) -> Iterator[tuple[str, str]]:
    """Yield the facts of a chart as names and texts: its axes, each curve with its points, its bars, and its notes."""
    yield tr("Axes"), tr("{y} by {x}", y=chart.y.label, x=chart.x.label)
    for curve in chart.curves:
        yield tr(curve.label), ", ".join(f"{x:g}: {number(y)}" for x, y in curve.points)
    for bars in chart.bars:
        yield capital(tr(bars.role)), ", ".join(f"{x:g}: {number(y)}" for x, y in zip(bars.x, bars.heights, strict=True))
    for aside in chart.asides:
        yield aside.family, aside.text
    if chart.notes:
        yield tr("Notes"), ". ".join(chart.notes)


def chart_words(chart: Chart) -> str:
    """Return a chart in words, one fact a line."""
    return "\n".join((chart.title, *(f"{name}: {text}" for name, text in chart_facts(chart))))
