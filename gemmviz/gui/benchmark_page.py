"""The benchmark page: measures on the local GPU or shows recorded measurements, as curves to choose and to save."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import structs
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
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

from gemmviz.files.recordings import shown_name
from gemmviz.gui.export_dialog import ExportDialog
from gemmviz.gui.widgets.controls import MENU_SHEET, Refresh, button_with_tip, choice, line, plain, quietly, tip_text
from gemmviz.gui.widgets.dialogs import ask_to_save_benchmark, chart_of, save_numbers
from gemmviz.gui.widgets.input import WheelGuard
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.chart import Chart, Curve, Opens
from gemmviz.model.messages import GemmvizError, marked, tr
from gemmviz.model.timing import Benchmark
from gemmviz.scenes.catalog import view_named, views_of
from gemmviz.scenes.charts.speeds import widths_of
from gemmviz.scenes.kit.chart import curve_colours

if TYPE_CHECKING:
    from gemmviz.gui.chart_plot import ChartPlot

# The list of a benchmark's curves, grouped by kernel, with a check box for each curve.

_KEY = Qt.ItemDataRole.UserRole  # the family of a kernel, the label of a curve
_CHECK_BOX_STYLE = (
    "QTreeView::indicator { border: 1px solid palette(placeholder-text); border-radius: 2px; width: 11px; height: 11px; }"
    "QTreeView::indicator:checked { background: palette(link); border-color: palette(link); }"
)


class CurveList(QTreeWidget):
    """A tree of curves below their kernels. ``toggled`` carries {label: whether the curve is shown}."""

    toggled = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.curves: Sequence[Curve] = ()
        self.setHeaderHidden(True)
        self.setStyleSheet(_CHECK_BOX_STYLE)
        self.setToolTip(tr("Curves to show. Expand a kernel to see all its curves"))
        self.setAccessibleName(tr("Curves"))
        self.itemChanged.connect(self._on_changed)

    def fill(self, curves: Sequence[Curve], chosen: Mapping[str, bool], colours: Mapping[str, str]) -> None:
        """List these curves and keep expanded families expanded. ``colours`` are by family."""
        expanded = {item.data(0, _KEY) for item in self._families() if item.isExpanded()}
        scrolled = self.verticalScrollBar().value()
        self.curves = curves
        shown = {curve.label: chosen.get(curve.label, curve.shown) for curve in curves}
        self.blockSignals(True)
        self.clear()
        for family in dict.fromkeys(curve.family for curve in curves):
            several = [curve for curve in curves if curve.family == family]
            colour = QColor(colours[family])
            top = self._entry(self, tr(family), any(shown[curve.label] for curve in several), colour, family)
            for curve in several if len(several) > 1 else ():
                short = tr(curve.label.removeprefix(family).strip(" ,")) or tr("only")
                self._entry(top, short, shown[curve.label], colour, curve.label)
            top.setExpanded(family in expanded)
        self.blockSignals(False)
        self.verticalScrollBar().setValue(scrolled)

    def _families(self) -> list[QTreeWidgetItem]:
        items = (self.topLevelItem(row) for row in range(self.topLevelItemCount()))
        return [item for item in items if item is not None]

    @staticmethod
    def _entry(parent: QTreeWidget | QTreeWidgetItem, text: str, shown: bool, colour: QColor, key: str) -> QTreeWidgetItem:
        item = QTreeWidgetItem(parent, [text])
        item.setData(0, _KEY, key)
        item.setCheckState(0, Qt.CheckState.Checked if shown else Qt.CheckState.Unchecked)
        item.setForeground(0, colour)
        item.setToolTip(0, tip_text(key))
        return item

    def _on_changed(self, item: QTreeWidgetItem) -> None:
        """Emit what was checked. The box of a kernel shows its main curves, or hides all of them."""
        is_checked = item.checkState(0) == Qt.CheckState.Checked
        if item.parent() is None:
            family = [curve for curve in self.curves if curve.family == item.data(0, _KEY)]
            changes = {curve.label: is_checked and curve.main for curve in family}
        else:
            changes = {item.data(0, _KEY): is_checked}
        QTimer.singleShot(0, lambda: self.toggled.emit(changes))  # the item must outlive this call


_SETTLED_MS = 60
_NO_GPU = marked("There is no GPU to measure on")
_NO_MEASUREMENTS = marked("No measurements yet")
_FASTEST = marked("Fastest")
_LONG = 18  # characters of a choice that stay readable


class BenchmarkPage(QWidget):
    """The view of a benchmark in the session, with the controls that change it."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model, self.session, self.benchmarks = model, model.session, model.session.benchmarks
        self.plot: ChartPlot | None = None
        self._make_controls()
        self._lay_out()
        self.wheel = WheelGuard(self, model.released.emit)
        self.wheel.guard(self)
        self._refresh = Refresh(self, self.draw, _SETTLED_MS)
        for event in (self.session.shot_changed, self.benchmarks.changed, model.theme_changed, model.plotting.loaded):
            event.connect(self._refresh.due)
        self.session.engines.gpu_known.connect(self._enable)
        self.benchmarks.changed.connect(self._enable)
        self._enable()

    def _make_controls(self) -> None:
        session = self.session
        self.what = choice(
            tr("Chart"), tr("Quantity to plot"), ((tr(view.title), name) for name, view in views_of(Benchmark).items())
        )
        self.what.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.what.setMinimumContentsLength(_LONG)
        self.what.activated.connect(lambda row: self.model.commands.show_view(self.what.itemData(row)))
        self.source = choice(tr("Measurements"), tr("The measurements to show"))
        self.source.setMinimumContentsLength(_LONG)
        self.source.activated.connect(
            lambda _: self.model.commands.choose_curves(structs.replace(session.shot.chart, source=self._source))
        )
        tip = tr("Width of tiles and blocks: the fastest of each kernel, or one width for all")
        self.width_ = choice(tr("Width"), tip, ((tr(_FASTEST), 0),))
        self.width_.setMinimumContentsLength(len(tr(_FASTEST)))
        self.width_.activated.connect(lambda row: self._choose(width=self.width_.itemData(row)))
        self.host = QCheckBox("CPU")
        self.host.setToolTip(tr("Include the measurements of the CPU"))
        self.host.toggled.connect(lambda on: self._choose(with_host=on))
        self.even = QCheckBox(tr("Linear axes"))
        self.even.setToolTip(tr("Use linear axes instead of logarithmic ones"))
        self.even.toggled.connect(lambda on: self._choose(is_even=on))
        self._make_measuring()

    def _make_measuring(self) -> None:
        """Create the controls that measure, and what shows their results."""
        self.sizes = QLineEdit("128:4096")
        self.sizes.setToolTip(tr("Sizes N to measure: 128:4096 doubles from 128 to 4096; 100,200 is a list"))
        self.sizes.setAccessibleName(tr("Sizes"))
        self.sizes.setFixedWidth(90)
        self.start = QPushButton(tr("&Measure"))
        self.start.clicked.connect(self.measure)
        self.stop = button_with_tip(tr("&Cancel"), tr("Stop measuring and keep the results so far"))
        self.stop.clicked.connect(self.benchmarks.cancel)
        self.save = QToolButton()
        self.save.setText(tr("Save"))
        self.save.setToolTip(tr("Save the chart or its numbers"))
        self.save.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.save.setMenu(self._save_menu())
        self.bar = QProgressBar()
        self.bar.setAccessibleName(tr("Progress of the measurement"))
        self.bar.setTextVisible(True)
        self.bar.hide()
        self.list = CurveList()
        self.list.toggled.connect(self._on_toggled)
        self.point = plain()
        self.point.setAccessibleDescription(tr("The point under the pointer"))
        self.point.setWordWrap(True)
        self.point.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.point.setMinimumHeight(2 * self.point.fontMetrics().lineSpacing())  # the plot keeps its size while texts change
        self.origin = line("faint")

    @property
    def _source(self) -> str:
        return str(self.source.currentData())

    def _save_menu(self) -> QMenu:
        menu = QMenu(self.save)
        menu.setAccessibleName(tr("Save"))
        menu.setStyleSheet(MENU_SHEET)
        menu.addAction(tr("Export …"), lambda: ExportDialog(self.model, self).open())
        menu.addAction(tr("Curves, CSV …"), self._save_numbers)
        menu.addAction(tr("Benchmark, JSON …"), lambda: ask_to_save_benchmark(self.model, self))
        return menu

    def _save_numbers(self) -> None:
        chart = chart_of(self.model)
        if chart is not None:
            save_numbers(self.model, self, chart)

    def _lay_out(self) -> None:
        self.controls = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        for widgets in (
            (self.what, self.source, self.width_, self.host, self.even), (self.sizes, self.start, self.stop, self.save)
        ):  # fmt: skip
            row = QHBoxLayout()
            for widget in widgets:
                row.addWidget(widget)
            self.controls.addLayout(row)
        row.addStretch(1)
        self.middle = QSplitter(Qt.Orientation.Horizontal)
        self.middle.addWidget(self.list)
        self.middle.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.addLayout(self.controls)
        layout.addWidget(self.bar)
        layout.addWidget(self.middle, 1)
        layout.addWidget(self.point)
        layout.addWidget(self.origin)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the controls into two rows where one would squeeze them."""
        super().resizeEvent(event)
        rows = [item.sizeHint().width() for item in map(self.controls.itemAt, range(self.controls.count())) if item is not None]
        directions = QBoxLayout.Direction
        self.controls.setDirection(directions.LeftToRight if sum(rows) + 30 <= self.width() else directions.TopToBottom)

    def _new_plot(self) -> "ChartPlot":
        from gemmviz.gui.chart_plot import ChartPlot

        plot = ChartPlot(self.model, tr("Benchmark"))
        plot.pointed.connect(self.point.setText)
        plot.opened.connect(self._on_opened)
        self.middle.addWidget(plot)
        self.middle.setStretchFactor(1, 1)
        self.middle.setSizes([290, 900])
        return plot

    # Display

    @property
    def chart(self) -> Chart | None:
        """Return the chart of the current view with all curves, including the hidden ones."""
        view, subject = view_named(self.session.shot.view), self.session.display.subject
        if view.chart is None or subject is None or not self.session.display.is_benchmark:
            return None
        chart = view.chart(subject)
        return chart.evenly() if self.session.shot.chart.is_even else chart

    def draw(self) -> None:
        """Draw the chosen curves, their list and their source. The plot is created on first use."""
        chart, plotting = self.chart, self.model.plotting
        if not self.session.display.is_benchmark:
            return
        plotting.load()
        quietly(self.what, lambda: self.what.setCurrentIndex(self.what.findData(self.session.shot.view)))
        self._fill_sources()
        self._fill_widths()
        if chart is None:
            return
        chosen = self.session.shot.chart.shown
        self.list.fill(chart.curves, chosen, curve_colours(chart, self.model.theme))
        self.origin.setText("; ".join(chart.notes))
        self.point.setText(
            tr("{hint}. Click a point to open its launch. Expand a kernel in the list for all its curves", hint=chart.hint)
        )
        if plotting.is_loaded:
            self.plot = self.plot or self._new_plot()
            self.plot.show_chart(chart.showing(chosen), self.model.theme)

    def _choose(self, **changes: object) -> None:
        session = self.session
        self.model.commands.choose_curves(structs.replace(session.shot.chart, **changes))  # type: ignore[arg-type]

    def _on_opened(self, opens: Opens) -> None:
        """Show the kernel of a point at its size."""
        try:
            self.model.commands.open_measured(opens)
        except GemmvizError as error:
            self.session.notices.complain("benchmark", error)

    def _fill_widths(self) -> None:
        chart = self.session.shot.chart
        benchmark = self.benchmarks.named(chart.source)
        widths = [0, *([] if benchmark is None else widths_of(benchmark))]
        if [self.width_.itemData(row) for row in range(self.width_.count())] != widths:
            quietly(self.width_, self.width_.clear)
            for width in widths:
                self.width_.addItem(tr("Width {width}", width=width) if width else tr(_FASTEST), width)
        row = widths.index(chart.width) if chart.width in widths else 0
        quietly(self.width_, lambda: self.width_.setCurrentIndex(row))
        quietly(self.host, lambda: self.host.setChecked(chart.with_host))
        quietly(self.even, lambda: self.even.setChecked(chart.is_even))

    def _fill_sources(self) -> None:
        names = list(self.benchmarks.all) or [""]
        if [self.source.itemData(row) for row in range(self.source.count())] != names:
            quietly(self.source, self.source.clear)
            for name in names:
                self.source.addItem(shown_name(name) or tr(_NO_MEASUREMENTS), name)
        chosen = self.session.shot.chart.source
        quietly(self.source, lambda: self.source.setCurrentIndex(names.index(chosen) if chosen in names else 0))

    def _on_toggled(self, shown: dict[str, bool]) -> None:
        before = self.session.shot.chart
        self.model.commands.choose_curves(structs.replace(before, shown={**before.shown, **shown}))

    # Measuring

    def _enable(self) -> None:
        engines, measuring = self.session.engines, self.benchmarks.is_measuring
        has_gpu = engines.gpu is not None
        why_not = f"{_NO_GPU}: {engines.gpu_error}" if engines.gpu_error is not None else tr(_NO_GPU)
        self.start.setEnabled(has_gpu and not measuring)
        self.start.setToolTip(tr("Measure all kernels at these sizes on the GPU") if has_gpu else why_not)
        self.sizes.setEnabled(has_gpu)
        self.stop.setEnabled(measuring)
        self.bar.setVisible(measuring)
        if measuring:
            self.bar.setRange(0, self.benchmarks.cases)
            self.bar.setValue(self.benchmarks.done)
            self.bar.setFormat(self.benchmarks.progress)

    def measure(self) -> None:
        engines = self.session.engines
        try:
            self.benchmarks.measure(engines.remote, engines.device, self.sizes.text())
        except GemmvizError as error:
            self.session.notices.complain("benchmark", error)
            return
        self.session.notices.drop("benchmark")
