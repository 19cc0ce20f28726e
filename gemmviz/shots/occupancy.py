"""The occupancy of a shot's launch, and what the causes of its time are found from."""

import numpy as np
from msgspec import structs

from gemmviz.analysis.counts import LaunchCounts
from gemmviz.analysis.models import occupancy_limits
from gemmviz.analysis.reasons import Launched
from gemmviz.cuda.launch.legality import device_for, launch_for, requested_launch
from gemmviz.cuda.nodes import SharedArray
from gemmviz.cuda.program import program_for
from gemmviz.files.recordings import recorded_registers
from gemmviz.model.device import Needs, OccupancyCase
from gemmviz.model.messages import GemmvizError, tr
from gemmviz.model.setup import Setup, kernel_title
from gemmviz.model.timing import KernelSpeed
from gemmviz.run.stored import stored_answers
from gemmviz.shots.shot import Shot, Trial

# Resources that one block of a kernel needs of an SM.


def needs_of(setup: Setup) -> tuple[Needs, str]:
    """Resources of a block, and the source of its register count ("" if unknown). The arguments are counted where they take
    shared memory.

    The device need not be able to run the block. Raises SourceError for a kernel that can't be read, SettingError for sizes
    without a launch.
    """
    launch, device = requested_launch(setup), device_for(setup)
    registers = recorded_registers(setup, device)
    known = stored_answers(setup)
    declared = None if known is None else known.shared_bytes
    shared = launch.shared_bytes + (declared_bytes(setup) if declared is None else declared)
    per_thread, source = (
        (None, "") if registers is None else (registers.per_thread, tr("recorded: {source}", source=registers.source))
    )
    arguments = _argument_bytes(setup) if device.arguments_in_shared else 0
    return Needs(launch.threads_per_block, per_thread, shared, arguments), source


def declared_bytes(setup: Setup) -> int:
    """Bytes of shared memory that the source declares for a block. Raises SourceError for a kernel that can't be read."""
    return sum(map(_shared_bytes, program_for(setup.kernel, setup.definitions).shared))


def _argument_bytes(setup: Setup) -> int:
    """Bytes that the launch passes to the kernel. Raises SourceError for a kernel that can't be read."""
    return sum(each.bytes for each in program_for(setup.kernel, setup.definitions).arguments if not each.symbol)


def _shared_bytes(array: SharedArray) -> int:
    """Size of a declared shared array; 0 for ``extern __shared__``, whose size is in the launch."""
    if array.dims is None:
        return 0
    return int(np.prod(array.dims, dtype=np.int64)) * array.element.bytes


def occupancy_case(shot: Shot, speed: KernelSpeed | None = None) -> OccupancyCase | None:
    """Occupancy of a shot's kernel on its device; None for a setup without a launch. ``speed``: of the real kernel, for its
    number of registers.
    """
    try:
        needs, source = needs_of(shot.setup)
        device = device_for(shot.setup)
    except (GemmvizError, RecursionError):
        return None
    resources = None if speed is None else speed.measured.resources
    if speed is not None and resources is not None and device.name in speed.source:
        needs, source = structs.replace(needs, registers=resources.registers), speed.source
    return OccupancyCase(device, _with_trial(needs, shot.trial), needs, kernel_title(shot.setup), source)


def _with_trial(needs: Needs, trial: Trial) -> Needs:
    """The resources with trial values applied."""
    tried = {name: getattr(trial, name) for name in ("threads", "registers", "shared_bytes")}
    return structs.replace(needs, **{name: value for name, value in tried.items() if value is not None})


def launched_of(shot: Shot, counts: LaunchCounts | None, speed: KernelSpeed | None) -> Launched | None:
    """What the causes of the time of a shot's launch are found from; None while it is not counted."""
    occupancy = occupancy_case(shot, speed)
    if counts is None or occupancy is None:
        return None
    limits = occupancy_limits(occupancy.device, occupancy.own)
    return Launched(counts, limits, shot.setup.problem, launch_for(shot.setup).block_count)
