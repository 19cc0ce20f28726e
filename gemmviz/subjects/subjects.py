"""What views are of that need no run: a block on a device, all blocks of a launch."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from gemmviz.analysis.models.occupancy import occupancy_limits
from gemmviz.analysis.models.schedules import modelled
from gemmviz.files.schedule_file import recorded_schedules
from gemmviz.launch.legality import device_for, launch_for
from gemmviz.model.device import Device
from gemmviz.model.errors import GemmvizError
from gemmviz.model.occupancy import Needs, OccupancyCase
from gemmviz.model.schedule import GridCase, Schedule
from gemmviz.model.setup import Setup
from gemmviz.model.timing import KernelSpeed
from gemmviz.run.needs import needs_of
from gemmviz.state.shot import Shot, Trial

MOST_BLOCKS = 1 << 18  # of a model's launch: more can't be told apart


def occupancy_case(shot: Shot, speed: KernelSpeed | None = None) -> OccupancyCase | None:
    """A block of a shot's kernel on its device. ``speed``: what was measured or recorded of the real kernel there. None where
    there is no launch to speak of.
    """
    try:
        needs, source = needs_of(shot.setup)
        device = device_for(shot.setup)
    except (GemmvizError, RecursionError):
        return None
    resources = None if speed is None else speed.measured.resources
    if speed is not None and resources is not None and device.name in speed.source:
        needs, source = Needs(needs.threads, resources.registers, needs.shared_bytes), speed.source
    return OccupancyCase(device, _with_trial(needs, shot.trial), needs, _what(shot.setup), source)


def _with_trial(needs: Needs, trial: Trial) -> Needs:
    """The needs with what a person tries out."""
    return Needs(
        needs.threads if trial.threads is None else trial.threads,
        needs.registers if trial.registers is None else trial.registers,
        needs.shared_bytes if trial.shared_bytes is None else trial.shared_bytes,
    )


def trial_of(case: OccupancyCase, needs: Needs) -> Trial:
    """What is tried out where a block is to need that."""
    own = case.own
    return Trial(
        needs.threads if needs.threads != own.threads else None,
        needs.registers if needs.registers != own.registers else None,
        needs.shared_bytes if needs.shared_bytes != own.shared_bytes else None,
    )


def parameters_text(setup: Setup) -> str:
    """As "TILE_WIDTH = 32, PAD = 1"."""
    return ", ".join(f"{name} = {value}" for name, value in setup.parameters.items())


def _what(setup: Setup) -> str:
    return ", ".join(filter(None, (setup.kernel.name, parameters_text(setup))))


@dataclass(frozen=True)
class MeasuredCase:
    """The launch of a setup as it ran on the GPU that is here, and how that is said."""

    setup: Setup
    schedule: Schedule
    source: str


def grid_case(shot: Shot, measured: tuple[MeasuredCase, ...] = (), speed: KernelSpeed | None = None) -> GridCase | None:
    """All blocks of a shot's launch over time, beside those of what it is held against: each as ``measured``, else as recorded
    on its device, else as a model has it. None where there is no launch to speak of.
    """
    found = _launch_case(shot, measured, speed)
    if found is None or shot.against is None:
        return found
    return replace(found, beside=_launch_case(replace(shot, setup=shot.against.setup), measured, None))


def _launch_case(shot: Shot, measured: tuple[MeasuredCase, ...], speed: KernelSpeed | None) -> GridCase | None:
    case = occupancy_case(replace(shot, trial=Trial()), speed)
    if case is None:
        return None
    try:
        launch = launch_for(shot.setup, with_nearest=False)
    except GemmvizError:
        return None
    device, limits = case.device, occupancy_limits(case.device, case.needs)
    if limits.blocks_per_sm < 1:
        return None
    schedule, source = next(
        ((each.schedule, each.source) for each in measured if each.setup == shot.setup), _recorded(shot.setup, device)
    )
    is_model = schedule is None
    if schedule is None:
        if launch.block_count > MOST_BLOCKS:
            return None
        schedule = modelled(launch.block_count, device.sms, limits.blocks_per_sm)
        at_most = "" if limits.is_certain else ", registers left out of account"
        source = f"a model, by occupancy alone{at_most}: every block takes the same time. Its schedule was not recorded"
    sms = max(device.sms, int(schedule.sm.max()) + 1)
    what, blocks = title_of_launch(shot.setup), limits.blocks_per_sm
    return GridCase(what, device.name, sms, blocks, launch.grid, schedule, source, is_model, limits.is_certain)


def title_of_launch(setup: Setup) -> str:
    """The kernel with its parameters and sizes."""
    return f"{_what(setup)}, {' × '.join(map(str, setup.problem.sizes.values()))}"


def _recorded(setup: Setup, device: Device) -> tuple[Schedule | None, str]:
    for each in recorded_schedules():
        found = each.find(setup) if each.gpu.name == device.name else None
        if found is not None:
            return found, each.source
    return None, ""


OF_LAUNCHES: dict[type, Callable[[Shot], Any]] = {OccupancyCase: occupancy_case, GridCase: grid_case}
