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

    def __init__(self, session: Session, post: Post) -> None:
        self.session = session
        self.lesson = Lesson()
        self.at: int | None = None
        self.part = 0
        engine = FallbackEngine(StoredAnswers(), KernelEngines(session.engines.engine_for))
        self._ready = ReadySteps(post, engine, self._on_ready)
        self._shown: ReadyStep | None = None  # the current view with all that it shows
        self._awaited: tuple[int, int] | None = None  # index and part of the view that is shown once it is ready
        session.engines.changed.connect(self._ready.forget)

    @property
    def workers(self) -> tuple[LatestTask[Any], ...]:
        return (self._ready.worker,)

    def close(self) -> None:
        for worker in self.workers:
            worker.close()

    @property
    def now(self) -> LessonStep | None:
        """The current view; playback may have moved on since it was shown."""
        return None if self.at is None or self.at >= len(self.lesson.stops) else self.lesson.stops[self.at]

    @property
    def filled(self) -> LessonStep | None:
        """The current view with the numbers in its texts, as far as they are computed."""
        stop = self.now
        if stop is None:
            return None
        ready = self._ready_of(stop)
        return stop.with_numbers({}) if ready is None else ready.filled

    @property
    def is_waiting(self) -> bool:
        """Whether another view was requested that isn't ready yet; the current one is shown until then."""
        return self._awaited is not None

    @property
    def parts(self) -> int:
        """Number of parts in which the current view is revealed."""
        return 0 if self.now is None else len(self._parts_of(self.now))

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
            self.at, self.part = (places[0] if places else None), 0
            self.changed.emit()

    def walk(self, direction: int) -> bool:
        """Move to the next part or view, or back to what was shown before it. Returns whether there was one. While a view is
        awaited, further calls don't add up; the opposite direction stops waiting.
        """
        if self._awaited is not None:
            self._stop_waiting(unless=direction)
            return True
        stop = self.now
        if stop is not None and 0 <= self.part + direction < len(self._parts_of(stop)):
            self.part += direction
            self._show(stop)
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

    def _become(self, lesson: Lesson, at: int | None) -> None:
        self.lesson, self.at, self._awaited = lesson, at, None
        self._prepare()
        self.changed.emit()

    @property
    def said(self) -> Caption:
        """Caption of the current part; empty if something else is displayed."""
        stop, shot = self.now, self.session.shot
        if stop is None:
            return Caption()
        parts = self._parts_of(stop)
        part = parts[min(self.part, len(parts) - 1)]
        return part.caption if _is_near(part.shot, shot) else Caption()

    def _parts_of(self, stop: LessonStep) -> Sequence[Reveal]:
        """Parts of a step; without its run, those that are revealed step by step are one."""
        ready = self._ready_of(stop)
        return parts_of(stop) if ready is None else ready.parts

    def _ready_of(self, stop: LessonStep) -> ReadyStep | None:
        """All that a view shows; None if it is not ready."""
        return self._shown if self._is_shown(stop) else self._at_hand(stop)

    def _at_hand(self, stop: LessonStep) -> ReadyStep | None:
        """A step that is ready, or whose run is displayed; None for any other."""
        shown, ready = self.session.shown, self._ready.of(stop)
        if ready is None and shown is not None and not self.session.is_stale:
            ready = step_of_run(stop, shown)
        return ready

    def _is_shown(self, stop: LessonStep) -> bool:
        return self._shown is not None and self._shown.stop is stop

    # Waiting

    def _await(self, place: int, part: int) -> None:
        self._awaited = place, part
        self._prepare()
        self.changed.emit()

    def _stop_waiting(self, unless: int) -> None:
        """Stay at the current view, unless the awaited one lies in the direction of a further key."""
        assert self._awaited is not None
        if (self._awaited[0] - (-1 if self.at is None else self.at)) * unless < 0:
            self._awaited = None
            self._prepare()
            self.changed.emit()

    def _prepare(self) -> None:
        """Prepare the awaited view first, then the current one and those near it."""
        at = -1 if self.at is None else self.at
        places = [*([] if self._awaited is None else [self._awaited[0]]), at, at + 1, at - 1, at + 2, at + 3]
        stops = [self.lesson.stops[place] for place in dict.fromkeys(places) if 0 <= place < len(self.lesson.stops)]
        self._ready.want(*stops, is_urgent=self._awaited is not None)

    def _on_ready(self, ready: ReadyStep) -> None:
        awaited, now = self._awaited, self.now
        if awaited is not None and self.lesson.stops[awaited[0]] is ready.stop:
            self._arrive(*awaited, ready)
        elif ready.stop is now and not self._is_shown(now):
            self._shown = ready
            self.changed.emit()

    def _arrive(self, place: int, part: int, ready: ReadyStep) -> None:
        """Show a view that is ready: its picture and its caption change in one frame."""
        self._awaited = None
        self.at, self.part, self._shown = place, part % len(ready.parts), ready
        self._show(ready.stop)
        self._prepare()

    def _show(self, stop: LessonStep) -> None:
        """Show the current part of a view."""
        parts = self._parts_of(stop)
        place = min(self.part, len(parts) - 1)
        present, shown = self.session.shot, self._shown
        shot = replace(parts[place].shot, theme=present.theme, type_scale=present.type_scale)
        ready = shown.shot_for(shot) if shown is not None and shown.stop is stop else None
        self.session.player.play(False)
        self.session.show(shot, RequestedSizes.of(shot.setup), ready)
        self.changed.emit()


def _is_near(one: Shot, other: Shot) -> bool:
    """Whether both show the same run in the same view; the step may differ."""
    return (one.setup, one.view) == (other.setup, other.view)


def _is_same(one: Shot, other: Shot) -> bool:
    """Whether both show the same run, view, step and threads."""
    return (one.setup, one.view, one.at, one.focus) == (other.setup, other.view, other.at, other.focus)
