"""The answer to a click on a matrix, a tile or a block, worked out in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psygnal import Signal

from gemmviz.jobs.events import Post
from gemmviz.jobs.tasks import LatestTask
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.session.session import Session
from gemmviz.subjects.runs import KnownRun

if TYPE_CHECKING:
    from gemmviz.subjects.answers import AskedArray

    Answered = tuple[AskedArray, KnownRun, tuple[str, ...]]


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
        session.slot.analysis_changed.connect(self._work)  # the launch may be counted now

    def ask(self, hit: Hit) -> None:
        """Answer a click on a cell; clear the answer if there is nothing to say about it."""
        from gemmviz.subjects.answers import question_at

        now = self.session.now
        self._question = None if now is None or not self.session.display.kind.is_of_run else question_at(now, hit)
        self._work()

    def ask_about_block(self) -> None:
        """Answer what the watched block moves of the result and the inputs."""
        from gemmviz.subjects.answers import AskedArray

        now = self.session.now
        result = None if now is None else now.trace.result
        self._question = None if now is None or result is None else AskedArray(result, now.scope.focus.block)
        self._work()

    def clear(self) -> None:
        """Forget what was asked."""
        self._question = None
        self.worker.cancel()
        self._say(())

    def close(self) -> None:
        self.worker.close()

    def _on_shot(self) -> None:
        if self.session.shot.view != self._view:
            self._view = self.session.shot.view
            self.clear()

    def _work(self) -> None:
        from gemmviz.subjects.answers import answer_to

        question, run = self._question, self.session.shown
        if question is None or self.session.display.counted < 1.0:  # the answer to an open question is not given away
            self.clear()
        elif run is not None:
            self.worker.start(lambda cancelled: (question, run, answer_to(question, run.trace, run.counts, run.no_counts)))

    def _on_answered(self, result: Answered) -> None:
        question, run, sentences = result
        shown = self.session.shown
        if question == self._question and shown is not None and shown.trace is run.trace:
            self._say(sentences)

    def _say(self, sentences: tuple[str, ...]) -> None:
        if sentences != self.sentences:
            self.sentences = sentences
            self.changed.emit()
