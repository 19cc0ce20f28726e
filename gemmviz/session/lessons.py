"""Lessons in a session: the saved views of a lecture, and the lesson that a student takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import structs
from psygnal import Signal

from gemmviz.analysis.replay.focus import focus_text
from gemmviz.model.messages import GemmvizError, letter, tr
from gemmviz.run.engine import FallbackEngine, KernelEngines
from gemmviz.run.stored import StoredAnswers
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.band import Caption
from gemmviz.session.ready_steps import ReadyStep, ReadySteps, step_of_run
from gemmviz.session.session import Session
from gemmviz.session.state import LessonName, LessonPosition, Show, TurnTo
from gemmviz.shots.jobs import LatestTask, Post
from gemmviz.shots.runs import RequestedSizes
from gemmviz.shots.shot import Shot, change_name
from gemmviz.shots.subject import subject_of_view
from gemmviz.teaching.captions import Reveal, answer_of, parts_of
from gemmviz.teaching.lesson import BUILDS, Build, Lesson, LessonStep

if TYPE_CHECKING:
    from gemmviz.teaching.exercises import Verdict

_MOST_CHANGES = 200
LAST = -1  # number of the last part of a step
_BUILT_BY_TIME = ("phases", "steps", "terms")  # whose parts are steps of the run


class LessonEditor:
    """An ordered list of saved views. ``lesson`` holds them; ``at`` is the index of the current one, or None; ``part`` is the
    index of its revealed part. ``engine``: what runs the views. ``changed`` is emitted when any of these changes.

    A view is shown once its picture and caption are ready, in one frame; until then everything stays as it is, and
    ``is_waiting``. The views before and after the current one are prepared in the background.
    """

    changed = Signal()
    name: LessonName = "saved_views"  # of its position in the session's state

    def __init__(self, session: Session, post: Post) -> None:
        self.session = session
        self.engine = FallbackEngine(StoredAnswers(), KernelEngines(session.engines.engine_for))
        self._ready = ReadySteps(post, self.engine, self._on_ready)
        self._changes: list[tuple[str, Lesson, int | None]] = []  # names of changes, and the list before each
        session.engines.changed.connect(self._ready.forget)

    @property
    def workers(self) -> tuple[LatestTask[Any], ...]:
        return (self._ready.worker,)

    @property
    def position(self) -> LessonPosition:
        position: LessonPosition = getattr(self.session.state, self.name)
        return position

    @property
    def lesson(self) -> Lesson:
        return self.position.lesson

    @property
    def at(self) -> int | None:
        return self.position.at

    @property
    def part(self) -> int:
        return self.position.part

    @property
    def now(self) -> LessonStep | None:
        """The current view; playback may have moved on since it was shown."""
        return self.position.now

    @property
    def filled(self) -> LessonStep | None:
        """The current view with the numbers in its texts, as far as they are computed."""
        return self._filled_at(self.position)

    @property
    def is_waiting(self) -> bool:
        """Whether another view was requested that isn't ready yet; the current one is shown until then."""
        return self.position.awaited is not None

    @property
    def parts(self) -> int:
        """Number of parts in which the current view is revealed."""
        return 0 if self.now is None else len(self._parts_at(self.position))

    @property
    def next(self) -> LessonStep | None:
        place = 0 if self.at is None else self.at + 1
        return self.lesson.steps[place] if place < len(self.lesson.steps) else None

    def keep(self, caption: str = "") -> None:
        """Save the present shot after the current view, or at the end, and say its number."""
        shot, steps = self.session.shot, self.lesson.steps
        place = len(steps) if self.at is None else self.at + 1
        same = next((number for number, step in enumerate(steps, 1) if _shows_same(step.shot, shot)), None)
        self._change("", self.lesson.with_step(LessonStep(shot, self._name(), caption), place), place)
        number = place + 1
        self.session.say(
            tr("Added as {number} of the saved views", number=number)
            if same is None
            else tr("Added as {number} of the saved views: it shows the same as {same}", number=number, same=same)
        )

    def _name(self) -> str:
        """The name of the present view: kernel, view, step and focus."""
        session, kind = self.session, self.session.display.kind
        parts = [session.shot.setup.kernel.name, tr(view_named(session.shot.view).title)]
        if kind.time == "run":
            parts.append(tr("step {number}", number=session.navigation.run_step + 1))
        if kind.is_of_run and session.shown is not None:
            parts.append(focus_text(session.shot.focus, session.shown.trace))
        return ", ".join(parts)

    def undo(self) -> None:
        """Take back the last change of the list."""
        if self._changes:
            _, lesson, at = self._changes.pop()
            self.take_lesson(lesson, at)

    @property
    def can_undo(self) -> bool:
        return bool(self._changes)

    def _change(self, name: str, lesson: Lesson, at: int | None) -> None:
        """Make a change that can be taken back. Changes of one name, such as typed letters, are one; "" names none."""
        if not (name and self._changes and self._changes[-1][0] == name):
            self._changes = [*self._changes, (name, self.lesson, self.at)][-_MOST_CHANGES:]
        self.take_lesson(lesson, at)

    def open(self, lesson: Lesson) -> None:
        """Open another list of views and show its first."""
        self._changes = []
        self.take_lesson(lesson)
        self.go(0)

    def is_ready(self, place: int) -> bool:
        """Whether the picture and the caption of a view are at hand."""
        return 0 <= place < len(self.lesson.steps) and self._at_hand(self.lesson.steps[place]) is not None

    def go(self, place: int, part: int = 0) -> None:
        """Show a part of a view, by default its first, as soon as it is ready."""
        if 0 <= place < len(self.lesson.steps):
            ready = self._at_hand(self.lesson.steps[place])
            if ready is None:
                self._await(place, part)
            else:
                self._arrive(place, part, ready)

    def find(self) -> None:
        """Update the current index to the view that matches what is displayed, or None."""
        now, shot = self.now, self.session.shot
        if now is not None and not _shows_same(now.shot, shot):
            places = [place for place, stop in enumerate(self.lesson.steps) if _shows_same(stop.shot, shot)]
            self._turn(at=places[0] if places else None, part=0)

    def walk(self, direction: int) -> bool:
        """Move to the next part or view, or back to what was shown before it. Returns whether there was one. While a view is
        awaited, further calls don't add up; the opposite direction stops waiting.
        """
        if self.is_waiting:
            self._stop_waiting(unless=direction)
            return True
        if self.now is not None:
            reached, is_own = self._reached
            part = reached + direction * (is_own or direction > 0)
            if 0 <= part < len(self._parts_at(self.position)):
                self._show(structs.replace(self.position, part=part))
                return True
        place = (-1 if self.at is None else self.at) + direction
        if not 0 <= place < len(self.lesson.steps):
            return False
        self.go(place, 0 if direction > 0 else LAST)
        return True

    def edit(self, place: int, **texts: str) -> None:
        """Change texts of a view: its title, caption, text or notes."""
        name = f"{place} {' '.join(texts)}"
        self._change(name, self.lesson.changed(place, structs.replace(self.lesson.steps[place], **texts)), self.at)

    def build(self, place: int, build: Build) -> None:
        """Set how a view is revealed."""
        assert build in BUILDS
        self._change("", self.lesson.changed(place, structs.replace(self.lesson.steps[place], build=build)), self.at)

    def take(self, place: int) -> None:
        """Replace a saved view by the present shot; its texts stay."""
        self._change("", self.lesson.changed(place, structs.replace(self.lesson.steps[place], shot=self.session.shot)), place)

    def remove(self, place: int) -> None:
        left = self.lesson.without(place)
        at = self.at
        if at is not None and at >= place:
            at = None if at == place else at - 1
        self._change("", left, at)

    def move(self, place: int, to: int) -> None:
        if 0 <= to < len(self.lesson.steps):
            self._change("", self.lesson.moved(place, to), to if self.at == place else self.at)

    def take_lesson(self, lesson: Lesson, at: int | None = None, redraws: bool = False) -> None:
        """Take another lesson, or an edited one, without showing another picture."""
        self._set(redraws, lesson=lesson, at=at, awaited=None, is_away=False)
        self._prepare()
        self.changed.emit()

    def _turn(self, redraws: bool = False, **changes: Any) -> None:
        """Change the position without showing another picture."""
        self._set(redraws, **changes)
        self.changed.emit()

    def _set(self, redraws: bool = False, **changes: Any) -> None:
        self.session.apply(TurnTo(self.name, structs.replace(self.position, **changes), redraws=redraws))

    @property
    def said(self) -> Caption:
        """Caption of the current part; empty if something else is displayed."""
        if self.now is None:
            return Caption()
        reached, is_own = self._reached
        part = self._parts_at(self.position)[reached]
        if not _is_near(part.shot, self.session.shot):
            return Caption()
        return part.caption if is_own else part.whole

    @property
    def _reached(self) -> tuple[int, bool]:
        """The part that the picture has reached, whichever key moved it there, and whether it shows the step of that part."""
        stop, parts, shot = self.now, self._parts_at(self.position), self.session.shot
        part, step = min(self.part, len(parts) - 1), shot.at.step
        now = parts[part].shot
        if stop is None or stop.build not in _BUILT_BY_TIME or not _is_near(now, shot) or now.at.step == step:
            return part, True
        reached = max((place for place, each in enumerate(parts) if each.shot.at.step <= step), default=0)
        return reached, parts[reached].shot.at.step == step

    def _part_at(self, position: LessonPosition) -> Reveal:
        parts = self._parts_at(position)
        return parts[min(position.part, len(parts) - 1)]

    def _parts_at(self, position: LessonPosition) -> Sequence[Reveal]:
        """Parts of the step at a position; without its run, those that are revealed step by step are one."""
        ready, stop = self._ready_at(position), position.now
        assert stop is not None
        return parts_of(stop) if ready is None else ready.parts

    def _ready_at(self, position: LessonPosition) -> ReadyStep | None:
        """All that the step at a position shows; None if it is not ready."""
        shown, stop = position.shown, position.now
        if stop is None:
            return None
        return shown if shown is not None and shown.stop is stop else self._at_hand(stop)

    def _filled_at(self, position: LessonPosition) -> LessonStep | None:
        """The step at a position with the numbers in its texts, as far as they are computed."""
        ready, stop = self._ready_at(position), position.now
        return ready.filled if ready is not None else stop and stop.with_numbers({})

    def _at_hand(self, stop: LessonStep) -> ReadyStep | None:
        """A step that is ready, or whose run is displayed; None for any other."""
        shown, ready = self.session.shown, self._ready.of(stop)
        if ready is None and shown is not None and not self.session.is_stale:
            ready = step_of_run(stop, shown)
        return ready

    # Waiting

    def _await(self, place: int, part: int) -> None:
        self._set(awaited=(place, part))
        self._prepare()
        self.changed.emit()

    def _stop_waiting(self, unless: int) -> None:
        """Stay at the current view, unless the awaited one lies in the direction of a further key."""
        awaited = self.position.awaited
        assert awaited is not None
        if (awaited[0] - (-1 if self.at is None else self.at)) * unless < 0:
            self.take_lesson(self.lesson, self.at)

    def _prepare(self) -> None:
        """Prepare the awaited view first, then the current one, the next before it if it is shown, and those near it."""
        at = -1 if self.at is None else self.at
        first = (at, at + 1) if self.position.shown is None else (at + 1, at)
        places = [*(self.position.awaited or ())[:1], *first, at - 1, at + 2, at + 3]
        steps = [self.lesson.steps[place] for place in dict.fromkeys(places) if 0 <= place < len(self.lesson.steps)]
        self._ready.want(*steps, is_urgent=self.is_waiting)

    def _on_ready(self, ready: ReadyStep) -> None:
        position = self.position
        awaited, now = position.awaited, position.now
        if awaited is not None and self.lesson.steps[awaited[0]] is ready.stop:
            self._arrive(*awaited, ready)
        elif ready.stop is now and (position.shown is None or position.shown.stop is not now):
            self._turn(shown=ready)

    def _arrive(self, place: int, part: int, ready: ReadyStep) -> None:
        """Show a view that is ready: its picture and its caption change in one frame."""
        self._show(LessonPosition(self.lesson, place, part % len(ready.parts), ready))
        self._prepare()

    def _show(self, to: LessonPosition) -> None:
        """Show the part of a view at another position."""
        present, shown = self.session.shot, to.shown
        shot = structs.replace(self._part_at(to).shot, theme=present.theme, type_scale=present.type_scale)
        ready = shown.shot_for(shot) if shown is not None and shown.stop is to.now else None
        self.session.player.play(False)
        self.session.apply(Show(shot, RequestedSizes.of(shot.setup), ready, turn=self._turn_to(to)))
        self.changed.emit()

    def _turn_to(self, to: LessonPosition) -> TurnTo:
        """The event that belongs to the picture of another position."""
        return TurnTo(self.name, to)


def _is_near(one: Shot, other: Shot) -> bool:
    """Whether both show the same run in the same view; the step may differ."""
    return (one.setup, one.view) == (other.setup, other.view)


def _shows_same(one: Shot, other: Shot) -> bool:
    """Whether both show the same run, view, step and threads."""
    return (one.setup, one.view, one.at, one.focus) == (other.setup, other.view, other.at, other.focus)


# The lesson that a student takes.

_MOST_TRIES = 2  # wrong answers before the right one is shown


class LessonPlayer(LessonEditor):
    """A lesson being taken. ``seen``: steps of all lessons that were shown or, if they ask a question, answered; ``judged`` is
    emitted when the verdict on the last attempt at the exercise changes, ``written`` when the answers in its blanks do.
    """

    judged = Signal()
    written = Signal()
    name = "course"

    def __init__(self, session: Session, post: Post, seen: Iterable[str] = ()) -> None:
        super().__init__(session, post)
        self.seen = set(seen)
        self._answers: dict[str, tuple[str, ...]] = {}
        self._asked: ReadyStep | None = None  # the latest question
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
    def is_last(self) -> bool:
        """Whether the current part is the last of the lesson."""
        stop = self.now
        return stop is not None and self.next is None and self.part + 1 >= self.parts

    @property
    def words(self) -> Caption:
        """Caption of the current part, even during playback or exploration."""
        stop = self.now
        if stop is None:
            return Caption(self.lesson.title if self.lesson.steps else "", self.lesson.about)
        return self._part_at(self.position).caption

    @property
    def blanks(self) -> int:
        """Number of blanks in the kernel of the current step."""
        return 0 if self.now is None else self.now.shot.setup.kernel.blanks

    @property
    def answers(self) -> tuple[str, ...]:
        """What the student has written in the blanks of the current step."""
        stop = self.now
        return () if stop is None else self._answers.get(self.lesson.name_of(stop), ("",) * self.blanks)

    def write(self, answers: tuple[str, ...]) -> None:
        """Keep what the student has written in the blanks of the current step."""
        stop = self.now
        if stop is not None and answers != self.answers:
            self._answers[self.lesson.name_of(stop)] = answers
            self.written.emit()

    @property
    def is_filling(self) -> bool:
        """Whether the current step is an exercise with blanks that the lesson hasn't filled in."""
        return self.is_on and self.blanks > 0 and self.now is not None and self.now.exercise is not None and self.part == 0

    @property
    def shows_blanks(self) -> bool:
        """Whether the picture is that of the current step, not that of an attempt."""
        return self.now is not None and _is_near(self.now.shot, self.session.shot)

    def advance(self) -> None:
        """Move on for self-study: skips parts that give away answers or fill in blanks."""
        stop = self.now
        if stop is not None and (stop.exercise or stop.question) and self.at is not None:
            self.go(self.at + 1)
        else:
            self.walk(1)

    def is_seen(self, stop: LessonStep) -> bool:
        return self.lesson.name_of(stop) in self.seen

    @property
    def skipped(self) -> tuple[int, ...]:
        """The places of questions that are not answered although a later step was shown or is shown."""
        steps = self.lesson.steps
        last = max(self.at or 0, *(place for place, stop in enumerate(steps) if self.is_seen(stop)), 0)
        return tuple(at for at, stop in enumerate(steps[:last]) if stop.question is not None and not self.is_seen(stop))

    def begin(self, lesson: Lesson) -> None:
        """Start a lesson at its first step that has not been seen."""
        self.take_lesson(lesson)
        places = [place for place, stop in enumerate(lesson.steps) if not self.is_seen(stop)]
        self.go(places[0] if places else 0)

    def end(self) -> None:
        """Close the lesson; the picture stays, and its counts are shown again."""
        self.take_lesson(Lesson(), redraws=True)

    @property
    def changes(self) -> str:
        """What differs from the picture of the current step, as text; "" for nothing, or if only the position differs."""
        shot, part = self.session.shot, None if self.now is None else self._part_at(self.position).shot
        return "" if part is None else change_name(structs.replace(part, theme=shot.theme, type_scale=shot.type_scale), shot)

    def leave(self) -> None:
        """Start exploring from the current picture, with all counts."""
        self._turn(redraws=True, is_away=True)

    def toggle_explore(self) -> None:
        """Start exploring, or return to the lesson."""
        if self.position.is_away:
            self.come_back()
        else:
            self.leave()

    def come_back(self) -> None:
        """Return to the step where exploring began."""
        shown = self.position.shown
        self._set(is_away=False)
        if self.at is not None and shown is not None and shown.stop is self.now:
            self._arrive(self.at, 0, shown)
        elif self.at is not None:
            self.go(self.at)

    def draw_from(self, showing: int) -> None:
        """Ask questions as they are shown for this time, 0 for the first, and then for the following ones."""
        self._ready.first_showing = showing

    def go(self, place: int, part: int = 0) -> None:
        """Show a part of a step. A question that was asked is drawn anew, but its answer is that of the latest question."""
        asked = self._asked if part else None
        if asked is not None and 0 <= place < len(self.lesson.steps) and asked.stop is self.lesson.steps[place]:
            self._arrive(place, part, asked)
        else:
            super().go(place, part)

    def _arrive(self, place: int, part: int, ready: ReadyStep) -> None:
        if ready.stop.question is not None and ready is not self._asked:
            self._asked = ready
            self._ready.note_shown(ready)
        self.judging.cancel()
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
            is_late = len(self.position.tried) >= _MOST_TRIES and self.position.looked is None
            return (
                tr("{letter} was right: {why}", letter=letter(stop.question.right), why=choice.why)
                if is_late
                else self.words.caption
            )
        hints = [
            tr("{letter} is wrong: {why} Try again.", letter=letter(place), why=stop.question.choices[place].why)
            for place in self.position.tried[-1:]
        ]
        return "".join(hints)

    def pick(self, place: int) -> None:
        """Choose an answer. A wrong one gives a hint and one more try; after that the right one is shown. Once the question is
        answered, show why a choice is right or wrong.
        """
        stop = self.filled
        if stop is None or stop.question is None:
            return
        position, is_right = self.position, place == stop.question.right
        if not self.is_asking:
            self._show(structs.replace(position, looked=None if is_right else place, part=1 if is_right else 2))
            return
        tried = position.tried if is_right or place in position.tried else (*position.tried, place)
        if is_right or len(tried) >= _MOST_TRIES:
            self._show(structs.replace(position, tried=tried, part=1))
        else:
            self._turn(tried=tried)

    def _parts_at(self, position: LessonPosition) -> Sequence[Reveal]:
        parts, filled = super()._parts_at(position), self._filled_at(position)
        if filled is None or filled.question is None or position.looked is None:
            return parts
        return [*parts, answer_of(filled, filled.question, position.looked)]

    # Counts that would answer a question

    def _show(self, to: LessonPosition) -> None:
        if to.now is not None and not to.is_asking:
            self.seen.add(self.lesson.name_of(to.now))
        super()._show(to)
        self._rise()

    def _turn_to(self, to: LessonPosition) -> TurnTo:
        is_hidden = self.session.state.counting == "hidden"
        rises = is_hidden and to.now is not None and to.now.question is not None and to.part == 1
        return TurnTo(self.name, structs.replace(to, rises=rises), "rising" if rises else "shown")

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
            session.apply(TurnTo(self.name, self.position, "shown"))

    def attempt(self, answers: tuple[str, ...] = ()) -> None:
        """Judge the kernel with the student's answers in its blanks, or the present shot."""
        stop = self.now
        if stop is None or stop.exercise is None:
            return
        shot, exercise = self.session.shot, stop.exercise
        if self.blanks:
            view = stop.shot.view if subject_of_view(stop.shot.view).needs_run else "stage"
            shot = structs.replace(stop.shot, view=view, theme=shot.theme, type_scale=shot.type_scale)
        self._set(verdict=None)
        engine = self.session.engines.cpu
        from gemmviz.teaching.exercises import judged

        self.judging.start(lambda: judged(exercise, shot, engine, answers))

    def _on_failed_judging(self, error: GemmvizError) -> None:
        from gemmviz.teaching.exercises import Verdict

        self._on_judged(Verdict(error=error))

    def _on_judged(self, verdict: Verdict) -> None:
        self._set(verdict=verdict)
        self.judged.emit()

    def show_verdict(self) -> None:
        """Show the run that the verdict is about."""
        verdict = self.position.verdict
        if verdict is not None and verdict.shot is not None:
            self.session.show(verdict.shot, RequestedSizes.of(verdict.shot.setup))

    def show_blanks(self) -> None:
        """Show the blanks again, and keep the verdict."""
        self._show(self.position)
