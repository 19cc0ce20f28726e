"""The main window: panels around the stage, and how a change of settings becomes a new picture."""

import contextlib
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QFileDialog,
    QLabel,
    QMainWindow,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gemmviz.analysis.replay import Replay
from gemmviz.gui import session
from gemmviz.gui.chart import CostChart
from gemmviz.gui.kernel_panel import KernelPanel
from gemmviz.gui.menus import make_menus, make_shortcuts
from gemmviz.gui.metrics_panel import MetricsPanel
from gemmviz.gui.playback import Playback
from gemmviz.gui.source_panel import SourcePanel
from gemmviz.gui.stage import Stage
from gemmviz.gui.style import apply_theme
from gemmviz.gui.timeline import Timeline
from gemmviz.gui.work import Worker
from gemmviz.model.device import load_device
from gemmviz.model.errors import GemmvizError, SettingError
from gemmviz.model.kernel import KernelSpec, Settings
from gemmviz.model.trace_file import read_trace, write_trace
from gemmviz.render.export import save_frame
from gemmviz.scene.frame import StageOptions
from gemmviz.scene.primitives import Scene
from gemmviz.scene.theme import DARK, LIGHT
from gemmviz.scene.views import VIEWS
from gemmviz.source.catalog import kernel_names, load_kernel
from gemmviz.source.header import launch_for, parse_kernel, settings_for

_DEBOUNCE_MS = 4
_AFTER_PICTURE_MS = 80
_STALE = "This is the picture of the settings before: the present ones can't run"


class MainWindow(QMainWindow):
    """Settings go to a worker; its replay comes back and is played. Newer settings cancel older work."""

    def __init__(self) -> None:
        super().__init__()
        self.setWindowTitle("gemmviz")
        self.resize(1600, 960)
        self.theme = DARK
        apply_theme(_app(), self.theme)
        self.device = load_device()
        self.spec: KernelSpec | None = None
        self.replay: Replay | None = None
        self.view = "stage"
        self.tracer, self.counter = Worker(self), Worker(self)
        self.playback = Playback(self)
        self.stage = Stage()
        self.banner = QLabel()
        self.banner.setWordWrap(True)
        self.banner.setObjectName("message")
        self.banner.setContentsMargins(12, 8, 12, 8)
        self.banner.hide()
        self.panel = KernelPanel(kernel_names())
        self.source = SourcePanel()
        self.metrics = MetricsPanel()
        self.chart = CostChart()
        self.timeline = Timeline(self.playback)
        self._edited = QTimer(self, singleShot=True, interval=_DEBOUNCE_MS)
        self._shown = QTimer(self, singleShot=True, interval=_AFTER_PICTURE_MS)
        self._lay_out()
        self._connect()
        self.dark_action = make_menus(self)
        make_shortcuts(self)
        self.set_theme(dark=True)

    def _lay_out(self) -> None:
        middle = QWidget()
        layout = QVBoxLayout(middle)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.banner)
        layout.addWidget(self.stage, 1)
        layout.addWidget(self.timeline)
        self.setCentralWidget(middle)
        left, right, bottom = (
            Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea, Qt.DockWidgetArea.BottomDockWidgetArea,
        )  # fmt: skip
        scrolled = QScrollArea()
        scrolled.setWidget(self.panel)
        scrolled.setWidgetResizable(True)
        scrolled.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scrolled.setMinimumWidth(250)
        metrics = QScrollArea()
        metrics.setWidget(self.metrics)
        metrics.setWidgetResizable(True)
        metrics.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.docks = [
            self._dock("Settings", scrolled, left),
            self._dock("Source", self.source, right),
            self._dock("Metrics", metrics, right),
            self._dock("Cost per step", self.chart, bottom),
        ]
        self.resizeDocks(self.docks[:2], [270, 430], Qt.Orientation.Horizontal)
        self.resizeDocks([self.docks[3]], [130], Qt.Orientation.Vertical)
        self.statusBar().showMessage("")

    def _dock(self, title: str, widget: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
        dock = QDockWidget(title, self)
        dock.setObjectName(title)
        dock.setWidget(widget)
        self.addDockWidget(area, dock)
        return dock

    def _connect(self) -> None:
        self.panel.changed.connect(self._edited.start)
        self.panel.watched_changed.connect(self._on_watched)
        self.panel.kernel_chosen.connect(self.open_kernel)
        self._edited.timeout.connect(self.run)
        self._shown.timeout.connect(self._on_shown)
        self.tracer.done.connect(self._on_traced)
        self.tracer.failed.connect(self._show_error)
        self.tracer.busy.connect(lambda busy: self.statusBar().showMessage("Running the kernel …" if busy else ""))
        self.counter.done.connect(self._on_counted)
        self.counter.failed.connect(self._show_error)
        self.playback.moved.connect(self._on_moved)
        self.stage.zoom_changed.connect(lambda _: self.redraw())
        self.stage.resized.connect(self.redraw)
        self.panel.entered.connect(self.stage.setFocus)
        self.timeline.used.connect(self.stage.setFocus)
        self.chart.step_chosen.connect(self.playback.go)

    def show_view(self, name: str) -> None:
        """Looks at the same moment in another way."""
        self.view = name
        self.redraw()

    def set_theme(self, dark: bool) -> None:
        self.theme = DARK if dark else LIGHT
        self.dark_action.setChecked(dark)
        apply_theme(_app(), self.theme)
        self.timeline.set_theme(self.theme)
        self.source.set_theme(self.theme)
        if self.replay is not None:
            self.chart.load(self.replay, self.theme)
            self.redraw()

    def open_kernel(self, name: str, settings: Settings | None = None) -> None:
        """Loads a shipped kernel or a file and runs it; an error leaves what is shown."""
        try:
            spec = load_kernel(name)
        except GemmvizError as error:
            self._show_file_error(name, error)
            return
        same_sizes = self.spec is not None and settings is None and spec.name != self.spec.name
        self.spec = spec
        settings = settings or (self._carried(spec) if same_sizes else settings_for(spec))
        self.source.load(spec.text)
        limit = self._limit(spec, settings)
        self.panel.load(spec, settings if limit is None else settings_for(spec))
        if limit is None:
            self.run(keep_step=False)
        else:
            self._show_error(limit)

    def _limit(self, spec: KernelSpec, settings: Settings) -> GemmvizError | None:
        """Why these settings can't run, or None."""
        try:
            launch_for(spec, settings, self.device)
        except GemmvizError as error:
            return error
        return None

    def _carried(self, spec: KernelSpec) -> Settings:
        """The sizes and parameters of the kernel before, where the new one can run with them."""
        before = self.panel.settings()
        shared = {n: v for n, v in before.parameters.items() if n in spec.defaults}
        settings = settings_for(spec, before.problem, shared)
        return settings if self._limit(spec, settings) is None else settings_for(spec)

    def run(self, keep_step: bool = True) -> None:
        """Runs the present settings in the worker, or says which limit they break."""
        if self.spec is None:
            return
        self.counter.cancel()
        self._shown.stop()
        try:
            settings = self.panel.settings()
            launch = launch_for(self.spec, settings, self.device)
        except GemmvizError as error:
            self.tracer.cancel()
            self._show_error(error)
            return
        self.panel.show_launch(launch, -(-launch.threads // self.device.warp_size))
        watched = session.Watched(self.panel.watched_block, self.panel.watched_warp)
        spec = self.spec
        self._keep_step = keep_step
        self.tracer.submit(lambda cancelled: session.make_replay(spec, settings, watched, cancelled))

    def _on_traced(self, replay: Replay) -> None:
        assert self.spec is not None
        self._show_error(None)
        self._show_replay(replay, self._keep_step)
        if not replay.trace.check.passed:
            self._show_warning(GemmvizError(str(replay.trace.check), file=replay.trace.file))

    def _show_replay(self, replay: Replay, keep_step: bool) -> None:
        self.replay = replay
        self.source.load(replay.trace.source)
        starts = replay.phase_starts.tolist()
        self.timeline.load(replay.steps, starts)
        self.metrics.show_trace(replay.trace, [])
        self.metrics.show_launch(None, replay.trace)
        self.source.show_error(None)
        self.playback.load(replay.steps, starts, keep_step)
        self._shown.start()

    def _on_shown(self) -> None:
        """What can wait until the picture is on the screen: the chart, and the counts of the whole launch."""
        if self.replay is None or self.spec is None:
            return
        self.chart.load(self.replay, self.theme)
        self.chart.show_step(self.playback.step)
        spec, replay = self.spec, self.replay
        self.counter.submit(lambda cancelled: session.count_whole(spec, replay.trace.settings, replay, cancelled))

    def _on_counted(self, whole: session.Whole) -> None:
        if self.replay is not None and whole.trace is self.replay.trace:
            self.metrics.show_trace(self.replay.trace, whole.hazards)
            self.metrics.show_launch(whole.counter, self.replay.trace)
            if whole.hazards:
                self._show_warning(whole.hazards[0].fault(self.replay.trace.file))

    def _on_watched(self) -> None:
        if self.replay is None:
            return
        block, trace = self.panel.watched_block, self.replay.trace
        inside = Replay(trace, block, self.panel.watched_warp)
        if inside.block != block:
            self._edited.start()
        else:
            self.replay = inside
            self.chart.load(inside, self.theme)
            self.redraw()

    def _on_moved(self, step: int) -> None:
        self.redraw()
        self.chart.show_step(step)

    def current_scene(self) -> Scene | None:
        if self.replay is None or not self.replay.steps:
            return None
        return VIEWS[self.view](self.replay, self.playback.step, self._options())

    def _options(self) -> StageOptions:
        return StageOptions(self.theme, self.stage.label_zoom, self.stage.frame_height)

    def slide(self) -> Scene | None:
        """The present moment in the shape of a slide."""
        if self.replay is None:
            return None
        return VIEWS[self.view](self.replay, self.playback.step, StageOptions(self.theme))

    def redraw(self) -> None:
        scene = self.current_scene()
        if scene is None or self.replay is None:
            return
        step, trace = self.playback.step, self.replay.trace
        self.stage.set_scene(scene)
        site = trace.site_of(step)
        accent = self.theme.faint if site.is_barrier else self.theme.accent(trace.arrays[site.array].name)
        if self.source.text == trace.source:
            self.source.show_running(site.place, accent)
        self.metrics.show_step(self.replay, step)

    def _show_error(self, error: GemmvizError | None) -> None:
        """Settings' errors go beside the settings; the kernel's own to the banner, with their place marked in the source."""
        is_setting = isinstance(error, SettingError)
        self.stage.set_stale("" if error is None or self.replay is None else _STALE)
        if error is not None:
            self._shown.start()  # the picture that stays gets its counts
        self.panel.show_error(error if is_setting else None)
        self.banner.setVisible(error is not None and not is_setting)
        if error is not None and not is_setting:
            self.playback.play(False)
            self.banner.setText(str(error))
            self.source.show_error(error.place)

    def _show_warning(self, error: GemmvizError) -> None:
        """What is wrong while the picture is right: with the kernel that it shows, or with a file."""
        self.banner.setText(str(error))
        self.banner.show()
        self.source.show_error(error.place)

    def _show_file_error(self, name: str, error: GemmvizError) -> None:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            self.source.load(Path(name).read_text(encoding="utf-8"))
        self._show_error(error)

    def open_file(self, path: Path) -> None:
        """A ``.cu`` file is run, a ``.gvt`` file is shown as it is."""
        if path.suffix != ".gvt":
            self.open_kernel(str(path))
            return
        try:
            trace = read_trace(path)
            spec = parse_kernel(trace.source, trace.file)
            settings = settings_for(spec, trace.settings.problem, trace.parameters)
        except GemmvizError as error:
            self._show_warning(error)
            return
        self._edited.stop()
        self.tracer.cancel()
        self.counter.cancel()
        self.spec = spec
        self.panel.load(spec, settings)
        self.panel.show_launch(trace.launch, trace.space.warps)
        self.source.load(trace.source)
        self._show_error(None)
        self._show_replay(Replay(trace, self.panel.watched_block, self.panel.watched_warp), keep_step=False)

    def ask_to_open(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Open", "", "Kernels and traces (*.cu *.gvt)")
        if name:
            self.open_file(Path(name))

    def ask_to_save_trace(self) -> None:
        if self.replay is None:
            return
        name, _ = QFileDialog.getSaveFileName(self, "Save trace", f"{self.replay.trace.kernel}.gvt", "Traces (*.gvt)")
        if name:
            self._save(lambda: write_trace(self.replay.trace, Path(name)), name)

    def ask_to_save_frame(self, suffix: str, scale: int) -> None:
        scene = self.slide()
        if scene is None or self.replay is None:
            return
        suggestion = f"{self.replay.trace.kernel}-step{self.playback.step + 1}.{suffix}"
        name, _ = QFileDialog.getSaveFileName(self, "Save frame", suggestion, f"{suffix.upper()} (*.{suffix})")
        if name:
            self._save(lambda: save_frame(scene, Path(name), scale), name)

    def _save(self, action: object, name: str) -> None:
        try:
            action()  # type: ignore[operator]
        except GemmvizError as error:
            self._show_warning(error)
        else:
            self.statusBar().showMessage(f"Saved {name}", 5000)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.playback.play(False)
        self.tracer.stop()
        self.counter.stop()
        super().closeEvent(event)


def _app() -> QApplication:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    return app
