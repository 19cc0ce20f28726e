"""The panels around the stage and the docks that they live in."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDockWidget,
    QLabel,
    QMainWindow,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from gemmviz.gui.benchmark_page import BenchmarkPage
from gemmviz.gui.chart import CostChart
from gemmviz.gui.focus_panel import FocusPanel
from gemmviz.gui.kernel_panel import KernelPanel
from gemmviz.gui.metrics_panel import MetricsPanel
from gemmviz.gui.playback import Playback
from gemmviz.gui.scene_widget import SceneDock
from gemmviz.gui.source_panel import SourcePanel
from gemmviz.gui.stage import Stage
from gemmviz.gui.timeline import Timeline
from gemmviz.gui.variables_panel import VariablesPanel
from gemmviz.spec.catalog import kernel_names

_LEFT, _RIGHT, _BOTTOM = (
    Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea, Qt.DockWidgetArea.BottomDockWidgetArea,
)  # fmt: skip


class Panels:
    """Makes all panels and lays them out in ``window``. ``views`` are the docks that show a view, by its name."""

    def __init__(self, window: QMainWindow, playback: Playback) -> None:
        self.window = window
        self.stage = Stage()
        self.banner = QLabel()
        self.banner.setWordWrap(True)
        self.banner.setObjectName("message")
        self.banner.setContentsMargins(12, 8, 12, 8)
        self.banner.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.banner.setAccessibleName("Message")
        self.banner.hide()
        self.kernel = KernelPanel(kernel_names())
        self.focus = FocusPanel()
        self.source = SourcePanel()
        self.variables = VariablesPanel()
        self.metrics = MetricsPanel()
        self.chart = CostChart()
        self.timeline = Timeline(playback)
        self.benchmark = BenchmarkPage()
        self.tabs = QTabBar()
        self.tabs.addTab("Replay")
        self.tabs.addTab("Benchmark")
        self.tabs.setTabToolTip(0, "The kernel, step by step")
        self.tabs.setTabToolTip(1, "How fast the kernels are (Ctrl+B)")
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.views = {
            "request": SceneDock("Request", "What one warp asks of memory at this step: sectors and lines, or banks"),
            "warp": SceneDock("Warp", "Every lane of the warp: thread, element, byte address, value"),
        }
        self._lay_out()
        self.docks = self._docks()
        self._hidden: list[QDockWidget] | None = None
        self._was_alone = False
        self.reset()

    def _lay_out(self) -> None:
        middle = QWidget()
        layout = QVBoxLayout(middle)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        replay = QWidget()
        column = QVBoxLayout(replay)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.stage, 1)
        column.addWidget(self.timeline)
        self.pages = QStackedWidget()
        self.pages.addWidget(replay)
        self.pages.addWidget(self.benchmark)
        self.tabs.currentChanged.connect(self._show_page)
        layout.addWidget(self.tabs)
        layout.addWidget(self.banner)
        layout.addWidget(self.pages, 1)
        self.window.setCentralWidget(middle)

    def _docks(self) -> dict[str, QDockWidget]:
        settings = QWidget()
        column = QVBoxLayout(settings)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.focus)
        column.addWidget(self.kernel, 1)
        code = QSplitter(Qt.Orientation.Vertical)
        code.addWidget(self.source)
        code.addWidget(self.variables)
        code.setStretchFactor(0, 4)
        code.setStretchFactor(1, 2)
        code.setChildrenCollapsible(False)
        return {
            "Settings": self._dock("Settings", _scrolled(settings, 284), _LEFT),
            "Source": self._dock("Source", code, _RIGHT),
            "Metrics": self._dock("Metrics", _scrolled(self.metrics, 300), _RIGHT),
            "Request": self._dock("Request", self.views["request"], _BOTTOM),
            "Warp": self._dock("Warp", self.views["warp"], _BOTTOM),
            "Cost per step": self._dock("Cost per step", self.chart, _BOTTOM),
        }

    def _dock(self, title: str, widget: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
        dock = QDockWidget(title, self.window)
        dock.setObjectName(title)
        dock.setWidget(widget)
        self.window.addDockWidget(area, dock)
        return dock

    def _show_page(self, number: int) -> None:
        """The benchmark has the window for itself: the docks speak of the replay."""
        if number == 1:
            self._was_alone = self._hidden is not None
        if not self._was_alone and number != self.pages.currentIndex():
            self._toggle_docks()
        self.pages.setCurrentIndex(number)

    def toggle_benchmark(self) -> None:
        """From the replay to the benchmark and back."""
        self.tabs.setCurrentIndex(1 - self.tabs.currentIndex())

    def show_all(self) -> None:
        """The replay, with the docks that are hidden for now only."""
        self.tabs.setCurrentIndex(0)
        if self._hidden is not None:
            self.toggle_alone()

    def toggle_alone(self) -> None:
        """Hides all docks, for a hall; or shows those again that were hidden so. The benchmark is alone anyway."""
        if self.tabs.currentIndex() == 0:
            self._toggle_docks()

    def _toggle_docks(self) -> None:
        if self._hidden is None:
            self._hidden = [dock for dock in self.docks.values() if dock.isVisible()]
            for dock in self._hidden:
                dock.hide()
        else:
            for dock in self._hidden:
                dock.show()
            self._hidden = None

    def reset(self) -> None:
        """All docks where they were at first."""
        self._hidden = None
        areas = {"Settings": _LEFT, "Source": _RIGHT, "Metrics": _RIGHT}
        for title, dock in self.docks.items():
            dock.setFloating(False)
            dock.show()
            self.window.addDockWidget(areas.get(title, _BOTTOM), dock)
        self.window.setCorner(Qt.Corner.BottomLeftCorner, _LEFT)
        self.window.setCorner(Qt.Corner.BottomRightCorner, _RIGHT)
        self.window.splitDockWidget(self.docks["Source"], self.docks["Metrics"], Qt.Orientation.Vertical)
        for title in ("Warp", "Cost per step"):
            self.window.tabifyDockWidget(self.docks["Request"], self.docks[title])
        self.docks["Request"].raise_()
        self.fit_docks()

    def fit_docks(self) -> None:
        """Gives the docks their share of the window as it is; small windows keep the room for the stage."""
        width, height = self.window.width(), self.window.height()
        across = [self.docks["Settings"], self.docks["Source"]]
        self.window.resizeDocks(
            across, [max(284, min(300, width // 4)), max(300, min(460, width // 4))], Qt.Orientation.Horizontal
        )
        self.window.resizeDocks(
            [self.docks["Request"]], [min(240, height // 4 if height > 700 else height // 5)], Qt.Orientation.Vertical
        )
        down = [self.docks["Source"], self.docks["Metrics"]]
        self.window.resizeDocks(down, [height * 55 // 100, height * 45 // 100], Qt.Orientation.Vertical)


def _scrolled(widget: QWidget, least_width: int) -> QScrollArea:
    area = QScrollArea()
    area.setWidget(widget)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setMinimumWidth(least_width)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    return area
