"""What views are of that need no run: a block on a device, measurements."""

from gemmviz.model.errors import GemmvizError
from gemmviz.model.occupancy import Needs, OccupancyCase
from gemmviz.model.setup import Setup
from gemmviz.model.timing import KernelSpeed
from gemmviz.run.needs import needs_of
from gemmviz.show.shot import Shot, Trial
from gemmviz.spec.legality import device_for


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
    wished, own = needs, case.own
    return Trial(
        wished.threads if wished.threads != own.threads else None,
        wished.registers if wished.registers != own.registers else None,
        wished.shared_bytes if wished.shared_bytes != own.shared_bytes else None,
    )


def _what(setup: Setup) -> str:
    parameters = "".join(f", {name} = {value}" for name, value in setup.parameters.items())
    return f"{setup.kernel.name}{parameters}"
