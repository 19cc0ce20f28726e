"""What is known of one shot: its run, its counts, its device, models and recordings, each worked out when it is asked for."""

from dataclasses import replace
from functools import cached_property

from gemmviz.analysis.memory.counts import LaunchCounts
from gemmviz.analysis.models.occupancy import OccupancyLimits, occupancy_limits
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.position import step_at
from gemmviz.analysis.replay.reads import Reads, reads_at
from gemmviz.analysis.replay.replay import Replay
from gemmviz.launch.legality import device_for, launch_for
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.device import Device
from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.model.host_run import TransferCase
from gemmviz.model.kernel import Launch
from gemmviz.model.occupancy import OccupancyCase
from gemmviz.model.outcome import Outcome
from gemmviz.model.race import RaceCase
from gemmviz.model.schedule import GridCase
from gemmviz.model.setup import Setup
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.state.shot import Shot, Trial
from gemmviz.subjects.benchmarks import recorded
from gemmviz.subjects.cases import launch_counts, race_case, transfer_case
from gemmviz.subjects.picture import run, searched_blocks, with_hazards
from gemmviz.subjects.subjects import grid_case, occupancy_case


class ShotFacts:
    """Of one shot, worked out when they are asked for. Raises GemmvizError where the shot can't be run."""

    def __init__(self, shot: Shot, outcome: Outcome | None = None) -> None:
        self.shot = shot
        self._outcome = outcome

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
        return self._outcome or run(self.setup, self.shot.focus.block, Interpreter(), values=True)

    @cached_property
    def replay(self) -> Replay:
        trace = self.outcome.trace
        if trace is None:
            raise self.outcome.fault or GemmvizError("the kernel gives no trace")
        return with_hazards(Replay.of(trace), searched_blocks(trace))

    @cached_property
    def moment(self) -> Moment:
        """Where the shot is."""
        reader = Reader(self.replay, self.shot.focus)
        self.replay.terms(reader.scope)
        return reader.at(step_at(self.replay.trace, self.shot.at))

    @cached_property
    def reads(self) -> Reads:
        return reads_at(self.moment)

    @cached_property
    def counts(self) -> LaunchCounts:
        """Of the whole launch."""
        return launch_counts(self.setup)

    @cached_property
    def occupancy(self) -> OccupancyCase:
        case = occupancy_case(self.shot)
        if case is None:
            launch_for(self.setup)
            raise UsageError("there is no block to speak of")
        return case

    @property
    def limits(self) -> OccupancyLimits:
        return occupancy_limits(self.occupancy.device, self.occupancy.needs)

    @cached_property
    def grid(self) -> GridCase:
        case = grid_case(replace(self.shot, trial=Trial()))
        if case is None:
            raise UsageError("there is no launch to speak of")
        return case

    @cached_property
    def race(self) -> RaceCase:
        return race_case(self.shot)

    @cached_property
    def transfers(self) -> TransferCase:
        found = transfer_case(self.shot)
        if found is None:
            raise UsageError("nobody recorded a host's calls")
        return found

    @cached_property
    def benchmark(self) -> Benchmark:
        found = recorded()
        if not found:
            raise UsageError("nothing is recorded")
        return found.get(self.shot.chart.source) or next(iter(found.values()))
