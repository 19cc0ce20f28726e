"""The occupancy of a shot's launch, and what the causes of its time are found from."""

from gemmviz.analysis.memory.counts import LaunchCounts
from gemmviz.analysis.models import occupancy_limits
from gemmviz.analysis.reasons import Launched
from gemmviz.cuda.launch.legality import device_for, launch_for
from gemmviz.model.device import Needs, OccupancyCase
from gemmviz.model.errors import GemmvizError
from gemmviz.model.records import replace
from gemmviz.model.setup import kernel_title
from gemmviz.model.timing import KernelSpeed
from gemmviz.run.needs import needs_of
from gemmviz.shots.shot import Shot, Trial


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
        needs, source = replace(needs, registers=resources.registers), speed.source
    return OccupancyCase(device, _with_trial(needs, shot.trial), needs, kernel_title(shot.setup), source)


def _with_trial(needs: Needs, trial: Trial) -> Needs:
    """The resources with trial values applied."""
    tried = {name: getattr(trial, name) for name in ("threads", "registers", "shared_bytes")}
    return replace(needs, **{name: value for name, value in tried.items() if value is not None})


def launched_of(shot: Shot, counts: LaunchCounts | None, speed: KernelSpeed | None) -> Launched | None:
    """What the causes of the time of a shot's launch are found from; None while it is not counted."""
    occupancy = occupancy_case(shot, speed)
    if counts is None or occupancy is None:
        return None
    limits = occupancy_limits(occupancy.device, occupancy.own)
    return Launched(counts, limits, shot.setup.problem, launch_for(shot.setup).block_count)
