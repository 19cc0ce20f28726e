"""The model behind one window: the session and its commands, lessons, opening and saving of files."""

from typing import Any

from psygnal import Signal

from gemmviz.jobs.events import Post
from gemmviz.jobs.saving import SaveQueue
from gemmviz.jobs.tasks import LatestTask
from gemmviz.session.commands import Commands
from gemmviz.session.lesson_editor import LessonEditor
from gemmviz.session.lesson_player import LessonPlayer
from gemmviz.session.opening import Opening
from gemmviz.session.pointer import PointerTool
from gemmviz.session.session import Session


class AppModel:
    """Signals: ``theme_changed`` when the colours change; ``released`` when a control gives the keyboard focus back to the
    stage. ``seen``: names of the lesson steps that were shown in earlier sessions.
    """

    theme_changed = Signal()
    released = Signal()

    def __init__(self, post: Post, seen: tuple[str, ...] = ()) -> None:
        self.session = Session(post)
        self.commands = Commands(self.session)
        self.bookmarks = LessonEditor(self.session, post)
        self.course = LessonPlayer(self.session, post, seen)
        self.opening = Opening(self.session, post, self.bookmarks, self.course)
        self.pointer, self.saving = PointerTool(self.session, post), SaveQueue(post)

    @property
    def walked(self) -> LessonEditor:
        """The lesson that Page Down steps through: the open lesson, otherwise the saved views."""
        return self.course if self.course.is_on else self.bookmarks

    @property
    def workers(self) -> tuple[LatestTask[Any], ...]:
        """All background tasks."""
        own = self.opening.worker, self.pointer.worker
        return (*self.session.workers, *own, *self.bookmarks.workers, *self.course.workers)

    def close(self) -> None:
        """Cancel all work and accept no more. Pending saves are completed."""
        for each in (self.opening, self.pointer, self.bookmarks, self.course, self.session):
            each.close()
