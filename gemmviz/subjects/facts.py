"""Facts about one shot: its run, counts, device, models and recordings, each computed on first use."""

from functools import cached_property
from typing import TypeVar

from gemmviz.analysis.hazards.ordering import ordering_of
from gemmviz.analysis.memory.counts import LaunchCounts
from gemmviz.analysis.models.occupancy import SHARED, WARPS, OccupancyLimits, occupancy_limits
from gemmviz.analysis.replay.focus import step_at
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.reads import Reads, reads_at
from gemmviz.analysis.replay.replay import Replay
from gemmviz.files.recordings import recordings
from gemmviz.launch.legality import device_for, launch_for
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.cases import BlockPhase
from gemmviz.model.device import Device, OccupancyCase
from gemmviz.model.errors import GemmvizError, Place, UsageError
from gemmviz.model.host_run import TransferCase
from gemmviz.model.kernel import Launch
from gemmviz.model.outcome import Outcome
from gemmviz.model.race import RaceCase
from gemmviz.model.recording import recording_of, row_of
from gemmviz.model.records import replace
from gemmviz.model.schedule import GridCase
from gemmviz.model.setup import Setup
from gemmviz.model.sites import Site, shared_bytes
from gemmviz.model.speed_case import DRAM, MOVED, REQUESTED, Traffic
from gemmviz.model.timing import Levels
from gemmviz.model.translation import tr
from gemmviz.run.choosing import run
from gemmviz.run.engine import Engine
from gemmviz.run.needs import needs_of
from gemmviz.state.shot import Shot, Trial
from gemmviz.subjects.catalog import subject_for
from gemmviz.subjects.recordings import named, recorded
from gemmviz.subjects.runs import replay_of
from gemmviz.subjects.subject import Context, launch_counts

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


# A run of a kernel without its barriers in one line, as the kinds of hazards that this brings about.


def hazards_without_barrier(setup: Setup, sites: tuple[Site, ...], line: int, engine: Engine) -> tuple[str, ...]:
    """The kinds of hazards, sorted, in a launch without the barriers among ``sites`` that are in ``line``. Raises UsageError if
    there are none, and as ``Engine.trace`` does.
    """
    places = {site.place for site in sites if site.is_barrier and site.place.line == line}
    if not places:
        raise UsageError(tr("line {line} has no barrier", line=line))
    kernel = replace(setup.kernel, text=_without(setup.kernel.text, places), is_shipped=False)
    outcome = run(replace(setup, kernel=kernel), (0, 0, 0), engine)
    if outcome.fault is not None or outcome.trace is None:
        raise outcome.fault or GemmvizError(tr("the kernel produced no trace"))
    return tuple(sorted({hazard.kind.replace(" ", "-") for hazard in ordering_of(outcome.trace).hazards}))


def _without(text: str, places: set[Place]) -> str:
    """The text with spaces in some places, each within one line."""
    lines = text.split("\n")
    for place in places:
        line, last = lines[place.line - 1], place.end_column - 1
        if place.end_line != place.line:
            raise UsageError(tr("the barrier in line {line} is longer than a line", line=place.line))
        lines[place.line - 1] = line[: place.column - 1] + " " * (last - place.column + 1) + line[last:]
    return "\n".join(lines)


# Bytes that a launch moves at each level of memory.


def traffic_of(setup: Setup, counts: LaunchCounts) -> tuple[Traffic, ...]:
    """Bytes at each level of memory; DRAM only if a profiler recorded exactly this launch."""
    total, counted = counts.total("global"), tr("counted from the source as written")
    levels = [
        Traffic(REQUESTED, total.bytes_asked, counted),
        Traffic(MOVED, total.bytes_moved(counts.rules), counted),
    ]
    recorded = recording_of(device_for(setup), recordings("levels", Levels))
    if recorded is not None and (row := row_of(setup, recorded.rows)) is not None:
        both = row.counters["dram_bytes_read"] + row.counters["dram_bytes_written"]
        levels.append(Traffic(DRAM, both, recorded.source, is_dram=True))
    return tuple(levels)


# The phases of a tiled multiplication that are all alike, and what a block does in one of them.


def equal_phases(setup: Setup) -> int:
    """Number of phases of a kernel whose square tiles divide all sizes. Raises UsageError for others."""
    width = setup.parameters.get("TILE_WIDTH", 0) if len(setup.parameters) == 1 else 0
    if not setup.problem.is_multiply or not width or any(size % width for size in setup.problem.sizes.values()):
        raise UsageError(
            tr("the phases of this launch are not known to be alike"), remedy=tr("use a quantity of the whole launch")
        )
    return setup.problem.K // width


def loads_per_phase(setup: Setup, counts: LaunchCounts) -> int:
    """Elements that a block reads from global memory in one phase. Raises UsageError unless all phases are alike."""
    return counts.elements("global", "read") // launch_for(setup).block_count // equal_phases(setup)


def operations_per_phase(setup: Setup) -> int:
    """Multiplications and additions of a block in one phase. Raises UsageError unless all phases are alike."""
    phases = equal_phases(setup)
    return (setup.problem.flops or 0) // launch_for(setup).block_count // phases


def block_phase(setup: Setup, counts: LaunchCounts, what: str) -> BlockPhase:
    """One phase of one block. Raises UsageError for a kernel without tiles that one phase fills, or with unequal phases."""
    tiles = tuple((array.name, *array.extents) for array in counts.arrays if array.space == "shared")
    if not tiles or any(len(tile) != 3 for tile in tiles):
        raise UsageError(tr("this kernel has no two-dimensional tiles in shared memory"))
    device, launch, taken = device_for(setup), launch_for(setup), shared_bytes(counts.arrays)
    found = occupancy_limits(device, needs_of(setup)[0])
    fitting = {"shared memory": found.limits[SHARED] or 0, "threads": found.limits[WARPS] or 0}
    (whole, _) = found.uses[SHARED] or (taken, 0)
    matrices = tuple(_loaded_from(counts, name) for name, _, _ in tiles)
    loads, operations = loads_per_phase(setup, counts), operations_per_phase(setup)
    if sum(rows * columns for _, rows, columns in tiles) != loads:
        raise UsageError(tr("the tiles of this kernel have other cells than those that one phase loads"))
    return BlockPhase(what, device, launch.block[:2], tiles, matrices, loads, operations, taken, whole, fitting)


def _loaded_from(counts: LaunchCounts, tile: str) -> str:
    """Name of the global array that is read on the line that writes a tile; "" if there is none, or several."""
    accesses = [(site.place.line, operand.access, counts.arrays[operand.array]) for site, operand in counts.accesses]
    written = {line for line, access, array in accesses if access == "write" and array.name == tile}
    read = {array.name for line, access, array in accesses if line in written and access == "read" and array.space == "global"}
    return read.pop() if len(read) == 1 else ""
