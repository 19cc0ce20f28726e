"""Why a kernel is as fast as it is: counts of the launch, measured or recorded speed, and progress of the displayed run."""

import contextlib
from collections.abc import Iterator, Sequence

from gemmviz.analysis.memory.counts import LaunchCounts
from gemmviz.analysis.models.reasons import causes_of
from gemmviz.analysis.replay.focus import Focus, site_position
from gemmviz.analysis.replay.moment import Moment
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import can_run, device_for, launch_for, legal_choices, setup_for
from gemmviz.files.recordings import recorded_counters, recorded_on
from gemmviz.model.cases import DRAM, MOVED, REQUESTED, Cause, CauseKind, Effect, SpeedCase, Suggestion, Traffic
from gemmviz.model.errors import GemmvizError
from gemmviz.model.recording import row_of
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup, launch_title, parameters_text
from gemmviz.model.sinks import COST_COLUMNS
from gemmviz.model.timing import KernelSpeed, LaunchCounters, RecordedCounters
from gemmviz.model.translation import marked, tr
from gemmviz.run.stored import recorded_speed
from gemmviz.scenes.kit.primitives import Button, Hit
from gemmviz.shots.knowledge import Context, Knowledge, LaunchFacts
from gemmviz.shots.occupancy import launched_of
from gemmviz.shots.rearranging import Rearranged
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject

# Suggested setups for each bottleneck: another kernel of the ladder, or another parameter. All suggestions can run; their
# effect is not claimed before they have run.

_LADDER: dict[str, tuple[str, tuple[CauseKind, ...], str]] = {
    "02_naive": (marked("swap x and y: 03_coalesced"), ("coalescing",), "03_coalesced"),
    "03_coalesced": (marked("tiles in shared memory: 04_tiled"), ("reuse", "coalescing"), "04_tiled"),
    "04_tiled": (marked("sums in registers: 08_register_tiled"), ("shared", "reuse"), "08_register_tiled"),
    "05_tiled_unguarded": (marked("sums in registers: 08_register_tiled"), ("shared", "reuse"), "08_register_tiled"),
    "06_tiled_unrolled": (marked("sums in registers: 08_register_tiled"), ("shared", "reuse"), "08_register_tiled"),
    "08_register_tiled": ("float4: 09_vectorised", ("shared", "coalescing", "banks", "nothing", "reuse", "occupancy"),
                          "09_vectorised"),
}  # fmt: skip
_TILE_WIDTHS = ("TILE_WIDTH", "BLOCK")


def suggestions_for(setup: Setup, kind: CauseKind) -> tuple[Suggestion, ...]:
    """Suggestions against one kind of bottleneck."""
    return tuple(each for each in _suggestions(setup, kind) if can_run(each.setup))


def _suggestions(setup: Setup, kind: CauseKind) -> Iterator[Suggestion]:
    if kind == "banks" and setup.parameters.get("PAD") == 0:
        yield Suggestion(tr("a column of padding: PAD = 1"), setup.changed(PAD=1))
    if kind == "divergence" and setup.parameters.get("BY_WARP") == 0:
        yield Suggestion(tr("whole warps go one way: BY_WARP = 1"), setup.changed(BY_WARP=1))
    if setup.kernel.is_shipped and setup.kernel.name in _LADDER:
        text, kinds, other = _LADDER[setup.kernel.name]
        if kind in kinds:
            yield from _other_kernel(setup, text, other)
    for name in _TILE_WIDTHS:
        if kind in ("reuse", "coalescing", "lanes") and name in setup.parameters:
            larger = _next(setup, name, up=True)
            if larger is not None:
                yield Suggestion(
                    tr("a larger block: {name} = {larger}", name=name, larger=larger), setup.changed(**{name: larger})
                )
        if kind == "idle" and name in setup.parameters:
            smaller = _next(setup, name, up=False)
            if smaller is not None:
                yield Suggestion(
                    tr("smaller blocks: {name} = {smaller}", name=name, smaller=smaller), setup.changed(**{name: smaller})
                )


def _fastest_width(setups: list[Setup]) -> Setup | None:
    """The setup with the best recorded time; None if there is no recording."""
    times: dict[int, float] = {}
    for number, setup in enumerate(setups):
        with contextlib.suppress(GemmvizError):
            time_ms = recorded_speed(setup).median_ms
            if time_ms is not None:
                times[number] = time_ms
    return setups[min(times, key=times.__getitem__)] if times else None


def _next(setup: Setup, name: str, up: bool) -> int | None:
    """The next larger or smaller choice of a parameter with which the setup can run; None if there is none."""
    now = setup.parameters[name]
    choices = next((each.choices for each in setup.kernel.parameters if each.name == name), None) or ()
    beyond = sorted((each for each in choices if (each > now if up else each < now)), reverse=not up)
    return next((each for each in beyond if can_run(setup.changed(**{name: each}))), None)


def _other_kernel(setup: Setup, text: str, name: str) -> Iterator[Suggestion]:
    """Another kernel on the same problem: with its fastest recorded parameters, otherwise with the same parameters, otherwise
    with the largest block that can run.
    """
    kernel = load_kernel(name)
    common = {own: value for own, value in setup.parameters.items() if own in kernel.defaults}
    if "BLOCK" in setup.parameters and "TILE_WIDTH" in kernel.defaults:
        common["TILE_WIDTH"] = setup.parameters["BLOCK"]
    others = {"filling": setup.filling, "device": setup.device}
    fastest = _fastest_width(list(legal_choices(kernel, setup.problem, **others)))
    if fastest is not None:
        yield Suggestion(f"{tr(text)}, {parameters_text(fastest)}", fastest)
        return
    same = setup_for(kernel, setup.problem, common, **others)
    if can_run(same):
        yield Suggestion(tr(text), same)
        return
    choices = sorted(legal_choices(kernel, setup.problem, **others), key=lambda each: -launch_for(each).threads_per_block)
    if choices:
        yield Suggestion(tr(text), choices[0])


_LOADED = "global_load_sectors"
_REQUESTED, _SECTORS = COST_COLUMNS.index("bytes_asked"), COST_COLUMNS.index("sectors")

_VIEW_OF_CAUSE: dict[CauseKind, str] = {
    "coalescing": "request", "banks": "banks", "divergence": "branch", "idle": "grid", "lanes": "warp", "reuse": "stage",
    "shared": "stage", "arithmetic": "stage", "occupancy": "occupancy",
}  # fmt: skip


def speed_case_of(
    shot: Shot, counts: LaunchCounts | None, speed: KernelSpeed | None, no_speed: str = "",
    rearranged: Sequence[Rearranged] = (), launch: Setup | None = None,
) -> SpeedCase:  # fmt: skip
    """The speed of a shot's launch and its causes, with cures for the shot. ``no_speed``: why its time is unknown;
    ``rearranged``: its tiles without bank conflicts; ``launch``: the launch at other sizes that is asked about.
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
    found = [_with_cure(cause, drawn, rearranged) for cause in causes_of(launched)]
    opposed = [any(_are_opposed(drawn, cause.cure, other.cure) for other in found) for cause in found]
    causes = tuple(replace(each, cure=None) if is_opposed else each for each, is_opposed in zip(found, opposed, strict=True))
    least = sum(array.size * array.itemsize for array in counts.arrays if array.space == "global")
    return replace(
        case, traffic=traffic_of(setup, counts), causes=causes, model_ms=launched.model_ms, least_bytes=least,
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


def _with_cure(cause: Cause, setup: Setup, rearranged: Sequence[Rearranged]) -> Cause:
    """The cause with its first suggestion and the view that shows it."""
    cures = list(suggestions_for(setup, cause.kind))
    if cause.kind == "banks":
        cures += [Suggestion(f"{each.array}: {each.arrangement}", each.setup) for each in rearranged if each.setup is not None]
    is_of_matrices = cause.site is not None and cause.site.instruction
    view = "fragment" if is_of_matrices else _VIEW_OF_CAUSE.get(cause.kind, "")
    return replace(cause, cure=next(iter(cures), None), view=view)


def _are_opposed(setup: Setup, one: Suggestion | None, other: Suggestion | None) -> bool:
    """Whether two suggestions change a parameter of the kernel in opposite directions."""
    if one is None or other is None or not one.setup.kernel.name == other.setup.kernel.name == setup.kernel.name:
        return False
    first, second = one.setup.parameters, other.setup.parameters
    return any((first[name] - now) * (second[name] - now) < 0 for name, now in setup.parameters.items())


def _make_why(shot: Shot, context: Context) -> SpeedCase | None:
    """The speed of the displayed run; None before a run. Includes the previous launch if a suggestion was applied."""
    facts, before = context.whole, context.before
    if facts is None:
        return None
    rearranged = Knowledge.rearranged.at_hand(context.known) or ()
    case = speed_case_of(shot, facts.counts, facts.speed, facts.no_speed, rearranged, facts.setup)
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
