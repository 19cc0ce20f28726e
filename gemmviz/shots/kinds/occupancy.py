"""Occupancy of a shot's kernel on its device: resources of a block, and what limits the blocks per SM."""

from gemmviz.model.device import Needs, OccupancyCase
from gemmviz.model.records import replace
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.scenes.kit.what_if import value_at
from gemmviz.shots.knowledge import Context
from gemmviz.shots.occupancy import occupancy_case
from gemmviz.shots.shot import Shot, Trial
from gemmviz.shots.subject import Subject


def _make_occupancy(shot: Shot, context: Context) -> OccupancyCase:
    """The occupancy. Raises GemmvizError for a setup without a launch."""
    launch = context.asked
    case = occupancy_case(replace(shot, setup=launch.setup), launch.speed)
    if case is None:
        return context.known.occupancy  # which raises the reason
    return replace(case, what=launch.title) if launch.origin else case


def _trial_of(case: OccupancyCase, needs: Needs) -> Trial:
    """The trial that gives a block these resources."""
    own = case.own
    return Trial(
        needs.threads if needs.threads != own.threads else None,
        needs.registers if needs.registers != own.registers else None,
        needs.shared_bytes if needs.shared_bytes != own.shared_bytes else None,
    )


def _click_occupancy(case: OccupancyCase, shot: Shot, hit: Hit) -> Shot | None:
    """Use the value under the pointer as a trial value."""
    needs = value_at(case, hit)
    return None if needs is None else replace(shot, trial=_trial_of(case, needs))


SUBJECT = Subject(OccupancyCase, _make_occupancy, uses=("whole",), click=_click_occupancy, order=20)
