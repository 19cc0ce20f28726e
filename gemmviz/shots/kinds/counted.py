"""Subjects that are counted over whole launches, and the causes of a kernel's time."""

from collections.abc import Collection, Sequence

from msgspec import structs

from gemmviz.analysis.counts import LaunchCounts, intensity
from gemmviz.analysis.listing import declarations
from gemmviz.analysis.models import SHARED, WARPS, occupancy_limits
from gemmviz.analysis.reasons import causes_of
from gemmviz.analysis.replay.focus import Focus, site_position
from gemmviz.analysis.replay.moment import Moment
from gemmviz.cuda.launch.legality import can_run, device_for, launch_for
from gemmviz.files.recordings import recorded_counters, recorded_on
from gemmviz.model.cases import (
    DRAM,
    MOVED,
    REQUESTED,
    ArrayUse,
    BlockPhase,
    Cause,
    CauseKind,
    DataUse,
    Effect,
    LoadsCase,
    LoadsRow,
    RoofCase,
    RoofRow,
    SpeedCase,
    Traffic,
    TrafficCase,
    WidthCount,
)
from gemmviz.model.messages import UsageError, tr
from gemmviz.model.recording import row_of
from gemmviz.model.setup import Setup, kernel_title, launch_title
from gemmviz.model.sinks import COST_COLUMNS
from gemmviz.model.sites import shared_bytes
from gemmviz.model.timing import KernelSpeed, LaunchCounters, RecordedCounters
from gemmviz.scenes.kit.primitives import Button, Hit
from gemmviz.shots.knowledge import Context, Knowledge, LaunchFacts
from gemmviz.shots.occupancy import launched_of, needs_of
from gemmviz.shots.rearranging import Rearranged, opposed_cures, with_cures
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject

# Why a kernel is as fast as it is: counts of the launch, measured or recorded speed, and progress of the displayed run.

_LOADED = "global_load_sectors"
_REQUESTED, _SECTORS = COST_COLUMNS.index("bytes_asked"), COST_COLUMNS.index("sectors")

_VIEW_OF_CAUSE: dict[CauseKind, str] = {
    "coalescing": "request", "banks": "banks", "divergence": "branch", "idle": "grid", "lanes": "warp", "reuse": "stage",
    "shared": "stage", "arithmetic": "stage", "occupancy": "occupancy",
}  # fmt: skip


def _view_of(cause: Cause) -> str:
    """The view that shows a cause."""
    is_of_matrices = cause.site is not None and cause.site.instruction
    return "fragment" if is_of_matrices else _VIEW_OF_CAUSE.get(cause.kind, "")


def speed_case_of(
    shot: Shot, counts: LaunchCounts | None, speed: KernelSpeed | None, no_speed: str = "",
    rearranged: Sequence[Rearranged] = (), launch: Setup | None = None, faster: Collection[Setup] = (),
) -> SpeedCase:  # fmt: skip
    """The speed of a shot's launch and its causes, with cures for the shot. ``no_speed``: why its time is unknown;
    ``rearranged``: its tiles without bank conflicts; ``launch``: the launch at other sizes that is asked about; ``faster``:
    those of opposed suggestions that were tried.
    """
    drawn, setup = shot.setup, launch or shot.setup
    shot, device = structs.replace(shot, setup=setup), device_for(setup)
    case = SpeedCase(launch_title(setup), device, setup.problem, rate_source=no_speed)
    if speed is not None and speed.measured.gflops is not None:
        rate = speed.measured.gflops
        case = structs.replace(case, rate=rate, share_of_cublas=speed.share_of_cublas, rate_source=speed.source)
    if speed is not None:
        case = structs.replace(case, time_ms=speed.median_ms)
    launched = launched_of(shot, counts, speed)
    if counts is None or launched is None:
        return case
    found = with_cures(causes_of(launched), drawn, rearranged)
    opposed = opposed_cures(found, drawn)
    dropped = [each for each in opposed if each.setup not in faster]
    causes = tuple(
        structs.replace(each, view=_view_of(each), cure=None if each.cure in dropped else each.cure) for each in found
    )
    least = sum(array.size * array.itemsize for array in counts.arrays if array.space == "global")
    return structs.replace(
        case, traffic=traffic_of(setup, counts), causes=causes, model_ms=launched.model_ms, passes=launched.work.passes,
        least_bytes=least,
        variants=_variants(setup), dram_on=recorded_on(setup, "levels"),
    )  # fmt: skip


def traffic_of(setup: Setup, counts: LaunchCounts) -> tuple[Traffic, ...]:
    """Bytes at each level of memory; DRAM only if a profiler recorded exactly this launch."""
    total, counted = counts.total("global"), tr("counted from the source as written")
    levels = [
        Traffic(REQUESTED, total.bytes_asked, counted),
        Traffic(MOVED, total.bytes_moved(counts.rules), counted),
    ]
    dram = dram_traffic(setup)
    return (*levels, *([] if dram is None else [dram]))


def dram_traffic(setup: Setup) -> Traffic | None:
    """What DRAM moved for exactly this launch; None if no profiler recorded it."""
    found = recorded_counters(setup, device_for(setup), "levels")
    return None if found is None else _of_dram(*found, DRAM)


def _of_dram(recorded: RecordedCounters, row: LaunchCounters, level: str) -> Traffic:
    moved = row.counters["dram_bytes_read"] + row.counters["dram_bytes_written"]
    return Traffic(level, moved, recorded.source, is_dram=True)


def _variants(setup: Setup) -> tuple[Traffic, ...]:
    """DRAM's traffic with each value of a parameter, of recorded launches that load the same number of sectors; () if no other
    one was recorded.
    """
    found = recorded_counters(setup, device_for(setup), "levels")
    if found is None:
        return ()
    recorded, own = found
    for each in setup.kernel.parameters:
        rows = [(value, row_of(setup.changed(**{each.name: value}), recorded.rows)) for value in each.choices or ()]
        same = [(value, row) for value, row in rows if row is not None and row.counters[_LOADED] == own.counters[_LOADED]]
        if len(same) > 1:
            names = (tr("DRAM, {name} = {value}", name=each.name, value=value) for value, _ in same)
            return tuple(_of_dram(recorded, row, name) for (_, row), name in zip(same, names, strict=True))
    return ()


def _make_why(shot: Shot, context: Context) -> SpeedCase | None:
    """The speed of the displayed run; None before a run. Includes the previous launch if a suggestion was applied."""
    facts, before = context.whole, context.before
    if facts is None:
        return None
    rearranged = Knowledge.rearranged.at_hand(context.known) or ()
    faster = Knowledge.faster.at_hand(context.known) or ()
    case = speed_case_of(shot, facts.counts, facts.speed, facts.no_speed, rearranged, facts.setup, faster)
    effects = () if before is None else (_effect(before), _effect(facts))
    if effects and effects[0].label == effects[1].label:
        label = tr("{launch}, changed source", launch=effects[1].label)
        effects = effects[0], structs.replace(effects[1], label=label)
    return structs.replace(case, what=facts.title, no_counts=facts.no_counts, effects=effects)


def _speed_at(case: SpeedCase, now: Moment) -> SpeedCase:
    """The case with flops and bytes of the watched block so far, at the memory levels of the trace."""
    is_block = now.scope.of_warps == now.scope.of_block  # flops are counted for the block, so bytes must be, too
    if not is_block or now.terms is None or not now.replay.knows_costs(now.scope):
        return case
    sums = now.replay.sums(now.scope)["global"][now.step]
    flops = 2.0 * float(now.done.sum())
    sizes = (float(sums[_REQUESTED]), float(sums[_SECTORS]) * now.trace.rules.sector_bytes)
    return structs.replace(case, so_far=(flops, sizes))


def _effect(facts: LaunchFacts) -> Effect:
    """Results of a launch, for comparison with another."""
    counts = facts.counts
    return Effect(
        launch_title(facts.setup),
        facts.passed,
        None if counts is None else counts.total("global").sectors,
        None if counts is None else counts.total("shared").wavefronts,
        facts.time_ms,
        facts.time_source,
    )


def _click_why(case: SpeedCase, shot: Shot, hit: Hit) -> Shot | None:
    """Apply the suggestion under the pointer, or show the cause: its view at the step of its access."""
    button = hit.cells.meaning
    if not isinstance(button, Button):
        return None
    cause = case.causes[button.number]
    if button.action == "cure":
        return None if cause.cure is None else structs.replace(shot, setup=cause.cure.setup)
    focus = shot.focus if cause.site is None else Focus(shot.focus.block, shot.focus.warp or 0)
    at = shot.at if cause.site is None else site_position(cause.site)
    return structs.replace(shot, view=cause.view, at=at, focus=focus, moment=1.0)


# One phase of one block of a shot's launch, counted over the whole launch.


def _make_block_phase(shot: Shot, context: Context) -> BlockPhase:
    """The phase. Raises GemmvizError for a launch that can't be counted, or without equal phases."""
    return block_phase(shot.setup, context.known.counts, kernel_title(shot.setup))


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
    matrices = tuple(loaded_from(counts, name) for name, _, _ in tiles)
    loads, operations = loads_per_phase(setup, counts), operations_per_phase(setup)
    if sum(rows * columns for _, rows, columns in tiles) != loads:
        raise UsageError(tr("the tiles of this kernel have other cells than those that one phase loads"))
    return BlockPhase(what, device, launch.block[:2], tiles, matrices, loads, operations, taken, whole, fitting)


def loaded_from(counts: LaunchCounts, tile: str) -> str:
    """Name of the global array that is read on the line that writes a tile; "" if there is none, or several."""
    accesses = [(site.place.line, operand.access, counts.arrays[operand.array]) for site, operand in counts.accesses]
    written = {line for line, access, array in accesses if access == "write" and array.name == tile}
    read = {array.name for line, access, array in accesses if line in written and access == "read" and array.space == "global"}
    return read.pop() if len(read) == 1 else ""


# Reads of shared memory for each multiply-add, counted for each number of elements that a thread computes.

PER_THREAD = "PER_THREAD"


def _make_loads(shot: Shot, context: Context) -> LoadsCase:
    """The compared launch if there is one, then the shot's with each number of elements that runs. Raises UsageError for a
    kernel without tiles of A and B.
    """
    setup, before = shot.setup, () if shot.against is None else (shot.against.setup,)
    choices = next((each.choices for each in setup.kernel.parameters if each.name == PER_THREAD), None) or ()
    tried = [setup.changed(**{PER_THREAD: each}) for each in choices] or [setup]
    shots = [structs.replace(shot, setup=each, against=None) for each in (*before, *filter(can_run, tried))]
    return LoadsCase(tuple(loads_row(context.known.about(each)) for each in shots))


def loads_row(known: Knowledge) -> LoadsRow:
    """The row of a shot's launch. Raises UsageError for a kernel without tiles of A and B."""
    setup, counts = known.setup, known.counts
    tiles = {loaded_from(counts, array.name): array.name for array in counts.arrays if array.space == "shared"}
    if not setup.problem.is_multiply or not {"A", "B"} <= tiles.keys():
        raise UsageError(tr("this kernel has no tiles of A and B in shared memory"))
    turns = launch_for(setup).block_count * launch_for(setup).threads_per_block * setup.problem.K
    a, b = (counts.elements("shared", "read", tiles[name]) // turns for name in "AB")
    if not (a and b):
        raise UsageError(tr("the threads of this kernel don't read elements of A and B from tiles one by one"))
    return LoadsRow((a, b), (setup.problem.flops or 0) // 2 // turns)


# Global memory reads of a kernel for each tile width.

_WIDTHS_TO_TRY = ("TILE_WIDTH", "BLOCK_DIM", "BLOCK")


def _make_traffic(shot: Shot, context: Context) -> TrafficCase:
    """Reads for each width. Raises UsageError for a kernel without a width parameter."""
    setup = shot.setup
    name = next((name for name in _WIDTHS_TO_TRY if name in setup.parameters), None)
    parameter = next((each for each in setup.kernel.parameters if each.name == name), None)
    if name is None or parameter is None:
        raise UsageError(
            tr("{kernel} has no width parameter", kernel=setup.kernel.name),
            remedy=tr("choose a kernel with {widths}", widths=tr(" or ").join(_WIDTHS_TO_TRY)),
        )
    rows = list[WidthCount]()
    counts: LaunchCounts | None = None
    for width in sorted({*(parameter.choices or ()), setup.parameters[name]}):
        tried = setup.changed(**{name: width})
        if can_run(tried):
            counts = context.known.about(structs.replace(shot, setup=tried)).counts
            rows.append(WidthCount(width, counts.elements("global", "read"), counts.total("global", "read").sectors))
    what, width = launch_title(setup), setup.parameters[name]
    flops = setup.problem.flops if setup.problem.is_multiply else None
    least = 0 if counts is None or flops else _elements_read(counts)
    return TrafficCase(setup.kernel.name, what, name, tuple(rows), flops or least, width, flops is None)


def _elements_read(counts: LaunchCounts) -> int:
    """Elements of all arrays in global memory that a launch reads."""
    return sum(each.size for each in counts.arrays if each.space == "global" and counts.elements("global", "read", each.name))


# How a shot's kernel uses its data, counted over the whole launch.


def _make_data_use(shot: Shot, context: Context) -> DataUse:
    """The use of data. Raises GemmvizError for a launch that can't be counted."""
    setup = shot.setup
    counts = context.known.counts
    arrays = tuple(
        ArrayUse(
            each.name, each.space, counts.elements(each.space, "read", each.name),
            counts.elements(each.space, "write", each.name), each.size * each.itemsize,
        )
        for each in counts.arrays
    )  # fmt: skip
    own = tuple(each.name for each in declarations(setup.kernel.text) if each.space == "register")
    return DataUse(launch_title(setup), device_for(setup), arrays, own)


# Operations for each byte that launches request, below the roof of their device.


def _make_roof(shot: Shot, context: Context) -> RoofCase:
    """The compared launch if there is one, then the shot's. Raises UsageError for a problem without operations to count."""
    rows = list[RoofRow]()
    for setup in (*(() if shot.against is None else (shot.against.setup,)), shot.setup):
        flops = setup.problem.flops
        if flops is None:
            raise UsageError(tr(setup.problem.kind.why_no_flops))
        counts = context.known.about(structs.replace(shot, setup=setup, against=None)).counts
        rows.append(RoofRow(setup.kernel.name, launch_title(setup), intensity(flops, counts.total("global").bytes_asked)))
    return RoofCase(device_for(shot.setup), tuple(rows))


SUBJECTS = {
    "block_phase": Subject(BlockPhase, _make_block_phase, is_slow=True, order=42),
    "data_use": Subject(DataUse, _make_data_use, is_slow=True, order=53),
    "loads": Subject(LoadsCase, _make_loads, is_slow=True, is_comparison=True, order=46),
    "roof": Subject(RoofCase, _make_roof, is_slow=True, is_comparison=True, order=47),
    "traffic": Subject(TrafficCase, _make_traffic, is_slow=True, order=45),
    "why": Subject(
        SpeedCase, _make_why, needs=("whole",), uses=("before",), time="run", advance=_speed_at, click=_click_why, order=22
    ),
}
