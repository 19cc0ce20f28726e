"""Views of two runs: as one picture, and in figures."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from msgspec import structs

from gemmviz.analysis.models import OccupancyLimits, occupancy_limits
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.pairing import Lock, Pair
from gemmviz.model.messages import counted, marked, percent, spaced, tr
from gemmviz.model.sites import Site
from gemmviz.scenes.kit.layout import LINE_PITCH, REST, Box, Paragraph, paragraphs_in, write
from gemmviz.scenes.kit.primitives import SIDES, Primitive, RunSide, Scene, fitted, text_width
from gemmviz.scenes.kit.sentence import beat
from gemmviz.scenes.kit.shapes import of_side
from gemmviz.scenes.kit.table import TableCell, table
from gemmviz.scenes.kit.view import HEADLINE_PITCH, View, ViewOptions, kernel_words, named_timeline, titled
from gemmviz.scenes.stage.layout import Plan
from gemmviz.scenes.stage.motion import stage_motion
from gemmviz.scenes.stage.two_stages import column_primitives, two_stages
from gemmviz.scenes.views.pipeline_view import pipeline_of
from gemmviz.scenes.views.stage_view import planned_scene

# Comparison.

_LOCKED: dict[Lock, str] = {
    "phase": marked("in the same phase"),
    "k": marked("at the same k"),
    "step": marked("at the same step"),
    "bytes": marked("after the same bytes moved"),
}


def pair_scene(pair: Pair, options: ViewOptions) -> Scene:
    """A comparison as one picture: two runs in the same frame with cells of one size, and between them one meter, so that
    nothing differs but what the kernels do.

    Draw both runs in the same frame, without motion, and the meter between them.
    """
    theme, stages = options.theme, two_stages(pair, options)
    primitives: list[Primitive] = []
    above: list[Primitive] = []
    words: list[Primitive] = []
    for moment, plan, head, side in zip(pair.sides, stages.plans, stages.heads, SIDES, strict=True):
        still = planned_scene(moment, plan, _half(pair, options))
        primitives += [of_side(each, side) for each in still.primitives]
        above += [of_side(each, side) for each in still.above]
        words += [of_side(each, side) for each in _side_head(moment, pair, head, options)] if options.words else []
    lock = tr("Both {locked}", locked=tr(_LOCKED[pair.lock])) if pair.is_same_problem else tr("The problems differ in size")
    words += column_primitives(pair, stages.between, lock, options)
    words += named_timeline(pair.right, options)
    return Scene(options.width, options.height, theme.background, tuple(primitives), tuple(above), tuple(words))


def pair_motion(pair: Pair, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the motion on the right side, which sets the time, and on the left if it takes a step as well."""
    stages, half = two_stages(pair, options), _half(pair, options)
    moving: list[Primitive] = []
    for moment, plan, side in _moving(pair, stages.plans):
        moving += [of_side(each, side) for each in stage_motion(moment, half, plan)]
    return tuple(moving)


def _moving(pair: Pair, plans: tuple[Plan, Plan]) -> list[tuple[Moment, Plan, RunSide]]:
    sides = list(zip(pair.sides, plans, SIDES, strict=True))
    return sides if pair.both_move else sides[1:]


def _half(pair: Pair, options: ViewOptions) -> ViewOptions:
    """Return the options for one of the stages: the words of a comparison are its own."""
    return structs.replace(options, timeline=False, marked=pair.marked)


def _side_head(moment: Moment, pair: Pair, box: Box, options: ViewOptions) -> list[Primitive]:
    """Write the kernel of one side, and what it does at this moment."""
    theme, sizes, said = options.theme, options.theme.type, beat(moment, options.labels).text
    title = fitted(_side_title(moment, pair, box.width, sizes.name), sizes.name, box.width, "semibold")
    lines = [
        Paragraph("title", (title,), sizes.name, theme.text, "semibold", "title"),
        Paragraph.wrapped("action", said, theme.plain, box, 2, "action"),
    ]
    return [*paragraphs_in(box, lines, leading=HEADLINE_PITCH)[0]]


def _side_title(moment: Moment, pair: Pair, room: float, size: float) -> str:
    """Return the kernel with its parameters; if those of a side are too long, only with those in which the sides differ."""
    if all(text_width(kernel_words(side), size, "semibold") <= room for side in pair.sides):
        return kernel_words(moment)
    left, right = (side.trace.setup.parameters for side in pair.sides)
    setup = moment.trace.setup
    shared = {name for name in left if name in right}
    differing = [f"{name} = {setup.parameters[name]}" for name in shared if left[name] != right[name]]
    return ", ".join([setup.kernel.name, *differing])


# Comparison: costs and gains.

_LEAST_CHANGE = 0.005  # a ratio that is nearer to 1 isn't shown
_LINES, _APART = 4, 8  # below the table


class _Quantity(NamedTuple):
    """A quantity of both runs, None where it is unknown, and how it is written. ``more``: texts that follow."""

    name: str
    values: tuple[float | None, float | None]
    form: Callable[[float], str] = spaced
    more: tuple[str, str] = ("", "")

    @property
    def ratio(self) -> str:
        left, right = self.values
        if not left or right is None or abs(right / left - 1) < _LEAST_CHANGE:
            return ""
        return f"× {right / left:.3g}"


def pair_facts_scene(pair: Pair, options: ViewOptions) -> Scene:
    """Two runs in figures: what a change of a kernel costs, in registers, shared memory and instructions, and what it brings,
    in blocks on an SM and in the time that copies have. It answers why a double buffer is slower, or isn't.

    Draw a table of both runs, and below it where its figures come from.
    """
    theme, sizes = options.theme, options.theme.type
    heads = ["", *_run_names(pair), tr("right / left")]
    drawn: list[Primitive] = []
    high = LINE_PITCH * sizes.note if options.words else 0
    upper, *below = options.room().rows(REST, *[high] * _LINES, gap=_APART if options.words else 0)
    rows = [_quantity_cells(row) for row in _quantities(pair)]
    drawn += table("facts", heads, rows, upper, theme, sizes.words)
    for number, (box, text) in enumerate(zip(below, _source_sentences(pair), strict=True) if options.words else ()):
        drawn.append(write(f"source-{number}", box, text, theme.soft.sized(sizes.note)))
    return titled(drawn, tr("What it costs, and what it brings"), _comparison_sentence(pair), options)


def _quantity_cells(row: _Quantity) -> list[TableCell]:
    texts = ["–" if value is None else f"{row.form(value)}{more}" for value, more in zip(row.values, row.more, strict=True)]
    differs = bool(row.ratio)
    return [TableCell(row.name), *(TableCell(text, strong=differs) for text in texts), TableCell(row.ratio, strong=differs)]


def _run_names(pair: Pair) -> tuple[str, str]:
    """Return the kernels' names, or if they are the same the parameters in which the runs differ."""
    left, right = (side.trace.setup for side in pair.sides)
    if left.kernel.name != right.kernel.name:
        return left.kernel.name, right.kernel.name
    differing = [name for name in left.parameters if right.parameters.get(name) != left.parameters[name]]
    one, other = (", ".join(f"{name} = {each.parameters[name]}" for name in differing) for each in (left, right))
    return one or left.kernel.name, other or right.kernel.name


def _source_sentences(pair: Pair) -> tuple[str, ...]:
    """Name the runs, and the devices and compilers that figures come from."""
    left, right = map(kernel_words, pair.sides)
    times = dict.fromkeys(pair.time_sources)
    registers = dict.fromkeys(case.registers_source for case in pair.cases if case is not None and case.registers_source)
    counted_in = tr("Accesses, barriers and waits are instructions of one block's warps.")
    return (
        tr("Left: {left}", left=left),
        tr("Right: {right}", right=right),
        tr("Time: {source}", source="; ".join(times) or tr("not recorded")) + ". " + counted_in,
        tr("Registers: {source}", source="; ".join(registers) or tr("not recorded")),
    )


def _quantities(pair: Pair) -> list[_Quantity]:
    limits = [None if case is None else occupancy_limits(case.device, case.needs) for case in pair.cases]
    known = [None if each is None or not each.is_certain else each for each in limits]
    needs = [None if case is None else case.needs for case in pair.cases]
    found = [pipeline_of(side) for side in pair.sides]
    rows = [
        _Quantity(tr("time of a launch"), pair.times_ms, lambda ms: f"{ms * 1e3:,.1f} µs"),
        _Quantity(tr("registers of a thread"), _both(None if each is None else each.registers for each in needs)),
        _Quantity(tr("shared bytes of a block"), _both(None if each is None else each.shared_bytes for each in needs)),
        _Quantity(
            tr("blocks on an SM"), _both(None if each is None else each.blocks_per_sm for each in known), more=_limits(known)
        ),
        _Quantity(tr("warps on an SM"), _both(None if each is None else each.warps for each in known)),
        _Quantity(tr("stages"), _both(each.stages for each in found)),
        _Quantity(tr("steps from copy to wait"), _both(_mean_way(side) for side in pair.sides), _one_digit),
        *(_Quantity(tr(name), _both(_instructions(side, chosen) for side in pair.sides)) for name, chosen in _COUNTED_SITES),
    ]
    return [row for row in rows if any(row.values)]


def _both(values: Iterator[float | None]) -> tuple[float | None, float | None]:
    left, right = values
    return left, right


def _one_digit(value: float) -> str:
    return counted(f"{value:.1f}")


def _limits(limits: list[OccupancyLimits | None]) -> tuple[str, str]:
    """Return what limits the blocks on an SM, in brackets."""
    left, right = ("" if each is None else f" ({', '.join(map(tr, each.limiting))})" for each in limits)
    return left, right


def _mean_way(moment: Moment) -> float | None:
    """Return the mean number of steps from the first copy of a stage to its wait; None without copies."""
    copies = pipeline_of(moment).copies
    return sum(fill.arrives - fill.first for fill in copies) / len(copies) if copies else None


def _instructions(moment: Moment, chosen: Callable[[Moment, Site], bool]) -> int:
    """Return how often the warps of the block execute what the source says in places of a kind."""
    trace, size = moment.trace, moment.trace.rules.warp_size
    sites = np.array([chosen(moment, site) for site in trace.sites], bool)
    rows = trace.row[:-1][sites[trace.site]]
    active = trace.element[rows, moment.scope.of_block] >= 0
    starts = np.arange(0, trace.space.threads_per_block, size)
    return int(np.logical_or.reduceat(active, starts, axis=1).sum()) if len(rows) else 0


def _access_test(kind: str, space: str) -> Callable[[Moment, Site], bool]:
    """Return whether a site is of a kind and accesses one memory."""
    return lambda moment, site: (
        site.kind == kind and any(moment.trace.arrays[operand.array].space == space for operand in site.operands)
    )


_COUNTED_SITES: tuple[tuple[str, Callable[[Moment, Site], bool]], ...] = (
    (marked("loads from global memory"), _access_test("load", "global")),
    (marked("asynchronous copies"), lambda moment, site: site.kind == "copy"),
    (marked("stores into shared memory"), _access_test("store", "shared")),
    (marked("loads from shared memory"), _access_test("load", "shared")),
    (marked("barriers"), lambda moment, site: site.is_barrier),
    (marked("waits and arrivals"), lambda moment, site: site.kind in ("wait", "arrive", "init")),
)


def _comparison_sentence(pair: Pair) -> str:
    """Say which run is faster, if that is recorded, and what differs most in the time that it needs."""
    left, right = pair.times_ms
    if not pair.is_same_problem:
        return tr("The problems differ in size")
    if left is None or right is None:
        return tr("No time is recorded for both: the figures say what changes, not what it is worth")
    slower = right > left
    return (
        tr("The right one takes {ratio} times as long", ratio=counted(f"{right / left:.3g}"))
        if slower
        else tr("The right one takes {ratio} of the time", ratio=percent(right / left))
    )


VIEWS = {
    "pair": View(marked("Comparison"), Pair, pair_scene, pair_motion, has_title=False, order=502),
    "pair_facts": View(marked("Comparison: costs and gains"), Pair, pair_facts_scene, order=503),
}
