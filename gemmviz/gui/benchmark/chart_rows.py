"""The points and bars of a chart as the rows of a table for the keyboard and screen readers."""

from collections.abc import Callable, Iterator

from PySide6.QtCore import QRectF

from gemmviz.gui.widgets.fact_table import Grid
from gemmviz.model.chart import Chart
from gemmviz.model.words import number

_Row = tuple[str, str, str, str]


def chart_grid(chart: Chart, whole: Callable[[], QRectF]) -> Grid:
    """Return a table with a row for each point of a curve and each segment of a bar. ``whole``: the place of the chart."""
    rows = list(_rows(chart))
    names = "curve or part", chart.x.label, chart.y.label, "what was measured"
    return Grid(
        "Points of the chart", len(rows), len(names), lambda row, column: rows[row][column], lambda row, column: whole(), names
    )  # fmt: skip


def chart_words(chart: Chart) -> str:
    """Return a chart in words: its title and axes, its notes, and its curves."""
    curves = ", ".join(f"{curve.label} ({len(curve.points)})" for curve in chart.curves)
    return "\n".join(
        filter(None, (chart.title, f"{chart.y.label} by {chart.x.label}", *chart.notes, curves and f"Curves: {curves}"))
    )


def _rows(chart: Chart) -> Iterator[_Row]:
    for curve in chart.curves:
        for (x, y), text in zip(curve.points, curve.texts, strict=True):
            yield curve.label, f"{x:g}", number(y), text
    for bars in chart.bars:
        for x, bottom, height in zip(bars.x, bars.bottoms, bars.heights, strict=True):
            yield bars.role, f"{x:g}", number(height), f"from {number(bottom)} to {number(bottom + height)}"
