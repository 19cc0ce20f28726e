"""An interactive chart: pyqtgraph draws the same ``Chart`` that the scenes draw."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QMenu

from gemmviz.gui.widgets.controls import MENU_SHEET
from gemmviz.gui.widgets.dialogs import copy_scene, save_numbers, save_scene
from gemmviz.gui.widgets.fact_table import FactGrid, PictureTables
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.chart import Axis, Chart, Curve, Opens
from gemmviz.model.messages import number, tr
from gemmviz.render.qt.painter import font
from gemmviz.scenes.kit.chart import (
    apart,
    bar_colour,
    chart_columns,
    chart_rows,
    chart_scene,
    chart_words,
    curve_colours,
    curve_names,
)
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.scenes.kit.scale import ticks, y_range
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.view import ViewOptions

# The points of a chart as a table for the keyboard and screen readers.


def chart_grid(chart: Chart, whole: Callable[[], QRectF]) -> FactGrid:
    """Return a table with a row for each point and each segment of a bar. ``whole``: the place of the chart."""
    rows, names = list(chart_rows(chart)), chart_columns(chart)
    name = tr("Points of the chart")
    return FactGrid(
        name, len(rows), len(names), lambda row, column: rows[row][column], lambda row, column: whole(), names
    )  # fmt: skip


_SYMBOLS = ("o", "s", "t", "d", "+", "x", "star", "p")
_NEAR_PIXELS = 24.0
_TITLE_SIZE, _BESIDE_TITLE = 12, 80
_NAME_SIZE, _LINE_PIXELS, _ASIDES = 16, 22.0, 110
_MOST_NAMES = 0.45  # of the width: longer names are shortened
_TICK_GAP = 10.0  # pixels between the labels of ticks


class _Axis(pg.AxisItem):  # type: ignore[misc]
    """An axis with its tick labels where the chart's own axis has them."""

    axis: Axis | None = None

    def tickValues(self, least: float, most: float, size: float) -> list[tuple[float, list[float]]]:
        return [(1.0, [at for at, _ in self._apart(self._ticks(least, most), (most - least) / max(1.0, size))])]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        found = {round(at, 9): text for at, text in self._ticks(min(values, default=0.0), max(values, default=1.0))}
        return [found.get(round(value, 9), "") for value in values]

    def _apart(self, found: list[tuple[float, str]], per_pixel: float) -> list[tuple[float, str]]:
        """Return the ticks of a horizontal axis whose labels don't touch the one before."""
        if self.orientation != "bottom":
            return found
        measure, shown = QFontMetricsF(self.style["tickFont"] or self.font()), found[:1]
        for at, text in found[1:]:
            width = max(measure.horizontalAdvance(line) for line in text.split("\n"))
            if at - shown[-1][0] >= (width + _TICK_GAP) * per_pixel:
                shown.append((at, text))
        return shown

    def _ticks(self, least: float, most: float) -> list[tuple[float, str]]:
        if self.axis is None:
            return []
        if not self.axis.is_log:
            return ticks(self.axis, least, most if most > least else least + 1)
        found = ticks(self.axis, 10**least, 10 ** max(most, least + 1e-9))
        return [(float(np.log10(at)), text) for at, text in found]


class ChartPlot(pg.PlotWidget):  # type: ignore[misc]
    """A plot of a ``Chart``.

    Signals: ``pointed`` with the text of the point under the pointer; ``opened`` with the launch of a clicked point; ``chosen``
    with the x of a click. A ``small`` plot fits a dock and pans along x; otherwise the names of the curves stand beside them.
    """

    pointed = Signal(str)
    chosen = Signal(float)
    opened = Signal(object)

    def __init__(self, model: WindowModel, name: str, small: bool = False) -> None:
        super().__init__(axisItems={"left": _Axis("left"), "bottom": _Axis("bottom")})
        self.model, self.is_small = model, small
        self.chart: Chart | None = None
        self.theme: Theme = model.theme
        self._names: dict[str, tuple[Any, Any]] = {}
        self._asides: list[Any] = []
        self._names_room = 0.0
        self.setMenuEnabled(False)
        self.plotItem.vb.setMenuEnabled(False)
        self.setMouseEnabled(x=small, y=False)
        self.hideButtons()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        for each in (self, self.viewport()):
            each.setAccessibleName(name)
        self.scene().sigMouseMoved.connect(self._on_pointed)
        self.scene().sigMouseClicked.connect(self._on_clicked)
        self.tables = PictureTables(self, self)
        self._ring = pg.ScatterPlotItem(size=16, brush=None)
        self._here = pg.InfiniteLine(angle=90)

    def show_chart(self, chart: Chart, theme: Theme) -> None:
        """Show a chart. If only the position mark has changed, only that mark is moved."""
        before = self.chart
        self.chart = chart
        if before is not None and self.theme is theme and _without_here(before) == _without_here(chart):
            self._move_here()
            return
        self.theme = theme
        self._draw(chart)
        self.tables.changed()

    def words_of(self) -> str:
        """Return the chart in words."""
        return "" if self.chart is None else chart_words(self.chart)

    def grids(self) -> Mapping[str, FactGrid]:
        """Return the table of the chart's points."""
        has_points = self.chart is not None and bool(self.chart.curves or self.chart.bars)
        return {"points": chart_grid(self.chart, lambda: QRectF(self.rect()))} if self.chart is not None and has_points else {}

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Go on to the table of the chart's points."""
        if forward:
            self.tables.enter()
        return bool(super().focusNextPrevChild(forward))

    def fit(self) -> None:
        """Show the whole chart."""
        if self.chart is not None and self.chart.xs:
            self._fit(self.chart)

    # Drawing

    def _draw(self, chart: Chart) -> None:
        theme = self.theme
        self.clear()
        self._names, self._asides = {}, []
        self.setBackground(theme.background)
        self.setLogMode(x=chart.x.is_log, y=chart.y.is_log)
        self._draw_axes(chart)
        for bars in chart.bars:
            self.addItem(
                pg.BarGraphItem(
                    x=np.array(bars.x), y0=np.array(bars.bottoms), height=np.array(bars.heights), width=bars.width,
                    brush=bar_colour(bars, theme), pen=None,
                )
            )  # fmt: skip
        self._draw_curves(chart)
        for mark in (mark for mark in chart.marks if not mark.is_here):
            options = {"color": theme.faint, "position": 0.04, "rotateAxis": (1, 0), "anchors": [(0, 0), (0, 0)]}
            pen = pg.mkPen(theme.faint, style=Qt.PenStyle.DotLine)
            line = pg.InfiniteLine(self._at(mark.x, 1.0)[0], 90, pen, label=mark.text, labelOpts=options)
            self.addItem(line, ignoreBounds=True)
        self._ring.setData([])
        self.addItem(self._ring, ignoreBounds=True)
        self._here.setPen(pg.mkPen(theme.text, width=1))
        self.addItem(self._here, ignoreBounds=True)
        self._move_here()
        self.fit()

    def _draw_axes(self, chart: Chart) -> None:
        theme = self.theme
        for name, axis in (("left", chart.y), ("bottom", chart.x)):
            item = self.getAxis(name)
            item.axis = axis
            item.setPen(theme.faint)
            item.setTextPen(theme.faint if self.is_small else theme.text)
            item.setStyle(tickFont=font("regular", 11 if self.is_small else 15))
            if not self.is_small:
                self.setLabel(name, axis.label, color=theme.text, **{"font-size": "17px"})
        if self.is_small:
            self._show_title(chart)
        self.showGrid(x=not self.is_small, y=True, alpha=0.18)

    def _show_title(self, chart: Chart) -> None:
        """Show the title, elided to the width: a longer title would widen the plot."""
        text = "; ".join((chart.y.label, *chart.notes))
        room = max(40, self.width() - _BESIDE_TITLE)
        fitted = QFontMetricsF(font("regular", _TITLE_SIZE)).elidedText(text, Qt.TextElideMode.ElideRight, room)
        self.setTitle(fitted, color=self.theme.faint, size=f"{_TITLE_SIZE}px")

    def _draw_curves(self, chart: Chart) -> None:
        """Draw one line for each curve, and one item for the points of all curves, because many small items are slow."""
        colours, spots = curve_colours(chart, self.theme), []
        for curve in chart.curves:
            colour, family = colours[curve.family], chart.families.index(curve.family)
            pen = pg.mkPen(colour, width=2, style=Qt.PenStyle.DashLine if curve.dashed else Qt.PenStyle.SolidLine)
            points = [self._at(*point) for point in curve.points]
            self.addItem(pg.PlotCurveItem(*np.array(points).T, pen=pen, antialias=True))
            symbol, brush = _SYMBOLS[family % len(_SYMBOLS)], pg.mkBrush(colour)
            spots += [{"pos": point, "symbol": symbol, "brush": brush} for point in points]
        self.addItem(pg.ScatterPlotItem(spots, size=10, pen=None, antialias=True))

    def _move_here(self) -> None:
        here = next((mark for mark in self.chart.marks if mark.is_here), None) if self.chart is not None else None
        self._here.setVisible(here is not None)
        if here is not None:
            self._here.setPos(self._at(here.x, 1.0)[0])

    def _at(self, x: float, y: float) -> tuple[float, float]:
        """Return a point in the coordinates of the axes, which may be logarithmic."""
        assert self.chart is not None
        log_x, log_y = self.chart.x.is_log, self.chart.y.is_log
        return float(np.log10(x)) if log_x else x, float(np.log10(y)) if log_y else y

    def _fit(self, chart: Chart) -> None:
        """Show all points, with space for the names beside the curves."""
        (left, low), (right, high) = (self._at(*each) for each in zip((chart.xs[0], chart.xs[-1]), y_range(chart), strict=True))
        if chart.bars:
            self.setXRange(left - 0.5, right + 0.5, padding=0.01)
            self.setYRange(low, high, padding=0)
            return
        width, tall = max(right - left, 0.1), max(high - low, 0.1)
        measure = QFontMetricsF(font("semibold", _NAME_SIZE))
        across, down = max(self.width() - 90.0, 200.0), max(self.height() - 60.0, 100.0)
        names = max((measure.horizontalAdvance(name) for name in curve_names(chart).values()), default=0.0)
        needed = names + 40 + (_ASIDES if chart.asides else 0)
        share = min(needed / across, _MOST_NAMES)
        self._names_room = share * across - 30
        line = tall * _LINE_PIXELS / (down - 2 * _LINE_PIXELS)
        self.setXRange(left - 0.04 * width, right + width * 1.04 * share / (1 - share), padding=0)
        self.setYRange(low - line, high + line, padding=0)
        self._draw_names(chart, right + (0.12 if chart.asides else 0.03) * width, line, high + line / 2)
        self._draw_asides(chart, right + 0.05 * width, right + 0.07 * width)

    def _draw_names(self, chart: Chart, x: float, line: float, top: float) -> None:
        """Place a name beside the last point of each curve, without overlaps."""
        ordered = sorted(chart.curves, key=lambda curve: self._at(*curve.points[-1])[1])
        ends = [self._at(*curve.points[-1]) for curve in ordered]
        names, measure = curve_names(chart), QFontMetricsF(font("semibold", _NAME_SIZE))
        for curve, end, y in zip(ordered, ends, apart([end[1] for end in ends], line, top), strict=True):
            if curve.label not in self._names:
                self._names[curve.label] = self._name(chart, curve)
            name, thread = self._names[curve.label]
            name.setText(measure.elidedText(names[curve.label], Qt.TextElideMode.ElideRight, self._names_room))
            name.setPos(x, y)
            thread.setData([end[0], x], [end[1], y])

    def _draw_asides(self, chart: Chart, x: float, beside: float) -> None:
        """Place a ring with its text for each value without an x, between the curves and their names."""
        colours = curve_colours(chart, self.theme)
        for item in self._asides:
            self.removeItem(item)
        self._asides = []
        for aside in chart.asides:
            colour, y = colours[aside.family], self._at(1.0, aside.y)[1]
            ring = pg.ScatterPlotItem([x], [y], size=14, brush=None, pen=pg.mkPen(colour, width=3), antialias=True)
            text = pg.TextItem(aside.text, color=QColor(colour), anchor=(0, 0.5))
            text.setFont(font("semibold", _NAME_SIZE))
            text.setPos(beside, y)
            for item in (ring, text):
                self.addItem(item, ignoreBounds=True)
                self._asides.append(item)

    def _name(self, chart: Chart, curve: Curve) -> tuple[Any, Any]:
        """Return the name of a curve and the line that leads to it. Both are kept until another chart is drawn."""
        colour = curve_colours(chart, self.theme)[curve.family]
        name = pg.TextItem(color=QColor(colour), anchor=(0, 0.5))
        name.setFont(font("semibold", _NAME_SIZE))
        pen = pg.mkPen(QColor(mixed(self.theme.background, colour, 0.6)), style=Qt.PenStyle.DotLine)
        thread = pg.PlotCurveItem(pen=pen)
        for item in (name, thread):
            self.addItem(item, ignoreBounds=True)
        return name, thread

    def resizeEvent(self, event: QResizeEvent) -> None:
        chart = getattr(self, "chart", None)
        if chart is not None and self.is_small:
            self._show_title(chart)  # before the plot takes its place: it is never narrower than its title
        super().resizeEvent(event)
        if chart is not None and not self.is_small:
            self.fit()
        if chart is not None:
            self.tables.changed()

    # Pointing

    def where(self, x: float, y: float) -> QPointF:
        """Return the position of a point of the chart, in pixels of the plot."""
        position: QPointF = self.plotItem.vb.mapViewToScene(pg.Point(*self._at(x, y)))
        return position

    def nearest(self, at: QPointF) -> tuple[str, tuple[float, float]] | None:
        """Return the text and the axis coordinates of the point nearest to a position in pixels, None if no point is near."""
        best: tuple[float, str, tuple[float, float]] | None = None
        for curve in self.chart.curves if self.chart is not None else ():
            for (x, y), text in zip(curve.points, curve.texts, strict=True):
                position = self.where(x, y)
                distance = float(np.hypot(position.x() - at.x(), position.y() - at.y()))
                if distance < _NEAR_PIXELS and (best is None or distance < best[0]):
                    assert self.chart is not None
                    best = distance, f"{number(y)} {self.chart.y.label}: {text}", self._at(x, y)
        return None if best is None else best[1:]

    def _on_pointed(self, at: QPointF) -> None:
        nearest = self.nearest(at)
        self._ring.setData(pos=[nearest[1]] if nearest else [], pen=pg.mkPen(self.theme.text, width=2))
        if nearest:
            self.pointed.emit(nearest[0])

    def _on_clicked(self, event: Any) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.chart is not None:
            opens = self._opens_at(event.scenePos())
            if opens is not None:
                self.opened.emit(opens)
                return
            x = self.plotItem.vb.mapSceneToView(event.scenePos()).x()
            self.chosen.emit(10**x if self.chart.x.is_log else x)

    def _opens_at(self, at: QPointF) -> Opens | None:
        """Return the launch of the point nearest to a position in pixels, None if no point is near."""
        best: tuple[float, Opens | None] = (_NEAR_PIXELS, None)
        for curve in self.chart.curves if self.chart is not None else ():
            for (x, y), opens in zip(curve.points, curve.opens, strict=False):
                position = self.where(x, y)
                distance = float(np.hypot(position.x() - at.x(), position.y() - at.y()))
                if distance < best[0]:
                    best = distance, opens
        return best[1]

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the chart's own menu instead of pyqtgraph's."""
        self.menu().exec(event.globalPos())

    def menu(self) -> QMenu:
        """Return the context menu of the chart."""
        menu = QMenu(self)
        menu.setAccessibleName(tr("Chart"))
        menu.setStyleSheet(MENU_SHEET)
        menu.addAction(tr("Fit"), self.fit)
        menu.addAction(tr("Copy picture"), lambda: copy_scene(self.model, self._as_slide()))
        for suffix in ("png", "svg"):
            name = tr("Save picture, {suffix} …", suffix=suffix.upper())
            menu.addAction(name, lambda suffix=suffix: save_scene(self.model, self, self._as_slide(), "chart", suffix))
        menu.addAction(tr("Save numbers, CSV …"), self._save_numbers)
        return menu

    def _save_numbers(self) -> None:
        if self.chart is not None:
            save_numbers(self.model, self, self.chart)

    def _as_slide(self) -> Scene:
        """Return the chart as a scene in the format of a slide, as it is saved."""
        assert self.chart is not None
        scene = chart_scene(self.chart, ViewOptions(self.theme))
        return dataclasses.replace(scene, title=self.chart.title, description=chart_words(self.chart))


def _without_here(chart: Chart) -> tuple[Any, ...]:
    marks = tuple(mark for mark in chart.marks if not mark.is_here)
    same = chart.title, chart.x, chart.y, chart.curves, chart.bars, chart.families, chart.beside, chart.notes, chart.asides
    return *same, marks
