"""The lesson that a student takes: current step, steps seen, answers and attempts."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from psygnal import Signal

from gemmviz.jobs.events import Post
from gemmviz.jobs.tasks import LatestTask
from gemmviz.scenes.kit.band import Caption
from gemmviz.session.lesson_editor import LessonEditor
from gemmviz.session.ready_steps import ReadyStep
from gemmviz.session.session import Session
from gemmviz.state.requested_sizes import RequestedSizes
from gemmviz.subjects.catalog import subject_of_view
from gemmviz.teaching.exercises import Verdict, judged
from gemmviz.teaching.lesson import Lesson, LessonStep


class LessonPlayer(LessonEditor):
    """A lesson being taken. ``seen``: steps that were shown, of all lessons; ``picked``: index of the chosen answer, or None;
    ``verdict``: result of the last attempt at the exercise, ``judged`` is emitted when it changes; ``is_away``: the student
    left the step to explore and can return to it.
    """

    judged = Signal()

    def __init__(self, session: Session, post: Post, seen: Iterable[str] = ()) -> None:
        super().__init__(session, post)
        self.seen = set(seen)
        self.picked: int | None = None
        self.verdict: Verdict | None = None
        self.is_away = False
        self.judging: LatestTask[Verdict] = LatestTask(post, self._on_judged, lambda error: self._on_judged(Verdict((), error)))

    @property
    def workers(self) -> tuple[LatestTask[Any], ...]:
        return (*super().workers, self.judging)

    @property
    def is_on(self) -> bool:
        """Whether a lesson is open and the student is not exploring."""
        return bool(self.lesson.stops) and not self.is_away

    @property
    def is_last(self) -> bool:
        """Whether the current part is the last of the lesson."""
        stop = self.now
        return stop is not None and self.next is None and self.part + 1 >= self.parts

    @property
    def words(self) -> Caption:
        """Caption of the current part, even during playback or exploration."""
        stop = self.now
        if stop is None:
            return Caption(self.lesson.title if self.lesson.stops else "", self.lesson.about)
        parts = self._parts_of(stop)
        return parts[min(self.part, len(parts) - 1)].caption

    @property
    def blanks(self) -> int:
        """Number of blanks in the kernel of the current step."""
        return 0 if self.now is None else self.now.shot.setup.kernel.blanks

    def advance(self) -> None:
        """Move on for self-study: skips parts that give away answers or fill in blanks."""
        stop = self.now
        is_open = stop is not None and (stop.exercise is not None or (stop.question is not None and self.picked is None))
        if is_open and self.at is not None:
            self.go(self.at + 1)
        else:
            self.walk(1)

    def is_seen(self, stop: LessonStep) -> bool:
        return self._name(stop) in self.seen

    def begin(self, lesson: Lesson) -> None:
        """Start a lesson at its first step that has not been seen."""
        self.is_away = False
        self._become(lesson, None)
        places = [place for place, stop in enumerate(lesson.stops) if not self.is_seen(stop)]
        self.go(places[0] if places else 0)

    def end(self) -> None:
        """Close the lesson; the picture stays."""
        self.is_away = False
        self._become(Lesson(), None)

    def leave(self) -> None:
        """Start exploring from the current picture."""
        self.is_away = True
        self.changed.emit()

    def toggle_explore(self) -> None:
        """Start exploring, or return to the lesson."""
        if self.is_away:
            self.come_back()
        else:
            self.leave()

    def come_back(self) -> None:
        """Return to the step where exploring began."""
        self.is_away = False
        if self.at is not None:
            self.go(self.at)

    def _arrive(self, place: int, part: int, ready: ReadyStep) -> None:
        self.picked, self.verdict, self.is_away = None, None, False
        self.judging.cancel()
        self.seen.add(self._name(ready.stop))
        super()._arrive(place, part, ready)

    def find(self) -> None:
        """Keep the current step, whatever is displayed."""

    def pick(self, place: int) -> None:
        """Choose an answer and show why it is right or wrong."""
        stop = self.now
        if stop is None or stop.question is None:
            return
        parts = self._parts_of(stop)
        self.picked = place
        self.part = next(number for number, part in enumerate(parts) if part.caption.picked == place)
        self._show(stop)

    def attempt(self, answers: tuple[str, ...] = ()) -> None:
        """Run the kernel with the student's answers in its blanks, or the present shot, and judge the result."""
        stop = self.now
        if stop is None or stop.exercise is None:
            return
        shot, exercise = self.session.shot, stop.exercise
        if self.blanks:
            kernel = stop.shot.setup.kernel.filled(answers)
            setup = replace(stop.shot.setup, kernel=kernel)
            view = stop.shot.view if subject_of_view(stop.shot.view).needs_run else "stage"
            shot = replace(stop.shot, setup=setup, view=view, theme=shot.theme, type_scale=shot.type_scale)
            self.session.show(shot, RequestedSizes.of(setup))
        self.verdict = None
        empty = tuple(place for place, answer in enumerate(answers, 1) if not answer.strip())
        engine = self.session.engines.cpu
        self.judging.start(lambda cancelled: judged(exercise, shot, engine, empty))

    def _on_judged(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.judged.emit()

    def _name(self, stop: LessonStep) -> str:
        """Name that identifies a step in all lessons that include it."""
        return stop.id if "/" in stop.id else f"{self.lesson.name}/{stop.id or stop.title}"
