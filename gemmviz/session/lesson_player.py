"""The lesson that a student takes: current step, steps seen, answers and attempts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from psygnal import Signal

from gemmviz.model.errors import GemmvizError
from gemmviz.model.records import replace
from gemmviz.model.translation import tr
from gemmviz.model.words import letter
from gemmviz.scenes.kit.band import Caption
from gemmviz.session.lesson_editor import LessonEditor
from gemmviz.session.ready_steps import ReadyStep
from gemmviz.session.session import Session
from gemmviz.session.state import LessonPosition, SetCounting, TurnTo
from gemmviz.shots.catalog import subject_of_view
from gemmviz.shots.jobs import LatestTask, Post
from gemmviz.shots.requested_sizes import RequestedSizes
from gemmviz.teaching.lesson import Lesson, LessonStep
from gemmviz.teaching.reveal import Reveal, answer_of

if TYPE_CHECKING:
    from gemmviz.teaching.exercises import Verdict

_TRIES = 2  # wrong answers before the right one is shown


class LessonPlayer(LessonEditor):
    """A lesson being taken. ``seen``: steps that were shown, of all lessons; ``judged`` is emitted when the verdict on the last
    attempt at the exercise changes.
    """

    judged = Signal()
    name = "course"

    def __init__(self, session: Session, post: Post, seen: Iterable[str] = ()) -> None:
        super().__init__(session, post)
        self.seen = set(seen)
        self.judging: LatestTask[Verdict] = LatestTask(post, self._on_judged, self._on_failed_judging)
        session.player.changed.connect(self._end_rise)
        session.run_changed.connect(self._rise)

    @property
    def workers(self) -> tuple[LatestTask[Any], ...]:
        return (*super().workers, self.judging)

    @property
    def is_on(self) -> bool:
        """Whether a lesson is open and the student is not exploring."""
        return self.position.is_on

    @property
    def is_away(self) -> bool:
        """Whether the student left the step to explore and can return to it."""
        return self.position.is_away

    @property
    def tried(self) -> tuple[int, ...]:
        """Indices of the wrong answers that were chosen before the question was answered."""
        return self.position.tried

    @property
    def verdict(self) -> Verdict | None:
        """Result of the last attempt at the exercise."""
        return self.position.verdict

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
        return self._part_at(self.position).caption

    @property
    def blanks(self) -> int:
        """Number of blanks in the kernel of the current step."""
        return 0 if self.now is None else self.now.shot.setup.kernel.blanks

    def advance(self) -> None:
        """Move on for self-study: skips parts that give away answers or fill in blanks."""
        stop = self.now
        if stop is not None and (stop.exercise or stop.question) and self.at is not None:
            self.go(self.at + 1)
        else:
            self.walk(1)

    def is_seen(self, stop: LessonStep) -> bool:
        return self.lesson.name_of(stop) in self.seen

    def begin(self, lesson: Lesson) -> None:
        """Start a lesson at its first step that has not been seen."""
        self._become(lesson, None)
        places = [place for place, stop in enumerate(lesson.stops) if not self.is_seen(stop)]
        self.go(places[0] if places else 0)

    def end(self) -> None:
        """Close the lesson; the picture stays, and its counts are shown again."""
        self._become(Lesson(), None, redraws=True)

    def leave(self) -> None:
        """Start exploring from the current picture, with all counts."""
        self._turn(redraws=True, is_away=True)

    def toggle_explore(self) -> None:
        """Start exploring, or return to the lesson."""
        if self.is_away:
            self.come_back()
        else:
            self.leave()

    def come_back(self) -> None:
        """Return to the step where exploring began."""
        self._set(is_away=False)
        if self.at is not None:
            self.go(self.at)

    def _arrive(self, place: int, part: int, ready: ReadyStep) -> None:
        self.judging.cancel()
        self.seen.add(self.lesson.name_of(ready.stop))
        super()._arrive(place, part, ready)

    def find(self) -> None:
        """Keep the current step, whatever is displayed."""

    @property
    def is_asking(self) -> bool:
        """Whether a question is open: its picture hides what answers it."""
        return self.position.is_asking

    @property
    def feedback(self) -> str:
        """What the student is told about the chosen answers; "" before the first."""
        stop = self.filled
        if stop is None or stop.question is None:
            return ""
        if not self.is_asking:
            choice = stop.question.choices[stop.question.right]
            is_late = len(self.tried) >= _TRIES and self.position.looked is None
            return (
                tr("{letter} was right: {why}", letter=letter(stop.question.right), why=choice.why)
                if is_late
                else self.words.caption
            )
        hints = [
            tr("{letter} is wrong: {why} Try again.", letter=letter(place), why=stop.question.choices[place].why)
            for place in self.tried[-1:]
        ]
        return "".join(hints)

    def pick(self, place: int) -> None:
        """Choose an answer. A wrong one gives a hint and one more try; after that the right one is shown. Once the question is
        answered, show why a choice is right or wrong.
        """
        stop = self.now
        if stop is None or stop.question is None:
            return
        position, is_right = self.position, place == stop.question.right
        if not self.is_asking:
            self._show(replace(position, looked=None if is_right else place, part=1 if is_right else 2))
            return
        tried = position.tried if is_right or place in position.tried else (*position.tried, place)
        if is_right or len(tried) >= _TRIES:
            self._show(replace(position, tried=tried, part=1))
        else:
            self._turn(tried=tried)

    def _parts_at(self, position: LessonPosition) -> Sequence[Reveal]:
        parts, filled = super()._parts_at(position), self._filled_at(position)
        if filled is None or filled.question is None or position.looked is None:
            return parts
        return [*parts, answer_of(filled, filled.question, position.looked)]

    # Counts that would answer a question

    def _show(self, to: LessonPosition) -> None:
        super()._show(to)
        self._rise()

    def _turn_to(self, to: LessonPosition) -> TurnTo:
        is_hidden = self.session.state.counting == "hidden"
        rises = is_hidden and to.now is not None and to.now.question is not None and to.part == 1
        return TurnTo(self.name, replace(to, rises=rises), "rising" if rises else "shown")

    def _rise(self) -> None:
        """Play the step that answers the question, in which the counts rise."""
        session, shown = self.session, self.session.shown
        if self.position.rises and shown is not None and shown.setup == session.shot.setup:
            if session.display.has_time:
                session.player.play_step()
            self._set(rises=False)  # afterwards, since the player says first that it stands

    def _end_rise(self) -> None:
        session, player = self.session, self.session.player
        is_over = player.beat is None and not player.is_playing and not self.position.rises
        if session.state.counting == "rising" and is_over:
            session.apply(SetCounting("shown"))

    def attempt(self, answers: tuple[str, ...] = ()) -> None:
        """Judge the kernel with the student's answers in its blanks, or the present shot."""
        stop = self.now
        if stop is None or stop.exercise is None:
            return
        shot, exercise = self.session.shot, stop.exercise
        if self.blanks:
            view = stop.shot.view if subject_of_view(stop.shot.view).needs_run else "stage"
            shot = replace(stop.shot, view=view, theme=shot.theme, type_scale=shot.type_scale)
        self._set(verdict=None)
        engine = self.session.engines.cpu
        from gemmviz.teaching.exercises import judged

        self.judging.start(lambda cancelled: judged(exercise, shot, engine, answers))

    def _on_failed_judging(self, error: GemmvizError) -> None:
        from gemmviz.teaching.exercises import Verdict

        self._on_judged(Verdict(error=error))

    def _on_judged(self, verdict: Verdict) -> None:
        """Show the verdict, and the run that it is about if the student's answers were run."""
        self._set(verdict=verdict)
        if self.blanks and verdict.shot is not None:
            self.session.show(verdict.shot, RequestedSizes.of(verdict.shot.setup))
        self.judged.emit()
