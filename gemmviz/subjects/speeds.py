"""Why a kernel is as fast as it is: from the counts of the whole launch, what was measured or recorded, and what the replay has
done so far.
"""

from dataclasses import replace

from gemmviz.analysis.memory.counts import LaunchCounts
from gemmviz.analysis.models.occupancy import occupancy_limits
from gemmviz.analysis.models.reasons import reason_of
from gemmviz.analysis.replay.moment import Moment
from gemmviz.files.levels_file import recorded_levels
from gemmviz.launch.legality import device_for, launch_for
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import COST_COLUMNS
from gemmviz.model.speed_case import Effect, SpeedCase, Traffic
from gemmviz.model.timing import KernelSpeed
from gemmviz.run.engine import Engine
from gemmviz.state.shot import Shot
from gemmviz.subjects.background_analysis import Shown
from gemmviz.subjects.pairs import counted_by
from gemmviz.subjects.subjects import occupancy_case, title_of_launch
from gemmviz.subjects.suggestions import cures_for

ASKED, MOVED, DRAM = "asked for", "moved in sectors", "from and to DRAM, caches warm"
_ASKED, _SECTORS = COST_COLUMNS.index("bytes_asked"), COST_COLUMNS.index("sectors")


def speed_case(shot: Shot, shown: Shown | None) -> SpeedCase | None:
    """Of the run that is shown; None before there is one."""
    if shown is None:
        return None
    no_counts = shown.no_counts or ("the run ended early" if shown.trace.stop is not None else "")
    case = speed_case_of(replace(shot, setup=shown.setup), shown.counts, shown.speed, shown.no_speed)
    return replace(case, no_counts=no_counts)


def speed_case_of(shot: Shot, counts: LaunchCounts | None, speed: KernelSpeed | None, no_speed: str = "") -> SpeedCase:
    """Of a shot's launch. ``no_speed``: why nobody knows its time."""
    setup, device = shot.setup, device_for(shot.setup)
    case = SpeedCase(title_of_launch(setup), device, setup.problem, rate_source=no_speed)
    if speed is not None and speed.measured.gflops is not None:
        rate = speed.measured.gflops
        case = replace(case, rate=rate, share_of_cublas=speed.share_of_cublas, rate_source=speed.source)
    occupancy = occupancy_case(shot, speed)
    if counts is None or occupancy is None:
        return case
    limits = occupancy_limits(device, occupancy.own)
    reason = reason_of(counts, limits, setup.problem, launch_for(setup).block_count)
    cures = cures_for(setup, reason.kind)
    return replace(case, traffic=traffic_of(setup, counts), reason=reason.sentence, proof=reason.proof, cures=cures)


def speed_case_by(shot: Shot, engine: Engine) -> SpeedCase:
    """Of a shot's launch, counted and timed by an engine. Raises GemmvizError where it can't be counted."""
    counted = counted_by(shot.setup, engine)
    if isinstance(counted.speed, str):
        return speed_case_of(shot, counted.counts, None, counted.speed)
    return speed_case_of(shot, counted.counts, counted.speed)


def traffic_of(setup: Setup, counts: LaunchCounts) -> tuple[Traffic, ...]:
    """Bytes at each level of memory: DRAM's where a profiler counted exactly this launch."""
    total, counted = counts.total("global"), "counted from the source as written"
    found = [
        Traffic(ASKED, total.bytes_asked, counted),
        Traffic(MOVED, total.bytes_moved(counts.rules), counted),
    ]
    device = device_for(setup)
    for levels in recorded_levels():
        row = levels.find(setup) if levels.gpu.name == device.name else None
        if row is not None:
            both = row.counters["dram_bytes_read"] + row.counters["dram_bytes_written"]
            found.append(Traffic(DRAM, both, levels.source, is_dram=True))
    return tuple(found)


def with_progress(case: SpeedCase, now: Moment) -> SpeedCase:
    """With what the watched block has done by now: its flops, and its bytes at the levels that a trace tells."""
    is_block = now.scope.of_warps == now.scope.of_block  # flops are those of the block: bytes have to be, too
    if not is_block or now.terms is None or not now.replay.knows_costs(now.scope):
        return case
    sums = now.replay.sums(now.scope)["global"][now.step]
    flops = 2.0 * float(now.done.sum())
    sizes = (float(sums[_ASKED]), float(sums[_SECTORS]) * now.trace.rules.sector_bytes)
    return replace(case, so_far=(flops, sizes))


def effect_of(shown: Shown) -> Effect:
    """What a run told, to be held against another."""
    counts, speed = shown.counts, shown.speed
    return Effect(
        title_of_launch(shown.setup),
        shown.trace.check.passed if shown.trace.stop is None else False,
        None if counts is None else counts.total("global").sectors,
        None if counts is None else counts.total("shared").wavefronts,
        None if speed is None else speed.median_ms,
        "" if speed is None else speed.source,
    )
