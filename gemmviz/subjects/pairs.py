"""Two runs for one picture, made by engines: what the window does beside itself, done at once."""

from dataclasses import dataclass

from gemmviz.analysis.memory.counts import LaunchCounter, LaunchCounts
from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.pairing import Pair, moment_like
from gemmviz.analysis.replay.position import step_at
from gemmviz.analysis.replay.replay import Replay
from gemmviz.launch.legality import device_for
from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.model.outcome import Outcome
from gemmviz.model.setup import Setup
from gemmviz.model.timing import KernelSpeed
from gemmviz.run.engine import CannotAnswer, Engine, FallbackEngine
from gemmviz.run.measure.recorded import RecordedTimes
from gemmviz.state.shot import Shot
from gemmviz.subjects.picture import run, watched_in


@dataclass(frozen=True)
class Counted:
    """A whole launch: its counts, and its speed or why nobody knows it."""

    setup: Setup
    counts: LaunchCounts
    speed: KernelSpeed | str

    @property
    def time_ms(self) -> float | None:
        return None if isinstance(self.speed, str) else self.speed.median_ms

    @property
    def source(self) -> str:
        """Where the time is from, or why there is none."""
        return self.speed if isinstance(self.speed, str) else self.speed.source


def counted_by(setup: Setup, engine: Engine) -> Counted:
    """Raises GemmvizError for a launch that can't be counted."""
    counter = LaunchCounter(device_for(setup).rules)
    engine.count(setup, counter)
    try:
        return Counted(setup, counter.counts, FallbackEngine(engine, RecordedTimes()).time(setup))
    except CannotAnswer as error:
        return Counted(setup, counter.counts, error.message)


def reader_by(setup: Setup, engine: Engine, focus: Focus) -> tuple[Reader, Outcome]:
    """Reads a run of some blocks, and watches in it whom it has. Raises GemmvizError for one without a trace."""
    outcome = run(setup, (0, 0, 0), engine, values=True)
    if outcome.trace is None:
        raise outcome.fault or GemmvizError("the kernel gives no trace")
    reader = Reader(Replay.of(outcome.trace), focus.within(outcome.trace))
    reader.watched = watched_in(Shot(setup, reader.scope.focus), outcome.trace, engine)
    reader.replay.terms(reader.scope)
    return reader, outcome


def pair_at(shot: Shot, left: Reader, right: Reader, counted: tuple[Counted, Counted]) -> Pair:
    """Both at the moment of a shot, which is the right one's. Raises UsageError for a shot that is held against nothing, or
    that marks what there is none of.
    """
    against = shot.against
    if against is None:
        raise UsageError("there is nothing to hold this against", remedy="gemmviz compare A B -o FRAME.png")
    check_marked(shot)
    now = right.at(step_at(right.replay.trace, shot.at))
    other, lock = moment_like(left, now, against.lock)
    counts, times = (counted[0].counts, counted[1].counts), (counted[0].time_ms, counted[1].time_ms)
    sources = tuple("" if each.time_ms is None else each.source for each in counted)
    return Pair(other, now, lock, counts, times, (sources[0], sources[1]), against.element)


def check_marked(shot: Shot) -> None:
    """Raises UsageError for an element that the matrices don't have."""
    element = None if shot.against is None else shot.against.element
    if element is None:
        return
    name, row, column = element
    rows, columns = shot.setup.problem.shapes[name]
    if row >= rows or column >= columns:
        sentence = f"{name} has no element [{row}, {column}]: it is {rows} × {columns}"
        raise UsageError(sentence, remedy="rows and columns count from 0")
