"""Two runs in figures: what a change of a kernel costs, in registers, shared memory and instructions, and what it brings, in
blocks on an SM and in the time that copies have. It answers why a double buffer is slower, or isn't.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from gemmviz.analysis.models.occupancy import OccupancyLimits, occupancy_limits
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.pairing import Pair
from gemmviz.model.sites import Site
from gemmviz.model.translation import counted, marked, percent, spaced, tr
from gemmviz.scenes.kit.layout import LINE_PITCH, REST, write
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.table import TableCell, table
from gemmviz.scenes.kit.view import View, ViewOptions, kernel_words, titled
from gemmviz.scenes.views.pipeline_view import pipeline_of

_ALIKE = 0.005  # a ratio that is nearer to 1 isn't shown
_LINES, _APART = 4, 8  # below the table


class _Row(NamedTuple):
    """A quantity of both runs, None where it is unknown, and how it is written. ``more``: texts that follow."""

    name: str
    values: tuple[float | None, float | None]
    form: Callable[[float], str] = spaced
    more: tuple[str, str] = ("", "")

    @property
    def ratio(self) -> str:
        left, right = self.values
        if not left or right is None or abs(right / left - 1) < _ALIKE:
            return ""
        return f"× {right / left:.3g}"


def pair_facts_scene(pair: Pair, options: ViewOptions) -> Scene:
    """Draw a table of both runs, and below it where its figures come from."""
    theme, sizes = options.theme, options.theme.type
    heads = ["", *_names(pair), tr("right / left")]
    drawn: list[Primitive] = []
    high = LINE_PITCH * sizes.note if options.words else 0
    upper, *below = options.room().rows(REST, *[high] * _LINES, gap=_APART if options.words else 0)
    rows = [_cells(row) for row in _rows(pair)]
    drawn += table("facts", heads, rows, upper, theme, sizes.words)
    for number, (box, text) in enumerate(zip(below, _sources(pair), strict=True) if options.words else ()):
        drawn.append(write(f"source-{number}", box, text, theme.soft.sized(sizes.note)))
    return titled(drawn, tr("What it costs, and what it brings"), _sentence(pair), options)


def _cells(row: _Row) -> list[TableCell]:
    texts = ["–" if value is None else f"{row.form(value)}{more}" for value, more in zip(row.values, row.more, strict=True)]
    differs = bool(row.ratio)
    return [TableCell(row.name), *(TableCell(text, strong=differs) for text in texts), TableCell(row.ratio, strong=differs)]


def _names(pair: Pair) -> tuple[str, str]:
    """Return the kernels' names, or if they are the same the parameters in which the runs differ."""
    left, right = (side.trace.setup for side in pair.sides)
    if left.kernel.name != right.kernel.name:
        return left.kernel.name, right.kernel.name
    differing = [name for name in left.parameters if right.parameters.get(name) != left.parameters[name]]
    one, other = (", ".join(f"{name} = {each.parameters[name]}" for name in differing) for each in (left, right))
    return one or left.kernel.name, other or right.kernel.name


def _sources(pair: Pair) -> tuple[str, ...]:
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


def _rows(pair: Pair) -> list[_Row]:
    limits = [None if case is None else occupancy_limits(case.device, case.needs) for case in pair.cases]
    known = [None if each is None or not each.is_certain else each for each in limits]
    needs = [None if case is None else case.needs for case in pair.cases]
    found = [pipeline_of(side) for side in pair.sides]
    rows = [
        _Row(tr("time of a launch"), pair.times_ms, lambda ms: f"{ms * 1e3:,.1f} µs"),
        _Row(tr("registers of a thread"), _both(None if each is None else each.registers for each in needs)),
        _Row(tr("shared bytes of a block"), _both(None if each is None else each.shared_bytes for each in needs)),
        _Row(tr("blocks on an SM"), _both(None if each is None else each.blocks_per_sm for each in known), more=_limits(known)),
        _Row(tr("warps on an SM"), _both(None if each is None else each.warps for each in known)),
        _Row(tr("stages"), _both(each.stages for each in found)),
        _Row(tr("steps from copy to wait"), _both(_mean_way(side) for side in pair.sides), _one_digit),
        *(_Row(tr(name), _both(_instructions(side, chosen) for side in pair.sides)) for name, chosen in _KINDS),
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


def _accesses(kind: str, space: str) -> Callable[[Moment, Site], bool]:
    """Return whether a site is of a kind and accesses one memory."""
    return lambda moment, site: (
        site.kind == kind and any(moment.trace.arrays[operand.array].space == space for operand in site.operands)
    )


_KINDS: tuple[tuple[str, Callable[[Moment, Site], bool]], ...] = (
    (marked("loads from global memory"), _accesses("load", "global")),
    (marked("asynchronous copies"), lambda moment, site: site.kind == "copy"),
    (marked("stores into shared memory"), _accesses("store", "shared")),
    (marked("loads from shared memory"), _accesses("load", "shared")),
    (marked("barriers"), lambda moment, site: site.is_barrier),
    (marked("waits and arrivals"), lambda moment, site: site.kind in ("wait", "arrive", "init")),
)


def _sentence(pair: Pair) -> str:
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


VIEW = View(marked("Comparison: costs and gains"), Pair, pair_facts_scene, order=503)
