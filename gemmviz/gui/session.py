"""What the window asks of the engine: a traced replay for a setup, what is worked out after the picture, and the counts of the
whole launch.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.counts import LaunchCounter
from gemmviz.analysis.focus import Focus, thread_place
from gemmviz.analysis.hazards import Conflicts, Hazard, examined
from gemmviz.analysis.replay import Replay
from gemmviz.files.benchmark_file import recorded_benchmarks
from gemmviz.files.devices import load_device
from gemmviz.model.device import Device
from gemmviz.model.errors import DeviceError, GemmvizError, KernelFault, SettingError
from gemmviz.model.kernel import KernelSpec, Launch, Settings, text_hash
from gemmviz.model.lanes import Window
from gemmviz.model.timing import Measured, Timing
from gemmviz.model.trace import INTERPRETER, Trace
from gemmviz.run.executor import affordable_window, stream_launch, trace_kernel
from gemmviz.run.remote import RemoteGpu
from gemmviz.run.watch import Watched, watch_thread
from gemmviz.spec.legality import broken_limit, launch_for

TRACE_BYTES = 96 << 20
MOST_CHARTED_STEPS = 20_000
_MOST_HAZARD_ACCESSES = 4_000_000
_MOST_VALUES = 12_000_000
Cancel = Callable[[], bool]


@dataclass(frozen=True)
class Setup:
    """Everything that a person has set for a run. ``window``: the blocks to trace, None for as many as are quick;
    ``phases``: those to trace, half-open, None for all.
    """

    spec: KernelSpec
    settings: Settings
    device_name: str
    window: Window | None = None
    phases: tuple[int, int] | None = None

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


@dataclass(frozen=True)
class Run:
    """A replay; and what the GPU said where it could not give the trace, so that the interpreter did."""

    replay: Replay
    gpu_failed: GemmvizError | None = None


def make_replay(setup: Setup, focus: Focus, gpu: RemoteGpu | None, cancelled: Cancel) -> Run:
    """Traces the chosen blocks, or as many around the watched one as fit the budget: on the GPU where there is one."""
    window = setup.window or affordable_window(
        setup.spec, setup.settings, focus.block, device=setup.device, phases=setup.phases, limit_bytes=TRACE_BYTES,
        cancelled=cancelled,
    )  # fmt: skip
    failed = None
    if gpu is not None:
        try:
            trace = gpu.trace(
                setup.spec, setup.settings, window, device=setup.device_name, phases=setup.phases, limit_bytes=4 * TRACE_BYTES,
                cancelled=cancelled,
            )  # fmt: skip
            return Run(Replay(trace, focus))
        except SettingError:
            raise
        except GemmvizError as error:
            failed = error
    try:
        trace = trace_kernel(
            setup.spec, setup.settings, window, device=setup.device, phases=setup.phases, limit_bytes=4 * TRACE_BYTES,
            cancelled=cancelled,
        )  # fmt: skip
    except KernelFault as fault:
        if failed is not None and failed.message != fault.message:
            fault.message += f". On the GPU: {failed.message}"
        raise
    return Run(Replay(trace, focus), failed)


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
    return Look(
        replay,
        charted,
        watch_thread(setup.spec, setup.settings, setup.device, replay.block, place, replay.trace.phases, cancelled),
    )


@dataclass(frozen=True)
class Details:
    """What a trace says beyond its picture: the hazards of ``searched`` blocks, and values where there is room for them."""

    trace: Trace
    hazards: list[Hazard]
    conflicts: Conflicts
    searched: int
    value: npt.NDArray[np.float32] | None


def find_details(setup: Setup, trace: Trace, gpu: RemoteGpu | None, cancelled: Cancel) -> Details:
    blocks = min(trace.space.blocks, max(1, _MOST_HAZARD_ACCESSES // (trace.steps * trace.space.threads)))
    finder = examined(trace, blocks, cancelled)
    value = trace.value
    if value is None and trace.element.size <= _MOST_VALUES:
        with contextlib.suppress(GemmvizError):  # a picture without values is a picture
            again = _again(setup, trace, gpu, cancelled)
            same = again.element.shape == trace.element.shape and np.array_equal(again.element, trace.element)
            value = again.value if same else None  # a trace from elsewhere may be of another run
    return Details(trace, finder.hazards, finder.conflicts, blocks, value)


def _again(setup: Setup, trace: Trace, gpu: RemoteGpu | None, cancelled: Cancel) -> Trace:
    """The same trace with values, by whom it was recorded."""
    if gpu is not None and trace.executor != INTERPRETER:
        return gpu.trace(
            setup.spec, setup.settings, trace.window, device=setup.device_name, phases=trace.phases, values=True,
            origins=False, cancelled=cancelled,
        )  # fmt: skip
    return trace_kernel(
        setup.spec, setup.settings, trace.window, device=setup.device, phases=trace.phases, values=True, origins=False,
        cancelled=cancelled,
    )  # fmt: skip


@dataclass(frozen=True)
class Whole:
    """Counts of a whole launch."""

    trace: Trace
    counter: LaunchCounter


def count_whole(setup: Setup, trace: Trace, gpu: RemoteGpu | None, cancelled: Cancel) -> Whole:
    if gpu is not None and trace.executor != INTERPRETER:
        with contextlib.suppress(GemmvizError):  # what the GPU can't count the interpreter counts
            found = gpu.count(setup.spec, setup.settings, device=setup.device_name, cancelled=cancelled)
            return Whole(trace, LaunchCounter.of(*found))
    counter = LaunchCounter(cancelled)
    stream_launch(setup.spec, setup.settings, counter.sink, device=setup.device, cancelled=cancelled)
    return Whole(trace, counter)


@dataclass(frozen=True)
class RealKernel:
    """What is known of the real kernel of a setup: measured here, recorded elsewhere (``source`` says which), or nothing."""

    setup: Setup
    measured: Measured | None
    share_of_cublas: float | None
    source: str


def measure(setup: Setup, gpu: RemoteGpu | None, cancelled: Cancel) -> RealKernel:
    """Times the real kernel on the GPU; where there is none, looks for what was recorded."""
    if gpu is None:
        return _recorded(setup)
    device = setup.device_name
    try:
        found = gpu.time(setup.spec, setup.settings, device=device, cancelled=cancelled)
    except GemmvizError as error:
        return RealKernel(setup, None, None, str(error))
    try:
        beside: Timing | None = gpu.cublas(setup.spec, setup.settings, device=device, cancelled=cancelled)
    except DeviceError:
        beside = None
    found = replace(found, transfer=gpu.copy(setup.spec, setup.settings, device=device, cancelled=cancelled))
    share = None if beside is None or found.timing is None else beside.median_ms / found.timing.median_ms
    return RealKernel(setup, found, share, f"measured here on {gpu.gpu(cancelled).label}")


def _recorded(setup: Setup) -> RealKernel:
    source = text_hash(setup.spec.text)
    for benchmark in recorded_benchmarks():
        found = benchmark.find(source, setup.settings.parameters, setup.settings.problem)
        if found is not None and found.timing is not None:
            return RealKernel(setup, found, benchmark.share_of_cublas(found), benchmark.source)
    sizes = sorted({row.problem.N for each in recorded_benchmarks() for row in each.rows if row.source_hash == source})
    where = f"; recorded are N = {sizes[0]} to {sizes[-1]}, see Benchmark" if sizes else ""
    return RealKernel(setup, None, None, f"no time of this kernel at {setup.settings.problem}{where}")
