"""The state that all parts of one window share, without the window: a session, its commands, lessons and files."""

from typing import Any

from psygnal import Signal

from gemmviz.jobs.events import Post
from gemmviz.jobs.saving import SaveQueue
from gemmviz.jobs.tasks import LatestTask
from gemmviz.session.answering import Answering
from gemmviz.session.cell_cursor import CellCursor
from gemmviz.session.commands import Commands
from gemmviz.session.lesson_editor import LessonEditor
from gemmviz.session.lesson_player import LessonPlayer
from gemmviz.session.opening import Opening
from gemmviz.session.pointer import PointerTool
from gemmviz.session.session import Session


class AppModel:
    """The session of a window with its commands, lessons and files. ``seen``: the steps of lessons that were shown before.

    Signals: ``theme_changed`` after the colours have changed; ``released`` when a control gives the keyboard focus back to the
    stage.
    """

    theme_changed = Signal()
    released = Signal()

    def __init__(self, post: Post, seen: tuple[str, ...] = ()) -> None:
        self.session = Session(post)
        self.commands = Commands(self.session)
        self.saved_views = LessonEditor(self.session, post)
        self.course = LessonPlayer(self.session, post, seen)
        self.opening = Opening(self.session, post, self.saved_views, self.course)
        self.pointer, self.saving = PointerTool(self.session, post), SaveQueue(post)
        self.answers, self.cursor = Answering(self.session, post), CellCursor(self.session, self.commands)

    @property
    def active_lesson(self) -> LessonEditor:
        """The lesson that Page Up and Page Down move through: the open lesson, else the saved views."""
        return self.course if self.course.is_on else self.saved_views

    @property
    def workers(self) -> tuple[LatestTask[Any], ...]:
        """All background tasks."""
        own = self.opening.worker, self.pointer.worker, self.answers.worker
        return (*self.session.workers, *own, *self.saved_views.workers, *self.course.workers)

    def close(self) -> None:
        """Cancel all work and accept no more. Pending saves are completed."""
        for each in (self.opening, self.pointer, self.answers, self.saved_views, self.course, self.session):
            each.close()
