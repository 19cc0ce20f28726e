"""What the window asks of the engine: a traced replay for settings, and the counts of the whole launch."""

from collections.abc import Callable
from dataclasses import dataclass

from gemmviz.analysis.counts import LaunchCounter
from gemmviz.analysis.hazards import Hazard, find_hazards
from gemmviz.analysis.replay import Replay
from gemmviz.model.kernel import KernelSpec, Settings
from gemmviz.model.lanes import LaneSpace
from gemmviz.model.trace import Trace
from gemmviz.run.executor import affordable_window, stream_launch, trace_kernel
from gemmviz.run.simt.interpreter import Binding

TRACE_BYTES = 96 << 20
MOST_CHARTED_STEPS = 20_000
_MOST_HAZARD_ACCESSES = 4_000_000
Cancel = Callable[[], bool]


@dataclass(frozen=True)
class Watched:
    """The block and warp that the person watches."""

    block: tuple[int, int, int]
    warp: int | None


def make_replay(spec: KernelSpec, settings: Settings, watched: Watched, cancelled: Cancel) -> Replay:
    """Traces as many blocks around the watched one as fit the budget."""
    window = affordable_window(spec, settings, watched.block, limit_bytes=TRACE_BYTES, cancelled=cancelled)
    trace = trace_kernel(spec, settings, window, cancelled=cancelled)
    replay = Replay(trace, watched.block, watched.warp)
    if replay.steps <= MOST_CHARTED_STEPS:
        _ = replay.costs  # worked out here, not on the GUI thread
    return replay


@dataclass(frozen=True)
class Whole:
    """Counts of a whole launch, and the hazards of the traced blocks."""

    trace: Trace
    counter: LaunchCounter
    hazards: list[Hazard]


def count_whole(spec: KernelSpec, settings: Settings, replay: Replay, cancelled: Cancel) -> Whole:
    counters: list[LaunchCounter] = []

    def sink(space: LaneSpace, binding: Binding) -> object:
        if not counters:
            counters.append(LaunchCounter(binding.arrays, binding.phase_loop, cancelled))
        return counters[0].group(space)

    stream_launch(spec, settings, sink, cancelled=cancelled)  # type: ignore[arg-type]
    small = replay.trace.element.size <= _MOST_HAZARD_ACCESSES
    return Whole(replay.trace, counters[0], find_hazards(replay.trace) if small else [])
