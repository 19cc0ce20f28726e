"""The state that all parts of one window share: that of the application, its preferences and the library of plots."""

from pathlib import Path

from gemmviz.gui.plotting import Plotting
from gemmviz.gui.preferences import Preferences
from gemmviz.gui.thumbnails import Thumbnails
from gemmviz.jobs.events import Post
from gemmviz.jobs.tasks import wait_for_tasks
from gemmviz.scenes.kit.theme import Theme
from gemmviz.session.app_model import AppModel
from gemmviz.state.shot import SYSTEM_THEME

_LONGEST_WORK_S, _LONGEST_SAVE_S = 0.3, 60.0


class WindowModel(AppModel):
    """An AppModel that is restored from preferences and kept there."""

    def __init__(self, post: Post, preferences: Preferences) -> None:
        super().__init__(post, preferences.seen)
        self.preferences = preferences
        self.plotting, self.thumbnails = Plotting(self.session, post), Thumbnails(post)
        self.saved_views.restore(preferences.last_lesson())
        self.opening.opened.connect(self._on_opened)
        trust = self.session.engines.trust
        trust.hashes = preferences.trusted
        trust.changed.connect(lambda: preferences.put("trusted", list(trust.hashes)))

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
        for worker in (self.plotting.worker, self.thumbnails.worker):
            worker.close()
        self.close()
        has_ended = wait_for_tasks((*self.workers, self.plotting.worker, self.thumbnails.worker), _LONGEST_WORK_S)
        return self.saving.close(_LONGEST_SAVE_S) and has_ended

    def _on_opened(self, path: Path) -> None:
        self.preferences.add_recent(path)
