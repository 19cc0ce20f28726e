"""The curves of a benchmark on logarithmic axes: each with its name beside its end, and its figures where one points."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QApplication

from gemmviz.analysis.speeds import CHARTS, Chart, Curve, cache_lines
from gemmviz.model.benchmark import CUBLAS, Benchmark
from gemmviz.model.words import number, spaced
from gemmviz.render.qt.fonts import font
from gemmviz.run.host_speed import METHODS
from gemmviz.scene.theme import DARK, LIGHT, WARP_ACCENTS, Theme, mixed

_SYMBOLS = ("o", "s", "t", "d", "+", "x", "star", "p")
_NEAR_PIXELS = 24.0
_PICTURE = (1920, 1080)
_SLIDE = (1120, 590)  # of the plot when a picture is saved, in pixels of the screen
_TITLE_PIXELS = 70
_BESIDE = {CUBLAS, *METHODS}
_NAME_SIZE = 16
_LINE_PIXELS = 22.0
_INK = 0.4  # how much of the text's colour makes an accent legible on white


class _Plain(pg.AxisItem):
    """A logarithmic axis with its numbers as people write them, powers of ten alone."""

    def logTickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        return [spaced(round(10.0**value)) if value >= 0 else f"{10.0**value:g}" for value in np.array(values)]

    def logTickValues(self, least: float, most: float, size: float, standard: list) -> list:
        powers = range(int(np.ceil(least)), int(np.floor(most)) + 1)
        between = [np.log10(step * 10.0**power) for power in range(int(np.floor(least)), int(np.ceil(most))) for step in (2, 5)]
        shown = [value for value in between if least <= value <= most] if len(powers) < 3 else []
        return [(1.0, [float(power) for power in powers] + [float(value) for value in shown])]


class BenchmarkPlot(pg.PlotWidget):
    """``pointed`` carries what the point under the pointer says."""

    pointed = Signal(str)

    def __init__(self) -> None:
        super().__init__(axisItems={"left": _Plain("left")})
        self.theme: Theme = DARK
        self.chart: Chart = CHARTS["rate"]
        self.benchmark: Benchmark | None = None
        self.shown: list[Curve] = []
        self.setMenuEnabled(False)
        self.setMouseEnabled(x=False, y=False)
        self.hideButtons()
        self.setAccessibleName("Benchmark")
        self.scene().sigMouseMoved.connect(self._on_pointed)
        self._mark = pg.ScatterPlotItem(size=16, brush=None)

    def colour(self, curve: Curve) -> QColor:
        """One for each kernel; libraries and the CPU have those of the text."""
        kernels = [family for family in self._families if family not in _BESIDE]
        if curve.family in kernels:
            accent = WARP_ACCENTS[kernels.index(curve.family) % len(WARP_ACCENTS)]
            return QColor(mixed(accent, self.theme.text, _INK) if self.theme is LIGHT else accent)
        return QColor(self.theme.text if curve.family == CUBLAS else self.theme.faint)

    @property
    def _families(self) -> list[str]:
        """All kernels and libraries that were measured: each looks the same in every chart."""
        return [] if self.benchmark is None else list(dict.fromkeys(row.kernel for row in self.benchmark.rows))

    def draw(self, xs: list[float], shown: list[Curve]) -> None:
        """These curves, over an axis with these x."""
        self.shown = shown
        self.clear()
        self.setBackground(self.theme.background)
        self._draw_axes(xs)
        for curve in shown:
            self._draw_curve(curve)
        if self.benchmark is not None and self.chart.over_size and xs:
            self._draw_caches(self.benchmark, xs[0], xs[-1])
        self.addItem(self._mark)
        self._mark.setData([])
        if shown:
            self._fit(xs)

    def _draw_axes(self, xs: list[float]) -> None:
        for axis, text in (("left", self.chart.y), ("bottom", self.chart.x)):
            item = self.getAxis(axis)
            item.setPen(self.theme.faint)
            item.setTextPen(self.theme.text)
            item.setTickFont(font("regular", 15))
            self.setLabel(axis, text, color=self.theme.text, **{"font-size": "17px"})
        self.setLogMode(x=True, y=self.chart.log_y)
        self.showGrid(x=True, y=True, alpha=0.18)
        self.getAxis("bottom").setTicks([[(float(np.log10(x)), f"{x:g}") for x in xs]] if xs else None)

    def _draw_curve(self, curve: Curve) -> None:
        colour = self.colour(curve)
        pen = pg.mkPen(colour, width=2, style=Qt.PenStyle.DashLine if curve.dashed else Qt.PenStyle.SolidLine)
        symbol = _SYMBOLS[self._families.index(curve.family) % len(_SYMBOLS)]
        x, y = np.array(curve.points).T
        self.plot(x, y, pen=pen, symbol=symbol, symbolSize=10, symbolBrush=colour, symbolPen=None, antialias=True)

    def _draw_caches(self, benchmark: Benchmark, least: float, most: float) -> None:
        for at, what in cache_lines(benchmark):
            if least <= at <= most:
                line = pg.InfiniteLine(
                    float(np.log10(at)), 90, pg.mkPen(self.theme.faint, style=Qt.PenStyle.DotLine), label=what,
                    labelOpts={"color": self.theme.faint, "position": 0.04, "rotateAxis": (1, 0), "anchors": [(0, 0), (0, 0)]},
                )  # fmt: skip
                self.addItem(line, ignoreBounds=True)

    def _place(self, x: float, y: float) -> tuple[float, float]:
        """Where the axes have a point."""
        return float(np.log10(x)), float(np.log10(y)) if self.chart.log_y else y

    def _fit(self, xs: list[float]) -> None:
        """All points in sight, with room for the names beside them."""
        heights = [self._place(*point)[1] for curve in self.shown for point in curve.points]
        low, high = min(heights), max(heights)
        left, right = float(np.log10(xs[0])), float(np.log10(xs[-1]))
        width, tall = max(right - left, 0.1), max(high - low, 0.1)
        measure = QFontMetricsF(font("semibold", _NAME_SIZE))
        names = 40 + max(measure.horizontalAdvance(name) for name in self._names().values())
        across, down = max(self.width() - 90.0, 200.0), max(self.height() - 60.0, 100.0)
        share = min(names / across, 0.6)
        line = tall * _LINE_PIXELS / (down - 2 * _LINE_PIXELS)
        self.setXRange(left - 0.04 * width, right + width * 1.04 * share / (1 - share), padding=0)
        self.setYRange(low - line, high + line, padding=0)
        self._name(right + 0.03 * width, line, high + line / 2)

    def _names(self) -> dict[str, str]:
        """What each curve is called, by its label: its short name, unless two have the same."""
        names = [curve.name for curve in self.shown]
        return {curve.label: curve.label if names.count(curve.name) > 1 else curve.name for curve in self.shown}

    def _name(self, x: float, line: float, top: float) -> None:
        """Puts a name beside the last point of each curve, none over another."""
        ordered = sorted(self.shown, key=lambda curve: self._place(*curve.points[-1])[1])
        ends = [self._place(*curve.points[-1]) for curve in ordered]
        names = self._names()
        for curve, end, y in zip(ordered, ends, apart([end[1] for end in ends], line, top), strict=True):
            name = pg.TextItem(names[curve.label], color=self.colour(curve), anchor=(0, 0.5))
            name.setFont(font("semibold", _NAME_SIZE))
            name.setPos(x, y)
            self.addItem(name, ignoreBounds=True)
            pen = pg.mkPen(self.colour(curve), style=Qt.PenStyle.DotLine)
            self.addItem(pg.PlotCurveItem([end[0], x], [end[1], y], pen=pen), ignoreBounds=True)

    def _on_pointed(self, position: object) -> None:
        """Says what the nearest point of a shown curve is."""
        best: tuple[float, str, tuple[float, float]] | None = None
        for curve in self.shown:
            for (x, y), text in zip(curve.points, curve.texts, strict=True):
                where = self._place(x, y)
                seen = self.plotItem.vb.mapViewToScene(pg.Point(*where))
                distance = float(np.hypot(seen.x() - position.x(), seen.y() - position.y()))  # type: ignore[attr-defined]
                if distance < _NEAR_PIXELS and (best is None or distance < best[0]):
                    best = distance, f"{number(y)} {self.chart.y}: {text}", where
        self._mark.setData(pos=[best[2]] if best else [], pen=pg.mkPen(self.theme.text, width=2))
        if best:
            self.pointed.emit(best[1])

    # Pictures

    @property
    def title(self) -> str:
        return f"{self.chart.title}: {self.benchmark.source if self.benchmark else 'nothing measured'}"

    @contextlib.contextmanager
    def _as_slide(self, xs: list[float]) -> Iterator[None]:
        """In the shape of a slide: what is written on it can be read from the back row."""
        size = self.size()
        self.resize(*_SLIDE)
        QApplication.processEvents()
        self.draw(xs, self.shown)
        try:
            yield
        finally:
            self.resize(size)
            self.draw(xs, self.shown)

    def save_png(self, path: Path, xs: list[float]) -> None:
        """A picture of 1920 x 1080. Raises OSError."""
        image = QImage(*_PICTURE, QImage.Format.Format_RGB32)
        image.fill(QColor(self.theme.background))
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        with self._as_slide(xs):
            self.render(painter, QRectF(0, _TITLE_PIXELS, _PICTURE[0], _PICTURE[1] - _TITLE_PIXELS), self.viewport().rect())
        painter.setPen(QColor(self.theme.text))
        painter.setFont(font("semibold", 28))
        painter.drawText(28, 44, self.title)
        painter.end()
        if not image.save(str(path)):
            raise OSError(None, "the picture can't be written")

    def save_svg(self, path: Path, xs: list[float]) -> None:
        """The same as SVG. Raises OSError."""
        from pyqtgraph.exporters import SVGExporter

        with self._as_slide(xs):
            self.setTitle(self.title, color=self.theme.text, size="13pt")
            path.write_bytes(SVGExporter(self.plotItem).export(toBytes=True))
            self.setTitle(None)


def apart(wanted: list[float], gap: float, top: float) -> list[float]:
    """Positions as near to ``wanted`` (ascending) as may be that lie ``gap`` apart and not above ``top``."""
    found: list[float] = []
    for each in wanted:
        found.append(max(each, found[-1] + gap) if found else each)
    limit = top
    for place in reversed(range(len(found))):
        found[place] = min(found[place], limit)
        limit = found[place] - gap
    return found
