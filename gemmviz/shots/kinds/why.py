"""Why a kernel is as fast as it is: counts of the launch, measured or recorded speed, and progress of the displayed run."""

from collections.abc import Collection, Sequence

from gemmviz.analysis.memory.counts import LaunchCounts
from gemmviz.analysis.reasons import causes_of
from gemmviz.analysis.replay.focus import Focus, site_position
from gemmviz.analysis.replay.moment import Moment
from gemmviz.cuda.launch.legality import device_for
from gemmviz.files.recordings import recorded_counters, recorded_on
from gemmviz.model.cases import DRAM, MOVED, REQUESTED, Cause, CauseKind, Effect, SpeedCase, Traffic
from gemmviz.model.recording import row_of
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup, launch_title
from gemmviz.model.sinks import COST_COLUMNS
from gemmviz.model.timing import KernelSpeed, LaunchCounters, RecordedCounters
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.primitives import Button, Hit
from gemmviz.shots.knowledge import Context, Knowledge, LaunchFacts
from gemmviz.shots.occupancy import launched_of
from gemmviz.shots.rearranging import Rearranged
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject
from gemmviz.shots.suggestions import opposed_cures, with_cures

_LOADED = "global_load_sectors"
_REQUESTED, _SECTORS = COST_COLUMNS.index("bytes_asked"), COST_COLUMNS.index("sectors")

_VIEW_OF_CAUSE: dict[CauseKind, str] = {
    "coalescing": "request", "banks": "banks", "divergence": "branch", "idle": "grid", "lanes": "warp", "reuse": "stage",
    "shared": "stage", "arithmetic": "stage", "occupancy": "occupancy",
}  # fmt: skip


def _view_of(cause: Cause) -> str:
    """The view that shows a cause."""
    is_of_matrices = cause.site is not None and cause.site.instruction
    return "fragment" if is_of_matrices else _VIEW_OF_CAUSE.get(cause.kind, "")


def speed_case_of(
    shot: Shot, counts: LaunchCounts | None, speed: KernelSpeed | None, no_speed: str = "",
    rearranged: Sequence[Rearranged] = (), launch: Setup | None = None, faster: Collection[Setup] = (),
) -> SpeedCase:  # fmt: skip
    """The speed of a shot's launch and its causes, with cures for the shot. ``no_speed``: why its time is unknown;
    ``rearranged``: its tiles without bank conflicts; ``launch``: the launch at other sizes that is asked about; ``faster``:
    those of opposed suggestions that were tried.
    """
    drawn, setup = shot.setup, launch or shot.setup
    shot, device = replace(shot, setup=setup), device_for(setup)
    case = SpeedCase(launch_title(setup), device, setup.problem, rate_source=no_speed)
    if speed is not None and speed.measured.gflops is not None:
        rate = speed.measured.gflops
        case = replace(case, rate=rate, share_of_cublas=speed.share_of_cublas, rate_source=speed.source)
    if speed is not None:
        case = replace(case, time_ms=speed.median_ms)
    launched = launched_of(shot, counts, speed)
    if counts is None or launched is None:
        return case
    found = with_cures(causes_of(launched), drawn, rearranged)
    opposed = opposed_cures(found, drawn)
    dropped = [each for each in opposed if each.setup not in faster]
    causes = tuple(replace(each, view=_view_of(each), cure=None if each.cure in dropped else each.cure) for each in found)
    least = sum(array.size * array.itemsize for array in counts.arrays if array.space == "global")
    return replace(
        case, traffic=traffic_of(setup, counts), causes=causes, model_ms=launched.model_ms, passes=launched.work.passes,
        least_bytes=least,
        variants=_variants(setup), dram_on=recorded_on(setup, "levels"),
    )  # fmt: skip


def traffic_of(setup: Setup, counts: LaunchCounts) -> tuple[Traffic, ...]:
    """Bytes at each level of memory; DRAM only if a profiler recorded exactly this launch."""
    total, counted = counts.total("global"), tr("counted from the source as written")
    levels = [
        Traffic(REQUESTED, total.bytes_asked, counted),
        Traffic(MOVED, total.bytes_moved(counts.rules), counted),
    ]
    dram = dram_traffic(setup)
    return (*levels, *([] if dram is None else [dram]))


def dram_traffic(setup: Setup) -> Traffic | None:
    """What DRAM moved for exactly this launch; None if no profiler recorded it."""
    found = recorded_counters(setup, device_for(setup), "levels")
    return None if found is None else _of_dram(*found, DRAM)


def _of_dram(recorded: RecordedCounters, row: LaunchCounters, level: str) -> Traffic:
    moved = row.counters["dram_bytes_read"] + row.counters["dram_bytes_written"]
    return Traffic(level, moved, recorded.source, is_dram=True)


def _variants(setup: Setup) -> tuple[Traffic, ...]:
    """DRAM's traffic with each value of a parameter, of recorded launches that load the same number of sectors; () if no other
    one was recorded.
    """
    found = recorded_counters(setup, device_for(setup), "levels")
    if found is None:
        return ()
    recorded, own = found
    for each in setup.kernel.parameters:
        rows = [(value, row_of(setup.changed(**{each.name: value}), recorded.rows)) for value in each.choices or ()]
        same = [(value, row) for value, row in rows if row is not None and row.counters[_LOADED] == own.counters[_LOADED]]
        if len(same) > 1:
            names = (tr("DRAM, {name} = {value}", name=each.name, value=value) for value, _ in same)
            return tuple(_of_dram(recorded, row, name) for (_, row), name in zip(same, names, strict=True))
    return ()


def _make_why(shot: Shot, context: Context) -> SpeedCase | None:
    """The speed of the displayed run; None before a run. Includes the previous launch if a suggestion was applied."""
    facts, before = context.whole, context.before
    if facts is None:
        return None
    rearranged = Knowledge.rearranged.at_hand(context.known) or ()
    faster = Knowledge.faster.at_hand(context.known) or ()
    case = speed_case_of(shot, facts.counts, facts.speed, facts.no_speed, rearranged, facts.setup, faster)
    effects = () if before is None else (_effect(before), _effect(facts))
    if effects and effects[0].label == effects[1].label:
        label = tr("{launch}, changed source", launch=effects[1].label)
        effects = effects[0], replace(effects[1], label=label)
    return replace(case, what=facts.title, no_counts=facts.no_counts, effects=effects)


def _speed_at(case: SpeedCase, now: Moment) -> SpeedCase:
    """The case with flops and bytes of the watched block so far, at the memory levels of the trace."""
    is_block = now.scope.of_warps == now.scope.of_block  # flops are counted for the block, so bytes must be, too
    if not is_block or now.terms is None or not now.replay.knows_costs(now.scope):
        return case
    sums = now.replay.sums(now.scope)["global"][now.step]
    flops = 2.0 * float(now.done.sum())
    sizes = (float(sums[_REQUESTED]), float(sums[_SECTORS]) * now.trace.rules.sector_bytes)
    return replace(case, so_far=(flops, sizes))


def _effect(facts: LaunchFacts) -> Effect:
    """Results of a launch, for comparison with another."""
    counts = facts.counts
    return Effect(
        launch_title(facts.setup),
        facts.passed,
        None if counts is None else counts.total("global").sectors,
        None if counts is None else counts.total("shared").wavefronts,
        facts.time_ms,
        facts.time_source,
    )


def _click_why(case: SpeedCase, shot: Shot, hit: Hit) -> Shot | None:
    """Apply the suggestion under the pointer, or show the cause: its view at the step of its access."""
    button = hit.cells.meaning
    if not isinstance(button, Button):
        return None
    cause = case.causes[button.number]
    if button.action == "cure":
        return None if cause.cure is None else replace(shot, setup=cause.cure.setup)
    focus = shot.focus if cause.site is None else Focus(shot.focus.block, shot.focus.warp or 0)
    at = shot.at if cause.site is None else site_position(cause.site)
    return replace(shot, view=cause.view, at=at, focus=focus, moment=1.0)


SUBJECT = Subject(
    SpeedCase, _make_why, needs=("whole",), uses=("before",), time="run", advance=_speed_at, click=_click_why, order=22
)  # fmt: skip
