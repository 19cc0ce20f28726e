"""What everything in one window shares, without the window: a session, its commands, and what opens, saves and teaches."""

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
    """``theme_changed`` for other colours; ``released`` when a control is done and the keys are the stage's again. ``seen``:
    the steps of lessons that were shown before.
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
        """What Page Down goes through: the lesson that is gone through, else the views that were kept."""
        return self.course if self.course.is_on else self.bookmarks

    @property
    def workers(self) -> tuple[LatestTask[Any], ...]:
        """All background work."""
        own = self.opening.worker, self.pointer.worker
        return (*self.session.workers, *own, *self.bookmarks.workers, *self.course.workers)

    def close(self) -> None:
        """Cancels all work, for good; what is being saved is not stopped."""
        for each in (self.opening, self.pointer, self.bookmarks, self.course, self.session):
            each.close()
