"""The state that all parts of one window share."""

from pathlib import Path
from typing import Any

from psygnal import Signal

from gemmviz.gui.plotting import Plotting
from gemmviz.gui.preferences import Preferences
from gemmviz.jobs.events import Post
from gemmviz.jobs.saving import Saving
from gemmviz.jobs.tasks import LatestTask, have_ended
from gemmviz.scenes.kit.theme import Theme
from gemmviz.session.lesson_editor import LessonEditor
from gemmviz.session.lesson_player import LessonPlayer
from gemmviz.session.opening import Opening
from gemmviz.session.pointer import PointerTool
from gemmviz.session.session import Session

_LONGEST_WORK_S, _LONGEST_SAVE_S = 0.3, 60.0


class AppModel:
    """The session of a window with its lessons, files and preferences.

    Signals: ``theme_changed`` after the colours have changed; ``released`` when a control gives the keyboard focus back to the
    stage.
    """

    theme_changed = Signal()
    released = Signal()

    def __init__(self, post: Post, preferences: Preferences) -> None:
        self.preferences = preferences
        self.session = Session(post)
        self.bookmarks = LessonEditor(self.session, post)
        self.bookmarks.restore(preferences.last_lesson())
        self.course = LessonPlayer(self.session, post, preferences.seen)
        self.opening = Opening(self.session, post, self.bookmarks, self.course)
        self.pointer, self.saving = PointerTool(self.session, post), Saving(post)
        self.plotting = Plotting(self.session, post)
        self.opening.opened.connect(self._on_opened)
        trust = self.session.runners.trust
        trust.known = preferences.trusted
        trust.changed.connect(lambda: preferences.put("trusted", list(trust.known)))

    @property
    def active_lesson(self) -> LessonEditor:
        """The lesson that Page Up and Page Down move through: the open lesson, else the saved views."""
        return self.course if self.course.is_on else self.bookmarks

    @property
    def theme(self) -> Theme:
        return self.session.theme

    def close(self) -> bool:
        """End all work and return whether it ended in time. Files that are being written are completed first."""
        self.preferences.keep_lesson(self.bookmarks.lesson)
        self.preferences.put("seen", sorted(self.course.seen))
        self.plotting.lane.close()
        for each in (self.opening, self.pointer, self.bookmarks, self.course, self.session):
            each.close()
        tasks: tuple[LatestTask[Any], ...] = (
            self.opening.lane, self.pointer.lane, self.plotting.lane, *self.bookmarks.lanes, *self.course.lanes,
        )  # fmt: skip
        has_ended = have_ended((*self.session.lanes, *tasks), _LONGEST_WORK_S)
        return self.saving.close(_LONGEST_SAVE_S) and has_ended

    def _on_opened(self, path: Path) -> None:
        self.preferences.add_recent(path)
