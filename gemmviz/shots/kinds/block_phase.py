"""One phase of one block of a shot's launch, counted over the whole launch."""

from gemmviz.analysis.memory.counts import LaunchCounts
from gemmviz.analysis.models.occupancy import SHARED, WARPS, occupancy_limits
from gemmviz.cuda.launch.legality import device_for, launch_for
from gemmviz.model.cases import BlockPhase
from gemmviz.model.errors import UsageError
from gemmviz.model.setup import Setup, kernel_title
from gemmviz.model.sites import shared_bytes
from gemmviz.model.translation import tr
from gemmviz.run.needs import needs_of
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject


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


SUBJECT = Subject(BlockPhase, _make_block_phase, is_slow=True, order=42)
