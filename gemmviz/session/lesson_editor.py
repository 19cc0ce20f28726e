"""The user's saved views in order, to present in a lecture: a lesson under construction."""

from collections.abc import Sequence
from typing import Any

from psygnal import Signal

from gemmviz.model.records import replace
from gemmviz.run.engine import FallbackEngine, KernelEngines
from gemmviz.run.stored import StoredAnswers
from gemmviz.scenes.kit.band import Caption
from gemmviz.session.ready_steps import ReadyStep, ReadySteps, step_of_run
from gemmviz.session.session import Session
from gemmviz.session.state import LessonName, LessonPosition, Show, TurnTo
from gemmviz.shots.jobs import LatestTask, Post
from gemmviz.shots.requested_sizes import RequestedSizes
from gemmviz.shots.shot import Shot
from gemmviz.teaching.lesson import BUILDS, Build, Lesson, LessonStep
from gemmviz.teaching.reveal import Reveal, parts_of

LAST = -1  # number of the last part of a step


class LessonEditor:
    """An ordered list of saved views. ``lesson`` holds them; ``at`` is the index of the current one, or None; ``part`` is the
    index of its revealed part. ``changed`` is emitted when any of these changes.

    A view is shown once its picture and caption are ready, in one frame; until then everything stays as it is, and
    ``is_waiting``. The views before and after the current one are prepared in the background.
    """

    changed = Signal()
    name: LessonName = "saved_views"  # of its position in the session's state

    def __init__(self, session: Session, post: Post) -> None:
        self.session = session
        engine = FallbackEngine(StoredAnswers(), KernelEngines(session.engines.engine_for))
        self._ready = ReadySteps(post, engine, self._on_ready)
        session.engines.changed.connect(self._ready.forget)

    @property
    def workers(self) -> tuple[LatestTask[Any], ...]:
        return (self._ready.worker,)

    def close(self) -> None:
        for worker in self.workers:
            worker.close()

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
        return self.lesson.stops[place] if place < len(self.lesson.stops) else None

    def keep(self, caption: str = "") -> None:
        """Save the present shot after the current view, or at the end."""
        place = len(self.lesson.stops) if self.at is None else self.at + 1
        title = f"{self.session.shot.setup.kernel.name}, {self.session.shot.view}"
        self._become(self.lesson.with_stop(LessonStep(self.session.shot, title, caption), place), place)

    def open(self, lesson: Lesson) -> None:
        """Open another list of views and show its first."""
        self._become(lesson, None)
        self.go(0)

    def restore(self, lesson: Lesson) -> None:
        """Restore the saved views of an earlier session without showing one."""
        self._become(lesson, None)

    def is_ready(self, place: int) -> bool:
        """Whether the picture and the caption of a view are at hand."""
        return 0 <= place < len(self.lesson.stops) and self._at_hand(self.lesson.stops[place]) is not None

    def go(self, place: int, part: int = 0) -> None:
        """Show a part of a view, by default its first, as soon as it is ready."""
        if 0 <= place < len(self.lesson.stops):
            ready = self._at_hand(self.lesson.stops[place])
            if ready is None:
                self._await(place, part)
            else:
                self._arrive(place, part, ready)

    def find(self) -> None:
        """Update the current index to the view that matches what is displayed, or None."""
        now, shot = self.now, self.session.shot
        if now is not None and not _is_same(now.shot, shot):
            places = [place for place, stop in enumerate(self.lesson.stops) if _is_same(stop.shot, shot)]
            self._turn(at=places[0] if places else None, part=0)

    def walk(self, direction: int) -> bool:
        """Move to the next part or view, or back to what was shown before it. Returns whether there was one. While a view is
        awaited, further calls don't add up; the opposite direction stops waiting.
        """
        if self.is_waiting:
            self._stop_waiting(unless=direction)
            return True
        stop = self.now
        if stop is not None and 0 <= self.part + direction < len(self._parts_at(self.position)):
            self._show(replace(self.position, part=self.part + direction))
            return True
        place = (-1 if self.at is None else self.at) + direction
        if not 0 <= place < len(self.lesson.stops):
            return False
        self.go(place, 0 if direction > 0 else LAST)
        return True

    def edit(
        self,
        place: int,
        *,
        title: str | None = None,
        caption: str | None = None,
        text: str | None = None,
        notes: str | None = None,
    ) -> None:
        """Change the texts of a view."""
        before = self.lesson.stops[place]
        stop = replace(
            before,
            title=before.title if title is None else title,
            caption=before.caption if caption is None else caption,
            text=before.text if text is None else text,
            notes=before.notes if notes is None else notes,
        )
        self._become(self.lesson.changed(place, stop), self.at)

    def build(self, place: int, build: Build) -> None:
        """Set how a view is revealed."""
        assert build in BUILDS
        self._become(self.lesson.changed(place, replace(self.lesson.stops[place], build=build)), self.at)

    def take(self, place: int) -> None:
        """Replace a saved view by the present shot."""
        self._become(self.lesson.changed(place, replace(self.lesson.stops[place], shot=self.session.shot)), place)

    def remove(self, place: int) -> None:
        left = self.lesson.without(place)
        at = self.at
        if at is not None and at >= place:
            at = None if at == place else at - 1
        self._become(left, at)

    def move(self, place: int, to: int) -> None:
        if 0 <= to < len(self.lesson.stops):
            self._become(self.lesson.moved(place, to), to if self.at == place else self.at)

    def _become(self, lesson: Lesson, at: int | None, redraws: bool = False) -> None:
        """Take another lesson, or an edited one, without showing another picture."""
        self._set(redraws, lesson=lesson, at=at, awaited=None, is_away=False)
        self._prepare()
        self.changed.emit()

    def _turn(self, redraws: bool = False, **changes: Any) -> None:
        """Change the position without showing another picture."""
        self._set(redraws, **changes)
        self.changed.emit()

    def _set(self, redraws: bool = False, **changes: Any) -> None:
        self.session.apply(TurnTo(self.name, replace(self.position, **changes), redraws=redraws))

    @property
    def said(self) -> Caption:
        """Caption of the current part; empty if something else is displayed."""
        if self.now is None:
            return Caption()
        part = self._part_at(self.position)
        return part.caption if _is_near(part.shot, self.session.shot) else Caption()

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
            self._become(self.lesson, self.at)

    def _prepare(self) -> None:
        """Prepare the awaited view first, then the current one and those near it."""
        at = -1 if self.at is None else self.at
        places = [*(self.position.awaited or ())[:1], at, at + 1, at - 1, at + 2, at + 3]
        stops = [self.lesson.stops[place] for place in dict.fromkeys(places) if 0 <= place < len(self.lesson.stops)]
        self._ready.want(*stops, is_urgent=self.is_waiting)

    def _on_ready(self, ready: ReadyStep) -> None:
        position = self.position
        awaited, now = position.awaited, position.now
        if awaited is not None and self.lesson.stops[awaited[0]] is ready.stop:
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
        shot = replace(self._part_at(to).shot, theme=present.theme, type_scale=present.type_scale)
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


def _is_same(one: Shot, other: Shot) -> bool:
    """Whether both show the same run, view, step and threads."""
    return (one.setup, one.view, one.at, one.focus) == (other.setup, other.view, other.at, other.focus)
