"""Counts and timing of a whole launch by an engine."""

from msgspec import Struct

from gemmviz.analysis.memory.banks import wavefronts
from gemmviz.analysis.memory.costs import Passes
from gemmviz.analysis.memory.counts import LaunchCounter, LaunchCounts
from gemmviz.launch.legality import device_for
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.setup import Setup
from gemmviz.model.timing import KernelSpeed
from gemmviz.run.engine import Cancel, CannotAnswer, Engine, FallbackEngine
from gemmviz.run.measure.recorded import RecordedTimes


class LaunchFacts(Struct, frozen=True, eq=False):
    """Facts about a whole launch: its counts and the speed of the real kernel, None while unknown; ``no_counts`` and
    ``no_speed`` give the reason if they stay unknown. ``passed``: whether C is correct, None before a run.
    """

    setup: Setup
    counts: LaunchCounts | None = None
    no_counts: str = ""
    speed: KernelSpeed | None = None
    no_speed: str = ""
    passed: bool | None = None

    @property
    def time_ms(self) -> float | None:
        """Time of one launch in ms; None if unknown."""
        return None if self.speed is None else self.speed.median_ms

    @property
    def time_source(self) -> str:
        """Source of the time; "" if there is none."""
        return "" if self.speed is None else self.speed.source


def launch_counts(
    setup: Setup, engine: Engine, *, passes: Passes = wavefronts, cancelled: Cancel = is_cancelled
) -> LaunchCounts:
    """Counts of all accesses of a launch, from its source. ``passes``: how wavefronts are counted. Raises GemmvizError for a
    setup that can't be launched or faults.
    """
    counter = LaunchCounter(device_for(setup).rules, cancelled, passes)
    engine.count(setup, counter, cancelled=cancelled)
    return counter.counts


def launch_facts(setup: Setup, engine: Engine, cancelled: Cancel = is_cancelled) -> LaunchFacts:
    """Counts of a launch, and its speed as measured or recorded. Raises GemmvizError if it can't be counted."""
    counts = launch_counts(setup, engine, cancelled=cancelled)
    try:
        return LaunchFacts(setup, counts, speed=FallbackEngine(engine, RecordedTimes()).time(setup, cancelled=cancelled))
    except CannotAnswer as error:
        return LaunchFacts(setup, counts, no_speed=error.message)
