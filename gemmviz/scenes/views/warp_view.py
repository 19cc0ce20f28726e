"""Views of a warp: its lanes, one instruction, and a branch."""

from typing import NamedTuple

import numpy as np
from msgspec import structs

from gemmviz.analysis.costs import request_rows
from gemmviz.analysis.counts import Counts, count_rows
from gemmviz.analysis.replay.divergence import Divergence, Way, divergence_of, next_branch
from gemmviz.analysis.replay.focus import thread_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.cuda.launch.legality import device_for
from gemmviz.files.recordings import recorded_machine_code
from gemmviz.model.arrays import Bools
from gemmviz.model.messages import grouped, many, marked, spaced, tr
from gemmviz.model.sites import Site
from gemmviz.scenes.kit.layout import (
    AIR,
    LINE_PITCH,
    NEAR,
    REST,
    ROW_PITCH,
    Box,
    Share,
    along,
    beside,
    cells_in,
    names_of_parts,
    round_boxes,
    square,
    swatches,
    write,
    write_all,
)
from gemmviz.scenes.kit.primitives import Lines, Primitive, Scene, boxes, text_width
from gemmviz.scenes.kit.sentence import compiled_branch, element_text
from gemmviz.scenes.kit.theme import SOFT, Style, mixed
from gemmviz.scenes.kit.view import View, ViewOptions, elsewhere, framed, message
from gemmviz.scenes.stage.tile_cells import tile_matrix
from gemmviz.scenes.stage.words import code_primitives

# Warp: all lanes.

_LANES_BESIDE = 4
_BETWEEN_LANES, _WARP_TALLEST = 8, 96
_MOST_BELOW = 2  # elements below a lane's name


def warp_scene(moment: Moment, options: ViewOptions) -> Scene:
    """One warp lane by lane: threadIdx, element and byte address of the access, value, and whether the lane is active.

    Draw the watched warp, or the block's first one with an active lane.
    """
    warp = moment.shown_warp
    if warp is None:
        return framed([message(tr("No thread of this block is active in this step."), options)], moment, options)
    return framed(_all_lanes(moment, warp, options), moment, options)


def _all_lanes(moment: Moment, warp: int, options: ViewOptions) -> list[Primitive]:
    theme, size = options.theme, moment.trace.rules.warp_size
    columns = _LANES_BESIDE if options.words else 2 * _LANES_BESIDE
    is_long = len(moment.touched) > _MOST_BELOW
    columns = columns // 2 if is_long else columns
    rows, room = -(-size // columns), options.room().trimmed(top=44)
    lanes = room._replace(height=min(room.height, rows * _WARP_TALLEST)).grid(rows, columns, _BETWEEN_LANES)[:size]
    parts = [_lane_rooms(box, is_long) for box in lanes]
    font = min(theme.type.note, lanes[0].height / LINE_PITCH / (1 if is_long else 2))
    for with_address, with_value in ((options.words, True), (False, True), (False, False)):  # as much as fits
        texts = [_lane_lines(moment, warp, number, options, with_address, with_value) for number in range(size)]
        if all(text_width(touched or "", font) <= parts[0][1].width for _, touched in texts):
            break
    heading = tr("warp {warp}: {heading}", warp=warp, heading=_what_lanes_show(moment, with_address, with_value))
    pieces: list[Primitive] = [beside("warp-heading", room, "top", heading, theme.strong, 16)]
    for key, ink, is_active in (("lane", theme.text, True), ("idle", theme.faint, False)):
        own = [place for place, (_, touched) in enumerate(texts) if (touched is not None) == is_active]
        boxes, halves = [lanes[place] for place in own], [parts[place] for place in own]
        pieces.append(round_boxes(f"{key}-boxes", boxes, theme.panel if is_active else theme.empty))
        if is_active:
            bars = [box._replace(width=_BETWEEN_LANES) for box in boxes]
            pieces.append(round_boxes("lane-bars", bars, theme.accent(_coloured_as(moment))))
        titles, second = [texts[place][0] for place in own], [texts[place][1] or tr("inactive") for place in own]
        style = Style(font, ink, "semibold")
        pieces.append(write_all(f"{key}-titles", [upper for upper, _ in halves], titles, style))
        pieces.append(write_all(f"{key}-touches", [lower for _, lower in halves], second, style._replace(face="regular")))
    return pieces


def _lane_rooms(box: Box, is_long: bool) -> list[Box]:
    """Return the places of a lane's name and of what it touches, below it or, if that is ``is_long``, beside it."""
    inner = box.trimmed(22, 4, 12, 4)
    return inner.columns(Share(4), Share(7)) if is_long else inner.rows(REST, REST)


def _coloured_as(moment: Moment) -> str:
    return "" if moment.main is None else tile_matrix(moment) or moment.main.array.name


def _what_lanes_show(moment: Moment, with_address: bool, with_value: bool) -> str:
    if not with_address and not with_value:
        return tr("each lane's thread and elements")
    address = tr(", byte address") if with_address else ""
    return tr("each lane's thread, element{address}", address=address) + (
        tr(" and value") if with_value and moment.replay.value is not None else ""
    )


def _lane_lines(
    moment: Moment, warp: int, lane: int, options: ViewOptions, with_address: bool, with_value: bool
) -> tuple[str, str | None]:
    """Return two lines of text for a lane; the second is None if the lane is inactive."""
    trace, value = moment.trace, moment.replay.value if with_value else None
    thread = warp * trace.rules.warp_size + lane
    if thread >= trace.space.threads_per_block:
        return tr("lane {lane}, no thread", lane=lane), None
    title = tr("lane {lane}, thread {thread}", lane=lane, thread=thread_text(thread, trace.launch))
    column = moment.scope.of_block.start + thread
    if (trace.element[trace.row[moment.step] : trace.row[moment.step + 1], column] < 0).all():
        return title, None
    if not moment.touched:
        return title, "waits" if moment.site.is_barrier else moment.site.kind
    parts = list[str]()
    for touched in moment.touched:
        element = int(trace.element[touched.row, column])
        if element < 0:
            continue
        element += int(touched.operand.layout.offset(0, trace.lane[column]))
        what = "" if value is None else f"  {touched.array.element.text(float(value[touched.row, column]), 3)}"
        address = tr("  byte {element}", element=grouped(element * touched.array.itemsize)) if with_address else ""
        is_again = bool(parts) and touched.array is moment.touched[0].array
        array = structs.replace(touched.array, name="") if is_again else touched.array
        parts.append(f"{element_text(array, element, options.labels)}{address}{what}")
    return title, ", ".join(parts)


# Instruction: one fetch for a warp.

_COLUMNS, _BUS, _GAP, _FETCH_TALLEST = (
    4,
    90,
    4,
    96,
)  # columns of lanes; width of the ways to them; between them; a lane's height
_CODE, _BOX = 110, 190  # heights of the statement, and of the control around it


class _FetchPlan(NamedTuple):
    """The control at the left; the boxes of the ``lanes`` in ``rows`` at the right."""

    control: Box
    lanes: list[Box]
    rows: int

    @classmethod
    def of(cls, lanes: int, options: ViewOptions) -> "_FetchPlan":
        room = options.room().trimmed(top=44).trimmed(bottom=10)
        columns = min(_COLUMNS * (1 + (lanes > 32)), lanes)
        rows = -(-lanes // columns)
        left, right = room._replace(height=min(room.height, rows * _FETCH_TALLEST)).columns(Share(2), Share(3), gap=_BUS)
        control = square(left.middle, left.width, min(_BOX, room.height))
        return cls(control, right.grid(rows, columns, _GAP)[:lanes], rows)


def fetch_scene(moment: Moment, options: ViewOptions) -> Scene:
    """One instruction of a warp: the control fetches it once, and all lanes of the warp execute it, each on its own element.

    Draw the control with the statement that it fetches, the lanes of the watched warp, and the way between them.
    """
    warp = moment.shown_warp
    if warp is None:
        return framed([message(tr("No thread of this block is active in this step."), options)], moment, options)
    theme, plan = options.theme, _FetchPlan.of(moment.trace.rules.warp_size, options)
    control, first = plan.control, plan.lanes[0]
    lanes, heads = len(_touched(moment, warp, options)), first._replace(width=plan.lanes[-1].right - first.x)
    (source, y), spine = control.at(1), first.x - _BUS / 3
    middles = [box.middle_y for box in plan.lanes[:: -(-len(plan.lanes) // plan.rows)]]
    ways = [(source, y, spine, y), (spine, middles[0], spine, middles[-1]), *((spine, at, first.x, at) for at in middles)]
    said = tr("{lanes} of warp {warp} execute it", lanes=many(lanes, "lane"), warp=warp)
    pieces: list[Primitive] = [
        beside("control-name", control, "top", tr("the control fetches one instruction"), theme.strong),
        beside("lanes-name", heads, "top", said, theme.strong),
        round_boxes("control", control, theme.panel, theme.line),
        *code_primitives(moment, square(control.middle, control.width - 32, _CODE), options),
        Lines("ways", boxes(*ways), theme.line, 3),
    ]
    return framed([*pieces, *_executing_lanes(moment, warp, plan, options)], moment, options)


def fetch_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the instruction on its way: one piece until it leaves the control, then one for each lane."""
    warp = moment.shown_warp
    if warp is None or options.arrived:
        return ()
    plan = _FetchPlan.of(moment.trace.rules.warp_size, options)
    side, start = 0.4 * plan.lanes[0].height, plan.control.at(1)
    ways = [[start, plan.lanes[lane].middle] for lane in _touched(moment, warp, options)]
    chips = [square(along(way, options.way), side) for way in ways]
    return (round_boxes("instruction", chips, _warp_colour(warp, options), options.theme.background),)


def _warp_colour(warp: int, options: ViewOptions) -> str:
    return options.theme.warps[warp % len(options.theme.warps)]


def _touched(moment: Moment, warp: int, options: ViewOptions) -> dict[int, str]:
    """Return what each active lane accesses: the name of an element, or what it does without one."""
    trace, found = moment.trace, dict[int, str]()
    size, of_block = trace.rules.warp_size, moment.scope.of_block
    for lane in range(min(size, trace.space.threads_per_block - warp * size)):
        column = of_block.start + warp * size + lane
        if (trace.element[trace.row[moment.step] : trace.row[moment.step + 1], column] < 0).all():
            continue
        touched = next((each for each in moment.touched if trace.element[each.row, column] >= 0), None)
        if touched is None:
            found[lane] = moment.site.kind
            continue
        element = int(trace.element[touched.row, column]) + int(touched.operand.layout.offset(0, trace.lane[column]))
        found[lane] = element_text(touched.array, element, options.labels)
    return found


def _executing_lanes(moment: Moment, warp: int, plan: _FetchPlan, options: ViewOptions) -> list[Primitive]:
    """Draw the lanes, lit once the instruction has arrived, each with its number and its own element."""
    theme, touched = options.theme, _touched(moment, warp, options)
    dark = [box for lane, box in enumerate(plan.lanes) if lane not in touched]
    lit = [plan.lanes[lane] for lane in touched]
    colour = _warp_colour(warp, options) if options.arrived else theme.empty
    style = theme.small.inked(theme.ink_on(colour)) if options.arrived else theme.aside
    forms = ("{lane}: {name}", "{name}") if options.arrived else ("{lane}",)
    texts = [[form.format(lane=lane, name=name) for lane, name in touched.items()] for form in forms]
    return [
        *([round_boxes("lanes-idle", dark, None, theme.line)] if dark else []),
        round_boxes("lanes", lit, colour, None if options.arrived else theme.line),
        write_all("lanes-names", [box.inset(NEAR - 2, 0) for box in lit], _longest_form(texts, plan, style), style),
    ]


def _longest_form(forms: list[list[str]], plan: _FetchPlan, style: Style) -> list[str]:
    """Return the texts of the lanes in the first form in which all fit, else those of the last one."""
    room = plan.lanes[0].width - 2 * NEAR
    return next((texts for texts in forms if all(style.width(text) <= room for text in texts)), forms[-1])


# Branch: lanes that part.

_TEXTS, _COSTS = 0.34, 0.17  # of the width: the lines of the source, and what they cost
_BRANCH_TALLEST = 60  # of a row
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


class _BranchRow(NamedTuple):
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
    """A branch at which lanes of a warp part: a row of lanes for each place that a way comes to, one way after the other, and
    the place at which all lanes are together again.

    Draw the rows of the branch at which the watched warp parts or has parted, without their lanes.
    """
    found = divergence_of(moment)
    if found is None:
        step, link = next_branch(moment), tr("Go to step {step}, where lanes part")
        said = tr("No lanes of a warp part in this run") if step is None else tr("All lanes are together at this step")
        return framed(elsewhere(said, step, link, options), moment, options)
    theme, rows, plan = options.theme, _branch_rows(moment, found), _BranchPlan.of(moment, found, options)
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
    pieces += _cost_lines(moment, found, plan.below, options)
    return framed(pieces, moment, options)


def branch_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the lanes: those that were active before this step, and those that become so in it."""
    found = divergence_of(moment)
    if found is None:
        return ()
    theme, plan, drawn = options.theme, _BranchPlan.of(moment, found, options), list[Primitive]()
    for place, (row, box) in enumerate(zip(_branch_rows(moment, found), plan.rows, strict=True)):
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


class _BranchPlan(NamedTuple):
    """The boxes of the ``rows``, of the ``numbers`` of the lanes above them, and of what is told ``below`` them."""

    numbers: Box
    rows: list[Box]
    below: Box
    lanes: int
    size: float

    @classmethod
    def of(cls, moment: Moment, found: Divergence, options: ViewOptions) -> "_BranchPlan":
        rows, sizes, lanes = _branch_rows(moment, found), options.theme.type, moment.trace.rules.warp_size
        said = 3 * LINE_PITCH * sizes.words if options.words else 0
        head, whole, below = options.room().rows(sizes.words, REST, said, gap=NEAR)
        pitch = min(_BRANCH_TALLEST, whole.height / len(rows))
        boxes = whole.rows(*[pitch] * len(rows))
        plan = cls(head, boxes, below, lanes, max(sizes.least, min(sizes.note, pitch / ROW_PITCH)))
        return plan._replace(numbers=plan.across(head)[1], below=below._replace(y=boxes[-1].bottom + NEAR))

    def across(self, box: Box) -> tuple[Box, Box, Box]:
        """The parts of a row for the source, the lanes and the cost."""
        left, middle, right = box.columns(_TEXTS * box.width, REST, _COSTS * box.width, gap=AIR)
        return left, middle, right


def _branch_rows(moment: Moment, found: Divergence) -> list[_BranchRow]:
    key = "rows of a branch", found.step, found.threads.start
    rows: list[_BranchRow] = moment.replay.cached(key, lambda: _new_branch_rows(moment, found))
    return rows


def _new_branch_rows(moment: Moment, found: Divergence) -> list[_BranchRow]:
    trace, (taken, passed) = moment.trace, found.ways
    site, split = trace.site_of(found.step), f"{taken.lanes.sum()} + {passed.lanes.sum()}"
    rows = [_BranchRow(_source(site), taken.lanes, passed.lanes, cost=tr("{split} lanes", split=split), steps=(found.step,))]
    ways = [way for way in zip(found.ways, _HEADINGS, strict=True) if len(way[0].steps)]
    ways.sort(key=lambda way: int(way[0].steps[0]))
    for number, (way, headings) in enumerate(ways):
        heading = headings[number if len(ways) == 2 else -1]
        rows.append(_BranchRow(heading=tr(heading, lanes=many(int(way.lanes.sum()), "lane"))))
        rows += _way_rows(moment, found, way)
    if found.meets is not None:
        met = trace.site_of(found.meets)
        active = trace.element[trace.row[found.meets], found.threads] >= 0
        rows.append(_BranchRow(heading=tr("Together again")))
        lanes = many(int(active.sum()), "lane")
        rows.append(_BranchRow(_source(met), active, array=_accessed_name(moment, met), cost=lanes, steps=(found.meets,)))
    else:
        rows.append(_BranchRow(heading=tr("They don't meet again before the run ends")))
    return rows


def _way_rows(moment: Moment, found: Divergence, way: Way) -> list[_BranchRow]:
    """Return a row for each place that a way comes to, in the order in which it first does."""
    trace, rows = moment.trace, list[_BranchRow]()
    for site in dict.fromkeys(trace.site[way.steps].tolist()):
        steps = way.steps[trace.site[way.steps] == site]
        active = trace.element[trace.row[steps[0]], found.threads] >= 0
        where = trace.sites[site]
        text = _source(where) + (f"  ×{spaced(len(steps))}" if len(steps) > 1 else "")
        cost = _cost_words(moment, found, steps.tolist())
        rows.append(_BranchRow(text, active, array=_accessed_name(moment, where), cost=cost, steps=tuple(steps.tolist())))
    return rows


def _source(site: Site) -> str:
    return f"{site.place.line}  {' '.join(site.text.split())}"


def _accessed_name(moment: Moment, site: Site) -> str:
    operand = site.operand(0)
    return "" if operand is None else moment.trace.arrays[operand.array].name


def _cost_words(moment: Moment, found: Divergence, steps: list[int]) -> str:
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


def _cost_lines(moment: Moment, found: Divergence, box: Box, options: ViewOptions) -> list[Primitive]:
    """Say what both ways cost one after the other, and what the colours mean."""
    if not options.words:
        return []
    theme, (upper, middle, lower) = options.theme, box.rows(REST, REST, REST)
    costs = [_counts(moment, found, way.steps.tolist()) for way in found.ways]
    costs = [each for each in costs if each.requests]
    said = tr("What follows accesses no memory")
    if costs:
        said = tr("This warp: {cost}", cost=", ".join(_cost_sums(costs)))
    setup = moment.trace.setup
    aside = compiled_branch(recorded_machine_code(setup, device_for(setup)), moment.trace.site_of(found.step).place)
    looks = [([(theme.chosen, None)], tr("active")), ([(theme.empty, None)], tr("waits"))]
    words = [write("both", upper, said, theme.strong), write("as-written", middle, aside, theme.aside)]
    return [*words, *swatches("legend", lower, looks, theme.type.note, theme.faint)]


def _cost_sums(costs: list[Counts]) -> list[str]:
    """Return the requests of the ways, and the sectors or wavefronts, as sums."""
    sums = []
    for unit in ("request", "sector", "wavefront"):
        parts = [getattr(each, f"{unit}s") for each in costs]
        if sum(parts):
            terms = " + ".join(map(spaced, parts))
            sums.append(f"{terms} = {many(sum(parts), unit)}" if len(parts) > 1 else many(parts[0], unit))
    return sums


VIEWS = {
    "branch": View(marked("Branch: lanes that part"), Moment, branch_scene, branch_motion, is_count=True, order=203),
    "fetch": View(marked("Instruction: one fetch for a warp"), Moment, fetch_scene, fetch_motion, order=202),
    "warp": View(marked("Warp: all lanes"), Moment, warp_scene, is_count=True, order=201),
}
