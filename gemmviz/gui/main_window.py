"""The main window: how a change of settings becomes a new picture, and a step another one."""

import contextlib
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QSettings, QSize, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow

from gemmviz.analysis.focus import Focus
from gemmviz.analysis.replay import Replay
from gemmviz.files.devices import device_of
from gemmviz.files.measurements import recorded_registers
from gemmviz.files.trace_file import read_trace
from gemmviz.gui import session
from gemmviz.gui.afterwork import Afterwork
from gemmviz.gui.files import KINDS, Files
from gemmviz.gui.history import SetupHistory
from gemmviz.gui.memory import Memory
from gemmviz.gui.menus import Menus
from gemmviz.gui.navigation import Navigation
from gemmviz.gui.panels import Panels
from gemmviz.gui.playback import Playback
from gemmviz.gui.session import Details, Look, RealKernel, Run, Setup, Whole
from gemmviz.gui.station import GpuStation
from gemmviz.gui.style import apply_theme, system_theme
from gemmviz.gui.tour import Tour, tour_stops
from gemmviz.gui.wheel import WheelGuard
from gemmviz.gui.work import Worker
from gemmviz.model.device import DEFAULT_DEVICE
from gemmviz.model.errors import GemmvizError, KernelFault, SettingError
from gemmviz.model.gpu import Gpu
from gemmviz.model.kernel import KernelSpec, Settings
from gemmviz.model.trace import INTERPRETER, Trace
from gemmviz.run.remote import RemoteGpu
from gemmviz.scene.frame import LAYERS, ViewOptions
from gemmviz.scene.primitives import Scene
from gemmviz.scene.theme import DARK, LIGHT, Theme
from gemmviz.scene.views import VIEWS
from gemmviz.spec.catalog import load_kernel
from gemmviz.spec.header import parse_kernel
from gemmviz.spec.legality import settings_for

_DEBOUNCE_MS = 4
_PANELS_MS = 40
_FILE_MS = 150
_STALE = "This is the picture of the settings before: the present ones can't run"


class MainWindow(QMainWindow):
    """Settings go to a worker; its replay comes back and is played. Newer settings cancel older work.

    What can wait until the picture is on the screen is Afterwork's; clicks are Navigation's.
    """

    def __init__(self, kept: QSettings | None = None) -> None:
        super().__init__()
        self.setWindowTitle("gemmviz")
        self.resize(QSize(1600, 960).boundedTo(self.screen().availableSize()))
        self.setMinimumSize(1000, 600)
        self.setAcceptDrops(True)
        self.memory = Memory(kept)
        self.theme_choice = self.memory.text("theme", "system")
        self.theme = self._chosen_theme()
        apply_theme(_app(), self.theme)
        self.spec: KernelSpec | None = None
        self.shown_setup: Setup | None = None  # that of the replay
        self.replay: Replay | None = None
        self.view = "stage"
        self._arrived = True
        self._from_file = False  # a trace from a file stays, also when a GPU is found later
        self.tracer, self.afterwork, self.station = Worker(self), Afterwork(self), GpuStation(self)
        self.playback = Playback(self)
        self.panels = Panels(self, self.playback)
        self.stage = self.panels.stage
        self.history = SetupHistory(self.adopt)
        self.files = Files(self)
        self._edited = QTimer(self, singleShot=True, interval=_DEBOUNCE_MS)
        self.busy = QLabel()
        self.recorder = QLabel()
        self.recorder.setToolTip("Who ran the kernel and recorded what is shown")
        self.statusBar().addPermanentWidget(self.busy)
        self.statusBar().addPermanentWidget(self.recorder)
        self._panels_due = QTimer(self, singleShot=True, interval=_PANELS_MS)
        self._changed_on_disk = QTimer(self, singleShot=True, interval=_FILE_MS)
        self._watcher = QFileSystemWatcher(self)
        self._file: Path | None = None
        self.wheel = WheelGuard(self)
        self.wheel.guard(self.panels.docks["Settings"])
        self.menus = Menus(self)
        self.navigation = Navigation(self)
        self._connect()
        self.choose_theme(self.theme_choice)
        self._restore()

    def _connect(self) -> None:
        panels = self.panels
        panels.kernel.changed.connect(self._edited.start)
        panels.kernel.kernel_chosen.connect(self.open_kernel)
        panels.kernel.entered.connect(self.stage.setFocus)
        panels.kernel.runner_chosen.connect(self._on_runner)
        panels.kernel.patience_changed.connect(lambda seconds: setattr(self.station.remote, "patience_s", seconds))
        self.station.known.connect(self._on_gpu_known)
        panels.focus.changed.connect(self._on_focus)
        panels.focus.layer_changed.connect(self.redraw)
        panels.benchmark.failed.connect(self.show_warning)
        panels.benchmark.opened.connect(panels.banner.hide)
        panels.tabs.currentChanged.connect(self._on_page)
        panels.timeline.used.connect(self.stage.setFocus)
        for view in panels.views.values():
            view.resized.connect(self._panels_due.start)
        for dock in panels.docks.values():
            dock.visibilityChanged.connect(lambda _: self._panels_due.start())
        self._edited.timeout.connect(self.run)
        self._panels_due.timeout.connect(self._show_panels)
        self._watcher.fileChanged.connect(lambda _: self._changed_on_disk.start())
        self._changed_on_disk.timeout.connect(self.reload)
        self.tracer.done.connect(self._on_traced)
        self.tracer.failed.connect(self._on_failed)
        self.tracer.busy.connect(lambda busy: self.busy.setText("Running the kernel …" if busy else ""))
        self.afterwork.looked.connect(self._on_looked)
        self.afterwork.detailed.connect(self._on_detailed)
        self.afterwork.counted.connect(self._on_counted)
        self.afterwork.measured.connect(self._on_measured)
        self.afterwork.failed.connect(self.show_warning)
        self.playback.moved.connect(self._on_moved)
        self.playback.flowed.connect(self._on_flowed)
        self.stage.looked_elsewhere.connect(self.redraw)
        self.stage.resized.connect(self.redraw)
        _app().styleHints().colorSchemeChanged.connect(self._on_color_scheme)

    # What is set, and running it

    def open_kernel(self, name: str, settings: Settings | None = None, device: str | None = None) -> None:
        """Loads a shipped kernel or a file and runs it; an error leaves what is shown."""
        self._follow_file(Path(name))
        try:
            spec = load_kernel(name)
        except GemmvizError as error:
            self._show_file_error(name, error)
            return
        if Path(name).is_file():
            self.remember_file(Path(name))
        self.adopt(self._setup_for(spec, settings, device), keep_step=self.spec is not None and spec.file == self.spec.file)

    def _follow_file(self, path: Path) -> None:
        """From now on the kernel is run again whenever this file of the person's own is saved."""
        if self._watcher.files():
            self._watcher.removePaths(self._watcher.files())
        self._file = path if path.is_file() else None
        if self._file is not None:
            self._watcher.addPath(str(path))

    def reload(self) -> None:
        """Reads the person's own file again."""
        if self._file is not None:
            self.open_kernel(str(self._file))

    def _setup_for(self, spec: KernelSpec, settings: Settings | None, device: str | None) -> Setup:
        """What is asked for or, where that is left open, what was set before as far as a person set it and this kernel can
        run with it.
        """
        before = self._present_setup()
        if before is None or settings is not None:
            return Setup(spec, settings or settings_for(spec), device or (before.device_name if before else DEFAULT_DEVICE))
        untouched = before.spec.name != spec.name and before.settings.problem == before.spec.problem
        problem = spec.problem if untouched else before.settings.problem
        shared = {n: v for n, v in before.settings.parameters.items() if n in spec.defaults}
        carried = settings_for(spec, problem, shared)
        carried = Settings(carried.problem, carried.parameters, before.settings.filling)
        setup = Setup(spec, carried, device or before.device_name)
        why = setup.why_not()
        if why is None:
            return setup
        self.statusBar().showMessage(f"{problem} can't run here, so the kernel's own sizes are set: {why.message}", 10_000)
        return Setup(spec, settings_for(spec), setup.device_name)

    def _present_setup(self) -> Setup | None:
        """What the panel says, None before there is a kernel or where it says nothing that can be."""
        try:
            return None if self.spec is None else self.panels.kernel.setup(self.spec)
        except GemmvizError:
            return None

    def adopt(self, setup: Setup, keep_step: bool = True) -> None:
        """Puts a setup into the panel and runs it."""
        self.spec = setup.spec
        self.panels.kernel.load(setup)
        self.wheel.guard(self.panels.kernel)  # it may have other parameters now
        self.panels.source.load(setup.spec.text)
        self.run(keep_step)

    def run(self, keep_step: bool = True) -> None:
        """Runs the present settings in the worker, or says which limit they break."""
        if self.spec is None:
            return
        self.afterwork.cancel()
        try:
            setup = self.panels.kernel.setup(self.spec)
            launch = setup.launch()
        except GemmvizError as error:
            self.tracer.cancel()
            self._show_error(error)
            return
        self._from_file = False
        self.history.note(setup)
        registers = recorded_registers(setup.spec.text, setup.settings.parameters, setup.device)
        self.panels.kernel.show_launch(launch, setup.device, registers)
        self.panels.focus.set_launch(launch, setup.device.warp_size)
        focus = self.panels.focus.focus
        self._keep_step = keep_step
        self._submitted = setup
        gpu = self.afterwork.gpu = self.gpu
        self.tracer.submit(lambda cancelled: session.make_replay(setup, focus, gpu, cancelled))

    @property
    def gpu(self) -> RemoteGpu | None:
        """Who runs kernels: the GPU where it is chosen, else nobody but the interpreter."""
        return self.station.remote if self.panels.kernel.runs_on_gpu else None

    def _on_gpu_known(self, found: Gpu | GemmvizError) -> None:
        chosen = isinstance(found, Gpu) and self.memory.text("runner", "gpu") == "gpu"
        self.panels.kernel.show_gpu(found, chosen)
        is_gpu = isinstance(found, Gpu)
        device = (device_of(found) if is_gpu else None) or DEFAULT_DEVICE
        self.panels.benchmark.set_gpu(
            self.station.remote if is_gpu else None, device, f"There is no GPU to measure on: {found}"
        )
        if isinstance(found, GemmvizError) and self.station.is_meant and found.remedy:
            self.show_warning(found)
        if chosen and not self._from_file:
            self.run()

    def _on_page(self, number: int) -> None:
        """The keys of the replay and who ran it belong to the replay."""
        self.recorder.setVisible(number == 0)
        for shortcut in self.menus.replay_keys:
            shortcut.setEnabled(number == 0)
        if number:
            self.playback.play(False)

    def _on_runner(self, on_gpu: bool) -> None:
        self.memory.put("runner", "gpu" if on_gpu else "cpu")
        self.run()

    def _on_measured(self, real: RealKernel) -> None:
        if real.setup == self.shown_setup:
            self.panels.metrics.show_real(real)

    def _on_traced(self, run: Run) -> None:
        replay = run.replay
        self._show_error(None)
        focus = self.panels.focus.focus  # it may have been changed meanwhile
        self._show_replay(self._submitted, Replay(replay.trace, focus, replay), self._keep_step)
        self.memory.keep_setup(self._submitted)
        if self._submitted.window is None and self.replay is not None and self.replay.block != focus.block:
            self._edited.start()  # a block that was not traced
        if run.gpu_failed is not None:
            self.show_warning(_instead(run.gpu_failed))
        elif not replay.trace.check.passed:
            self.show_warning(GemmvizError(str(replay.trace.check), file=replay.trace.file))

    def _on_failed(self, error: GemmvizError) -> None:
        """A kernel that was stopped is shown up to there."""
        trace = error.trace if isinstance(error, KernelFault) else None
        if not isinstance(trace, Trace):
            self._show_error(error)
            return
        self._show_error(None)
        self.playback.play(False)
        self._show_replay(self._submitted, Replay(trace, self.panels.focus.focus), keep_step=False)
        self.playback.go(trace.steps - 1)
        if error.block is not None:
            self.panels.focus.watch(Focus(error.block))
        self.show_warning(error)

    def _show_replay(self, setup: Setup, replay: Replay, keep_step: bool) -> None:
        self.shown_setup, self.replay = setup, replay
        panels = self.panels
        by = replay.trace.executor
        self.recorder.setText("Run by the interpreter on the CPU" if by == INTERPRETER else f"Recorded on {by}")
        panels.source.load(replay.trace.source)
        panels.source.show_error(None)
        starts = replay.phase_starts.tolist()
        panels.timeline.load(replay.steps, starts)
        panels.metrics.show_trace(replay.trace)
        panels.metrics.show_hazards([], replay.trace)
        panels.metrics.show_source(replay, None, setup.device)
        panels.metrics.show_launch(None, replay.trace)
        panels.metrics.show_real(None)
        self.playback.load(replay.steps, starts, keep_step)
        self.afterwork.begin(setup, replay)

    def _on_looked(self, look: Look) -> None:
        self.panels.chart.load(look.replay, self.theme)
        self.panels.chart.show_step(self.playback.step)
        self._panels_due.start()

    def _on_detailed(self, details: Details) -> None:
        self.panels.metrics.show_hazards(details.hazards, details.trace, details.searched)
        self.panels.timeline.show_hazards(details.conflicts.steps)
        if details.hazards:
            self.show_warning(details.hazards[0].fault(details.trace.file))
            self.redraw()
        self._panels_due.start()

    def _on_counted(self, whole: Whole) -> None:
        assert self.replay is not None
        self.panels.metrics.show_source(self.replay, whole.counter, self.shown_setup.device)
        self.panels.metrics.show_launch(whole.counter, whole.trace)

    # Whom to watch

    def _on_focus(self) -> None:
        if self.replay is None:
            return
        focus = self.panels.focus.focus
        inside = Replay(self.replay.trace, focus, self.replay)
        if inside.block != focus.block:
            if self.shown_setup is not None and self.shown_setup.window is not None:
                only = f"only blocks {self.replay.trace.window} are traced (see Blocks)"
                self.statusBar().showMessage(f"Block {focus.block[:2]} can't be watched: {only}", 10_000)
                self.panels.focus.watch(replace(focus, block=inside.block))
            else:
                self._edited.start()  # a block that was not traced
            return
        self.replay = inside
        assert self.shown_setup is not None
        self.afterwork.begin(self.shown_setup, inside)
        whole = self.afterwork.whole
        self.panels.metrics.show_source(inside, whole.counter if whole else None, self.shown_setup.device)
        self.redraw()

    # Where in the run

    def _on_moved(self, step: int) -> None:
        self.redraw()
        self.panels.chart.show_step(step)

    def _on_flowed(self) -> None:
        if self.replay is not None and self.replay.steps:
            options = self._options()
            if options.arrived != self._arrived:
                self.redraw()
            else:
                self.stage.set_motion(VIEWS[self.view].motion(self.replay, self.playback.step, options))

    # Drawing

    def show_view(self, name: str) -> None:
        """Looks at the same moment in another way."""
        self.view = name
        self.menus.views[name].setChecked(True)
        self.redraw()

    def _options(self) -> ViewOptions:
        stage, layer = self.stage, self.panels.focus.layer_name
        return ViewOptions(self.theme, stage.label_zoom, stage.frame_height, layer, self.playback.moment, clip=stage.clip)

    def slide(self) -> Scene | None:
        """The present moment in the shape of a slide."""
        if self.replay is None or not self.replay.steps:
            return None
        options = ViewOptions(self.theme, layer=self.panels.focus.layer_name, moment=self.playback.moment)
        return VIEWS[self.view].scene(self.replay, self.playback.step, options)

    def redraw(self) -> None:
        if self.replay is None or not self.replay.steps:
            return
        step, options, view = self.playback.step, self._options(), VIEWS[self.view]
        self._arrived = options.arrived
        self.stage.set_scene(view.still(self.replay, step, options), view.motion(self.replay, step, options))
        if not self._panels_due.isActive():
            self._panels_due.start()

    def _show_panels(self) -> None:
        """What stands around the stage follows it, no more often than the eye needs."""
        if self.replay is None or not self.replay.steps:
            return
        replay, step, panels = self.replay, self.playback.step, self.panels
        site = replay.trace.site_of(step)
        if panels.source.text == replay.trace.source:
            accent = self.theme.faint if site.is_barrier else self.theme.accent(replay.trace.arrays[site.array].name)
            panels.source.show_running(site.place, accent)
        panels.metrics.show_site(site.place)
        look = self.afterwork.look
        panels.metrics.show_step(replay, step, look is not None and look.charted)
        panels.variables.show_step(replay, look.watched if look else None, step)
        for name, dock in panels.views.items():
            if dock.is_seen:
                options = ViewOptions(self.theme, height=dock.frame_height, words=False)
                dock.set_scene(VIEWS[name].still(replay, step, options))

    def choose_theme(self, name: str) -> None:
        """``system``, ``dark`` or ``light``."""
        self.theme_choice = name if name in self.menus.themes else "system"
        self.menus.themes[self.theme_choice].setChecked(True)
        self.theme = self._chosen_theme()
        self.memory.put("theme", self.theme_choice)
        apply_theme(_app(), self.theme)
        self.panels.timeline.set_theme(self.theme)
        self.panels.benchmark.set_theme(self.theme)
        self.panels.source.set_theme(self.theme)
        if self.replay is not None:
            if self.afterwork.look is not None:
                self.panels.chart.load(self.replay, self.theme)
            self.redraw()

    def _on_color_scheme(self) -> None:
        self.choose_theme(self.theme_choice)

    def toggle_theme(self) -> None:
        self.choose_theme("light" if self.theme is DARK else "dark")

    def _chosen_theme(self) -> Theme:
        return {"dark": DARK, "light": LIGHT}.get(self.theme_choice) or system_theme(_app())

    def toggle_full_screen(self) -> None:
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    # What went wrong

    def _show_error(self, error: GemmvizError | None) -> None:
        """Settings' errors go beside the settings; the kernel's own to the banner, with their place marked in the source."""
        is_setting = isinstance(error, SettingError)
        stale = "" if error is None or self.replay is None else _STALE
        self.stage.set_stale(stale)
        for view in self.panels.views.values():
            view.set_stale(stale)
        self.panels.metrics.setEnabled(not stale)
        if error is not None:
            self.afterwork.again()  # the picture that stays gets its counts
        self.panels.kernel.show_error(error if is_setting else None)
        self.panels.banner.setVisible(error is not None and not is_setting)
        if error is not None and not is_setting:
            self.playback.play(False)
            self.show_warning(error)

    def show_warning(self, error: GemmvizError) -> None:
        """What is wrong while the picture is right: with the kernel that it shows, or with a file."""
        self.panels.banner.setText(str(error))
        self.panels.banner.show()
        self.panels.source.show_error(error.place)

    def _show_file_error(self, name: str, error: GemmvizError) -> None:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            self.panels.source.load(Path(name).read_text(encoding="utf-8"))
        self.tracer.cancel()
        self.playback.play(False)
        if self.spec is not None:
            self.panels.kernel.choose(self.spec)
        self.show_warning(error)

    # Files

    def open_file(self, path: Path) -> None:
        """A ``.cu`` file is run, a ``.gvt`` file is shown as it is."""
        if path.suffix == ".json":
            self.panels.tabs.setCurrentIndex(1)
            self.panels.benchmark.open_file(path)
            return
        if path.suffix != ".gvt":
            self.panels.tabs.setCurrentIndex(0)
            self.open_kernel(str(path))
            return
        try:
            trace = read_trace(path)
            spec = parse_kernel(trace.source, trace.file)
            settings = settings_for(spec, trace.settings.problem, trace.parameters)
        except GemmvizError as error:
            self.show_warning(error)
            return
        self._edited.stop()
        self.tracer.cancel()
        self.afterwork.cancel()
        self._from_file = True
        self.panels.tabs.setCurrentIndex(0)
        self.remember_file(path)
        before = self._present_setup()
        filled = Settings(settings.problem, settings.parameters, trace.settings.filling)
        whole = trace.window.blocks == trace.launch.blocks
        self.spec = spec
        device = before.device_name if before else DEFAULT_DEVICE
        setup = Setup(spec, filled, device, None if whole else trace.window, trace.phases)
        self.panels.kernel.load(setup)
        self.history.note(setup)
        self.panels.kernel.show_launch(trace.launch, setup.device, None)
        self.panels.focus.set_launch(trace.launch, trace.warp_size)
        self.panels.source.load(trace.source)
        self._show_error(None)
        self._show_replay(setup, Replay(trace, self.panels.focus.focus), keep_step=False)

    def remember_file(self, path: Path) -> None:
        self.memory.add_recent(path)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(Path(url.toLocalFile()).suffix in KINDS for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls()]
        chosen = next((path for path in paths if path.suffix in KINDS), None)
        if chosen is not None:
            event.acceptProposedAction()
            self.open_file(chosen)

    # Coming and going

    def start_tour(self) -> None:
        """Five captions about the parts of the window."""
        if self.tour is not None:
            return
        self.tour = Tour(self, tour_stops(self.panels), self.theme)
        self.tour.finished.connect(self._on_toured)

    def _on_toured(self) -> None:
        self.tour = None
        self.memory.put("tour", "seen")
        self.stage.setFocus()

    tour: Tour | None = None

    def _restore(self) -> None:
        """Window and panels as they were the last time."""
        self.restoreGeometry(self.memory.data("geometry"))
        self.restoreState(self.memory.data("layout"))
        self.playback.set_speed(self.memory.number("speed", self.playback.speed))
        layer = self.memory.text("layer", "matrix")
        self.panels.focus.layer.setCurrentIndex(LAYERS.index(layer) if layer in LAYERS else 0)
        view = self.memory.text("view", "stage")
        self.show_view(view if view in VIEWS else "stage")

    def open_last(self) -> bool:
        """Runs what was set the last time; False where there is no such thing."""
        setup = self.memory.last_setup()
        if setup is not None:
            self.adopt(setup, keep_step=False)
        return setup is not None

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.memory.data("layout").isEmpty():
            QTimer.singleShot(0, self.panels.fit_docks)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        before = event.oldSize()
        if before.isValid() and (event.size().width() < 1400 or before.width() < 1400):
            QTimer.singleShot(0, self.panels.fit_docks)  # once the new size has been laid out
        if self.tour is not None:
            self.tour.place()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.playback.play(False)
        self.panels.show_all()  # what is hidden for now is not to be hidden the next time
        self.memory.put("geometry", self.saveGeometry())
        self.memory.put("layout", self.saveState())
        self.memory.put("speed", self.playback.speed)
        self.memory.put("layer", self.panels.focus.layer_name)
        self.memory.put("view", self.view)
        self.tracer.stop()
        self.afterwork.stop()
        self.panels.benchmark.shut()
        self.station.stop()
        super().closeEvent(event)


def _instead(error: GemmvizError) -> GemmvizError:
    """What the GPU could not do, and who did it instead."""
    return GemmvizError(f"{error.message}. Shown is the interpreter's run", error.place, file=error.file, remedy=error.remedy)


def _app() -> QApplication:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    return app
