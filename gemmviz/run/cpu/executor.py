"""The executor on the CPU: runs a setup in the interpreter and returns a checked trace."""

import contextlib
import dataclasses
import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from gemmviz.cuda.launch.launch_form import judged_check
from gemmviz.cuda.launch.legality import device_for, launch_for, other_choices, shared_limit_text
from gemmviz.cuda.program import program_for
from gemmviz.model.arrays import Ints, Longs
from gemmviz.model.kernel import Launch
from gemmviz.model.messages import GemmvizError, KernelFault, SettingError, SourceError, UsageError, listed, tr
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import AccessSink, LaunchSink
from gemmviz.model.sites import shared_bytes
from gemmviz.model.threads import BlockRange, ThreadSpace, Triple, parse_blocks, parse_phases
from gemmviz.model.trace import BOUNDS, INTERPRETER, EarlyExit, Outcome, Trace
from gemmviz.run.cpu.recorder import OriginRecorder, PhaseFilter, Recorder, StepCounter, too_large
from gemmviz.run.cpu.simt.interpret import Binding, bind, interpret
from gemmviz.run.cpu.simt.machine import NeedsValues
from gemmviz.run.data import UNCHECKED, Contents, check_result, initial_array, matrices, rounding_in
from gemmviz.run.engine import Recording, record_limit

# Memory budgets: the number of threads, blocks and matrices that fit into memory at once, estimated in advance.

_THREADS_AT_ONCE, _MOST_GROUPS = 1 << 23, 10_000
_MOST_DATA = 5 << 28  # of the matrices, and of the variables of all threads


def groups(launch: Launch, edges_differ: bool, most_threads: int) -> Iterator[BlockRange]:
    """Windows that cover the grid, none with too many threads. If the last blocks along x and y are guarded, they get windows
    of their own: the others then need no mask, and are counted once for all. Raises SettingError for too many windows.
    """
    gx, gy, gz = launch.grid
    blocks = max(1, most_threads // launch.threads_per_block)
    wide = min(gx, blocks)
    high = max(1, blocks // wide)
    number = gz * (-(-gx // wide) + edges_differ) * (-(-gy // high) + edges_differ)
    if number > _MOST_GROUPS:
        message = f"{launch.block_count:,} blocks of {launch.threads_per_block:,} threads are too many to be counted here"
        raise SettingError(message, remedy="choose smaller sizes")
    columns, rows = _cut(gx, wide, edges_differ), _cut(gy, high, edges_differ)
    return (BlockRange(x, y, (z, z + 1)) for z in range(gz) for y in rows for x in columns)


def _cut(extent: int, length: int, last_apart: bool) -> list[tuple[int, int]]:
    """Ranges of up to ``length``, with the last element in a range of its own if ``last_apart``."""
    parts = [(0, extent - 1), (extent - 1, extent)] if last_apart and extent > 1 else [(0, extent)]
    return [(start, min(stop, start + length)) for first, stop in parts for start in range(first, stop, length)]


def most_threads(binding: Binding) -> int:
    """Number of threads that fit at once, given the variables and arrays of each. Raises SettingError if not even one block
    fits.
    """
    held, block = 8 * max(1, binding.program.held), binding.launch.threads_per_block
    if held * block > _MOST_DATA:
        message = f"the {block} threads of a block would hold {held * block >> 20:,} MiB in variables and arrays of their own"
        remedy = f"at most {_MOST_DATA >> 20:,} MiB are available"
        raise SettingError(message, names=tuple(binding.setup.parameters), remedy=remedy)
    return min(_THREADS_AT_ONCE, _MOST_DATA // held)


def inputs(binding: Binding) -> dict[str, Any]:
    """The matrices with their initial contents. Raises SettingError if they are too large for memory."""
    problem, types = binding.setup.problem, binding.element_types
    shapes = binding.shapes
    size = sum(math.prod(shapes[name]) * element.bytes for name, element in types.items())
    if size > _MOST_DATA:
        message = f"{listed(shapes)} would take {size >> 20:,} MiB; the interpreter holds at most {_MOST_DATA >> 20:,} MiB"
        raise SettingError(message, names=tuple(problem.sizes), remedy="choose smaller sizes")
    return matrices(problem, shapes, types, binding.setup.filling)


_MOST_TRIED = 12
Phases = tuple[int, int] | None


def trace_kernel(
    setup: Setup,
    blocks: BlockRange | None = None,
    recording: Recording | None = None,
    *,
    budget: int | None = None,
) -> Outcome:
    """Runs the kernel in lockstep over ``blocks`` (default: those of the setup, or all if it names none) and records every
    access. A kernel that faults returns the trace up to the fault.

    Raises SourceError, SettingError or Cancelled.
    """
    recording = recording or Recording()
    binding = bound(setup)
    phases = requested_phases(binding)
    space = traced_space(binding, blocks)
    most = min(BOUNDS.threads, most_threads(binding), recording.limit_bytes // 4)
    if space.thread_count > most:
        message = f"{space.blocks.count:,} blocks have {space.thread_count:,} threads; at most {most:,} of these fit at once"
        raise SettingError(message, names=("blocks",), remedy="trace fewer blocks")
    data = inputs(binding)
    origin: dict[str, Any] = {}
    steps: int | None = None
    if recording.origins:
        origin, steps = origins_of(binding, space, phases, recording.limit_bytes, budget)
    access_bytes = 8 if recording.values else 4
    if steps is not None and steps * space.thread_count * access_bytes > recording.limit_bytes:
        raise too_large(steps, space.thread_count, access_bytes, recording.limit_bytes)
    recorder = Recorder(space, binding.arrays, recording.values, recording.limit_bytes, steps)
    sink = within(recorder, binding, phases)
    try:
        memories = interpret(binding, space, sink, data, wants_values=True, budget=budget)
    except KernelFault as fault:
        stop = EarlyExit(fault.message, fault.array, fault.elements)
        recorded = _origins_until(origin, len(recorder.step_site))
        stopped = _traced(binding, space, recorder, recorded, phases, stop) if recorder.step_site else None
        return Outcome(stopped, INTERPRETER, fault.kept())
    trace = _traced(binding, space, recorder, origin, phases, None)
    written = {name: memory.data for name, memory in memories.items()}
    try:
        return Outcome(checked(trace, binding, written), INTERPRETER)
    except KernelFault as fault:
        return Outcome(None, INTERPRETER, fault.kept())


def checked(trace: Trace, binding: Binding, data: dict[str, Any]) -> Trace:
    """The trace with the check of the outputs, flat arrays in ``data``. Raises KernelFault for a trace without accesses."""
    kernel = binding.setup.kernel
    if not trace.steps:
        raise KernelFault(tr("the kernel reads and writes nothing"), None, id="no-access").in_file(kernel.file)
    if trace.phases is not None and not any(trace.phase_loop in trace.sites[site].loops for site in set(trace.site.tolist())):
        message = f"the kernel ends before phase {trace.phases[0] + 1}"
        raise SettingError(message, names=("phases",), remedy="choose earlier phases")
    written = {name: _elements_written(trace, binding, name) for name in binding.setup.problem.output_names}
    is_all = trace.is_whole and not kernel.unfinished
    contents = contents_of(binding, data, trace.written_inputs)
    return dataclasses.replace(trace, check=judged_check(check_result(contents, written, is_all), kernel))


def contents_of(
    binding: Binding,
    data: dict[str, Any],
    changed: tuple[str, ...] = (),
) -> Contents:
    """The flat matrices ``data`` after a run, and the contents before it of outputs that held values and of the inputs that the
    run ``changed``.
    """
    problem, shapes, types = binding.setup.problem, binding.shapes, binding.element_types
    before = {
        name: initial_array(problem, name, shapes[name], types, binding.setup.filling)
        for name in (*problem.output_names, *changed)
        if problem.holds_before(name)
    }
    rounding = rounding_in(problem, types, binding.program)
    return Contents(problem, shapes, types, data, binding.setup.kernel.column_major, rounding, before)


def _elements_written(trace: Trace, binding: Binding, name: str) -> Longs:
    """The distinct elements of an array that were stored, ascending. The record may count smaller pieces than elements."""
    number = binding.number(name)
    touches = trace.touches_of(number, "write")
    written = [trace.spread(each.operand, trace.element[each.rows], slice(None)) for each in touches]
    pieces = binding.element_types[name].bytes // trace.arrays[number].itemsize
    return _distinct_blocks(np.concatenate([np.zeros(0, np.int64), *written]) // pieces)


def requested_blocks(setup: Setup, launch: Launch) -> BlockRange | None:
    """The blocks that a setup names; None if it names none. Raises SettingError for text that is not a range of blocks."""
    text = setup.blocks.replace(" ", "")
    if not text:
        return None
    if text == "all":
        return BlockRange.all(launch)
    try:
        return parse_blocks(text).checked(launch)
    except (UsageError, SettingError) as error:
        raise SettingError(error.message, names=("blocks",), remedy=error.remedy) from None


def requests_phases(setup: Setup) -> bool:
    """Whether a setup names some phases."""
    return setup.phases.replace(" ", "") not in ("", "all")


def requested_phases(binding: Binding) -> Phases:
    """The phases that a setup names, half-open and from 0; None for all. Raises SettingError if they are invalid, or if the
    kernel has no phases.
    """
    if not requests_phases(binding.setup):
        return None
    try:
        phases = parse_phases(binding.setup.phases.replace(" ", ""))
    except UsageError as error:
        raise SettingError(error.message, names=("phases",), remedy=error.remedy) from None
    why = ""
    loops = binding.program.loops
    if binding.phase_loop < 0:
        why = f"{binding.setup.kernel.name} has no phases"
    elif sum(loop.place == loops[binding.phase_loop].place for loop in loops) > 1:
        why = "the phases' loop is in a function that is called several times"
    if why:
        raise SettingError(why, names=("phases",), remedy="leave the phases open")
    return phases


def within(sink: AccessSink, binding: Binding, phases: Phases) -> AccessSink:
    """``sink``, or a sink that passes on to it only the accesses in these phases."""
    return sink if phases is None else PhaseFilter(sink, binding.phase_loop, phases)


def _traced(
    binding: Binding, space: ThreadSpace, recorder: Recorder, origin: dict[str, Any], phases: Phases, stop: EarlyExit | None
) -> Trace:
    return Trace(
        setup=binding.setup, launch=space.launch, blocks=space.blocks, rules=device_for(binding.setup).rules,
        arrays=binding.arrays, sites=tuple(recorder.sites), loops=binding.loops, site=_frozen(recorder.step_site),
        visits=recorder.visit_table(), epoch=_frozen(recorder.epoch), element=recorder.element.finished(),
        value=recorder.values.finished() if recorder.values else None, check=UNCHECKED,
        completes=recorder.completes(), notes=binding.program.notes,
        phases=phases, stop=stop, stored=recorder.stored, **origin,
    )  # fmt: skip


def stream_launch(setup: Setup, counter: LaunchSink) -> None:
    """Streams the accesses of the whole launch through sinks, a group of blocks at a time, without storing any.

    Raises the errors of ``trace_kernel``, and KernelFault.
    """
    binding, warp_size = bound(setup), device_for(setup).rules.warp_size
    data, edges_differ = None, False
    try:
        edges_differ = _edges_differ(binding, warp_size)
    except NeedsValues:
        data = inputs(binding)
    for blocks in groups(binding.launch, edges_differ, most_threads(binding)):
        space = ThreadSpace(binding.launch, blocks, warp_size)
        sink = counter.sink(space, binding.arrays, binding.phase_loop)
        interpret(binding, space, sink, data)


def blocks_to_trace(setup: Setup, around: Triple = (0, 0, 0), *, limit_bytes: int, most_bytes: int) -> BlockRange:
    """The blocks that a setup names, or a square window around ``around`` as large as fits a trace of ``limit_bytes``: all
    blocks, if possible.

    One block is run without recording to count the steps. Raises SettingError for blocks whose trace would take more than
    ``most_bytes``, or has too many threads to be shown.
    """
    binding = bound(setup)
    launch = binding.launch
    requested = requested_blocks(setup, launch)
    x, y, z = (min(at, extent - 1) for at, extent in zip(around, launch.grid, strict=True))
    one = BlockRange((x, x + 1), (y, y + 1), (z, z + 1))
    try:
        steps = _steps_run(binding, one)
    except KernelFault:
        return requested or one  # the trace of this block will show the fault
    bytes_per_block = 4 * launch.threads_per_block * max(1, steps)
    if requested is not None:
        if requested.count * bytes_per_block > most_bytes:
            raise _too_many(requested, bytes_per_block, most_bytes)
        if requested.count * launch.threads_per_block > BOUNDS.threads:
            message = f"the {requested.count:,} blocks have {requested.count * launch.threads_per_block:,} threads"
            raise SettingError(
                f"{message}; at most {BOUNDS.threads:,} are traced", names=("blocks",), remedy="name fewer blocks"
            )
        return requested
    blocks = min(limit_bytes // bytes_per_block, min(BOUNDS.threads, most_threads(binding)) // launch.threads_per_block)
    if blocks >= launch.block_count:
        return BlockRange.all(launch)
    wide = max(1, min(launch.grid[0], int(blocks**0.5)))
    high = max(1, min(launch.grid[1], blocks // wide))
    return BlockRange(_range_around(x, wide, launch.grid[0]), _range_around(y, high, launch.grid[1]), (z, z + 1))


def _steps_run(binding: Binding, blocks: BlockRange) -> int:
    """Number of steps of some blocks. Raises KernelFault."""
    counter, phases = StepCounter(), requested_phases(binding)
    space = ThreadSpace(binding.launch, blocks, device_for(binding.setup).rules.warp_size)
    try:
        interpret(binding, space, within(counter, binding, phases), None)
    except NeedsValues:
        counter = StepCounter()
        interpret(binding, space, within(counter, binding, phases), inputs(binding))
    return counter.steps


def _too_many(requested: BlockRange, bytes_per_block: int, most_bytes: int) -> SettingError:
    needed, most = requested.count * bytes_per_block >> 20, max(1, most_bytes // bytes_per_block)
    return SettingError(
        f"the trace of {requested.count} blocks would take {needed:,} MiB; {most_bytes >> 20:,} MiB hold at most {most}",
        names=("blocks",), remedy="name fewer (--blocks 0:2,0:2), choose some phases (--phases 1-2), or name no blocks",
    )  # fmt: skip


def _range_around(at: int, length: int, extent: int) -> tuple[int, int]:
    start = max(0, min(at - length // 2, extent - length))
    return start, start + length


def bound(setup: Setup) -> Binding:
    """The kernel, parsed and bound to its arguments. Raises SourceError, or SettingError for a launch that isn't possible."""
    kernel, launch, device = setup.kernel, launch_for(setup), device_for(setup)
    try:
        binding = bind(setup, launch, program_for(kernel, setup.definitions))
    except RecursionError:
        raise GemmvizError("the kernel's expressions are nested too deeply", file=kernel.file) from None
    passed = {name for name, _ in binding.matrices}
    for array in setup.problem.arrays:
        if array.name not in passed:
            why = f"the result is checked against {listed(_input_names(setup.problem))}"
            raise SourceError(f"the launch must pass {array.name}: {why}", file=kernel.file)
    declared = shared_bytes(binding.arrays)
    if declared > device.shared_limit(binding.setup.kernel.opts_in_to_shared and binding.launch.shared_bytes > 0):
        raise SettingError(
            f"the kernel has {declared} bytes of shared memory in a block; {shared_limit_text(kernel, device)}",
            names=(*setup.parameters, "device"), remedy="choose smaller tiles", nearest=_nearest_that_fits(setup),
            id="shared-memory",
        )  # fmt: skip
    return binding


def _input_names(problem: Problem) -> list[str]:
    return [array.name for array in problem.arrays if array.role == "input"]


def _nearest_that_fits(setup: Setup) -> dict[str, int]:
    """The nearest value of another parameter with which the shared arrays fit the device, among the first candidates."""
    for name, value, changed in islice(other_choices(setup), _MOST_TRIED):
        with contextlib.suppress(GemmvizError):  # an error of a candidate is not the user's
            program = program_for(changed.kernel, changed.definitions)
            if shared_bytes(bind(changed, launch_for(changed), program).arrays) <= device_for(setup).shared_per_block:
                return {name: value}
    return {}


def _edges_differ(binding: Binding, warp_size: int) -> bool:
    """Whether the last block of the grid runs anything under a mask."""
    gx, gy, gz = binding.launch.grid
    last = ThreadSpace(binding.launch, BlockRange((gx - 1, gx), (gy - 1, gy), (gz - 1, gz)), warp_size)
    counter = StepCounter()
    interpret(binding, last, counter, None)
    return counter.masked


def _distinct_blocks(elements: Ints | Longs) -> Longs:
    """The distinct numbers, ascending, like np.unique, which would load numpy.ma."""
    ordered = np.sort(elements).astype(np.int64)
    return ordered[np.diff(ordered, prepend=-1) > 0]


def traced_space(binding: Binding, blocks: BlockRange | None) -> ThreadSpace:
    """The threads of ``blocks``; by default of the blocks that the setup names, or of all."""
    setup, launch = binding.setup, binding.launch
    blocks = (blocks or requested_blocks(setup, launch) or BlockRange.all(launch)).checked(launch)
    return ThreadSpace(launch, blocks, device_for(setup).rules.warp_size)


def origins(setup: Setup, blocks: BlockRange | None) -> dict[str, Any]:
    """Origins of the values that stores write into shared memory, as the fields of a Trace, for a run on another engine."""
    binding = bound(setup)
    return origins_of(binding, traced_space(binding, blocks), requested_phases(binding), record_limit())[0]


def origins_of(
    binding: Binding,
    space: ThreadSpace,
    phases: Phases,
    limit_bytes: int,
    budget: int | None = None,
) -> tuple[dict[str, Any], int | None]:
    """Origins of the values that stores write into shared memory, from a run on tags, and the number of steps that it reached;
    empty if tags don't suffice.
    """
    recorder = OriginRecorder(space, limit_bytes)
    try:
        interpret(binding, space, within(recorder, binding, phases), None, budget=budget)
    except NeedsValues:
        return {}, None
    except KernelFault:
        pass  # the run on values ends at the same place and gives the reason
    origin = {
        "origin_step": _frozen(recorder.stores),
        "origin_array": recorder.arrays.finished(),
        "origin": recorder.elements.finished(),
    }
    return origin, recorder.steps


def _origins_until(origin: dict[str, Any], steps: int) -> dict[str, Any]:
    """Origins of the values stored in the first ``steps`` steps. A run on tags may go further than one on values, which finds
    faults.
    """
    stores = int(np.searchsorted(origin["origin_step"], steps)) if origin else 0
    return {name: rows[:stores] for name, rows in origin.items()}


def _frozen(numbers: list[int]) -> Ints:
    array = np.asarray(numbers, np.int32)
    array.flags.writeable = False
    return array
