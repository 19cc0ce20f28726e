"""A branch at which lanes of a warp part: a row of lanes for each place that a way comes to, one way after the other, and the
place at which all lanes are together again.
"""

from typing import NamedTuple

import numpy as np

from gemmviz.analysis.memory.counts import Counts, count_rows
from gemmviz.analysis.memory.warps import request_rows
from gemmviz.analysis.replay.divergence import Divergence, Way, divergence_of, next_branch
from gemmviz.analysis.replay.moment import Moment
from gemmviz.cuda.launch.legality import device_for
from gemmviz.files.recordings import recorded_machine_code
from gemmviz.model.arrays import Bools
from gemmviz.model.sites import Site
from gemmviz.model.translation import many, marked, spaced, tr
from gemmviz.scenes.kit.layout import (
    AIR,
    LINE_PITCH,
    NEAR,
    REST,
    ROW_PITCH,
    Box,
    cells_in,
    names_of_parts,
    round_boxes,
    swatches,
    write,
    write_all,
)
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.sentence import compiled_branch
from gemmviz.scenes.kit.theme import SOFT, Style, mixed
from gemmviz.scenes.kit.view import View, ViewOptions, elsewhere, framed

_TEXTS, _COSTS = 0.34, 0.17  # of the width: the lines of the source, and what they cost
_TALLEST = 60  # of a row
_ABSENT, _WAITS, _ACTIVE, _OTHER = range(4)  # lanes; the last: of the other way at the branch itself
# Of the ways where the condition holds and where it doesn't: one that comes first, one that comes after the other, and one
# without another.
_HEADINGS = (
    (
        marked("First the {lanes} where it holds; the others wait"),
        marked("Then the {lanes} where it holds; the others wait"),
        marked("Only the {lanes} where it holds; the others wait"),
    ),
    (
        marked("First the {lanes} where it doesn't hold; the others wait"),
        marked("Then the {lanes} where it doesn't hold; the others wait"),
        marked("Only the {lanes} where it doesn't hold; the others wait"),
    ),
)


class _Row(NamedTuple):
    """What is told at one place: the source, which lanes are active, and the cost of its ``steps``. ``other``: at the branch,
    the lanes where its condition doesn't hold; ``array``: the name of what is accessed; ``heading``: the name of a way instead.
    """

    text: str = ""
    active: Bools | None = None
    other: Bools | None = None
    array: str = ""
    cost: str = ""
    steps: tuple[int, ...] = ()
    heading: str = ""


def branch_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the rows of the branch at which the watched warp parts or has parted, without their lanes."""
    found = divergence_of(moment)
    if found is None:
        step, link = next_branch(moment), tr("Go to step {step}, where lanes part")
        said = tr("No lanes of a warp part in this run") if step is None else tr("All lanes are together at this step")
        return framed(elsewhere(said, step, link, options), moment, options)
    theme, rows, plan = options.theme, _rows(moment, found), _Plan.of(moment, found, options)
    pieces: list[Primitive] = [
        names_of_parts("lanes", plan.numbers, [str(n) for n in range(plan.lanes)], *theme.aside[:2], "inside")
    ]
    now = [place for place, row in enumerate(rows) if moment.step in row.steps]
    pieces += [round_boxes("now", plan.rows[place].inset(-8, 1), theme.panel, theme.faint) for place in now]
    for place, (row, box) in enumerate(zip(rows, plan.rows, strict=True)):
        if row.heading:
            pieces.append(write(f"way-{place}", box, row.heading, Style(plan.size, theme.text, "semibold")))
    texts = [(row, box) for row, box in zip(rows, plan.rows, strict=True) if not row.heading]
    left, _, right = zip(*(plan.across(box) for _, box in texts), strict=True)
    style = Style(plan.size, theme.text, "mono")
    pieces.append(write_all("sources", left, [row.text for row, _ in texts], style))
    pieces.append(write_all("costs", right, [row.cost for row, _ in texts], style._replace(face="regular")))
    pieces += _below(moment, found, plan.below, options)
    return framed(pieces, moment, options)


def branch_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the lanes: those that were active before this step, and those that become so in it."""
    found = divergence_of(moment)
    if found is None:
        return ()
    theme, plan, drawn = options.theme, _Plan.of(moment, found, options), list[Primitive]()
    for place, (row, box) in enumerate(zip(_rows(moment, found), plan.rows, strict=True)):
        if row.active is None:
            continue
        full = theme.accent(row.array) if row.array else theme.chosen
        share = 1.0 if row.steps[0] < moment.step else options.way if moment.step in row.steps else 0.0
        strong = SOFT + (1 - SOFT) * share
        palette = (theme.background, theme.empty, mixed(theme.empty, full, strong), mixed(theme.empty, theme.slate, strong))
        fill = np.where(row.active, _ACTIVE, _WAITS).astype(np.uint8)
        if row.other is not None:
            fill[row.other] = _OTHER
        fill = np.pad(fill, (0, plan.lanes - len(fill)), constant_values=_ABSENT)[None, :]
        _, cells, _ = plan.across(box)
        drawn.append(cells_in(f"lanes-{place}", cells.inset(0, 3), fill, palette, theme.background))
    return tuple(drawn)


class _Plan(NamedTuple):
    """The boxes of the ``rows``, of the ``numbers`` of the lanes above them, and of what is told ``below`` them."""

    numbers: Box
    rows: list[Box]
    below: Box
    lanes: int
    size: float

    @classmethod
    def of(cls, moment: Moment, found: Divergence, options: ViewOptions) -> "_Plan":
        rows, sizes, lanes = _rows(moment, found), options.theme.type, moment.trace.rules.warp_size
        said = 3 * LINE_PITCH * sizes.words if options.words else 0
        head, whole, below = options.room().rows(sizes.words, REST, said, gap=NEAR)
        pitch = min(_TALLEST, whole.height / len(rows))
        boxes = whole.rows(*[pitch] * len(rows))
        plan = cls(head, boxes, below, lanes, max(sizes.least, min(sizes.note, pitch / ROW_PITCH)))
        return plan._replace(numbers=plan.across(head)[1], below=below._replace(y=boxes[-1].bottom + NEAR))

    def across(self, box: Box) -> tuple[Box, Box, Box]:
        """The parts of a row for the source, the lanes and the cost."""
        left, middle, right = box.columns(_TEXTS * box.width, REST, _COSTS * box.width, gap=AIR)
        return left, middle, right


def _rows(moment: Moment, found: Divergence) -> list[_Row]:
    key = "rows of a branch", found.step, found.threads.start
    rows: list[_Row] = moment.replay.cached(key, lambda: _told(moment, found))
    return rows


def _told(moment: Moment, found: Divergence) -> list[_Row]:
    trace, (taken, passed) = moment.trace, found.ways
    site, split = trace.site_of(found.step), f"{taken.lanes.sum()} + {passed.lanes.sum()}"
    rows = [_Row(_source(site), taken.lanes, passed.lanes, cost=tr("{split} lanes", split=split), steps=(found.step,))]
    ways = [way for way in zip(found.ways, _HEADINGS, strict=True) if len(way[0].steps)]
    ways.sort(key=lambda way: int(way[0].steps[0]))
    for number, (way, headings) in enumerate(ways):
        heading = headings[number if len(ways) == 2 else -1]
        rows.append(_Row(heading=tr(heading, lanes=many(int(way.lanes.sum()), "lane"))))
        rows += _places(moment, found, way)
    if found.meets is not None:
        met = trace.site_of(found.meets)
        active = trace.element[trace.row[found.meets], found.threads] >= 0
        rows.append(_Row(heading=tr("Together again")))
        lanes = many(int(active.sum()), "lane")
        rows.append(_Row(_source(met), active, array=_array(moment, met), cost=lanes, steps=(found.meets,)))
    else:
        rows.append(_Row(heading=tr("They don't meet again before the run ends")))
    return rows


def _places(moment: Moment, found: Divergence, way: Way) -> list[_Row]:
    """Return a row for each place that a way comes to, in the order in which it first does."""
    trace, rows = moment.trace, list[_Row]()
    for site in dict.fromkeys(trace.site[way.steps].tolist()):
        steps = way.steps[trace.site[way.steps] == site]
        active = trace.element[trace.row[steps[0]], found.threads] >= 0
        where = trace.sites[site]
        text = _source(where) + (f"  ×{spaced(len(steps))}" if len(steps) > 1 else "")
        cost = _cost(moment, found, steps.tolist())
        rows.append(_Row(text, active, array=_array(moment, where), cost=cost, steps=tuple(steps.tolist())))
    return rows


def _source(site: Site) -> str:
    return f"{site.place.line}  {' '.join(site.text.split())}"


def _array(moment: Moment, site: Site) -> str:
    operand = site.operand(0)
    return "" if operand is None else moment.trace.arrays[operand.array].name


def _cost(moment: Moment, found: Divergence, steps: list[int]) -> str:
    """Return what a warp moves at some steps of one place."""
    counts = _counts(moment, found, steps)
    if counts.sectors:
        return many(counts.sectors, "sector")
    return many(counts.wavefronts, "wavefront") if counts.wavefronts else ""


def _counts(moment: Moment, found: Divergence, steps: list[int]) -> Counts:
    trace, total = moment.trace, Counts()
    for step in steps:
        for place, operand in enumerate(trace.site_of(step).operands):
            elements = trace.element[trace.row[step] + place, found.threads][None, :]
            total += count_rows(request_rows(elements, trace.rules), operand, trace.arrays[operand.array], trace.rules)
    return total


def _below(moment: Moment, found: Divergence, box: Box, options: ViewOptions) -> list[Primitive]:
    """Say what both ways cost one after the other, and what the colours mean."""
    if not options.words:
        return []
    theme, (upper, middle, lower) = options.theme, box.rows(REST, REST, REST)
    costs = [_counts(moment, found, way.steps.tolist()) for way in found.ways]
    costs = [each for each in costs if each.requests]
    said = tr("What follows accesses no memory")
    if costs:
        said = tr("This warp: {cost}", cost=", ".join(_sums(costs)))
    setup = moment.trace.setup
    aside = compiled_branch(recorded_machine_code(setup, device_for(setup)), moment.trace.site_of(found.step).place)
    looks = [([(theme.chosen, None)], tr("active")), ([(theme.empty, None)], tr("waits"))]
    words = [write("both", upper, said, theme.strong), write("as-written", middle, aside, theme.aside)]
    return [*words, *swatches("legend", lower, looks, theme.type.note, theme.faint)]


def _sums(costs: list[Counts]) -> list[str]:
    """Return the requests of the ways, and the sectors or wavefronts, as sums."""
    sums = []
    for unit in ("request", "sector", "wavefront"):
        parts = [getattr(each, f"{unit}s") for each in costs]
        if sum(parts):
            terms = " + ".join(map(spaced, parts))
            sums.append(f"{terms} = {many(sum(parts), unit)}" if len(parts) > 1 else many(parts[0], unit))
    return sums


VIEW = View(marked("Branch: lanes that part"), Moment, branch_scene, branch_motion, is_count=True, order=203)
