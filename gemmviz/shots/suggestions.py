"""Suggestions against the causes of a kernel's time, those that oppose one another, and the faster of these, by a trial."""

import contextlib
from collections.abc import Callable, Iterator, Sequence

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import can_run, launch_for, legal_choices, setup_for
from gemmviz.model.cases import Cause, CauseKind, Suggestion
from gemmviz.model.errors import Cancelled, GemmvizError, cancelled_after, checkpoint
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup, parameters_text
from gemmviz.model.translation import marked, tr
from gemmviz.run.stored import recorded_speed
from gemmviz.run.trial import WorkBudget, attempted
from gemmviz.shots.rearranging import Rearranged

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
_MOST_TRYING_S = 20


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
            larger = next_choice(setup, name, up=True)
            if larger is not None:
                yield Suggestion(
                    tr("a larger block: {name} = {larger}", name=name, larger=larger), setup.changed(**{name: larger})
                )
        if kind == "idle" and name in setup.parameters:
            smaller = next_choice(setup, name, up=False)
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


def next_choice(setup: Setup, name: str, up: bool) -> int | None:
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


def with_cures(causes: Sequence[Cause], setup: Setup, rearranged: Sequence[Rearranged]) -> list[Cause]:
    """The causes, each with its first suggestion for a setup."""
    arranged = [Suggestion(f"{each.array}: {each.arrangement}", each.setup) for each in rearranged if each.setup is not None]
    cures = ([*suggestions_for(setup, each.kind), *(arranged if each.kind == "banks" else [])] for each in causes)
    return [replace(each, cure=next(iter(own), None)) for each, own in zip(causes, cures, strict=True)]


def opposed_cures(causes: Sequence[Cause], setup: Setup) -> list[Suggestion]:
    """Suggestions that change a parameter of the kernel in opposite directions."""
    cures = [each.cure for each in causes if each.cure is not None and each.cure.setup.kernel.name == setup.kernel.name]
    return [each for each in cures if any(_are_opposed(setup, each.setup, other.setup) for other in cures)]


def _are_opposed(setup: Setup, one: Setup, other: Setup) -> bool:
    return any((one.parameters[name] - now) * (other.parameters[name] - now) < 0 for name, now in setup.parameters.items())


def faster_of(
    cures: Sequence[Suggestion], setup: Setup, now_ms: float, time_ms: Callable[[Setup], float | None]
) -> tuple[Setup, ...]:
    """The setup of the suggestion that takes the least time, if that is less than ``now_ms`` and a run's result is right; none
    if finding it takes long. ``time_ms``: of a setup, None if unknown. Raises Cancelled.
    """
    try:
        with cancelled_after(_MOST_TRYING_S):
            times = [(time_ms(each.setup), each.setup) for each in cures]
    except Cancelled:
        checkpoint()
        return ()
    best_ms, best = min(
        ((each, cure) for each, cure in times if each is not None), key=lambda pair: pair[0], default=(now_ms, setup)
    )
    if best_ms >= now_ms:
        return ()
    trial = attempted(best, WorkBudget()) or attempted(best, WorkBudget(), in_part=True)
    return (best,) if trial is not None and trial.column_major == setup.kernel.column_major else ()
