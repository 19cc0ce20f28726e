"""Suggested setups for each bottleneck: another kernel of the ladder, or another parameter. All suggestions can run; their
effect is not claimed before they have run.
"""

import contextlib
from collections.abc import Iterator

from gemmviz.launch.catalog import load_kernel
from gemmviz.launch.legality import can_run, launch_for, legal_choices, setup_for
from gemmviz.model.setup import Setup
from gemmviz.model.speed_case import CauseKind, Suggestion
from gemmviz.model.translation import marked, tr
from gemmviz.run.engine import CannotAnswer
from gemmviz.run.measure.recorded import RecordedTimes
from gemmviz.subjects.titles import parameters_text

_LADDER: dict[str, tuple[str, tuple[CauseKind, ...], str]] = {
    "02_naive": (marked("swap x and y: 03_coalesced"), ("coalescing",), "03_coalesced"),
    "03_coalesced": (marked("tiles in shared memory: 04_tiled"), ("reuse", "coalescing"), "04_tiled"),
    "04_tiled": (marked("sums in registers: 08_register_tiled"), ("shared", "reuse"), "08_register_tiled"),
    "05_tiled_unguarded": (marked("sums in registers: 08_register_tiled"), ("shared", "reuse"), "08_register_tiled"),
    "06_tiled_unrolled": (marked("sums in registers: 08_register_tiled"), ("shared", "reuse"), "08_register_tiled"),
    "08_register_tiled": ("float4: 09_vectorised", ("shared", "coalescing", "banks", "nothing", "reuse", "occupancy"),
                          "09_vectorised"),
}  # fmt: skip
_WIDTHS = ("TILE_WIDTH", "BLOCK")


def suggestions_for(setup: Setup, kind: CauseKind) -> tuple[Suggestion, ...]:
    """Suggestions against one kind of bottleneck."""
    return tuple(each for each in _candidates(setup, kind) if can_run(each.setup))


def _candidates(setup: Setup, kind: CauseKind) -> Iterator[Suggestion]:
    if kind == "banks" and setup.parameters.get("PAD") == 0:
        yield Suggestion(tr("a column of padding: PAD = 1"), setup.changed(PAD=1))
    if setup.kernel.is_shipped and setup.kernel.name in _LADDER:
        text, kinds, other = _LADDER[setup.kernel.name]
        if kind in kinds:
            yield from _other_kernel(setup, text, other)
    for name in _WIDTHS:
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


def _fastest(setups: list[Setup]) -> Setup | None:
    """The setup with the best recorded time; None if there is no recording."""
    times: dict[int, float] = {}
    for number, setup in enumerate(setups):
        with contextlib.suppress(CannotAnswer):
            time_ms = RecordedTimes().time(setup).median_ms
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
    fastest = _fastest(list(legal_choices(kernel, setup.problem, **others)))
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
