"""Subjects of a whole launch, and of two that are compared."""

from msgspec import structs

from gemmviz.analysis.counts import totals
from gemmviz.analysis.models import modelled, occupancy_limits
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.pairing import Lock, Pair, moment_like
from gemmviz.cuda.launch.legality import can_run, device_for, launch_for, requested_launch, shapes_for
from gemmviz.files.recordings import recorded_counters, recorded_schedules
from gemmviz.model.cases import TF32_TILE, LaunchCase, Profile, ProfileRow, RoundedRun, RoundingCase, Suggestion
from gemmviz.model.device import DEFAULT_DEVICE, Device, Needs, OccupancyCase
from gemmviz.model.kernel import Launch
from gemmviz.model.messages import GemmvizError, UsageError, tr
from gemmviz.model.recording import recording_of
from gemmviz.model.setup import Setup, kernel_title, launch_title
from gemmviz.model.timing import GridCase, KernelSpeed, Schedule
from gemmviz.model.trace import Trace
from gemmviz.scenes.kit.chart import value_at
from gemmviz.scenes.kit.primitives import ArrayCells, Button, Hit
from gemmviz.scenes.views.grid_view import sm_under
from gemmviz.shots.knowledge import Context, LaunchFacts, MeasuredCase
from gemmviz.shots.occupancy import needs_of, occupancy_case
from gemmviz.shots.shot import Shot, Trial
from gemmviz.shots.subject import Subject

# Timeline of all blocks of a shot's launch, with that of the compared launch if there is one.

MOST_BLOCKS = 1 << 18  # limit for modelled launches; more blocks can't be distinguished in a picture


def grid_case(
    shot: Shot, measured: tuple[MeasuredCase, ...] = (), speed: KernelSpeed | None = None, title: str = ""
) -> GridCase | None:
    """Schedules of a shot's launch and of the compared launch: each ``measured``, otherwise recorded on its device, otherwise
    modelled. None if the setup has no launch. ``title``: of the launch, by default its sizes.
    """
    case = _launch_case(shot, measured, speed)
    case = case if case is None or not title else structs.replace(case, what=title)
    if case is None or shot.against is None:
        return case
    return structs.replace(case, beside=_launch_case(structs.replace(shot, setup=shot.against.setup), measured, None))


def _launch_case(shot: Shot, measured: tuple[MeasuredCase, ...], speed: KernelSpeed | None) -> GridCase | None:
    case = occupancy_case(structs.replace(shot, trial=Trial()), speed)
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
    case = grid_case(structs.replace(shot, setup=launch.setup), context.schedules, launch.speed, launch.title)
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
    return None if sm is None else structs.replace(shot, sm=-1 if sm == shot.sm else sm)


# Two runs at the same position: a shot's, and the one that it is compared with.


def check_pair(shot: Shot) -> None:
    """Check the comparison of a shot. Raises UsageError if there is none, or if the marked element doesn't exist."""
    if shot.against is None:
        raise UsageError(
            tr("nothing is selected for comparison"), remedy=f"gemmviz compare A B --view {shot.view} -o FRAME.png"
        )
    element = shot.against.element
    if element is None:
        return
    name, row, column = element
    shape = shapes_for(shot.setup).get(name, ())
    if len(shape) != 2:
        raise UsageError(
            tr("the problem has no matrix {name}", name=name), remedy=tr("mark an element of a matrix, such as A[3,5]")
        )
    rows, columns = shape
    if row >= rows or column >= columns:
        sentence = tr(
            "{name} has no element [{row}, {column}]: it is {rows} × {columns}",
            name=name,
            row=row,
            column=column,
            rows=rows,
            columns=columns,
        )
        raise UsageError(sentence, remedy=tr("rows and columns count from 0"))


def _make_pair(shot: Shot, context: Context) -> Pair | None:
    """The pair; None while one of the runs, or its position, is unknown. Raises UsageError for a shot without a comparison."""
    against, now, other, facts = shot.against, context.moment, context.compared, context.facts
    if against is None:
        check_pair(shot)
    if against is None or now is None or other is None or facts is None:
        return None
    if not all(_is_side_ready(each, against.lock) for each in (now, other.reader.at(0))):
        return None
    left, lock, both_move = moment_like(other.reader, now, against.lock)
    both = other.facts, facts
    return Pair(
        left, now, lock, (both[0].counts, both[1].counts), (both[0].time_ms, both[1].time_ms),
        tuple(each.speed.short_source for each in both if each.speed is not None), against.element, both_move,
        (_resources(structs.replace(shot, setup=against.setup), both[0].speed), _resources(shot, both[1].speed)),
    )  # fmt: skip


def _resources(shot: Shot, speed: KernelSpeed | None) -> OccupancyCase | None:
    """What a block needs; the registers are those of the run whose time is shown, if they are known."""
    case, resources = occupancy_case(shot, speed), None if speed is None else speed.measured.resources
    if case is None or speed is None or resources is None:
        return case
    needs = structs.replace(case.own, registers=resources.registers)
    return structs.replace(case, needs=needs, own=needs, registers_source=speed.short_source)


def _is_side_ready(moment: Moment, lock: Lock) -> bool:
    """Whether a side's costs are known, and its terms if the lock is k."""
    replay, scope = moment.replay, moment.scope
    return replay.knows_costs(scope) and (lock != "k" or replay.knows_terms(scope))


def _click_pair(pair: Pair, shot: Shot, hit: Hit) -> Shot | None:
    """Follow the element under the pointer in both runs, or stop following it."""
    array, against = hit.cells.meaning, shot.against
    if against is None or not isinstance(array, ArrayCells) or array.space == "shared":
        return None
    row, column = hit.place
    marked = f"{array.name}[{row},{column}]"
    return structs.replace(shot, against=structs.replace(against, marked="" if marked == against.marked else marked))


# Largest errors of the outputs of two runs: a shot's, and the one that it is compared with.


def _make_rounding(shot: Shot, context: Context) -> RoundingCase | None:
    """The errors; None while one of the runs is unknown. Raises UsageError for a shot without a comparison."""
    check_pair(shot)
    now, other = context.moment, context.compared
    if shot.against is None or now is None or other is None:
        return None
    before, after = shot.against.setup, shot.setup
    first = _rounded(before, after, other.reader.replay.trace)
    return RoundingCase(after.problem, first, _rounded(after, before, now.trace))


def _rounded(setup: Setup, other: Setup, trace: Trace) -> RoundedRun:
    """The run; its name has the parameters in which it differs from another one of the same kernel."""
    differing = {name: value for name, value in setup.parameters.items() if other.parameters.get(name) != value}
    is_same = setup.kernel.name == other.kernel.name
    name = ", ".join([setup.kernel.name, *(f"{key} = {value}" for key, value in differing.items() if is_same)])
    return RoundedRun(name, setup.kernel.text, trace.check)


# Launch of a shot on its device, without running it.

_HOLDS_TILES = 32


def _make_launch(shot: Shot, context: Context) -> LaunchCase:
    """The launch, or the limit of the device that it breaks."""
    setup, device, title = shot.setup, device_for(shot.setup), kernel_title(shot.setup)
    cure = _with_tile(setup, device)
    try:
        return LaunchCase(setup, device, title, launch_for(setup, with_nearest=False), cure=cure)
    except GemmvizError as error:
        return LaunchCase(setup, device, title, None, error.message, _refused_launch(setup), _needs(setup), cure)


def _with_tile(setup: Setup, device: Device) -> Suggestion | None:
    """The launch on a device with tensor cores, or at sizes that hold several of their tiles; None if it has one, or can't run
    then.
    """
    tile, sizes = TF32_TILE, setup.problem.sizes
    if not setup.problem.is_multiply:
        return None
    if device.vendor != "NVIDIA" or device.capability < tile.since:
        cure = structs.replace(setup, device=DEFAULT_DEVICE)
        return Suggestion(tr("show it on {device}", device=device_for(cure).name), cure)
    if all(sizes[name] >= size for name, size in (("M", tile.m), ("N", tile.n), ("K", tile.k))):
        return None
    cure = setup.changed(**{name: max(size, _HOLDS_TILES) for name, size in sizes.items() if name in "MNK"})
    return Suggestion(tr("try {sizes}", sizes=cure.problem.text()), cure) if can_run(cure) else None


def _click_launch(case: LaunchCase, shot: Shot, hit: Hit) -> Shot | None:
    """Use the launch that is offered."""
    is_cure = isinstance(hit.cells.meaning, Button) and hit.cells.meaning.action == "cure"
    return structs.replace(shot, setup=case.cure.setup) if is_cure and case.cure is not None else None


def _refused_launch(setup: Setup) -> Launch | None:
    """The grid and block that a device refuses; None if the sizes don't even give one."""
    try:
        return requested_launch(setup)
    except GemmvizError:
        return None


def _needs(setup: Setup) -> Needs | None:
    """The resources of a block that a device refuses; None if the kernel can't be read."""
    try:
        return needs_of(setup)[0]
    except (GemmvizError, RecursionError):
        return None


# Occupancy of a shot's kernel on its device: resources of a block, and what limits the blocks per SM.


def _make_occupancy(shot: Shot, context: Context) -> OccupancyCase:
    """The occupancy. Raises GemmvizError for a setup without a launch."""
    launch = context.asked
    case = occupancy_case(structs.replace(shot, setup=launch.setup), launch.speed)
    if case is None:
        return context.known.occupancy  # which raises the reason
    return structs.replace(case, what=launch.title) if launch.origin else case


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
    return None if needs is None else structs.replace(shot, trial=_trial_of(case, needs))


# Profile: the recorded hardware counters of exactly the shot's launch, beside the counts from its source.


def _make_profile(shot: Shot, context: Context) -> Profile | None:
    """The counters; None before the launch is counted. Raises UsageError for a launch that was not recorded on its device."""
    setup, facts = shot.setup, context.facts
    found = recorded_counters(setup, device_for(setup), "counters", "tensor-counters")
    if found is None:
        remedy = tr("count it with gemmviz verify, on a machine with Nsight Compute")
        raise UsageError(tr("no counters of this launch were recorded"), remedy=remedy)
    if facts is None or facts.counts is None:
        return None
    ours, (recorded, launch) = totals(facts.counts), found
    rows = [
        ProfileRow(metric.removesuffix(".sum"), name, launch.counters[name], ours[name])
        for name, metric in recorded.metrics.items()
        if name in ours
    ]
    return Profile(launch_title(setup), tuple(rows), recorded.source)


SUBJECTS = {
    "grid": Subject(
        GridCase, _make_grid, click=_click_grid, uses=("whole", "schedules"), time="launch", is_comparison=True, order=21
    ),
    "launch": Subject(LaunchCase, _make_launch, click=_click_launch, order=40),
    "occupancy": Subject(OccupancyCase, _make_occupancy, uses=("whole",), click=_click_occupancy, order=20),
    "pair": Subject(
        Pair,
        _make_pair,
        needs=("moment", "compared"),
        uses=("facts",),
        time="run",
        is_comparison=True,
        check=check_pair,
        click=_click_pair,
        order=23,
    ),
    "profile": Subject(Profile, _make_profile, needs=("facts",), order=48, name=lambda case: case.what),
    "rounding": Subject(
        RoundingCase, _make_rounding, needs=("moment", "compared"), is_comparison=True, check=check_pair, order=52
    ),
}
