"""Why a kernel is as fast as it is: counts of the launch, measured or recorded speed, and progress of the displayed run."""

from dataclasses import replace

from gemmviz.analysis.memory.counts import LaunchCounts
from gemmviz.analysis.models.occupancy import occupancy_limits
from gemmviz.analysis.models.reasons import reason_of
from gemmviz.analysis.replay.moment import Moment
from gemmviz.launch.legality import device_for, launch_for
from gemmviz.model.sinks import COST_COLUMNS
from gemmviz.model.speed_case import Effect, SpeedCase
from gemmviz.model.timing import KernelSpeed
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.scenes.views.why_view import CURE
from gemmviz.state.shot import Shot
from gemmviz.subjects.counting import LaunchFacts
from gemmviz.subjects.kinds.occupancy import occupancy_case
from gemmviz.subjects.levels import traffic_of
from gemmviz.subjects.subject import Context, Subject
from gemmviz.subjects.suggestions import suggestions_for
from gemmviz.subjects.titles import launch_title

_REQUESTED, _SECTORS = COST_COLUMNS.index("bytes_asked"), COST_COLUMNS.index("sectors")


def speed_case_of(shot: Shot, counts: LaunchCounts | None, speed: KernelSpeed | None, no_speed: str = "") -> SpeedCase:
    """The speed of a shot's launch and its reason. ``no_speed``: why its time is unknown."""
    setup, device = shot.setup, device_for(shot.setup)
    case = SpeedCase(launch_title(setup), device, setup.problem, rate_source=no_speed)
    if speed is not None and speed.measured.gflops is not None:
        rate = speed.measured.gflops
        case = replace(case, rate=rate, share_of_cublas=speed.share_of_cublas, rate_source=speed.source)
    occupancy = occupancy_case(shot, speed)
    if counts is None or occupancy is None:
        return case
    limits = occupancy_limits(device, occupancy.own)
    reason = reason_of(counts, limits, setup.problem, launch_for(setup).block_count)
    suggestions = suggestions_for(setup, reason.kind)
    least = sum(array.size * array.itemsize for array in counts.arrays if array.space == "global")
    return replace(
        case, traffic=traffic_of(setup, counts), reason=reason.sentence, proof=reason.proof, suggestions=suggestions,
        least_bytes=least,
    )  # fmt: skip


def _make(shot: Shot, context: Context) -> SpeedCase | None:
    """The speed of the displayed run; None before a run. Includes the previous launch if a suggestion was applied."""
    facts, before = context.facts, context.before
    if facts is None:
        return None
    case = speed_case_of(replace(shot, setup=facts.setup), facts.counts, facts.speed, facts.no_speed)
    effects = () if before is None else (_effect(before), _effect(facts))
    return replace(case, no_counts=facts.no_counts, effects=effects)


def _advance(case: SpeedCase, now: Moment) -> SpeedCase:
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


def _click(case: SpeedCase, shot: Shot, hit: Hit) -> Shot | None:
    """Apply the suggestion under the pointer."""
    if not hit.cells.key.startswith(CURE):
        return None
    return replace(shot, setup=case.suggestions[int(hit.cells.key.removeprefix(CURE))].setup)


SUBJECT = Subject(
    SpeedCase, _make, needs=("facts",), uses=("before",), time="run", advance=_advance, click=_click, order=22
)  # fmt: skip
