"""The value that the current view draws, the reason if there is none, and the options it is drawn with."""

from collections.abc import Callable
from typing import Any, Protocol

from msgspec import structs

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.messages import GemmvizError, marked, tr
from gemmviz.model.timing import Benchmark
from gemmviz.run.engine import KernelEngines
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import eased
from gemmviz.scenes.kit.window import Lens, has_lens
from gemmviz.scenes.stage.layout import plan_of
from gemmviz.session.notices import Schedules
from gemmviz.session.state import State
from gemmviz.shots.completion import Completion
from gemmviz.shots.jobs import Benchmarks, Engines, LatestTask, Post
from gemmviz.shots.knowledge import Compared, Context, FactAnswer, FactStore, Knowledge
from gemmviz.shots.picture import options_for, theme_of
from gemmviz.shots.runs import KnownRun
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject, subject_for, subject_of_view, value_name

# The run that a shot is compared with: executed for the comparison, or pinned as displayed.


class Comparison:
    """Run and analysis of the other side of a comparison, in ``completion``."""

    def __init__(self, post: Post, engines: Engines) -> None:
        self.engines = engines
        self.completion = Completion(post, engines)
        self._focus = Focus()
        self._is_pinned = False
        self.completion.finished.connect(self._on_finished)

    @property
    def compared(self) -> Compared | None:
        """The other run in the form that subjects take; None until it is available."""
        run, reader = self.completion.run, self.completion.reading.reader
        return None if run is None or reader is None else Compared(reader, run.facts)

    def follow(self, shot: Shot) -> None:
        """Run the setup that ``shot`` is compared with, unless its run is available, and apply the shot's focus to it."""
        completion, against = self.completion, shot.against
        if shot.focus != self._focus:
            self._focus = shot.focus
            if completion.run is not None:
                completion.watch(self._focus.within(completion.run.trace))
        engine = None if against is None else self.engines.engine_for(against.setup.kernel)
        if against is not None and completion.setup == against.setup and (self._is_pinned or completion.engine is engine):
            return
        self._is_pinned = False
        if completion.setup is not None:
            completion.clear()
        if against is not None:
            completion.start(Shot(against.setup))

    def pin(self, run: KnownRun) -> None:
        """Pin a finished run; only missing parts of its analysis are computed."""
        self.completion.clear()
        self._is_pinned = True
        self._on_finished(run)

    def take(self, run: KnownRun, focus: Focus) -> None:
        """Use a run that was analysed before it is shown, as if ``follow`` had started it."""
        if self.completion.run is None or self.completion.run.trace is not run.trace:
            self.completion.clear()
            self._is_pinned, self._focus = False, focus
            self.completion.show(run, focus.within(run.trace))

    def _on_finished(self, run: KnownRun) -> None:
        self.completion.show(run, self._focus.within(run.trace))
        self.completion.complete()
        self.completion.analysis_changed.emit()


_BEGUN = 0.001  # counting has begun, at 0


class HasState(Protocol):
    """The parts of a session that a display reads."""

    system_is_dark: bool
    engines: Engines
    benchmarks: Benchmarks
    completion: Completion
    comparison: Comparison

    @property
    def state(self) -> State: ...
    @property
    def shot(self) -> Shot: ...
    @property
    def error(self) -> GemmvizError | None: ...
    @property
    def now(self) -> Moment | None: ...


# Values of subjects, which lie in what is known of a shot; slow ones are computed on a worker thread.

WAITING = marked("Computing …")
_NOTHING_TO_SHOW = marked("This view has nothing to show for this kernel")
_MOST_SHOTS = 32


class SubjectValues:
    """Values of subjects for what is known of a shot. ``on_change`` is called when a slow value is available or has failed.
    Slow values are remembered for the latest shots, others as long as their run is shown.
    """

    def __init__(self, post: Post, on_change: Callable[[], Any]) -> None:
        self.worker: LatestTask[FactAnswer[Any]] = LatestTask(post, lambda answer: on_change(), lambda error: on_change())
        self._latest: list[tuple[tuple[Any, ...], FactStore]] = []
        self._pending: tuple[FactStore, str] | None = None

    def of(self, subject: Subject, context: Context) -> FactAnswer[Any] | None:
        """The value, or why there is none; None while it is computed."""
        known = context.known
        if not subject.is_slow:
            return subject.answer(known, context)
        store, name = self._store_of(known), value_name(subject)
        answer: FactAnswer[Any] | None = store.values.get(name)
        if answer is None and (self._pending != (store, name) or not self.worker.is_busy):
            self._pending = store, name
            self.worker.start(lambda: subject.answer(known))
        return answer

    def _store_of(self, known: Knowledge) -> FactStore:
        """The store of slow values, which is that of an earlier shot if they depend on the same."""
        key, own = known.parts("subject"), known.stores["subject"]
        store = next((each for before, each in self._latest if before == key), own)
        if store is not own:
            store.values.update(own.values)
            known.stores["subject"] = store
        if not self._latest or self._latest[0][1] is not store:
            self._latest = [(key, store), *(each for each in self._latest if each[1] is not store)][:_MOST_SHOTS]
        return store


class Display:
    """The current view of a session. ``on_change`` is called when a value that was computed in the background is available."""

    def __init__(self, session: HasState, post: Post, on_change: Callable[[], Any]) -> None:
        self.session = session
        self._values = SubjectValues(post, on_change)
        self._known: tuple[Knowledge | None, Knowledge] | None = None  # of the displayed run, and of the shot
        self._engines = KernelEngines(session.engines.engine_for)
        self._schedules = Schedules(post, session.engines, on_change)

    @property
    def kind(self) -> Subject:
        """The kind of subject that the view shows."""
        return subject_of_view(self.session.shot.view)

    @property
    def subject(self) -> Any:
        """The value that the view draws; None until it is available."""
        return self._value(self.kind)

    @property
    def name(self) -> str:
        """Name of a subject that is not about the setup; "" for other subjects."""
        subject = self.subject
        return "" if subject is None else self.kind.name(subject)

    def subject_of(self, kind: type) -> Any:
        """The value that views of this kind of subject draw."""
        return self._value(subject_for(kind))

    def why_none(self, kind: Subject) -> str:
        """Why there is no value of a kind, "" while it is unknown."""
        found = self._values.of(kind, self._context(kind))
        return "" if found is None else found.why_none

    @property
    def missing(self) -> str:
        """Reason for an empty view, such as an error; "" if there is a value, or the run is awaited."""
        kind, session = self.kind, self.session
        if self.refusal:
            return self.refusal
        if self.subject is not None or (session.error is not None and not kind.is_slow):
            return ""
        found = self._values.of(kind, self._context(kind))
        if found is None:
            return tr(WAITING)
        return tr(_NOTHING_TO_SHOW) if found.error is None and kind.is_slow else found.why_none

    @property
    def refusal(self) -> str:
        """Why the file that was opened last can't be shown; "" if it can, or after the shot was changed."""
        refused = self.session.state.refused
        return refused[1] if refused is not None and refused[0] == self.session.shot.setup else ""

    @property
    def pending(self) -> str:
        """What is being computed for a picture that can't be drawn yet; "" if it can be drawn, or never will be."""
        kind, session, run = self.kind, self.session, self.session.completion.run
        if session.error is not None or self.refusal:
            return ""
        if kind.needs_run and session.completion.is_running and (run is None or run.setup != session.shot.setup):
            return tr("Running the kernel …")
        if "whole" in kind.needs and run is not None and run.whole.counts is None and session.completion.will_count:
            return tr("Counting the launch …")
        is_waiting = kind.is_slow and self._values.of(kind, self._context(kind)) is None
        return tr(WAITING) if is_waiting or (kind.is_of_run and session.completion.reading.is_drawing) else ""

    @property
    def is_replay(self) -> bool:
        """Whether the view shows one run without a comparison."""
        return self.kind.is_of_run

    @property
    def has_time(self) -> bool:
        """Whether the picture has a time axis: the steps of a run or the time of a launch."""
        return self.kind.time != "none" and not self.refusal

    @property
    def is_benchmark(self) -> bool:
        """Whether the view is on the benchmark page."""
        return self.kind.page == "benchmark"

    @property
    def drawn(self) -> Shot:
        """The shot as drawn: without its reuse map while loads are being counted."""
        is_counting = self.session.completion.reading.is_counting
        return structs.replace(self.session.shot, layer="matrix") if is_counting else self.session.shot

    @property
    def counted(self) -> float:
        """The share of each count that the picture shows, for ``ViewOptions.counted``."""
        counting = self.session.state.counting
        if counting == "rising":
            return max(_BEGUN, eased(self.session.shot.moment)) if self.has_time else 1.0
        return 0.0 if counting == "hidden" else 1.0

    @property
    def theme(self) -> Theme:
        return theme_of(self.session.shot, self.session.system_is_dark)

    @property
    def lens(self) -> Lens:
        """Whether the stage shows the lens or the whole; "auto" if there is no choice."""
        now = self.session.now
        if now is None or not has_lens(now):
            return "auto"
        reading = self.session.completion.reading
        options = options_for(self.session.shot, self.theme, reading.size)
        options = structs.replace(options, timeline=reading.has_timeline, statement=reading.has_statement)
        return "lens" if plan_of(now, options).window.is_lens else "whole"

    @property
    def latest_replay(self) -> str:
        """The most recent view of the run."""
        return self.session.state.views.get(Moment, "stage")

    @property
    def latest_chart(self) -> str:
        """The most recent view of measurements."""
        return self.session.state.views.get(Benchmark, "rate")

    @property
    def workers(self) -> tuple[LatestTask[Any], ...]:
        return (self._values.worker, self._schedules.worker)

    def clicked(self, hit: Hit) -> Shot | None:
        """The shot after a click on a cell; None if the cell has no action. Raises UsageError if the action is impossible."""
        value = self.subject
        return None if value is None else self.kind.click(value, self.session.shot, hit)

    def _value(self, kind: Subject) -> Any:
        session = self.session
        if self.refusal:
            return None
        if "schedules" in kind.uses:
            self._schedules.measure(self.known.whole.setup)
        found, now = self._values.of(kind, self._context(kind)), session.now
        if found is None or found.value is None or now is None:
            return None if found is None else found.value
        return kind.advance(found.value, now)

    @property
    def known(self) -> Knowledge:
        """What is known of the shot, with all that is known of the displayed run if it is the shot's."""
        session, of_run = self.session, self.session.completion.known
        if self._known is None or self._known[0] is not of_run or self._known[1].shot is not session.shot:
            like = () if of_run is None else (of_run,)
            self._known = of_run, Knowledge(session.shot, self._engines, with_values=False, like=like)
        return self._known[1]

    def _context(self, kind: Subject) -> Context:
        """Everything that is known at present."""
        session, run, before = self.session, self.session.completion.run, self.session.state.before
        is_suggested = run is not None and before is not None and run.setup == before[1]
        return Context(
            self.known,
            moment=session.now,
            facts=session.completion.facts,
            whole=session.completion.whole,
            compared=None if session.shot.against is None else session.comparison.compared,
            before=before[0] if before is not None and is_suggested else None,
            schedules=self._schedules.measured,
            measurements=session.benchmarks.all if "measurements" in kind.needs else {},
        )
