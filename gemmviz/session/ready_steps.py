"""Prepares steps of a lesson in the background, so that the next picture and its caption are at hand when a key is pressed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct, structs

from gemmviz.model.messages import GemmvizError
from gemmviz.run.engine import Engine
from gemmviz.shots.completion import AFTER_PICTURE_S
from gemmviz.shots.jobs import LatestTask, Post
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.runs import KnownRun, complete, run_so_far, suits
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import subject_of_view
from gemmviz.teaching.captions import Reveal, filled_step, parts_of, unavailable_step
from gemmviz.teaching.lesson import LessonStep

_NEAREST = 3  # wanted steps that are prepared whatever they take
_MOST_HELD_BYTES = 16 << 20


class ReadyStep(Struct, frozen=True, eq=False):
    """A step whose pictures can be shown at once. ``filled``: the step as it is shown, with the numbers in its texts;
    ``parts``: its parts with their captions; ``shots``: what is known of the shots of its parts, and of the choices of its
    question.
    """

    stop: LessonStep
    filled: LessonStep
    parts: tuple[Reveal, ...]
    shots: tuple[Knowledge, ...]

    def shot_for(self, shot: Shot) -> Knowledge | None:
        """What is known for the picture of a shot; None if it was not prepared."""
        return next((each for each in self.shots if suits(each, shot)), None)


def ready_step(stop: LessonStep, engine: Engine, like: Sequence[Knowledge] = (), showing: int = 0) -> ReadyStep:
    """Complete all that a step shows, on any thread. ``like``: what is known of other shots; ``showing``: how often it was
    shown. Raises Cancelled only: an error is part of the picture.
    """
    shown = stop.showing(showing)
    first = complete(Knowledge(shown.shot, engine, like=like))
    filled, run = filled_step(shown, first), run_so_far(first)
    parts = tuple(parts_of(filled, None if run is None else run.replay))
    shots = [first]
    choices = () if shown.question is None else shown.question.choices
    for shot in (*(part.shot for part in parts), *(choice.shot for choice in choices if choice.shot is not None)):
        if not any(suits(each, shot) for each in shots):
            shots.append(complete(Knowledge(shot, engine, like=(*shots, *like))))
    return ReadyStep(stop, filled, parts, tuple(shots))


def step_of_run(stop: LessonStep, run: KnownRun) -> ReadyStep | None:
    """A step that shows a run which is displayed already; None if it needs more than that."""
    shot, subject = stop.shot, subject_of_view(stop.shot.view)
    is_of_run = subject.is_of_run and run.known.shares("run", shot)
    if not is_of_run or stop.needed or stop.question is not None or stop.build == "blanks":
        return None
    parts = tuple(parts_of(stop, run.replay))
    return ReadyStep(stop, stop, parts, tuple(run.known.about(part.shot) for part in parts))


class ReadySteps:
    """The steps that are ready, and those that are being prepared, one after the other. ``on_ready`` is called with each. The
    first wanted steps are always prepared, further ones as long as all runs together are small. A question is prepared as
    it is shown for the next time; ``first_showing``: the number of its first showing.
    """

    def __init__(self, post: Post, engine: Engine, on_ready: Callable[[ReadyStep], Any]) -> None:
        self._engine, self._on_ready = engine, on_ready
        self.worker: LatestTask[ReadyStep] = LatestTask(post, self._add, self._on_failed)
        self._ready: tuple[ReadyStep, ...] = ()
        self._wanted: tuple[LessonStep, ...] = ()
        self._working: LessonStep | None = None
        self._delay_s = 0.0
        self._showings = Counter[str]()
        self.first_showing = 0

    def of(self, stop: LessonStep) -> ReadyStep | None:
        """The step with all that it shows; None if it is not ready."""
        return next((each for each in self._ready if each.stop is stop), None)

    def want(self, *steps: LessonStep, is_urgent: bool = False) -> None:
        """Prepare these steps, the first one first, and forget all others. ``is_urgent``: the first one is awaited; otherwise
        the present picture is painted before.
        """
        self._wanted, self._delay_s = steps, 0.0 if is_urgent else AFTER_PICTURE_S
        self._ready = tuple(each for each in self._ready if any(each.stop is stop for stop in steps))
        self._go_on()

    def note_shown(self, ready: ReadyStep) -> None:
        """Forget a question that is shown, so that another variant is prepared for the next time."""
        self._showings[ready.stop.title] += 1
        self._ready = tuple(each for each in self._ready if each is not ready)

    def forget(self) -> None:
        """Forget everything, such as the runs of another engine."""
        self.worker.cancel()
        self._ready, self._wanted, self._working = (), (), None

    def _go_on(self) -> None:
        """Prepare the first wanted step that is not ready."""
        wanted = self._wanted if self._size_bytes <= _MOST_HELD_BYTES else self._wanted[:_NEAREST]
        following = next((stop for stop in wanted if self.of(stop) is None), None)
        if following is self._working and self.worker.is_busy:
            return
        self._working = following
        if following is None:
            self.worker.cancel()
        else:
            engine, stop = self._engine, following
            like = [known for each in self._ready for known in each.shots if run_so_far(known) is not None]
            showing = self.first_showing + self._showings[stop.title]
            self.worker.start(lambda: ready_step(stop, engine, like, showing), self._delay_s)
            self._delay_s = 0.0

    @property
    def _size_bytes(self) -> int:
        """Bytes of the records that are held."""
        runs = [run for ready in self._ready for each in ready.shots if (run := run_so_far(each)) is not None]
        return sum(trace.element.nbytes for trace in {id(run.trace): run.trace for run in runs}.values())

    def _add(self, ready: ReadyStep) -> None:
        self._ready = (*self._ready, ready)
        self._working = None
        self._on_ready(ready)
        self._go_on()

    def _on_failed(self, error: GemmvizError) -> None:
        """Count a step as ready that can't be computed: its picture is the error."""
        stop = self._working
        if stop is not None:
            filled = unavailable_step(stop)
            parts = tuple(parts_of(structs.replace(filled, build="")))
            shots = tuple(Knowledge(part.shot, Engine()) for part in parts)
            for each in shots:
                each.trouble = error
            self._add(ReadyStep(stop, filled, parts, shots))
