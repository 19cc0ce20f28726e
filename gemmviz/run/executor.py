"""From a kernel and its settings to a checked trace, on the CPU."""

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from gemmviz.files.devices import load_device
from gemmviz.model.device import Device
from gemmviz.model.errors import GemmvizError, KernelFault, SettingError, SourceError
from gemmviz.model.kernel import KernelSpec, Launch, Settings
from gemmviz.model.lanes import LaneSpace, Window
from gemmviz.model.trace import AccessSink, Check, Ints, MemoryArray, Stop, Trace
from gemmviz.run.check import check_result
from gemmviz.run.inputs import matrices
from gemmviz.run.recorder import DEFAULT_BYTES, OriginRecorder, PhaseFilter, Recorder, StepCounter
from gemmviz.run.simt.interpreter import Binding, bind, interpret, never
from gemmviz.run.simt.machine import NeedsValues
from gemmviz.run.simt.symbolic import tag_array, tag_element
from gemmviz.source.program import program_for
from gemmviz.spec.legality import launch_for, other_choices

_LANES_AT_ONCE = 1 << 21
_MOST_TRIED = 12
UNCHECKED = Check(0, 0, 0, 0.0, 0.0, (0, 0))
Phases = tuple[int, int] | None
SinkFor = Callable[[LaneSpace, tuple[MemoryArray, ...], int], AccessSink]


def trace_kernel(
    spec: KernelSpec,
    settings: Settings,
    window: Window | None = None,
    *,
    device: Device | None = None,
    phases: Phases = None,
    values: bool = False,
    origins: bool = True,
    budget: int | None = None,
    limit_bytes: int = DEFAULT_BYTES,
    cancelled: Callable[[], bool] = never,
) -> Trace:
    """Runs the kernel in lockstep over ``window`` (default: all blocks) and records every access.

    ``phases``: the trips of the phase loop that are recorded (default: all), with what is outside of it. ``values`` also
    records what was read and written, ``origins`` what the cells of shared tiles are copies of. Raises SourceError,
    SettingError, KernelFault or Cancelled.
    """
    device = device or load_device()
    launch = launch_for(spec, settings, device)
    window = (window or Window.whole(launch)).checked(launch)
    binding = bound(spec, settings, launch, device)
    space = LaneSpace(launch, window, device.warp_size)
    data = matrices(settings.problem, {name: str(s.dtype) for name, s in binding.matrices}, settings.filling, cancelled)
    phases = checked_phases(binding, phases)
    origin, steps = origins_of(binding, space, phases, budget, cancelled) if origins else ({}, None)
    recorder = Recorder(space, values, limit_bytes, steps)
    sink = within(recorder, binding, phases)
    try:
        memories = interpret(binding, space, sink, data, wants_values=values, budget=budget, cancelled=cancelled)
    except KernelFault as fault:
        if recorder.step_site:  # else it ended before its first access
            stop = Stop(fault.message, fault.array, fault.elements)
            fault.trace = _trace(binding, space, recorder, origin, phases, stop)
        raise
    trace = _trace(binding, space, recorder, origin, phases, None)
    return checked(trace, binding, {name: memory.data for name, memory in memories.items()}, cancelled)


def checked(trace: Trace, binding: Binding, data: dict[str, Any], cancelled: Callable[[], bool] = never) -> Trace:
    """The trace with what the flat matrices in ``data`` say about C. Raises KernelFault for a trace without any access."""
    spec = binding.spec
    if not trace.steps:
        raise KernelFault("the kernel reads and writes nothing", None).in_file(spec.file)
    if trace.phases is not None and not any(trace.phase_loop in trace.sites[site].loops for site in set(trace.site.tolist())):
        raise SettingError(f"the kernel ends before phase {trace.phases[0] + 1}", remedy="choose earlier phases")
    sites = trace.sites
    stores = np.flatnonzero([s.kind == "store" and s.array == binding.number("C") for s in sites])
    written = _stored_elements(trace.element[np.isin(trace.site, stores)], {sites[i].width for i in stores.tolist()})
    whole = trace.window == Window.whole(trace.launch) and trace.phases is None
    check = check_result(trace.settings.problem, data, spec.column_major, written, whole, cancelled)
    return replace(trace, check=check)


def checked_phases(binding: Binding, phases: Phases) -> Phases:
    """These phases. Raises SettingError where they are none, or the kernel has no phases."""
    if phases is None:
        return None
    if binding.phase_loop < 0:
        raise SettingError(f"{binding.spec.name} has no phases to choose from", remedy="leave the phases open")
    loops = binding.program.loops
    if sum(loop.start == loops[binding.phase_loop].start for loop in loops) > 1:
        raise SettingError("the phases' loop is in a function that is called several times", remedy="leave the phases open")
    start, stop = phases
    if not 0 <= start < stop:
        raise SettingError(f"phases {start + 1} to {stop} are none")
    return phases


def within(sink: AccessSink, binding: Binding, phases: Phases) -> AccessSink:
    """``sink``, or one that passes on to it what happens in these phases."""
    return sink if phases is None else PhaseFilter(sink, binding.phase_loop, phases)


def _trace(
    binding: Binding, space: LaneSpace, recorder: Recorder, origin: dict[str, Any], phases: Phases, stop: Stop | None
) -> Trace:
    spec = binding.spec
    return Trace(
        kernel=spec.name, file=spec.file, source=spec.text, settings=binding.settings, launch=space.launch, window=space.window,
        warp_size=space.warp_size, arrays=binding.arrays, sites=tuple(recorder.sites), loops=binding.loops,
        site=_frozen(recorder.step_site), visits=recorder.visit_table(), epoch=_frozen(recorder.epoch),
        element=recorder.element.finished(), value=recorder.values.finished() if recorder.values else None, check=UNCHECKED,
        notes=binding.program.notes, phases=phases, stop=stop, **origin,
    )  # fmt: skip


def stream_launch(
    spec: KernelSpec,
    settings: Settings,
    sink_for: SinkFor,
    *,
    device: Device | None = None,
    budget: int | None = None,
    cancelled: Callable[[], bool] = never,
) -> None:
    """Streams the accesses of the whole launch through sinks, a group of blocks at a time, without keeping any.

    ``sink_for`` gives the sink of one group from its lanes, the arrays and the loop whose trips are the phases. Raises as
    ``trace_kernel`` does.
    """
    device = device or load_device()
    launch = launch_for(spec, settings, device)
    binding = bound(spec, settings, launch, device)
    data, edges_differ = None, False
    try:
        edges_differ = _edges_differ(binding, launch, device, cancelled)
    except NeedsValues:
        data = matrices(settings.problem, {name: str(s.dtype) for name, s in binding.matrices}, settings.filling, cancelled)
    for window in _groups(launch, edges_differ):
        space = LaneSpace(launch, window, device.warp_size)
        interpret(binding, space, sink_for(space, binding.arrays, binding.phase_loop), data, budget=budget, cancelled=cancelled)


def affordable_window(
    spec: KernelSpec,
    settings: Settings,
    around: tuple[int, int, int] = (0, 0, 0),
    *,
    device: Device | None = None,
    phases: Phases = None,
    limit_bytes: int,
    cancelled: Callable[[], bool] = never,
) -> Window:
    """The blocks around ``around`` whose trace fits ``limit_bytes``: all of them, or as square a window as that allows.

    One block is run without recording to learn how many steps there are.
    """
    device = device or load_device()
    launch = launch_for(spec, settings, device)
    x, y, z = (min(at, extent - 1) for at, extent in zip(around, launch.grid, strict=True))
    one = Window((x, x + 1), (y, y + 1), (z, z + 1))
    binding = bound(spec, settings, launch, device)
    counter = StepCounter()
    try:
        space = LaneSpace(launch, one, device.warp_size)
        interpret(binding, space, within(counter, binding, phases), None, cancelled=cancelled)
    except (NeedsValues, KernelFault):
        return one  # a fault is found again, and shown, when this block is traced
    blocks = limit_bytes // (4 * launch.threads * max(1, counter.steps))
    if blocks >= launch.blocks:
        return Window.whole(launch)
    wide = max(1, min(launch.grid[0], int(blocks**0.5)))
    high = max(1, min(launch.grid[1], blocks // wide))
    return Window(_range_around(x, wide, launch.grid[0]), _range_around(y, high, launch.grid[1]), (z, z + 1))


def _range_around(at: int, length: int, extent: int) -> tuple[int, int]:
    start = max(0, min(at - length // 2, extent - length))
    return start, start + length


def bound(spec: KernelSpec, settings: Settings, launch: Launch, device: Device) -> Binding:
    """The kernel read and matched with its arguments. Raises SourceError, or SettingError for too much shared memory."""
    try:
        binding = bind(spec, settings, program_for(spec, settings.parameters), launch.shared_bytes)
    except RecursionError:
        raise GemmvizError("the kernel's expressions are nested too deeply", file=spec.file) from None
    for name in settings.problem.shapes:
        if name not in [matrix for matrix, _ in binding.matrices]:
            raise SourceError(f"the header's args must pass {name}: the result is checked against A and B", file=spec.file)
    if _shared_bytes(binding) > device.shared_per_block:
        raise SettingError(
            f"the kernel declares {_shared_bytes(binding)} bytes of shared memory; {device.name} allows "
            f"{device.shared_per_block} a block",
            remedy="choose smaller tiles",
            nearest=_nearest_that_fits(spec, settings, device),
        )
    return binding


def _shared_bytes(binding: Binding) -> int:
    return sum(array.size * array.itemsize for array in binding.arrays if array.space == "shared")


def _nearest_that_fits(spec: KernelSpec, settings: Settings, device: Device) -> dict[str, int]:
    """The nearest other parameter whose shared arrays the device can hold, among the first few."""
    for name, value, changed in islice(other_choices(spec, settings, device), _MOST_TRIED):
        launch = launch_for(spec, changed, device)
        if (
            _shared_bytes(bind(spec, changed, program_for(spec, changed.parameters), launch.shared_bytes))
            <= device.shared_per_block
        ):
            return {name: value}
    return {}


def _groups(launch: Launch, edges_differ: bool) -> list[Window]:
    """Windows that cover the grid, none with too many lanes. Where the last blocks along x and y are guarded, they go apart:
    what all other blocks do then needs no mask, and is counted once for all of them.
    """
    gx, gy, gz = launch.grid
    columns = [(0, gx - 1), (gx - 1, gx)] if edges_differ and gx > 1 else [(0, gx)]
    bands = [(0, gy - 1), (gy - 1, gy)] if edges_differ and gy > 1 else [(0, gy)]
    rows = max(1, _LANES_AT_ONCE // (launch.threads * gx))
    cut = [(y, min(stop, y + rows)) for start, stop in bands for y in range(start, stop, rows)]
    return [Window(x, y, (z, z + 1)) for z in range(gz) for y in cut for x in columns]


def _edges_differ(binding: Binding, launch: Launch, device: Device, cancelled: Callable[[], bool]) -> bool:
    """Whether the last block of the grid runs anything under a mask."""
    gx, gy, gz = launch.grid
    last = LaneSpace(launch, Window((gx - 1, gx), (gy - 1, gy), (gz - 1, gz)), device.warp_size)
    counter = StepCounter()
    interpret(binding, last, counter, None, cancelled=cancelled)
    return counter.masked


def _stored_elements(element: Ints, widths: set[int]) -> Any:
    """The distinct elements of C that the stores wrote, ascending."""
    first = np.sort(element[element >= 0]).astype(np.int64)
    first = first[np.diff(first, prepend=-1) > 0]
    width = max(widths, default=1)
    return np.unique((first[:, None] + np.arange(width)).ravel()) if width > 1 else first


def origins_of(
    binding: Binding, space: LaneSpace, phases: Phases, budget: int | None = None, cancelled: Callable[[], bool] = never
) -> tuple[dict[str, Any], int | None]:
    """What each store into shared memory wrote, from a run by tags, and how many steps that took; nothing where tags don't
    suffice.
    """
    recorder = OriginRecorder(space)
    try:
        interpret(binding, space, within(recorder, binding, phases), None, budget=budget, cancelled=cancelled)
    except NeedsValues:
        return {}, None
    except KernelFault:
        pass  # the run with values ends there too, and tells
    tags = recorder.tags.finished()
    origin = {
        "origin_step": _frozen(recorder.stores),
        "origin_array": tag_array(tags).astype(np.int8),
        "origin": tag_element(tags).astype(np.int32),
    }
    return origin, recorder.steps


def _frozen(numbers: list[int]) -> Ints:
    array = np.asarray(numbers, np.int32)
    array.flags.writeable = False
    return array
