"""The state that all parts of one window share, without the window: a session, its commands, lessons and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psygnal import Signal

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.messages import asking, told
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.session.commands import CellCursor, Commands
from gemmviz.session.lessons import LessonEditor, LessonPlayer
from gemmviz.session.opening import Opening
from gemmviz.session.session import Session
from gemmviz.shots.jobs import LatestTask, Post, SaveQueue
from gemmviz.shots.runs import KnownRun

if TYPE_CHECKING:
    from gemmviz.analysis.replay.private import ElementHistory

if TYPE_CHECKING:
    from gemmviz.shots.answers import AskedArray

    Answered = tuple[AskedArray, KnownRun, tuple[str, ...]]


# The answer to a click on a matrix, a tile or a block, worked out in the background.


class Answering:
    """Emits ``changed`` when the sentences of the answer change. ``sentences`` is empty while nothing is asked."""

    changed = Signal()

    def __init__(self, session: Session, post: Post) -> None:
        self.session = session
        self.sentences: tuple[str, ...] = ()
        self._question: AskedArray | None = None
        self.worker: LatestTask[Answered] = LatestTask(post, self._on_answered, lambda error: self.clear())
        self._view = ""
        session.run_changed.connect(self.clear)
        session.shot_changed.connect(self._on_shot)
        session.completion.analysis_changed.connect(self._work)  # the launch may be counted now

    def ask(self, hit: Hit) -> None:
        """Answer a click on a cell; clear the answer if there is nothing to say about it."""
        from gemmviz.shots.answers import question_at

        now = self.session.now
        self._question = None if now is None or not self.session.display.kind.is_of_run else question_at(now, hit)
        self._work()

    def ask_about_block(self) -> None:
        """Answer what the watched block moves of the result and the inputs."""
        from gemmviz.shots.answers import AskedArray

        now = self.session.now
        result = None if now is None else now.trace.result
        self._question = None if now is None or result is None else AskedArray(result, now.scope.focus.block)
        self._work()

    def clear(self) -> None:
        """Forget what was asked."""
        self._question = None
        self.worker.cancel()
        self._say(())

    def _on_shot(self) -> None:
        if self.session.shot.view != self._view:
            self._view = self.session.shot.view
            self.clear()

    def _work(self) -> None:
        from gemmviz.shots.answers import answer_to

        question, run = self._question, self.session.shown
        if question is None or self.session.display.counted < 1.0:  # the answer to an open question is not given away
            self.clear()
        elif run is not None:
            self.worker.start(lambda: (question, run, answer_to(question, run.trace, run.counts, run.no_counts)))

    def _on_answered(self, result: Answered) -> None:
        question, run, sentences = result
        shown = self.session.shown
        if question == self._question and shown is not None and shown.trace is run.trace:
            self._say(sentences)

    def _say(self, sentences: tuple[str, ...]) -> None:
        if sentences != self.sentences:
            self.sentences = sentences
            self.changed.emit()


# Description of the cell under the pointer; its history is looked up in the background.


class PointerTool:
    """Emits ``lines_changed`` with the lines about the cell under the pointer, empty for none."""

    lines_changed = Signal(object)

    def __init__(self, session: Session, post: Post) -> None:
        self.session = session
        self.worker: LatestTask[tuple[Moment, Hit, ElementHistory]] = LatestTask(post, self._on_history, lambda error: None)

    def at(self, hit: Hit | None) -> None:
        """Set the cell under the pointer; None for none."""
        from gemmviz.analysis.replay.private import element_history
        from gemmviz.scenes.stage.hover import pointed_at

        if hit is not None and hit.cells.tips is not None:
            self.worker.cancel()
            self.lines_changed.emit([line for line in str(hit.cells.tips[hit.row, hit.column]).split("\n") if line])
            return
        now = self.session.now
        target = None if hit is None or now is None else pointed_at(now.trace, hit)
        if hit is None or now is None or target is None:
            self.worker.cancel()
            self.lines_changed.emit([])
        elif hit.cells.factor > 1:
            self.worker.cancel()
            self._say(now, hit)
        else:
            number, element = target
            self.worker.start(lambda: (now, hit, element_history(now, number, element)))

    def _say(self, moment: Moment, hit: Hit, history: ElementHistory | None = None) -> None:
        """Emit the lines about a cell, with their counts hidden while a question is open."""
        from gemmviz.scenes.stage.hover import hover_lines

        share = self.session.display.counted
        with asking(share < 1.0):
            lines = hover_lines(moment, hit, history, self.session.shot.labels)
        self.lines_changed.emit([told(each, share) for each in lines])

    def _on_history(self, result: tuple[Moment, Hit, ElementHistory]) -> None:
        moment, hit, history = result
        if self.session.now is moment:
            self._say(moment, hit, history)


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
        for worker in self.workers:
            worker.close()
        self.opening.close()
        self.session.close()
