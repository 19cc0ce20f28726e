"""The main window: creates its parts, and saves and restores their layout."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QChildEvent, QElapsedTimer, QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QContextMenuEvent, QDragEnterEvent, QDropEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QHBoxLayout,
    QMainWindow,
    QMenu,
    QStackedWidget,
    QTabBar,
    QToolButton,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from gemmviz.files.resources import is_folder, is_known
from gemmviz.gui.preferences import Preferences, Store
from gemmviz.gui.replay_page import ReplayPage
from gemmviz.gui.style import apply_theme, first_size, letters_on, system_is_dark
from gemmviz.gui.timeline import DRAG
from gemmviz.gui.widgets.controls import MESSAGE_MS, cover, tip_text, unless_covered
from gemmviz.gui.widgets.input import FocusRing, keep_keys
from gemmviz.gui.window.action import ActionContext
from gemmviz.gui.window.bars import Banner, LaunchStrip, Status, WhyButton
from gemmviz.gui.window.docks import Docks
from gemmviz.gui.window.menus import Menus, Warming, point_menu, pointed_in
from gemmviz.gui.window.start_mode import StartMode
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.messages import GemmvizError, many, tr
from gemmviz.scenes.kit.theme import Theme
from gemmviz.session.state import Resume
from gemmviz.shots.shot import Shot, title_of

if TYPE_CHECKING:
    from gemmviz.cuda.launch.launch_form import LaunchForm
    from gemmviz.gui.benchmark_page import BenchmarkPage
    from gemmviz.gui.lecture.lecture_window import Lecture
    from gemmviz.gui.window.tour import Tour


class Poster(QObject):
    """A queue of calls. ``post`` may be called from any thread; the call runs soon, on the thread that created the Poster."""

    _posted = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._posted.connect(self._run, Qt.ConnectionType.QueuedConnection)

    def post(self, action: Callable[[], None]) -> None:
        try:
            self._posted.emit(action)
        except RuntimeError:
            return  # the window is gone

    def _run(self, action: Callable[[], None]) -> None:
        action()


_FRAME_MS, _NARROW = 16, 1400
_REPLAY, _BENCHMARK = 0, 1
_LEAST_STAGE = 432  # pixels: with both sides at their least, a window of 1024

_LOADING_MS, _LAYOUT_MS = 3000, 50
_LESSONS, _START = "lessons", "start"


class MainWindow(QMainWindow):
    """The stage or the benchmark in the middle, with docks around it. All content comes from the session."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__()
        self._app = cast(QApplication, QApplication.instance())
        self.setMinimumSize(1000, 600)
        self.setAcceptDrops(True)
        self.resize(first_size(self.screen()))
        self.model = WindowModel(Poster(self).post, Preferences(store))
        self.session, self.preferences = self.model.session, self.model.preferences
        self.session.system_is_dark = system_is_dark(self._app)
        self._theme: tuple[Theme, int] | None = None
        self._wear_theme()
        self.tour: Tour | None = None
        self.replay, self.banner = ReplayPage(self.model), Banner(self.model)
        self.launch = LaunchStrip(self.model)
        self._lecture: Lecture | None = None
        self._was_alone, self.has_ended = False, False
        self._ring = FocusRing(self)
        self._lay_out()
        self.docks = Docks(self, self.model)
        for dock in self.docks.all.values():
            dock.menu_requested.connect(self._open_menu)
        self._add_panel_button()
        self.start_mode = StartMode(self.model, self.docks, self._row, self._on_explore)
        self._tours_later = False
        self.menus = Menus(
            ActionContext(
                self.model,
                self,
                self.docks,
                self.replay,
                self._hide_docks,
                self.start_tour,
                self._begin_lecture,
                self.start_mode,
            )
        )
        self.warming = Warming(self, self.menus, self.docks, self._name_broken_extensions)
        self.replay.stage.painted.connect(self._on_painted)
        self._elapsed = QElapsedTimer()
        self._clock = QTimer(self, interval=_FRAME_MS, timerType=Qt.TimerType.PreciseTimer)
        self._clock.timeout.connect(lambda: self.session.player.tick(self._elapsed.restart()))
        self._listen()
        self._restore()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with what was clicked; beside pictures and tables, the panels."""
        if not self._open_menu(self, event.globalPos()):
            super().contextMenuEvent(event)

    def _open_menu(self, within: QWidget, at: QPoint) -> bool:
        """Open the menu of what is at a place of the screen in a window, and return whether there is one."""
        pointed = pointed_in(within.childAt(within.mapFromGlobal(at)), at)
        if pointed is None:
            return False
        menu = point_menu(pointed, self.model.commands, self.docks, self.menus.all["export"], self)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(at)
        return True

    def _lay_out(self) -> None:
        self.tabs = QTabBar(drawBase=False, expanding=False)
        for title, tip in (
            (tr("Replay"), tr("The kernel, step by step")),
            (tr("Benchmark"), tr("Speed of the kernels (Ctrl+B)")),
        ):
            self.tabs.setTabToolTip(self.tabs.addTab(title), tip)
        self.tabs.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.replay)
        self.pages.setMinimumWidth(_LEAST_STAGE)
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget in (self.banner, self.launch, self.pages):
            column.addWidget(widget, 1 if widget is self.pages else 0)
        self._row = QHBoxLayout()
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.addWidget(middle, 3)
        whole = QWidget()
        whole.setLayout(self._row)
        self.setCentralWidget(whole)
        self.status = Status(self.statusBar(), self.model)
        self._top, self.why = QWidget(), WhyButton(self.model)
        row = QHBoxLayout(self._top)
        row.setContentsMargins(0, 0, 6, 0)
        row.setSpacing(2)
        row.addWidget(self.why)
        row.addWidget(self.tabs)
        if self.menuBar().isNativeMenuBar():
            column.insertWidget(0, self._top)
        else:
            self.menuBar().setCornerWidget(self._top)
        self.menuBar().setAccessibleName(tr("Menus"))
        self.tabs.setAccessibleName(tr("Pages"))

    def _add_panel_button(self) -> None:
        """Add the button that opens and closes the drawer, with a menu of all panels."""
        self.panels_button = button = QToolButton(autoRaise=True, popupMode=QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        button.setText(tr("Panels"))
        button.setAccessibleName(button.text())
        button.setToolTip(tr("Open the panels beside the picture that were open last, or close them"))
        button.clicked.connect(self.docks.toggle_drawer)
        menu = QMenu(button)
        menu.aboutToShow.connect(lambda: self._list_panels(menu))
        button.setMenu(menu)
        row = self._top.layout()
        assert row is not None
        row.addWidget(button)

    def _list_panels(self, menu: QMenu) -> None:
        menu.clear()
        menu.addActions([dock.toggleViewAction() for dock in self.docks.all.values()])

    def _listen(self) -> None:
        session = self.session
        self.tabs.tabBarClicked.connect(self._on_tab_clicked)
        self.tabs.currentChanged.connect(self._on_tab)
        session.shot_changed.connect(self._on_shot_changed)
        session.run_changed.connect(self._show_title)
        session.benchmarks.changed.connect(self._show_title)
        self.model.opening.form_requested.connect(self._ask_for_launch)
        self.model.opening.choice_requested.connect(self._ask_for_kernel)
        self._lesson, self._was_away = "", False
        self.model.course.changed.connect(self._on_lesson)
        session.player.changed.connect(self._on_player)
        self._app.styleHints().colorSchemeChanged.connect(self._on_system_theme)

    @cached_property
    def benchmark(self) -> BenchmarkPage:
        """The page of benchmarks, made when it is asked for."""
        from gemmviz.gui.benchmark_page import BenchmarkPage

        page = BenchmarkPage(self.model)
        self.pages.addWidget(page)
        return page

    @property
    def lecture(self) -> Lecture:
        """The lecture, made when it is asked for."""
        if self._lecture is None:
            from gemmviz.gui.lecture.lecture_window import Lecture

            self._lecture = Lecture(self, self.model)
        return self._lecture

    def _ask_for_launch(self, form: LaunchForm) -> None:
        from gemmviz.gui.launch_form import LaunchDialog

        LaunchDialog(self.model, form, self).open()

    def _ask_for_kernel(self, files: list[Path]) -> None:
        from gemmviz.gui.kernel_picker import KernelChooser

        KernelChooser(self.model, files, self).open()

    def _begin_lecture(self, with_notes: bool) -> None:
        """Begin at the step of the lesson that is open, or else at the first saved view, if there are any."""
        if self.model.active_lesson is self.model.saved_views:
            self.model.saved_views.go(0)
        self.lecture.begin(with_notes)

    # Content

    def start(self, path: Path | None = None, shot: Shot | None = None, lesson: str = "") -> None:
        """Show the first picture: a file, a shot, a shipped lesson, or the last session. Only the very first start plays
        automatically; it stands beside the lessons, as does a session that ended there.
        """
        last, is_first = self._last_shot(), not self.preferences.text("shot")
        if path is None and not lesson:
            if shot is None and (is_first or self.preferences.text("page") == _START):
                self.start_mode.begin()
            self.model.opening.start(shot or last, plays=is_first)
            return
        self.session.apply(Resume(last or self.session.shot))
        if path is None:
            self.model.opening.open_lesson(lesson, last)
        else:
            self.model.opening.open(path, last)

    def _last_shot(self) -> Shot | None:
        """Return the shot of the last session, with a notice if it can't be shown any more."""
        try:
            return self.preferences.last_shot()
        except GemmvizError as error:
            sentence = tr("The last session can't be restored: {message}", message=error.message)
            self.session.notices.complain("file", GemmvizError(sentence, error.place, file=error.file, remedy=error.remedy))
            return None

    def _wear_theme(self) -> None:
        theme, before = self.session.display.theme, self._theme
        worn = theme, letters_on(self.screen(), self.session.shot.type_scale)
        if before is None or before[0] is not theme or before[1] != worn[1]:
            self._theme = worn
            apply_theme(self._app, *worn)
            self.model.theme_changed.emit()
            if before is not None and before[1] != worn[1]:
                QTimer.singleShot(0, self.docks.fit)  # panels are as wide as their text needs

    def _on_shot_changed(self) -> None:
        self._wear_theme()  # a lecture wears it as well
        self.start_mode.follow_shot()
        self._show_page()
        self._show_title()

    @unless_covered
    def _show_page(self) -> None:
        page = _BENCHMARK if self.session.display.is_benchmark else _REPLAY
        if page != self.pages.currentIndex():
            self._turn_to(page)

    def _turn_to(self, page: int) -> None:
        """Show a page. The benchmark page hides the docks, except the lesson that is open."""
        if page == _BENCHMARK:
            self._was_alone = self.docks.are_hidden
        self.pages.setMinimumWidth(_LEAST_STAGE if page == _REPLAY else 0)  # the hidden page must not narrow the docks
        if page == _REPLAY:
            self.pages.setCurrentIndex(page)  # before the docks: a hidden page needs no space
        for bar in self.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            bar.setFocusPolicy(Qt.FocusPolicy.TabFocus if page == _REPLAY else Qt.FocusPolicy.NoFocus)  # Qt leaves empty ones
        self.docks.hide(page == _BENCHMARK or self._was_alone, _LESSONS if self.model.course.is_on else "")
        self.pages.setCurrentWidget(self.replay if page == _REPLAY else self.benchmark)
        self.tabs.setCurrentIndex(page)
        if self.model.course.is_on:
            self.docks.all[_LESSONS].raise_()

    def _on_lesson(self) -> None:
        """Bring the Lessons panel to the front when another lesson begins."""
        title = self.model.course.lesson.title if self.model.course.lesson.steps else ""
        if title and title != self._lesson:
            self.docks.favour(_LESSONS)
        self._lesson = title
        is_away = self.model.course.position.is_away
        if is_away and not self._was_away:
            self._on_explore()
        self._was_away = is_away

    def _on_tab(self, page: int) -> None:
        if (page == _BENCHMARK) != self.session.display.is_benchmark:
            self.model.commands.toggle_benchmark()

    def _on_tab_clicked(self, page: int) -> None:
        """Go back to the stage if the replay's page is shown already."""
        if page == _REPLAY and page == self.tabs.currentIndex():
            self.model.commands.show_view("stage")

    def _show_title(self) -> None:
        self.setWindowTitle(title_of(self.session.shot, self.session.display.name))

    def _on_player(self) -> None:
        moves = self.session.player.is_moving
        if moves != self._clock.isActive():
            self._elapsed.start()
            self._clock.start() if moves else self._clock.stop()

    def _on_system_theme(self) -> None:
        self.session.system_is_dark = system_is_dark(self._app)
        self._on_shot_changed()

    # Dropped files

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasText() or any(_opens(Path(url.toLocalFile())) for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        chosen = next((path for url in event.mimeData().urls() if _opens(path := Path(url.toLocalFile()))), None)
        if chosen is not None:
            event.acceptProposedAction()
            self.model.opening.open(chosen)
        elif event.mimeData().hasText() and not event.mimeData().hasUrls():
            event.acceptProposedAction()
            self.model.opening.paste(event.mimeData().text())

    # Start and end

    def offer_tour(self) -> None:
        """Start the tour, or at the start of the window once the user goes on to explore."""
        if self.start_mode.is_on:
            self._tours_later = True
        else:
            self.start_tour()

    def _on_explore(self) -> None:
        """Show what can be changed: with the tour if it is due, else by marking it for a moment."""
        if self._tours_later:
            self._tours_later = False
            self.start_tour()
        else:
            QTimer.singleShot(_LAYOUT_MS, self._mark_control)

    def _mark_control(self) -> None:
        slider = self.replay.tiles.slider
        widget, what = (
            (slider, tr(DRAG))
            if slider.isVisible()
            else (self.panels_button, tr("The settings are here: change anything, and the picture follows."))
        )
        self._ring.mark(widget, MESSAGE_MS)
        QToolTip.showText(widget.mapToGlobal(QPoint(0, -2 * widget.height())), tip_text(what), widget, QRect(), MESSAGE_MS)

    def _hide_docks(self, on: bool) -> None:
        self.start_mode.leave()
        self.docks.hide(on)

    def start_tour(self) -> None:
        """Start the tour: captions beside the parts of the window, which shows a replay for it unless a lesson is open."""
        self.start_mode.leave()
        display = self.session.display
        if not self.model.course.is_on and not (display.is_replay and display.has_time):
            self.start_mode.show_first()
        QTimer.singleShot(_LAYOUT_MS, self._tour)

    def _tour(self) -> None:
        from gemmviz.gui.window.tour import Tour, tour_stops

        if self.session.is_working:
            QTimer.singleShot(_LAYOUT_MS, self._tour)
        elif self.tour is None:
            replay, source = self.replay, self.docks.all["source"]
            stops = tour_stops(replay.stage, replay.timeline, replay.tiles, source, self.panels_button)
            self.tour = Tour(self, stops, self.session.display.theme)
            self.tour.finished.connect(self._on_toured)

    def _on_toured(self) -> None:
        self.tour = None
        self.preferences.put("tour", "seen")
        self.model.released.emit()

    def _restore(self) -> None:
        """Restore the window, its panels and the preferences."""
        self.restoreGeometry(self.preferences.data("geometry"))
        self.docks.restore(self.preferences.data("layout"))
        self.docks.last_open = self.preferences.last_open
        self.session.player.set_speed(self.preferences.number("speed", self.session.player.speed))
        self.session.player.set_calm(self.preferences.text("motion") == "calm")
        self.session.engines.requested = "cpu" if self.preferences.text("runner") == "cpu" else "gpu"
        self._on_shot_changed()

    def _on_painted(self) -> None:
        """Load everything else after the first picture."""
        if self.session.display.subject is not None:
            self.warming.start()

    def _name_broken_extensions(self, broken: list[GemmvizError]) -> None:
        """Show a notice with the first ignored extension and the number of others."""
        if broken:
            more = (
                tr("; {other_files} ignored as well", other_files=many(len(broken) - 1, "other file"))
                if len(broken) > 1
                else ""
            )
            first = broken[0]
            self.session.notices.complain("extension", GemmvizError(first.message + more, file=first.file, remedy=first.remedy))

    def childEvent(self, event: QChildEvent) -> None:
        """Name the tab bars that Qt makes for docks in one place, and let the arrows move over their tabs."""
        super().childEvent(event)
        bar = event.child()
        if event.polished() and isinstance(bar, QTabBar):
            bar.setAccessibleName(tr("Panels"))
            keep_keys(bar, {Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End})

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the focus to the next widget that can be seen. PySide's ``nextInFocusChain`` is of no use here: it makes the
        neighbour belong to the widget, and invalid with it.
        """
        passed: list[QWidget | None] = []
        while super().focusNextPrevChild(forward):
            widget = QApplication.focusWidget()
            if widget is None or widget in passed:
                break
            if not _is_behind_tab(widget):
                self._ring.surround(widget)
                return True
            passed.append(widget)
        return False

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.preferences.data("layout").isEmpty():
            QTimer.singleShot(0, self.docks.fit)
        self.warming.start(_LOADING_MS)  # whether or not there is a picture

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        before = event.oldSize()
        if before.isValid() and (event.size().width() < _NARROW or before.width() < _NARROW):
            QTimer.singleShot(0, self.docks.fit)  # after the layout has the new size
        if self.tour is not None:
            self.tour.place()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.warming.stop()
        self.session.player.play(False)
        self.preferences.put("page", _START if self.start_mode.is_on else "")
        self.docks.hide(False)  # temporarily hidden docks are not saved as hidden
        self.preferences.put("geometry", self.saveGeometry())
        for key, value in (
            ("layout", self.docks.layout_state()), ("panels", self.docks.last_open), ("speed", self.session.player.speed),
        ):  # fmt: skip
            self.preferences.put(key, value)
        self.preferences.keep_shot(self.session.shot)
        if self._lecture is not None:
            self._lecture.end()
        cover(self, True)  # nothing is drawn any more
        self.hide()
        self.has_ended = self.model.end()
        super().closeEvent(event)


def _opens(path: Path) -> bool:
    """Return whether a dropped path is a file or a folder that can be opened."""
    return is_known(path) or is_folder(path)


def _is_behind_tab(widget: QWidget) -> bool:
    """Return whether a widget lies in a dock that is a tab behind another one, where Qt leaves it "visible"."""
    dock: QWidget | None = widget
    while dock is not None and not isinstance(dock, QDockWidget):
        dock = dock.parentWidget()
    return dock is not None and dock.visibleRegion().isEmpty()
