"""What the window asks of the engine: a traced replay for a setup, what is worked out after the picture, and the counts of the
whole launch.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.counts import LaunchCounter
from gemmviz.analysis.focus import Focus, thread_place
from gemmviz.analysis.hazards import Conflicts, Hazard, examined
from gemmviz.analysis.replay import Replay
from gemmviz.model.device import Device, load_device
from gemmviz.model.errors import GemmvizError, SettingError
from gemmviz.model.kernel import KernelSpec, Launch, Settings
from gemmviz.model.lanes import Window
from gemmviz.model.trace import Trace
from gemmviz.run.executor import affordable_window, stream_launch, trace_kernel
from gemmviz.run.watch import Watched, watch_thread
from gemmviz.source.launching import broken_limit, launch_for

TRACE_BYTES = 96 << 20
MOST_CHARTED_STEPS = 20_000
_MOST_HAZARD_ACCESSES = 4_000_000
_MOST_VALUES = 12_000_000
Cancel = Callable[[], bool]


@dataclass(frozen=True)
class Setup:
    """Everything that a person has set for a run. ``window``: the blocks to trace, None for as many as are quick."""

    spec: KernelSpec
    settings: Settings
    device_name: str
    window: Window | None = None

    @property
    def device(self) -> Device:
        return load_device(self.device_name)

    def launch(self) -> Launch:
        """Grid and block. Raises SettingError with the limit that is broken."""
        launch = launch_for(self.spec, self.settings, self.device)
        if self.window is not None:
            self.window.checked(launch)
        return launch

    def why_not(self) -> GemmvizError | None:
        """Why this can't run, or None."""
        try:
            sentence = broken_limit(self.spec, self.settings, self.device)  # without the search for what would do
            if sentence is None:
                self.launch()
        except GemmvizError as error:
            return error
        return None if sentence is None else SettingError(sentence)


def make_replay(setup: Setup, focus: Focus, cancelled: Cancel) -> Replay:
    """Traces the chosen blocks, or as many around the watched one as fit the budget."""
    window = setup.window or affordable_window(
        setup.spec, setup.settings, focus.block, device=setup.device, limit_bytes=TRACE_BYTES, cancelled=cancelled
    )
    trace = trace_kernel(
        setup.spec, setup.settings, window, device=setup.device, limit_bytes=4 * TRACE_BYTES, cancelled=cancelled
    )
    return Replay(trace, focus)


@dataclass(frozen=True)
class Look:
    """What is worked out for a focus: ``charted``: the replay's costs are ready; ``watched``: the variables of its thread."""

    replay: Replay
    charted: bool
    watched: Watched | None


def look_closer(setup: Setup, replay: Replay, cancelled: Cancel) -> Look:
    """The costs of all steps, and the variables of the followed thread (else of the first of the watched warp or block)."""
    charted = replay.steps <= MOST_CHARTED_STEPS
    if charted:
        _ = replay.so_far(0, "global")  # works out all costs here, not on the GUI thread
    if replay.trace.stop is not None:
        return Look(replay, charted, None)
    place = thread_place(replay.first_thread, replay.trace.launch)
    return Look(replay, charted, watch_thread(setup.spec, setup.settings, setup.device, replay.block, place, cancelled))


@dataclass(frozen=True)
class Details:
    """What a trace says beyond its picture: the hazards of ``searched`` blocks, and values where there is room for them."""

    trace: Trace
    hazards: list[Hazard]
    conflicts: Conflicts
    searched: int
    value: npt.NDArray[np.float32] | None


def find_details(setup: Setup, trace: Trace, cancelled: Cancel) -> Details:
    blocks = min(trace.space.blocks, max(1, _MOST_HAZARD_ACCESSES // (trace.steps * trace.space.threads)))
    finder = examined(trace, blocks, cancelled)
    value = trace.value
    if value is None and trace.element.size <= _MOST_VALUES:
        again = trace_kernel(
            setup.spec, setup.settings, trace.window, device=setup.device, values=True, origins=False, cancelled=cancelled
        )
        same = again.element.shape == trace.element.shape and np.array_equal(again.element, trace.element)
        value = again.value if same else None  # a trace from elsewhere may be of another run
    return Details(trace, finder.hazards, finder.conflicts, blocks, value)


@dataclass(frozen=True)
class Whole:
    """Counts of a whole launch."""

    trace: Trace
    counter: LaunchCounter


def count_whole(setup: Setup, trace: Trace, cancelled: Cancel) -> Whole:
    counter = LaunchCounter(cancelled)
    stream_launch(setup.spec, setup.settings, counter.sink, device=setup.device, cancelled=cancelled)
    return Whole(trace, counter)
