"""The state that all parts of one window share: that of the application, its preferences and the library of plots."""

from pathlib import Path
from types import ModuleType

from psygnal import Signal

from gemmviz.gui.preferences import Preferences
from gemmviz.gui.small_pictures import StepPictures, Thumbnails, ViewPictures
from gemmviz.scenes.kit.theme import Theme
from gemmviz.session.app_model import AppModel
from gemmviz.session.session import Session
from gemmviz.shots.jobs import LatestTask, Post, wait_for_tasks
from gemmviz.shots.shot import SYSTEM_THEME

# Loading of the plotting library in the background: it takes longer than a frame.


class Plotting:
    """The state of the plotting library. ``loaded`` is emitted once plots can be created; ``is_loaded``: whether they can."""

    loaded = Signal()

    def __init__(self, session: Session, post: Post) -> None:
        self.is_loaded = False
        self.worker: LatestTask[ModuleType] = LatestTask(
            post, self._on_loaded, lambda error: session.notices.complain("benchmark", error)
        )

    def load(self) -> None:
        """Start loading on the first request, so that windows without plots need not wait."""
        if not self.is_loaded and not self.worker.is_busy:
            self.worker.start(_load_charts)

    def _on_loaded(self, library: ModuleType) -> None:
        self.is_loaded = True
        self.loaded.emit()


def _load_charts() -> ModuleType:
    import pyqtgraph

    return pyqtgraph  # type: ignore[no-any-return]


_LONGEST_WORK_S, _LONGEST_SAVE_S = 0.3, 60.0


class WindowModel(AppModel):
    """An AppModel that is restored from preferences and kept there. ``shows_source``: whether the source is open beside the
    stage, which then doesn't repeat the statement.
    """

    source_shown = Signal()

    def __init__(self, post: Post, preferences: Preferences) -> None:
        super().__init__(post, preferences.seen)
        self.preferences, self.shows_source = preferences, False
        self.plotting, self.thumbnails = Plotting(self.session, post), Thumbnails(post)
        self.view_pictures = ViewPictures(self.session, post)
        self.step_pictures = StepPictures(post)
        self.saved_views.take_lesson(preferences.last_lesson())
        self.opening.opened.connect(self._on_opened)
        trust = self.session.engines.trust
        trust.hashes = preferences.trusted
        trust.changed.connect(lambda: preferences.put("trusted", list(trust.hashes)))

    def show_source(self, on: bool) -> None:
        """Note whether the source is open."""
        if on != self.shows_source:
            self.shows_source = on
            self.source_shown.emit()

    @property
    def theme(self) -> Theme:
        return self.session.display.theme

    @property
    def theme_name(self) -> str:
        """The name of the theme in use."""
        name = self.session.shot.theme
        return name if name != SYSTEM_THEME else "dark" if self.session.system_is_dark else "light"

    def end(self) -> bool:
        """End all work and return whether it ended in time. Files that are being written are completed first."""
        self.preferences.keep_lesson(self.saved_views.lesson)
        self.preferences.put("seen", sorted(self.course.seen))
        self.view_pictures.stop()
        own = self.plotting.worker, self.thumbnails.worker, self.view_pictures.worker, self.step_pictures.worker
        for worker in own:
            worker.close()
        self.close()
        has_ended = wait_for_tasks((*self.workers, *own), _LONGEST_WORK_S)
        return self.saving.close(_LONGEST_SAVE_S) and has_ended

    def _on_opened(self, path: Path) -> None:
        self.preferences.add_recent(path)
