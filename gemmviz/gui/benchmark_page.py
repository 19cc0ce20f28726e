"""The benchmark: run here where there is a GPU, recorded where there is none; its curves to choose, to look at and to save."""

import csv
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
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
    QVBoxLayout,
    QWidget,
)

from gemmviz.analysis.speeds import CHARTS
from gemmviz.files.benchmark_file import benchmark_text, read_benchmark, recorded_benchmarks
from gemmviz.gui.benchmark_plot import BenchmarkPlot
from gemmviz.gui.curve_list import CurveList
from gemmviz.gui.work import Worker
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import text_hash
from gemmviz.run.benchmark import jobs_for, run_benchmark
from gemmviz.run.remote import RemoteGpu
from gemmviz.scene.theme import Theme
from gemmviz.spec.catalog import kernel_names, load_kernel
from gemmviz.spec.sizes import problems, sizes_of

_SETTLED_MS = 60
_POINT = "Point at a curve. Each kernel is shown at its fastest parameters for each size; open it in the list for all of them"
_POINT_TILE = "Point at a curve. Other parameters are the fastest for each width; open a kernel in the list for other sizes"


class _Progress(QObject):
    """Brings what was measured from the worker's thread to the window's."""

    measured = Signal(object, int, int)


class BenchmarkPage(QWidget):
    """``failed`` carries a GemmvizError, ``opened`` tells of a file. ``gpu`` is who measures: None where there is nobody."""

    failed = Signal(object)
    opened = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.benchmarks: list[Benchmark] = []
        self._loaded = False
        self.chart_name = "rate"
        self._gpu: RemoteGpu | None = None
        self._device = "h200"
        self._why_not = "There is no GPU here to measure on"
        self._worker = Worker(self)
        self._worker.done.connect(self._on_done)
        self._worker.failed.connect(self._on_failed)
        self._progress = _Progress(self)
        self._progress.measured.connect(self._on_measured)
        self._names: dict[int, str] = {}  # of files that were opened
        self._fresh = False
        self._redraw = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._redraw.timeout.connect(self.draw)
        self.plot = BenchmarkPlot()
        self._make_controls()
        self._lay_out()
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
        self.list = CurveList()
        self.list.toggled.connect(self.draw)
        self.told = QLabel()
        self.told.setAccessibleName("Point")
        self.plot.pointed.connect(self.told.setText)
        self.origin = QLabel()
        self.origin.setObjectName("faint")
        self.origin.setWordWrap(True)

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
        self.plot.theme = theme
        self.draw()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._loaded:  # the first picture of the program need not wait for this one
            self._loaded = True
            self.benchmarks += recorded_benchmarks()
            self._fill_sources()
        self._redraw.start()

    def draw(self) -> None:
        """The curves that are chosen, their list, and where they are from; nothing while nobody sees it."""
        if not self.isVisible():
            return
        chart, benchmark = CHARTS[self.chart_name], self.benchmark
        self.plot.chart, self.plot.benchmark = chart, benchmark
        self.origin.setText("" if benchmark is None else "; ".join(self._origins(benchmark)))
        self.told.setText(_POINT if chart.over_size else _POINT_TILE)
        self.list.fill([] if benchmark is None else chart.curves(benchmark), self.plot.colour)
        self.plot.draw(self._xs, self.list.shown)

    @property
    def _xs(self) -> list[float]:
        return sorted({x for curve in self.list.curves for x, _ in curve.points})

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._redraw.start()

    def _origins(self, benchmark: Benchmark) -> list[str]:
        """Where the curves are from, and what they are not."""
        found = [f"{_capital(benchmark.source)}", f"CPU {benchmark.host}"]
        if any(row.failure.startswith("left out") for row in benchmark.rows):
            found.append("a curve ends where one launch would take too long")
        other = {row.kernel for row in benchmark.rows if self._shipped.get(row.kernel, row.source_hash) != row.source_hash}
        if other:
            found.append(f"another version of {', '.join(sorted(other))} was measured than ships now")
        return found

    @cached_property
    def _shipped(self) -> dict[str, str]:
        """The hash of each shipped kernel's text."""
        return {name: text_hash(load_kernel(name).text) for name in kernel_names()}

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
                    self.plot.save_svg(path, self._xs)
                case _:
                    self.plot.save_png(path, self._xs)
        except OSError as error:
            self.failed.emit(GemmvizError(f"this can't be written: {error.strerror or error}", file=str(path)))

    def _save_curves(self, path: Path) -> None:
        chart = CHARTS[self.chart_name]
        with path.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow([f"# {chart.title}. {self.origin.text()}"])
            rows.writerow(["curve", chart.x, chart.y, "what was measured"])
            for curve in self.list.shown:
                for (x, y), text in zip(curve.points, curve.texts, strict=True):
                    rows.writerow([curve.label, f"{x:g}", f"{y:.6g}", text])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
