"""Timeline of all blocks of a shot's launch, with that of the compared launch if there is one."""

from gemmviz.analysis.models.occupancy import occupancy_limits
from gemmviz.analysis.models.time import modelled
from gemmviz.cuda.launch.legality import launch_for
from gemmviz.files.recordings import recorded_schedules
from gemmviz.model.device import Device
from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.model.recording import recording_of
from gemmviz.model.records import replace
from gemmviz.model.schedule import GridCase, Schedule
from gemmviz.model.setup import Setup, launch_title
from gemmviz.model.timing import KernelSpeed
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.scenes.views.grid_view import sm_under
from gemmviz.shots.knowledge import Context, LaunchFacts, MeasuredCase
from gemmviz.shots.occupancy import occupancy_case
from gemmviz.shots.shot import Shot, Trial
from gemmviz.shots.subject import Subject

MOST_BLOCKS = 1 << 18  # limit for modelled launches; more blocks can't be distinguished in a picture


def grid_case(
    shot: Shot, measured: tuple[MeasuredCase, ...] = (), speed: KernelSpeed | None = None, title: str = ""
) -> GridCase | None:
    """Schedules of a shot's launch and of the compared launch: each ``measured``, otherwise recorded on its device, otherwise
    modelled. None if the setup has no launch. ``title``: of the launch, by default its sizes.
    """
    case = _launch_case(shot, measured, speed)
    case = case if case is None or not title else replace(case, what=title)
    if case is None or shot.against is None:
        return case
    return replace(case, beside=_launch_case(replace(shot, setup=shot.against.setup), measured, None))


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
        at_most = "" if limits.is_certain else tr(", ignoring registers")
        source = tr(
            "a model from occupancy alone{at_most}: all blocks take the same time. No schedule is recorded", at_most=at_most
        )
    sms = max(device.sms, int(schedule.sm.max()) + 1)
    title, blocks = launch_title(shot.setup), limits.blocks_per_sm
    return GridCase(title, device.name, sms, blocks, launch.grid, schedule, source, is_model, limits.is_certain)


def _recorded(setup: Setup, device: Device) -> tuple[Schedule | None, str]:
    recorded = recording_of(device, recorded_schedules())
    schedule = None if recorded is None else recorded.find(setup)
    return schedule, recorded.source if recorded is not None else ""


def _make_grid(shot: Shot, context: Context) -> GridCase:
    """The schedules. Raises GemmvizError for a setup without a launch, or with too many blocks for the model."""
    launch = context.asked if shot.against is None else LaunchFacts(shot.setup)
    case = grid_case(replace(shot, setup=launch.setup), context.schedules, launch.speed, launch.title)
    if case is None:
        launch_for(launch.setup, with_nearest=False)
        raise UsageError(
            tr("no schedule of this launch is known"),
            remedy=tr("choose sizes with at most {most_blocks} blocks", most_blocks=MOST_BLOCKS),
        )
    return case


def _click_grid(case: GridCase, shot: Shot, hit: Hit) -> Shot | None:
    """Mark the blocks of the SM that was clicked, or that runs the clicked block; nothing on a second click."""
    sm = sm_under(case, hit)
    return None if sm is None else replace(shot, sm=-1 if sm == shot.sm else sm)


SUBJECT = Subject(
    GridCase, _make_grid, click=_click_grid, uses=("whole", "schedules"), time="launch", is_comparison=True, order=21
)  # fmt: skip
