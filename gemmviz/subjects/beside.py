"""The run that another one is held against: its setup has an engine run it, and what is found of it is kept up to date."""

from collections.abc import Callable
from typing import Any

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.pairing import Lock, Pair, moment_like
from gemmviz.jobs.events import Post
from gemmviz.jobs.tasks import LatestTask
from gemmviz.model.errors import GemmvizError, KernelFault
from gemmviz.model.setup import Setup
from gemmviz.model.timing import KernelSpeed
from gemmviz.run.engine import Cancel, Engine
from gemmviz.state.shot import Against
from gemmviz.subjects.background_analysis import BackgroundAnalysis, Shown, WatchResult, ran
from gemmviz.subjects.picture import run


class Beside:
    """``changed`` is called when there is another run, or more is known of it; ``failed`` with an error."""

    def __init__(self, post: Post, changed: Callable[[], Any], failed: Callable[[GemmvizError], Any]) -> None:
        self.shown: Shown | None = None
        self._changed, self._failed = changed, failed
        self._reader: Reader | None = None
        self._wanted: Setup | None = None
        self._tracer: LatestTask[Shown | KernelFault] = LatestTask(post, self._on_traced, failed)
        self._findings = BackgroundAnalysis(post, self._on_found, self._on_looked, failed)
        self._engine: Engine | None = None
        self._focus = Focus()
        self._is_taken = False

    @property
    def lanes(self) -> tuple[LatestTask[Any], ...]:
        return (self._tracer, *self._findings.lanes)

    def show(self, setup: Setup | None, engine: Engine) -> None:
        """Has this setup run by this engine, unless it has; None ends it all."""
        if setup == self._wanted and (setup is None or engine is self._engine or self._is_taken):
            return
        self._begin(setup, engine)
        if setup is not None:
            self._tracer.start(lambda cancelled: _traced(setup, engine, cancelled))

    def take(self, shown: Shown, engine: Engine) -> None:
        """This run, as it is; nothing is run for it but what is not known of it yet."""
        self._begin(shown.setup, engine)
        self._is_taken = True
        self._on_traced(shown)

    def watch(self, focus: Focus) -> None:
        """Whom to watch, as far as this run has it."""
        if focus != self._focus:
            self._focus = focus
            if self.shown is not None:
                self._read(self.shown)

    def _begin(self, setup: Setup | None, engine: Engine) -> None:
        self._wanted, self._engine, self._is_taken = setup, engine, False
        self.shown = self._reader = None
        self._tracer.cancel()
        self._findings.cancel()

    def _read(self, shown: Shown) -> None:
        """Through the focus, and with what is known of it worked out."""
        self._reader = Reader(shown.replay, self._focus.within(shown.trace))
        assert self._engine is not None
        self._findings.begin(shown, self._reader.scope, self._engine)

    def close(self) -> None:
        for lane in self.lanes:
            lane.close()

    def pair(self, now: Moment, shown: Shown, against: Against) -> Pair | None:
        """Both, this one at the left of what is ``shown``; None as long as it is not known when it is ``now`` in this one."""
        reader, other = self._reader, self.shown
        if reader is None or other is None or not all(_is_ready(each, against.lock) for each in (now, reader.at(0))):
            return None
        left, lock = moment_like(reader, now, against.lock)
        counts, speeds = (other.counts, shown.counts), (other.speed, shown.speed)
        return Pair(left, now, lock, counts, (_time_ms(speeds[0]), _time_ms(speeds[1])), _sources(*speeds), against.element)

    def _on_traced(self, shown: Shown | KernelFault) -> None:
        if isinstance(shown, KernelFault):
            self._failed(shown)
            return
        self.shown = shown
        self._read(shown)
        self._changed()

    def _on_found(self, shown: Shown) -> None:
        if self.shown is not None and self.shown.trace is shown.trace:
            watched = None if self._reader is None else self._reader.watched
            self.shown = shown
            self._reader = Reader(shown.replay, self._focus.within(shown.trace))
            self._reader.watched = watched
            self._changed()

    def _on_looked(self, look: WatchResult) -> None:
        if self._reader is not None and self._reader.scope == look.scope:
            self._reader.watched = look.watched
            self._changed()


def _is_ready(moment: Moment, lock: Lock) -> bool:
    """Whether all that a pair needs of one side has been worked out."""
    replay, scope = moment.replay, moment.scope
    return replay.knows_costs(scope) and (lock != "k" or replay.knows_terms(scope))


def _time_ms(speed: KernelSpeed | None) -> float | None:
    return None if speed is None else speed.median_ms


def _sources(left: KernelSpeed | None, right: KernelSpeed | None) -> tuple[str, str]:
    return "" if left is None else left.source, "" if right is None else right.source


def _traced(setup: Setup, engine: Engine, cancelled: Cancel) -> Shown | KernelFault:
    return ran(setup, run(setup, (0, 0, 0), engine, cancelled=cancelled))
