"""Facts about one shot: its run, counts, device, models and recordings, each computed on first use."""

from functools import cached_property
from typing import TypeVar

from gemmviz.analysis.memory.counts import LaunchCounts
from gemmviz.analysis.models.occupancy import OccupancyLimits, occupancy_limits
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.position import step_at
from gemmviz.analysis.replay.reads import Reads, reads_at
from gemmviz.analysis.replay.replay import Replay
from gemmviz.launch.legality import device_for, launch_for
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.device import Device
from gemmviz.model.errors import UsageError
from gemmviz.model.host_run import TransferCase
from gemmviz.model.kernel import Launch
from gemmviz.model.occupancy import OccupancyCase
from gemmviz.model.outcome import Outcome
from gemmviz.model.race import RaceCase
from gemmviz.model.records import replace
from gemmviz.model.schedule import GridCase
from gemmviz.model.setup import Setup
from gemmviz.run.choosing import run
from gemmviz.run.engine import Engine
from gemmviz.state.shot import Shot, Trial
from gemmviz.subjects.catalog import subject_for
from gemmviz.subjects.counting import launch_counts
from gemmviz.subjects.recordings import named, recorded
from gemmviz.subjects.runs import replay_of
from gemmviz.subjects.subject import Context

_Value = TypeVar("_Value")


class ShotFacts:
    """Facts about a shot, from a run by an engine. ``outcome``: the outcome of that run if it is finished. Each fact raises
    GemmvizError if the shot can't be run.
    """

    def __init__(self, shot: Shot, engine: Engine, outcome: Outcome | None = None) -> None:
        self.shot, self.engine = shot, engine
        self._outcome = outcome

    def about(self, shot: Shot) -> "ShotFacts":
        """Facts about another shot, from the same engine."""
        return ShotFacts(shot, self.engine)

    @property
    def compared(self) -> "ShotFacts":
        """Facts about the launch that the shot compares with: its first block, in the same focus. Raises UsageError where there
        is none.
        """
        against, focus = self.shot.against, replace(self.shot.focus, block=(0, 0, 0))
        if against is None:
            raise UsageError("the shot has no second launch to compare with", remedy="give the shot an [against]")
        return self.about(replace(self.shot, setup=against.setup, against=None, focus=focus))

    def of_kind(self, kind: type[_Value]) -> _Value:
        """The shot's value of a subject that needs no run; its measurements are the recorded ones."""
        value = subject_for(kind).make(self.shot, Context(lambda kernel: self.engine, measurements=recorded()))
        assert isinstance(value, kind)
        return value

    @property
    def setup(self) -> Setup:
        return self.shot.setup

    @property
    def device(self) -> Device:
        return device_for(self.setup)

    @cached_property
    def launch(self) -> Launch:
        return launch_for(self.setup)

    @cached_property
    def outcome(self) -> Outcome:
        return self._outcome or run(self.setup, self.shot.focus.block, self.engine, values=True)

    @cached_property
    def replay(self) -> Replay:
        return replay_of(self.outcome)

    @cached_property
    def moment(self) -> Moment:
        """The step of the shot."""
        reader = Reader(self.replay, self.shot.focus)
        self.replay.terms(reader.scope)
        return reader.at(step_at(self.replay.trace, self.shot.at))

    @cached_property
    def reads(self) -> Reads:
        return reads_at(self.moment)

    @cached_property
    def counts(self) -> LaunchCounts:
        """Counts of the whole launch."""
        return launch_counts(self.setup, self.engine)

    @cached_property
    def occupancy(self) -> OccupancyCase:
        return self.of_kind(OccupancyCase)

    @property
    def limits(self) -> OccupancyLimits:
        return occupancy_limits(self.occupancy.device, self.occupancy.needs)

    @cached_property
    def grid(self) -> GridCase:
        return self.about(replace(self.shot, trial=Trial())).of_kind(GridCase)

    @cached_property
    def race(self) -> RaceCase:
        return self.of_kind(RaceCase)

    @cached_property
    def transfers(self) -> TransferCase:
        return self.of_kind(TransferCase)

    @cached_property
    def benchmark(self) -> Benchmark:
        """The recording that the shot's chart names; the first one if it names none."""
        benchmarks, source = recorded(), self.shot.chart.source
        benchmark = benchmarks.get(source) if source else named(benchmarks, source)
        if benchmark is None:
            raise UsageError(f"there is no recording {source!r}" if source else "there is no recording")
        return benchmark
