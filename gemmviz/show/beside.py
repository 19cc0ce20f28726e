"""The run that another one is held against: its setup has an engine run it, and what is found of it is kept up to date."""

from collections.abc import Callable
from typing import Any

from gemmviz.analysis.focus import Focus
from gemmviz.analysis.moment import Moment, Reader
from gemmviz.analysis.pairing import Lock, Pair, clock, step_like
from gemmviz.model.errors import GemmvizError, KernelFault
from gemmviz.model.setup import Setup
from gemmviz.run.engine import Cancel, Engine
from gemmviz.show.events import Post
from gemmviz.show.findings import Findings, Look, Shown, ran
from gemmviz.show.picture import run
from gemmviz.show.shot import Against
from gemmviz.show.tasks import Latest


class Beside:
    """``changed`` is called when there is another run, or more is known of it; ``failed`` with an error."""

    def __init__(self, post: Post, changed: Callable[[], Any], failed: Callable[[GemmvizError], Any]) -> None:
        self.shown: Shown | None = None
        self._changed, self._failed = changed, failed
        self._reader: Reader | None = None
        self._wanted: Setup | None = None
        self._tracer: Latest[Shown | KernelFault] = Latest(post, self._on_traced, failed)
        self._findings = Findings(post, self._on_found, self._on_looked, failed)
        self._engine: Engine | None = None

    @property
    def lanes(self) -> tuple[Latest[Any], ...]:
        return (self._tracer, *self._findings.lanes)

    def show(self, setup: Setup | None, engine: Engine) -> None:
        """Has this setup run, unless it has; None ends it all."""
        if setup == self._wanted:
            return
        self._wanted, self._engine = setup, engine
        self.shown = self._reader = None
        self._tracer.cancel()
        self._findings.cancel()
        if setup is not None:
            self._tracer.start(lambda cancelled: _traced(setup, engine, cancelled))

    def close(self) -> None:
        for lane in self.lanes:
            lane.close()

    def at(self, now: Moment, lock: Lock) -> Moment | None:
        """Its moment when it is ``now`` in the other run; None before there is one."""
        if self.shown is None or self._reader is None:
            return None
        own, other = clock(now.replay, now.scope, lock), clock(self.shown.replay, self._reader.scope, lock)
        return self._reader.at(step_like(other, own, now.step))

    def pair(self, now: Moment, shown: Shown, against: Against) -> Pair | None:
        """Both, this one at the left of what is ``shown``."""
        left = self.at(now, against.lock)
        if left is None or self.shown is None:
            return None
        counts, times = (self.shown.counts, shown.counts), (_time_ms(self.shown), _time_ms(shown))
        return Pair(left, now, against.lock, counts, times, against.element)

    def _on_traced(self, shown: Shown | KernelFault) -> None:
        if isinstance(shown, KernelFault):
            self._failed(shown)
            return
        self.shown = shown
        self._reader = Reader(shown.replay, Focus())
        assert self._engine is not None
        self._findings.begin(shown, self._reader.scope, self._engine)
        self._changed()

    def _on_found(self, shown: Shown) -> None:
        if self.shown is not None and self.shown.trace is shown.trace:
            watched = None if self._reader is None else self._reader.watched
            self.shown = shown
            self._reader = Reader(shown.replay, Focus())
            self._reader.watched = watched
            self._changed()

    def _on_looked(self, look: Look) -> None:
        if self._reader is not None:
            self._reader.watched = look.watched
            self._changed()


def _time_ms(shown: Shown) -> float | None:
    timing = None if shown.speed is None else shown.speed.measured.timing
    return None if timing is None else timing.median_ms


def _traced(setup: Setup, engine: Engine, cancelled: Cancel) -> Shown | KernelFault:
    return ran(setup, run(setup, (0, 0, 0), engine, cancelled=cancelled))
