"""The points of a chart as a table for the keyboard and screen readers."""

from collections.abc import Callable

from PySide6.QtCore import QRectF

from gemmviz.gui.widgets.fact_table import FactGrid
from gemmviz.model.chart import Chart
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.chart_words import chart_columns, chart_rows


def chart_grid(chart: Chart, whole: Callable[[], QRectF]) -> FactGrid:
    """Return a table with a row for each point and each segment of a bar. ``whole``: the place of the chart."""
    rows, names = list(chart_rows(chart)), chart_columns(chart)
    name = tr("Points of the chart")
    return FactGrid(
        name, len(rows), len(names), lambda row, column: rows[row][column], lambda row, column: whole(), names
    )  # fmt: skip
