"""Occupancy of a shot's kernel on its device: resources of a block, and what limits the blocks per SM."""

from gemmviz.launch.legality import device_for, launch_for
from gemmviz.model.device import Needs, OccupancyCase
from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.model.records import replace
from gemmviz.model.timing import KernelSpeed
from gemmviz.model.translation import tr
from gemmviz.run.needs import needs_of
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.scenes.kit.what_if import value_at
from gemmviz.state.shot import Shot, Trial
from gemmviz.subjects.subject import Context, Subject, kernel_title


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


def speed_of(shot: Shot, context: Context) -> KernelSpeed | None:
    """The speed of the shot's setup; None while unknown."""
    facts = context.facts
    return facts.speed if facts is not None and facts.setup == shot.setup else None


def _make(shot: Shot, context: Context) -> OccupancyCase:
    """The occupancy. Raises GemmvizError for a setup without a launch."""
    case = occupancy_case(shot, speed_of(shot, context))
    if case is None:
        launch_for(shot.setup, with_nearest=False)
        raise UsageError(tr("the resources of this kernel's blocks are unknown"))
    return case


def _with_trial(needs: Needs, trial: Trial) -> Needs:
    """The resources with trial values applied."""
    tried = {name: getattr(trial, name) for name in ("threads", "registers", "shared_bytes")}
    return replace(needs, **{name: value for name, value in tried.items() if value is not None})


def _trial_of(case: OccupancyCase, needs: Needs) -> Trial:
    """The trial that gives a block these resources."""
    own = case.own
    return Trial(
        needs.threads if needs.threads != own.threads else None,
        needs.registers if needs.registers != own.registers else None,
        needs.shared_bytes if needs.shared_bytes != own.shared_bytes else None,
    )


def _click(case: OccupancyCase, shot: Shot, hit: Hit) -> Shot | None:
    """Use the value under the pointer as a trial value."""
    needs = value_at(case, hit.cells.key, hit.column)
    return None if needs is None else replace(shot, trial=_trial_of(case, needs))


SUBJECT = Subject(OccupancyCase, _make, uses=("facts",), click=_click, order=20)
