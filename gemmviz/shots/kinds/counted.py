"""Subjects that are counted over whole launches."""

from gemmviz.analysis.listing import declarations
from gemmviz.analysis.memory.counts import LaunchCounts, intensity
from gemmviz.analysis.models import SHARED, WARPS, occupancy_limits
from gemmviz.cuda.launch.legality import can_run, device_for, launch_for
from gemmviz.model.cases import ArrayUse, BlockPhase, DataUse, LoadsCase, LoadsRow, RoofCase, RoofRow, TrafficCase, WidthCount
from gemmviz.model.errors import UsageError
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup, kernel_title, launch_title
from gemmviz.model.sites import shared_bytes
from gemmviz.model.translation import tr
from gemmviz.shots.knowledge import Context, Knowledge
from gemmviz.shots.occupancy import needs_of
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject

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
    shots = [replace(shot, setup=each, against=None) for each in (*before, *filter(can_run, tried))]
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
            counts = context.known.about(replace(shot, setup=tried)).counts
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
        counts = context.known.about(replace(shot, setup=setup, against=None)).counts
        rows.append(RoofRow(setup.kernel.name, launch_title(setup), intensity(flops, counts.total("global").bytes_asked)))
    return RoofCase(device_for(shot.setup), tuple(rows))


SUBJECTS = {
    "block_phase": Subject(BlockPhase, _make_block_phase, is_slow=True, order=42),
    "data_use": Subject(DataUse, _make_data_use, is_slow=True, order=53),
    "loads": Subject(LoadsCase, _make_loads, is_slow=True, is_comparison=True, order=46),
    "roof": Subject(RoofCase, _make_roof, is_slow=True, is_comparison=True, order=47),
    "traffic": Subject(TrafficCase, _make_traffic, is_slow=True, order=45),
}
