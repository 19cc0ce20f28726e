"""Quantities of the launch: its problem, its kernel, grid and block, and how multiprocessors hold its blocks."""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from gemmviz.analysis.listing import compared, listing_of
from gemmviz.analysis.models import DONE, RUNNING, WAITING, hiding_of, states, waves
from gemmviz.analysis.replay.focus import block_place, thread_number, thread_text
from gemmviz.cuda.launch.catalog import lesson_kernel_names, load_kernel
from gemmviz.cuda.launch.legality import can_run, launch_for, requested_launch
from gemmviz.model.cases import TF32_TILE, BlockPhase
from gemmviz.model.device import Device, MemoryRules
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import GemmvizError, UsageError, closest, listed, marked, tr
from gemmviz.model.outline import COMMENT
from gemmviz.model.records import fields
from gemmviz.model.sites import shared_bytes
from gemmviz.model.threads import strips_of
from gemmviz.model.timing import GridCase, Schedule
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.subject import value_of
from gemmviz.teaching.quantities.quantity import QuantityValue, Whole, quantity

# Checks of a shipped kernel that is unfinished: its text is the beginning of the whole kernel of its name.


def piece_errors(kernel: KernelSpec) -> Iterator[GemmvizError]:
    """The first line in which an unfinished kernel differs from the whole one; nothing for any other kernel."""
    if not (kernel.unfinished and kernel.is_shipped):
        return
    own, whole = kernel_lines(kernel), kernel_lines(load_kernel(kernel.function))
    for number, line in enumerate(own):
        if number >= len(whole) or line != whole[number]:
            yield GemmvizError(
                f"{kernel.name} has the line {line!r}, which {kernel.function} hasn't there",
                remedy="a piece is the beginning of the whole kernel, and closes its braces",
            )
            return


def kernel_lines(kernel: KernelSpec) -> list[str]:
    """The lines of a kernel without comments, spaces at the ends and the braces that close it."""
    lines = [line.strip() for line in COMMENT.sub("", kernel.text).split("\n") if line.strip()]
    while lines and lines[-1] == "}":
        lines.pop()
    return lines


_LARGEST_TRIED = 1 << 12


@quantity("{name}", origin="definition")
def problem_size(facts: Knowledge, name: str) -> int:
    """A size of the problem: rows of A (M), columns of B (N) or the common dimension (K) of a multiplication."""
    sizes = facts.setup.problem.sizes
    if name not in sizes:
        raise UsageError(
            tr("the problem has no size {name}", name=name),
            remedy=closest(name, sizes) or tr("it has {sizes}", sizes=", ".join(sizes)),
        )
    return sizes[name]


@quantity("{name}", origin="definition")
def parameter(facts: Knowledge, name: str) -> int:
    """The value of one of the kernel's parameters, such as the width of its tiles."""
    values = facts.setup.parameters
    if name not in values:
        remedy = closest(name, values) or (tr("it has {values}", values=", ".join(values)) if values else None)
        raise UsageError(tr("{kernel} has no parameter {name}", kernel=facts.setup.kernel.name, name=name), remedy=remedy)
    return int(values[name])


@quantity(marked("{part} in focus"), origin="definition")
def focus(facts: Knowledge, part: Literal["block", "thread"]) -> str:
    """``blockIdx`` or ``threadIdx`` of what the shot shows, as ``"(1, 0)"``; the first of its threads if it shows several."""
    if part == "block":
        return block_place(facts.shot.focus.block, facts.launch)
    return thread_text(facts.shot.focus.thread or 0, facts.launch)


@quantity("blocks", origin="definition")
def block_count(facts: Knowledge) -> int:
    """Blocks of the grid."""
    return facts.launch.block_count


@quantity(marked("threads per block"), origin="definition")
def threads_per_block(facts: Knowledge) -> int:
    """Threads of one block."""
    return facts.launch.threads_per_block


@quantity("threads", origin="definition")
def thread_count(facts: Knowledge) -> int:
    """Threads of the whole grid."""
    return facts.launch.threads_per_block * facts.launch.block_count


@quantity(marked("warps per block"), origin="definition")
def warps_per_block(facts: Knowledge) -> int:
    """Warps of one block, the last one possibly incomplete."""
    return -(-facts.launch.threads_per_block // facts.device.warp_size)


@quantity(marked("idle lanes"), origin="definition")
def idle_lanes(facts: Knowledge) -> int:
    """Lanes without a thread in the last warp of a block."""
    return -facts.launch.threads_per_block % facts.device.warp_size


@quantity(marked("formula of a thread's number"), origin="definition")
def thread_number_formula(facts: Knowledge) -> str:
    """The number of thread (x, y, z) in its block: ``x + 16 y``, without the directions in which the block has one thread."""
    width, height, depth = facts.launch.block
    parts = ["x", *([f"{width} y"] if height * depth > 1 else []), *([f"{width * height} z"] if depth > 1 else [])]
    return " + ".join(parts)


@quantity(marked("lane of thread ({x}, {y}, {z})"), origin="definition")
def lane_of_thread(facts: Knowledge, x: Whole, y: Whole = 0, z: Whole = 0) -> int:
    """Place of a thread in its warp."""
    return thread_number((x, y, z), facts.launch) % facts.device.warp_size


@quantity(marked("warp of thread ({x}, {y}, {z})"), origin="definition")
def warp_of_thread(facts: Knowledge, x: Whole, y: Whole = 0, z: Whole = 0) -> int:
    """Number of a thread's warp in its block."""
    return thread_number((x, y, z), facts.launch) // facts.device.warp_size


@quantity(marked("bytes of shared memory per block"), origin="counts")
def shared_bytes_per_block(facts: Knowledge) -> int:
    """Shared memory of one block, in bytes."""
    return shared_bytes(facts.counts.arrays)


@quantity(marked("cores of the device"), origin="definition")
def device_cores(facts: Knowledge) -> int:
    """Single-precision cores of all multiprocessors."""
    return facts.device.sms * facts.device.fp32_per_sm


@quantity(marked("bytes of registers per SM"), origin="definition")
def register_bytes(facts: Knowledge) -> int:
    """Bytes of all registers of a multiprocessor, each of 32 bits."""
    return facts.device.register_bytes


@quantity(marked("lines that differ from the compared kernel"), origin="definition")
def changed_lines(facts: Knowledge) -> int:
    """Lines of the kernel that differ from the compared one in more than names. Raises UsageError where there is none."""
    case = compared(listing_of(facts.setup.kernel), listing_of(facts.compared.setup.kernel))
    return len(case.main.lit - case.main.renamed)


@quantity(marked("products of one instruction of the tensor cores"), origin="definition")
def tensor_tile_products(facts: Knowledge) -> int:
    """Products of the shape m16n8k8 for TF32."""
    return TF32_TILE.products


@quantity(marked("{field} of the device"), origin="definition")
def device(facts: Knowledge, field: str) -> QuantityValue:
    """A field of the device's file, or of its memory. Raises UsageError for one that is unknown or not a single value."""
    names = [each.encode_name for each in (*fields(Device), *fields(MemoryRules))]
    if field not in names:
        raise UsageError(tr("a device has no field {field}", field=f"{field!r}"), remedy=closest(field, names))
    value = getattr(facts.device if hasattr(facts.device, field) else facts.device.rules, field)
    if not isinstance(value, QuantityValue):
        raise UsageError(tr("the device's {field} is not a single value", field=field))
    return value


@quantity(marked("dimensions of a block"), origin="definition")
def block_dimensions(facts: Knowledge) -> int:
    """Dimensions of a block, up to the last one in which it has more than one thread."""
    return max(number for number, extent in enumerate(facts.launch.block, 1) if extent > 1 or number == 1)


@quantity(marked("number of the first row and column"), origin="definition")
def first_index(facts: Knowledge) -> int:
    """0 or 1, as the labels of the shot count."""
    return facts.shot.labels.first


@quantity(marked("number of the piece"), origin="definition")
def piece_number(facts: Knowledge) -> int:
    """The place of the kernel among the shipped beginnings of the same kernel, ordered by length; the whole one is the last."""
    own = facts.setup.kernel
    pieces = [each for each in map(load_kernel, lesson_kernel_names()) if each.unfinished and each.function == own.function]
    return len({len(kernel_lines(each)) for each in pieces if len(kernel_lines(each)) < len(kernel_lines(own))}) + 1


@quantity(marked("largest {name} that runs"), origin="definition")
def largest_size(facts: Knowledge, name: str) -> int:
    """Largest value of a parameter, or size, of square matrices for M, N and K, that the device accepts; 0 if none is."""
    parameter = next((each for each in facts.setup.kernel.parameters if each.name == name), None)
    own = facts.setup.problem.sizes
    if parameter is None and name not in own:
        raise UsageError(
            tr("{kernel} has no {name}", kernel=facts.setup.kernel.name, name=name),
            remedy=tr("name a parameter, or {own}", own=listed(own, "or")),
        )
    changed = (name,) if parameter is not None or not facts.setup.problem.is_multiply else tuple(own)
    sizes = sorted(parameter.choices if parameter and parameter.choices else range(1, _LARGEST_TRIED), reverse=True)
    return next((size for size in sizes if can_run(facts.setup.changed(**dict.fromkeys(changed, size)))), 0)


@quantity("blanks", origin="definition")
def blanks(facts: Knowledge) -> int:
    """Blanks of the kernel's text that are not filled in."""
    return facts.setup.kernel.blanks


@quantity("refusal", origin="run")
def refusal(facts: Knowledge) -> str:
    """Id of the error that prevents the launch; ``""`` for a launch that can run."""
    try:
        launch_for(facts.setup)
    except GemmvizError as error:
        return error.id
    return ""


@quantity(marked("threads per block, as requested"), origin="definition")
def requested_threads(facts: Knowledge) -> int:
    """Threads of one block as the launch asks for it, whether or not the device can run it."""
    return requested_launch(facts.setup).threads_per_block


@quantity(marked("blocks, as requested"), origin="definition")
def requested_block_count(facts: Knowledge) -> int:
    """Blocks of the grid as the launch asks for it, whether or not the device can run it."""
    return requested_launch(facts.setup).block_count


@quantity(marked("largest grid of the device along {axis}"), origin="definition")
def largest_grid(facts: Knowledge, axis: Literal["x", "y", "z"]) -> int:
    """Blocks that the device allows along an axis of a grid."""
    return facts.device.max_grid["xyz".index(axis)]


@quantity(marked("launches of the grid in strips"), origin="definition")
def launches_in_strips(facts: Knowledge) -> int:
    """Launches into which a host's loop cuts a grid that is longer than the device allows; 1 for a grid that it allows."""
    strips = strips_of(requested_launch(facts.setup), facts.device)
    return 1 if strips is None else strips.count


ScheduleSource = Literal["recorded", "model"]


@quantity(marked("blocks per SM"), origin="model")
def blocks_per_sm(facts: Knowledge) -> int:
    """Blocks that fit on one multiprocessor at once."""
    return facts.limits.blocks_per_sm


@quantity(marked("blocks per SM, limited by {resource}"), origin="model")
def blocks_per_sm_limit(facts: Knowledge, resource: Literal["threads", "warps", "registers", "blocks", "shared"]) -> int:
    """Blocks on one multiprocessor that one resource alone allows."""
    limit = next((limit for key, limit in facts.limits.limits.items() if resource in key), None)
    if limit is None:
        raise UsageError(tr("the number of blocks that {resource} allow is not known", resource=resource))
    return limit


@quantity(marked("percent of an SM's {resource} in use"), origin="model")
def occupied_percent(facts: Knowledge, resource: Literal["threads", "warps"]) -> float:
    """Share of a multiprocessor's threads or warps that resident blocks take, in percent."""
    return facts.limits.threads_percent if resource == "threads" else facts.limits.warps_percent


@quantity("waves", origin="model")
def wave_count(facts: Knowledge) -> int:
    """Rounds in which the grid's blocks run if all take equally long."""
    return waves(facts.launch.block_count, facts.device.sms, facts.limits.blocks_per_sm)


@quantity(marked("waves of the compared launch"), origin="model")
def compared_wave_count(facts: Knowledge) -> int:
    """Rounds of the launch that the shot compares with. Raises UsageError where there is none."""
    return int(wave_count.compute(facts.compared))


@quantity(marked("most blocks resident on an SM"), origin="recorded")
def most_resident_blocks(facts: Knowledge, source: ScheduleSource = "recorded") -> int:
    """Largest number of blocks on one multiprocessor at the same time, in the schedule."""
    return int(_schedule(facts, source).resident().max())


@quantity(marked("blocks in the schedule"), origin="recorded")
def scheduled_blocks(facts: Knowledge, source: ScheduleSource = "recorded") -> int:
    """Blocks that the schedule holds."""
    return int(_schedule(facts, source).blocks)


def _schedule(facts: Knowledge, source: ScheduleSource) -> Schedule:
    """The schedule of the launch. Raises UsageError if it comes from something else than ``source``."""
    if value_of(GridCase, facts).is_model != (source == "model"):
        found = "model" if value_of(GridCase, facts).is_model else "recorded"
        what = tr("is not recorded") if value_of(GridCase, facts).is_model else tr("is recorded, not a model's")
        raise UsageError(tr("the schedule of this launch {what}", what=what), remedy=tr("write source={found}", found=found))
    return value_of(GridCase, facts).schedule


@quantity(marked("warps per scheduler"), origin="model")
def warps_per_scheduler(facts: Knowledge) -> float:
    """Resident warps of one warp scheduler."""
    return hiding_of(facts.occupancy).warps


@quantity(marked("warps per scheduler that would hide all latency"), origin="model")
def warps_to_hide_latency(facts: Knowledge) -> int:
    """Warps with which a scheduler would issue in every cycle, by the model of latency, whether it can hold them or not."""
    return hiding_of(facts.occupancy).enough


@quantity(marked("most warps per scheduler"), origin="definition")
def most_warps_per_scheduler(facts: Knowledge) -> int:
    """Warps that one warp scheduler of the device holds at most."""
    return hiding_of(facts.occupancy).most


@quantity(marked("tried {resource}"), origin="definition")
def tried_resource(facts: Knowledge, resource: Literal["threads", "registers", "shared_bytes"]) -> int:
    """A resource of the block whose occupancy is shown: the shot's trial value, else the kernel's own."""
    value = getattr(facts.occupancy.needs, resource)
    if value is None:
        raise UsageError(tr("the registers of this kernel are not known"))
    return int(value)


@quantity(marked("percent of cycles with an instruction issued"), origin="model")
def issued_percent(facts: Knowledge) -> float:
    """Share of cycles in which a scheduler can issue, in percent, by the model of latency."""
    return 100 * hiding_of(facts.occupancy).used


@quantity(marked("multiprocessors without a block"), origin="recorded")
def idle_multiprocessors(facts: Knowledge, source: ScheduleSource = "recorded") -> int:
    """Multiprocessors that no block of the schedule runs on."""
    return facts.device.sms - len(np.unique(_schedule(facts, source).sm))


@quantity(marked("loads that blocks can have pending on an SM, by {resource}"), origin="model")
def pending_loads(facts: Knowledge, resource: Literal["shared memory", "threads"]) -> int:
    """Loads of one phase of as many blocks as fit in one multiprocessor by one resource alone."""
    phase = value_of(BlockPhase, facts)
    return phase.fitting[resource] * phase.loads


@quantity(marked("blocks that are {state} at this instant"), origin="recorded")
def blocks_in_state(facts: Knowledge, state: Literal["waiting", "running", "done"], source: ScheduleSource = "recorded") -> int:
    """Blocks of the schedule that are waiting, running or done at the shot's instant."""
    schedule = _schedule(facts, source)
    number = {"waiting": WAITING, "running": RUNNING, "done": DONE}[state]
    return int((states(schedule, facts.shot.instant * schedule.duration_ns) == number).sum())


@quantity(marked("blocks that end before one with a lower number"), origin="recorded")
def overtaking_blocks(facts: Knowledge, source: ScheduleSource = "recorded") -> int:
    """Blocks of the schedule that end before some block with a lower number does."""
    stop = _schedule(facts, source).stop_ns
    return int((stop[1:] < np.maximum.accumulate(stop)[:-1]).sum())
