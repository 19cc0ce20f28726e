"""The benchmark: run here where there is a GPU, recorded where there is none; its curves to choose, to point at and to save."""

import contextlib
import csv
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QObject, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QProgressBar,
    QPushButton,
    QSplitter,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gemmviz.analysis.speeds import CHARTS, Curve, cache_lines, number
from gemmviz.gui.work import Worker
from gemmviz.model.benchmark import CUBLAS, Benchmark, benchmark_text, problems, read_benchmark, recorded_benchmarks, sizes_of
from gemmviz.model.errors import GemmvizError
from gemmviz.model.measurements import text_hash
from gemmviz.render.fonts import font
from gemmviz.run.benchmark import jobs_for, run_benchmark
from gemmviz.run.host_speed import METHODS
from gemmviz.run.remote import RemoteGpu
from gemmviz.scene.memory_view import spaced
from gemmviz.scene.theme import DARK, LIGHT, WARP_ACCENTS, Theme, mixed
from gemmviz.source.catalog import kernel_names, load_kernel

_SYMBOLS = ("o", "s", "t", "d", "+", "x", "star", "p")
_NEAR_PIXELS = 24.0
_PICTURE = (1920, 1080)
_BESIDE = {CUBLAS, *METHODS}
_LINE_PIXELS = 22.0
_SETTLED_MS = 60
_POINT = "Point at a curve. Each kernel is shown at its fastest parameters for each size; open it in the list for all of them"
_POINT_TILE = "Point at a curve. Other parameters are the fastest for each width; open a kernel in the list for other sizes"
_SLIDE = (1120, 590)  # of the plot when a picture is saved, in pixels of the screen
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


class _Progress(QObject):
    """Brings what was measured from the worker's thread to the window's."""

    measured = Signal(object, int, int)


class BenchmarkPage(QWidget):
    """``failed`` carries a GemmvizError, ``opened`` tells of a file. ``gpu`` is who measures: None where there is nobody."""

    failed = Signal(object)
    opened = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = DARK
        self.benchmarks = recorded_benchmarks()
        self.chart_name = "rate"
        self._gpu: RemoteGpu | None = None
        self._device = "h200"
        self._why_not = "There is no GPU here to measure on"
        self._worker = Worker(self)
        self._worker.done.connect(self._on_done)
        self._worker.failed.connect(self._on_failed)
        self._progress = _Progress(self)
        self._progress.measured.connect(self._on_measured)
        self._hidden: dict[str, bool] = {}
        self._names: dict[int, str] = {}  # of files that were opened
        self._curves: list[Curve] = []
        self._fresh = False
        self._redraw = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._redraw.timeout.connect(self.draw)
        self._make_controls()
        self._make_plot()
        self._lay_out()
        self._fill_sources()
        self.show_chart("rate")
        self.set_gpu(None, "h200", self._why_not)

    def _make_controls(self) -> None:
        self.what = QComboBox()
        for name, chart in CHARTS.items():
            self.what.addItem(chart.title, name)
        self.what.setToolTip("What the curves show")
        self.what.setAccessibleName("Chart")
        self.what.activated.connect(lambda row: self.show_chart(self.what.itemData(row)))
        self.source = QComboBox()
        self.source.setToolTip("Whose measurements are shown")
        self.source.setAccessibleName("Measurements")
        self.source.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.source.setMinimumContentsLength(18)
        self.source.activated.connect(lambda _: self.draw())
        self.sizes = QLineEdit("128:4096")
        self.sizes.setToolTip("Which sizes N to measure: 128:4096 doubles, 100,200 lists")
        self.sizes.setAccessibleName("Sizes")
        self.sizes.setMaximumWidth(110)
        self.start = QPushButton("&Measure")
        self.start.clicked.connect(self.measure)
        self.stop = QPushButton("&Cancel")
        self.stop.setToolTip("Stops measuring; what was measured stays")
        self.stop.clicked.connect(self.cancel)
        self.stop.setEnabled(False)
        self.save = QToolButton()
        self.save.setText("Save")
        self.save.setToolTip("Save the picture or the numbers")
        self.save.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.save)
        for kind, what in (
            ("png", "Picture, PNG …"),
            ("svg", "Picture, SVG …"),
            ("csv", "Curves, CSV …"),
            ("json", "Benchmark, JSON …"),
        ):
            menu.addAction(what, partial(self.ask_to_save, kind))
        menu.addSeparator()
        menu.addAction("Open a benchmark …", self._ask_to_open)
        self.save.setMenu(menu)
        self.bar = QProgressBar()
        self.bar.setTextVisible(True)
        self.bar.hide()
        self.list = QTreeWidget()
        self.list.setHeaderHidden(True)
        self.list.setToolTip("Which curves are shown: open a kernel to see all that was measured of it")
        self.list.setAccessibleName("Curves")
        self.list.itemChanged.connect(self._on_toggled)
        self.told = QLabel()
        self.told.setAccessibleName("Point")
        self.origin = QLabel()
        self.origin.setObjectName("faint")
        self.origin.setWordWrap(True)

    def _make_plot(self) -> None:
        self.plot = pg.PlotWidget(axisItems={"left": _Plain("left")})
        self.plot.setMenuEnabled(False)
        self.plot.setMouseEnabled(x=False, y=False)
        self.plot.hideButtons()
        self.plot.setAccessibleName("Benchmark")
        self.plot.scene().sigMouseMoved.connect(self._on_pointed)
        self._mark = pg.ScatterPlotItem(size=16, brush=None)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        for widget in (self.what, self.source, self.sizes, self.start, self.stop, self.save):
            row.addWidget(widget)
        row.addStretch(1)
        middle = QSplitter()
        middle.addWidget(self.list)
        middle.addWidget(self.plot)
        middle.setStretchFactor(1, 1)
        middle.setSizes([290, 900])
        middle.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.addLayout(row)
        layout.addWidget(self.bar)
        layout.addWidget(middle, 1)
        layout.addWidget(self.told)
        layout.addWidget(self.origin)

    # What is shown

    @property
    def benchmark(self) -> Benchmark | None:
        row = self.source.currentIndex()
        return self.benchmarks[row] if 0 <= row < len(self.benchmarks) else None

    def _fill_sources(self, chosen: int = 0) -> None:
        self.source.clear()
        for benchmark in self.benchmarks:
            self.source.addItem(self._names.get(id(benchmark)) or _capital(benchmark.source.partition(",")[0]))
        if not self.benchmarks:
            self.source.addItem("nothing measured yet")
        self.source.setCurrentIndex(chosen)

    def show_chart(self, name: str) -> None:
        self.chart_name = name
        self.what.setCurrentIndex(self.what.findData(name))
        self.draw()

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.draw()

    def draw(self) -> None:
        """The curves that are chosen, their axes and the cache's lines."""
        chart, benchmark, theme = CHARTS[self.chart_name], self.benchmark, self.theme
        self.plot.clear()
        self.plot.setBackground(theme.background)
        for axis, text in (("left", chart.y), ("bottom", chart.x)):
            item = self.plot.getAxis(axis)
            item.setPen(theme.faint)
            item.setTextPen(theme.text)
            item.setTickFont(font("regular", 15))
            self.plot.setLabel(axis, text, color=theme.text, **{"font-size": "17px"})
        self.plot.setLogMode(x=True, y=chart.log_y)
        self.plot.showGrid(x=True, y=True, alpha=0.18)
        self._curves = [] if benchmark is None else chart.curves(benchmark)
        self.origin.setText("" if benchmark is None else "; ".join(self._origins(benchmark)))
        self.told.setText(_POINT if chart.over_size else _POINT_TILE)
        self._fill_list()
        shown = [curve for curve in self._curves if self._is_shown(curve)]
        for curve in shown:
            self._draw_curve(curve)
        xs = sorted({x for curve in self._curves for x, _ in curve.points})
        self.plot.getAxis("bottom").setTicks([[(float(np.log10(x)), f"{x:g}") for x in xs]] if xs else None)
        if benchmark is not None and chart.over_size and xs:
            self._draw_caches(benchmark, xs[0], xs[-1])
        self.plot.addItem(self._mark)
        self._mark.setData([])
        if shown:
            self._fit(shown, xs)

    def _origins(self, benchmark: Benchmark) -> list[str]:
        """Where the curves are from, and what they are not."""
        found = [f"{_capital(benchmark.source)}", f"CPU {benchmark.host}"]
        if any(row.failure.startswith("left out") for row in benchmark.rows):
            found.append("a curve ends where one launch would take too long")
        texts = {name: text_hash(load_kernel(name).text) for name in kernel_names()}
        other = {row.kernel for row in benchmark.rows if texts.get(row.kernel, row.source_hash) != row.source_hash}
        if other:
            found.append(f"another version of {', '.join(sorted(other))} was measured than ships now")
        return found

    def _place(self, x: float, y: float) -> tuple[float, float]:
        """Where the plot has a point."""
        return float(np.log10(x)), float(np.log10(y)) if CHARTS[self.chart_name].log_y else y

    def _families_of_all(self) -> list[str]:
        """All kernels and libraries that were measured: each looks the same in every chart."""
        return [] if self.benchmark is None else list(dict.fromkeys(row.kernel for row in self.benchmark.rows))

    def _colour(self, curve: Curve) -> QColor:
        """One for each kernel; libraries and the CPU have those of the text."""
        kernels = [family for family in self._families_of_all() if family not in _BESIDE]
        if curve.family in kernels:
            accent = WARP_ACCENTS[kernels.index(curve.family) % len(WARP_ACCENTS)]
            return QColor(mixed(accent, self.theme.text, _INK) if self.theme is LIGHT else accent)
        return QColor(self.theme.text if curve.family == CUBLAS else self.theme.faint)

    def _draw_curve(self, curve: Curve) -> None:
        colour = self._colour(curve)
        style = Qt.PenStyle.DashLine if curve.dashed else Qt.PenStyle.SolidLine
        x, y = np.array(curve.points).T
        symbol = _SYMBOLS[self._families_of_all().index(curve.family) % len(_SYMBOLS)]
        self.plot.plot(
            x,
            y,
            pen=pg.mkPen(colour, width=2, style=style),
            symbol=symbol,
            symbolSize=10,
            antialias=True,
            symbolBrush=colour,
            symbolPen=None,
        )

    def _fit(self, shown: list[Curve], xs: list[float]) -> None:
        """All points in sight, and beside the last of each curve its name, none over another."""
        places = np.array([self._place(*point) for curve in shown for point in curve.points])
        low, high = places.min(axis=0), places.max(axis=0)
        left, right = float(np.log10(xs[0])), float(np.log10(xs[-1]))
        width, tall = max(right - left, 0.1), max(high[1] - low[1], 0.1)
        many = {curve.name for curve in shown if sum(other.name == curve.name for other in shown) > 1}
        measure = QFontMetricsF(font("semibold", 16))
        names = 40 + max(measure.horizontalAdvance(curve.label if curve.name in many else curve.name) for curve in shown)
        across, down = max(self.plot.width() - 90.0, 200.0), max(self.plot.height() - 60.0, 100.0)
        share = min(names / across, 0.6)
        self.plot.setXRange(left - 0.04 * width, right + width * 1.04 * share / (1 - share), padding=0)
        height = tall * _LINE_PIXELS / (down - 2 * _LINE_PIXELS)
        self.plot.setYRange(low[1] - height, high[1] + height, padding=0)
        ordered = sorted(shown, key=lambda each: self._place(*each.points[-1])[1])
        ends = [self._place(*curve.points[-1]) for curve in ordered]
        for curve, (x, y), at in zip(ordered, ends, apart([y for _, y in ends], height, high[1] + height / 2), strict=True):
            name = pg.TextItem(curve.label if curve.name in many else curve.name, color=self._colour(curve), anchor=(0, 0.5))
            name.setFont(font("semibold", 16))
            name.setPos(right + 0.03 * width, at)
            self.plot.addItem(name, ignoreBounds=True)
            lead = pg.PlotCurveItem(
                [x, right + 0.03 * width], [y, at], pen=pg.mkPen(self._colour(curve), style=Qt.PenStyle.DotLine)
            )
            self.plot.addItem(lead, ignoreBounds=True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._redraw.start()

    def _draw_caches(self, benchmark: Benchmark, least: float, most: float) -> None:
        for at, what in cache_lines(benchmark):
            if least <= at <= most:
                line = pg.InfiniteLine(
                    float(np.log10(at)), 90, pg.mkPen(self.theme.faint, style=Qt.PenStyle.DotLine), label=what,
                    labelOpts={"color": self.theme.faint, "position": 0.04, "rotateAxis": (1, 0), "anchors": [(0, 0), (0, 0)]},
                )  # fmt: skip
                self.plot.addItem(line, ignoreBounds=True)

    def _is_shown(self, curve: Curve) -> bool:
        return self._hidden.get(curve.label, curve.shown)

    def _fill_list(self) -> None:
        opened = {item.text(0) for item in self._families() if item.isExpanded()}
        scrolled = self.list.verticalScrollBar().value()
        self.list.blockSignals(True)
        self.list.clear()
        for family in dict.fromkeys(curve.family for curve in self._curves):
            curves = [curve for curve in self._curves if curve.family == family]
            top = self._entry(self.list, family, any(map(self._is_shown, curves)), self._colour(curves[0]))
            if len(curves) > 1:
                for curve in curves:
                    short = curve.label.removeprefix(family).strip(" ,")
                    self._entry(top, short or "alone", self._is_shown(curve), self._colour(curve), curve.label)
            top.setExpanded(family in opened)
        self.list.blockSignals(False)
        self.list.verticalScrollBar().setValue(scrolled)

    def _families(self) -> list[QTreeWidgetItem]:
        return [self.list.topLevelItem(row) for row in range(self.list.topLevelItemCount())]

    @staticmethod
    def _entry(
        parent: QTreeWidget | QTreeWidgetItem, text: str, shown: bool, colour: QColor, label: str = ""
    ) -> QTreeWidgetItem:
        item = QTreeWidgetItem(parent, [text])
        item.setCheckState(0, Qt.CheckState.Checked if shown else Qt.CheckState.Unchecked)
        item.setForeground(0, colour)
        item.setToolTip(0, label or text)
        item.setData(0, Qt.ItemDataRole.UserRole, label)
        return item

    def _on_toggled(self, item: QTreeWidgetItem) -> None:
        """A kernel's own box shows what stands for it, or hides all of it."""
        wanted = item.checkState(0) == Qt.CheckState.Checked
        if item.parent() is None:
            for curve in (curve for curve in self._curves if curve.family == item.text(0)):
                self._hidden[curve.label] = wanted and curve.main
        else:
            self._hidden[item.data(0, Qt.ItemDataRole.UserRole)] = wanted
        QTimer.singleShot(0, self.draw)  # the item must outlive this

    def _on_pointed(self, position: object) -> None:
        """Says what the nearest point of a shown curve is."""
        box = self.plot.plotItem.vb
        best: tuple[float, str, tuple[float, float]] | None = None
        for curve in filter(self._is_shown, self._curves):
            for (x, y), text in zip(curve.points, curve.texts, strict=True):
                where = self._place(x, y)
                seen = box.mapViewToScene(pg.Point(*where))
                distance = float(np.hypot(seen.x() - position.x(), seen.y() - position.y()))  # type: ignore[attr-defined]
                if distance < _NEAR_PIXELS and (best is None or distance < best[0]):
                    best = distance, f"{number(y)} {CHARTS[self.chart_name].y}: {text}", where
        self._mark.setData(pos=[best[2]] if best else [], pen=pg.mkPen(self.theme.text, width=2))
        if best:
            self.told.setText(best[1])

    # Measuring

    def set_gpu(self, gpu: RemoteGpu | None, device: str, why_not: str = "") -> None:
        """Who measures, and whose limits hold; or why nobody does."""
        self._gpu, self._device = gpu, device
        self.start.setEnabled(gpu is not None)
        self.start.setToolTip("Measure all kernels at these sizes on the GPU" if gpu is not None else why_not)
        self.sizes.setEnabled(gpu is not None)

    def measure(self) -> None:
        gpu, device = self._gpu, self._device
        if gpu is None:
            return
        try:
            sizes = sizes_of(self.sizes.text().replace(" ", ""))
            jobs = jobs_for([load_kernel(name) for name in kernel_names()], problems(sizes), device)
        except GemmvizError as error:
            self.failed.emit(error)
            return
        self._fresh = True  # what was measured before stays until there is something newer
        self.start.setEnabled(False)
        self.stop.setEnabled(True)
        self.bar.setRange(0, len(jobs))
        self.bar.setValue(0)
        self.bar.show()

        def task(cancelled: Callable[[], bool]) -> Benchmark:
            told = self._progress.measured.emit
            return run_benchmark(gpu, jobs, device, measured=lambda b, done: told(b, done, len(jobs)), cancelled=cancelled)

        self._worker.submit(task)

    def cancel(self) -> None:
        """What was measured so far stays."""
        self._worker.cancel()
        self._finish()

    def shut(self) -> None:
        self._worker.stop()

    def _on_measured(self, benchmark: Benchmark, done: int, jobs: int) -> None:
        if not self.stop.isEnabled():
            return
        first = bool(self.benchmarks) and not self.benchmarks[0].recorded
        self.benchmarks = [benchmark, *self.benchmarks[first:]]
        fresh, self._fresh = self._fresh, False
        self.bar.setValue(done)
        self.bar.setFormat(f"{done} of {jobs}: {benchmark.rows[-1].label}, N = {benchmark.rows[-1].problem.N}")
        if fresh:
            self._fill_sources()
        if self.source.currentIndex() == 0:
            self._redraw.start()

    def _on_done(self, benchmark: Benchmark) -> None:
        self._finish()

    def _on_failed(self, error: GemmvizError) -> None:
        self._finish()
        self.failed.emit(error)

    def _finish(self) -> None:
        self.start.setEnabled(self._gpu is not None)
        self.stop.setEnabled(False)
        self.bar.hide()

    # Files

    def ask_to_save(self, kind: str) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Save", f"benchmark.{kind}", f"{kind.upper()} (*.{kind})")
        if name:
            path = Path(name)
            self.save_as(path if path.suffix else path.with_suffix(f".{kind}"))

    def _ask_to_open(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Open a benchmark", "", "Benchmarks (*.json)")
        if name:
            self.open_file(Path(name))

    def open_file(self, path: Path) -> None:
        try:
            found = read_benchmark(path, recorded=True)
        except GemmvizError as error:
            self.failed.emit(error)
            return
        self.benchmarks.append(found)
        self._names[id(found)] = f"{path.name}, {found.gpu.name}, {found.date}"
        self._fill_sources(len(self.benchmarks) - 1)
        self.draw()
        self.opened.emit()

    def save_as(self, path: Path) -> None:
        """By its suffix: the picture (.png, .svg), the shown curves (.csv) or the whole benchmark (.json)."""
        try:
            match path.suffix.lower():
                case ".csv":
                    self._save_curves(path)
                case ".json":
                    if self.benchmark is not None:
                        path.write_text(benchmark_text(self.benchmark), encoding="utf-8")
                case ".svg":
                    self._save_svg(path)
                case _:
                    self._save_png(path)
        except OSError as error:
            self.failed.emit(GemmvizError(f"this can't be written: {error.strerror or error}", file=str(path)))

    def _save_curves(self, path: Path) -> None:
        chart = CHARTS[self.chart_name]
        with path.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow([f"# {chart.title}. {self.origin.text()}"])
            rows.writerow(["curve", chart.x, chart.y, "what was measured"])
            for curve in filter(self._is_shown, self._curves):
                for (x, y), text in zip(curve.points, curve.texts, strict=True):
                    rows.writerow([curve.label, f"{x:g}", f"{y:.6g}", text])

    @contextlib.contextmanager
    def _as_slide(self) -> Iterator[None]:
        """The plot in the shape of a slide: what is written on it can be read from the back row."""
        size = self.plot.size()
        self.plot.resize(*_SLIDE)
        QApplication.processEvents()
        self.draw()
        try:
            yield
        finally:
            self.plot.resize(size)
            self._redraw.start()

    def _save_png(self, path: Path) -> None:
        image = QImage(*_PICTURE, QImage.Format.Format_RGB32)
        image.fill(QColor(self.theme.background))
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        with self._as_slide():
            self.plot.render(painter, QRectF(0, 70, _PICTURE[0], _PICTURE[1] - 70), self.plot.viewport().rect())
        painter.setPen(QColor(self.theme.text))
        painter.setFont(font("semibold", 28))
        painter.drawText(28, 44, f"{CHARTS[self.chart_name].title}: {self.benchmark.source if self.benchmark else ''}")
        painter.end()
        if not image.save(str(path)):
            raise OSError(None, "the picture can't be written")

    def _save_svg(self, path: Path) -> None:
        from pyqtgraph.exporters import SVGExporter

        with self._as_slide():
            title = f"{CHARTS[self.chart_name].title}: {self.benchmark.source if self.benchmark else ''}"
            self.plot.setTitle(title, color=self.theme.text, size="13pt")
            path.write_bytes(SVGExporter(self.plot.plotItem).export(toBytes=True))
            self.plot.setTitle(None)


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


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
