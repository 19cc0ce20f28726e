"""Resources that one block of a kernel needs of an SM."""

import numpy as np

from gemmviz.cuda.launch.legality import device_for, requested_launch
from gemmviz.cuda.nodes import SharedArray
from gemmviz.cuda.program import program_for
from gemmviz.files.recordings import recorded_registers
from gemmviz.model.device import Needs
from gemmviz.model.setup import Setup
from gemmviz.model.translation import tr
from gemmviz.run.stored import stored_answers


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
