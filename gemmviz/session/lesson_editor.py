"""The user's saved views in order, to present in a lecture: a lesson under construction."""

from dataclasses import replace
from typing import Any

from psygnal import Signal

from gemmviz.analysis.replay.replay import Replay
from gemmviz.jobs.events import Post
from gemmviz.jobs.tasks import LatestTask
from gemmviz.model.errors import GemmvizError
from gemmviz.scenes.kit.band import Caption
from gemmviz.session.session import Session
from gemmviz.state.requested_sizes import RequestedSizes
from gemmviz.state.shot import Shot
from gemmviz.subjects.facts import ShotFacts
from gemmviz.teaching.captions import caption_with_numbers
from gemmviz.teaching.lesson import BUILDS, Build, Lesson, LessonStep
from gemmviz.teaching.reveal import Reveal, parts_of

_BY_RUN = ("phases", "steps", "terms", "lanes")


class LessonEditor:
    """An ordered list of saved views. ``lesson`` holds them; ``at`` is the index of the current one, or None; ``part`` is the
    index of its revealed part. ``changed`` is emitted when any of these changes.
    """

    changed = Signal()

    def __init__(self, session: Session, post: Post) -> None:
        self.session = session
        self.lesson = Lesson()
        self.at: int | None = None
        self.part = 0
        self.worker: LatestTask[tuple[int, str]] = LatestTask(post, self._on_numbers, self._on_no_numbers)
        self._captions: dict[int, str] = {}
        self._awaits_run = self._is_end = False  # whether a run decides the parts; whether the last of them is wanted then
        self._cached_parts: tuple[LessonStep, str | None, Replay | None, list[Reveal]] | None = None
        session.run_changed.connect(self._on_run)

    @property
    def workers(self) -> tuple[LatestTask[Any], ...]:
        return (self.worker,)

    def close(self) -> None:
        for worker in self.workers:
            worker.close()

    @property
    def now(self) -> LessonStep | None:
        """The current view; playback may have moved on since it was shown."""
        return None if self.at is None or self.at >= len(self.lesson.stops) else self.lesson.stops[self.at]

    @property
    def has_numbers(self) -> bool:
        """Whether the numbers in the current caption have been computed."""
        return self.now is None or not self.now.needed or self.at in self._captions

    @property
    def awaits_run(self) -> bool:
        """Whether the parts of the current view follow from a run that isn't there yet."""
        return self._awaits_run

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

    def go(self, place: int, is_end: bool = False) -> None:
        """Show a view; if it is revealed in parts, its first part, or its last with ``is_end``."""
        if 0 <= place < len(self.lesson.stops):
            self.at, self.part, self._is_end = place, 0, is_end
            self._show(self.lesson.stops[place])

    def find(self) -> None:
        """Update the current index to the view that matches what is displayed, or None."""
        now, shot = self.now, self.session.shot
        if now is not None and not _is_same(now.shot, shot):
            places = [place for place, stop in enumerate(self.lesson.stops) if _is_same(stop.shot, shot)]
            self.at, self.part, self._is_end = (places[0] if places else None), 0, False
            self.changed.emit()

    def walk(self, direction: int) -> bool:
        """Move to the next part or view, or back to what was shown before it. Returns whether there was one."""
        stop = self.now
        if stop is not None and 0 <= self.part + direction < len(self._parts_of(stop)):
            self.part, self._is_end = self.part + direction, False
            self._show(stop)
            return True
        place = (-1 if self.at is None else self.at) + direction
        if not 0 <= place < len(self.lesson.stops):
            return False
        self.go(place, is_end=direction < 0)
        return True

    def edit(self, place: int, *, title: str | None = None, caption: str | None = None, notes: str | None = None) -> None:
        """Change the texts of a view."""
        before = self.lesson.stops[place]
        stop = replace(
            before,
            title=before.title if title is None else title,
            caption=before.caption if caption is None else caption,
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
        self.lesson, self.at = lesson, at
        self.worker.cancel()
        self._captions, self._cached_parts = {}, None
        if self.now is not None:
            self._compute_numbers(self.now)
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

    def _parts_of(self, stop: LessonStep) -> list[Reveal]:
        """Parts of a step, from the displayed run if it belongs to the step. Cached, because they are needed in every frame."""
        shown = self.session.shown
        replay = shown.replay if shown is not None and shown.setup == stop.shot.setup else None
        caption = None if self.at is None else self._captions.get(self.at)
        cached = self._cached_parts
        if cached is None or cached[0] is not stop or cached[1] != caption or cached[2] is not replay:
            cached = self._cached_parts = stop, caption, replay, parts_of(stop, caption, replay)
        return cached[3]

    def _compute_numbers(self, stop: LessonStep) -> None:
        """Compute the numbers in a caption in the background, unless they are known."""
        at = self.at
        if at is not None and stop.needed and at not in self._captions:
            engine = self.session.engines.cpu
            self.worker.start(lambda cancelled: (at, caption_with_numbers(stop, ShotFacts(stop.shot, engine))))

    def _on_numbers(self, result: tuple[int, str]) -> None:
        self._captions[result[0]] = result[1]
        self.changed.emit()

    def _on_no_numbers(self, error: GemmvizError) -> None:
        """Put ``?`` in place of the numbers; the picture itself reports the error."""
        stop, at = self.now, self.at
        if stop is not None and at is not None:
            self._on_numbers((at, stop.caption_with(dict.fromkeys(stop.needed, "?"))))

    def _on_run(self) -> None:
        """Show the first part of a view revealed by steps when the run that defines the steps is available."""
        stop, shown = self.now, self.session.shown
        if self._awaits_run and stop is not None and shown is not None and shown.setup == stop.shot.setup:
            self._show(stop)

    def _show(self, stop: LessonStep) -> None:
        parts = self._parts_of(stop)
        self.part = len(parts) - 1 if self._is_end else min(self.part, len(parts) - 1)
        shot = parts[self.part].shot
        self._compute_numbers(stop)
        shown = self.session.shown
        self._awaits_run = stop.build in _BY_RUN and (shown is None or shown.setup != stop.shot.setup)
        self.session.player.play(False)
        present = self.session.shot
        self.session.show(replace(shot, theme=present.theme, type_scale=present.type_scale), RequestedSizes.of(shot.setup))
        self.changed.emit()


def _is_near(one: Shot, other: Shot) -> bool:
    """Whether both show the same run in the same view; the step may differ."""
    return (one.setup, one.view) == (other.setup, other.view)


def _is_same(one: Shot, other: Shot) -> bool:
    """Whether both show the same run, view, step and threads."""
    return (one.setup, one.view, one.at, one.focus) == (other.setup, other.view, other.at, other.focus)
