"""Views of phases and steps: by thread, of one block, what a thread reads in one, and the cost of each step."""

from typing import NamedTuple

import numpy as np
from msgspec import structs

from gemmviz.analysis.replay.focus import thread_place
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.reads import CopiedElement, Product, copies_of, has_plain_products, products_of
from gemmviz.model.cases import BlockPhase, LoadsCase, LoadsRow
from gemmviz.model.chart import Chart
from gemmviz.model.messages import capital, counted, grouped, many, marked, number, size_text, sized, spaced, tr
from gemmviz.scenes.charts.models import cost_chart
from gemmviz.scenes.kit.chart import chart_view
from gemmviz.scenes.kit.layout import (
    CELL_FILL,
    LINE_PITCH,
    NEAR,
    REST,
    ROW_PITCH,
    Box,
    Line,
    Share,
    beside,
    cell_squares,
    cells_in,
    lines_down,
    round_boxes,
    square,
    write,
    write_all,
)
from gemmviz.scenes.kit.primitives import Primitive, Scene, Squares
from gemmviz.scenes.kit.shapes import named_memory
from gemmviz.scenes.kit.table import TableCell, table, text_size
from gemmviz.scenes.kit.theme import HALF, PALE, mixed
from gemmviz.scenes.kit.view import View, ViewOptions, eased_in_turn, framed, message, titled

# The cost of each step of a replay.


def _chart(moment: Moment) -> Chart:
    """The cost of each step of a replay."""
    return cost_chart(moment.replay, moment.scope, moment.step)


def _is_ready(moment: Moment) -> bool:
    return moment.replay.knows_costs(moment.scope)


# Phases by thread.

_TRIED_COUNTS = ((2, 8), (2, 4), (1, 8), (1, 4), (1, 2), (1, 1))  # phases and threads, tried until the text can be read
_MOST_PRODUCTS = 4
_ROW_STRETCH = 3  # how much higher than their text rows may be


def phases_scene(moment: Moment, options: ViewOptions) -> Scene:
    """The phases as a table: what each thread copies to shared memory in a phase, and what it adds to its sum from there.

    Draw two phases side by side, the current one highlighted; what has not happened yet is faint.
    """
    trace, theme = moment.trace, options.theme
    if not len(trace.origin_step) or not moment.replay.phases:
        return framed([message(tr("This kernel copies nothing to shared memory."), options)], moment, options)
    room = options.room()
    for most_phases, most_threads in _TRIED_COUNTS:
        heads, rows = _phase_table(moment, most_phases, most_threads, options)
        if text_size(heads, rows, room) >= theme.type.least:
            break
    return framed(table("phases", heads, rows, room, theme, stretch=_ROW_STRETCH), moment, options)


def _phase_table(
    moment: Moment, most_phases: int, most_threads: int, options: ViewOptions
) -> tuple[list[str], list[list[TableCell]]]:
    """Return the heads and rows for some phases and threads around the current ones."""
    trace, labels, scope = moment.trace, options.labels, moment.scope
    is_plain = has_plain_products(moment.replay, scope)
    first = max(0, min(moment.phase, moment.replay.phases - 1) // most_phases * most_phases)
    phases = range(first, min(moment.replay.phases, first + most_phases))
    count = trace.space.threads_per_block
    start = max(0, min(scope.first_thread - most_threads // 2, count - most_threads))
    rows = []
    for thread in range(start, min(count, start + most_threads)):
        x, y, _ = thread_place(thread, trace.launch)
        row = [TableCell(labels.thread_of(x, y), strong=True)]
        for phase in phases:
            copies, products = moment.replay.cached(
                ("phase", scope.of_block.start, thread, phase),
                lambda t=thread, p=phase: (  # type: ignore[misc]
                    copies_of(trace, scope, t, p),
                    products_of(moment.replay, scope, t, p) if is_plain else [],
                ),
            )
            row += [
                *_copy_cells(moment, copies, options),
                _sum_cell(moment, products, options) if is_plain else _of_many(moment, thread),
            ]
        rows.append(row)
    heads = [tr("thread")]
    for phase in phases:
        heads += [tr("phase {phase}: copy", phase=phase + 1), "", tr("sum")]
    return heads, rows


def _copy_cells(moment: Moment, copies: list[CopiedElement], options: ViewOptions) -> list[TableCell]:
    """Return one cell for the first copy of each of two matrices."""
    labels, theme = options.labels, options.theme
    copied = moment.replay.cached("copied", lambda: np.unique(moment.trace.origin_array[moment.trace.origin_array >= 0]))
    found = []
    for name in ("A", "B"):
        own = [each for each in copies if each.matrix == name]
        if not own:
            is_copied = any(moment.trace.arrays[int(number)].name == name for number in copied)
            zero = is_copied and bool(copies)
            found.append(TableCell("0" if zero else "", theme.faint, tip=tr("outside the matrix: zero") if zero else ""))
            continue
        each = own[0]
        more = f" +{len(own) - 1}" if len(own) > 1 else ""
        text = f"{labels.element(name, *each.source)}\n→ {labels.element(each.array, *each.target)}{more}"
        found.append(TableCell(text, *_dress(moment, [each.step], name, options)))
    return found


def _of_many(moment: Moment, thread: int) -> TableCell:
    """Return the cell of a thread that keeps several sums in registers, instead of single products."""
    count = int((moment.replay.owners.of(moment.scope.of_block)[1] == thread).sum())
    return TableCell(
        tr("{sums}, from registers", sums=many(count, "sum")), tip=tr("To see them, watch one thread and its registers")
    )


def _sum_cell(moment: Moment, products: list[Product], options: ViewOptions) -> TableCell:
    labels = options.labels
    terms = [f"{labels.element(*each.left)} · {labels.element(*each.right)}" for each in products[:_MOST_PRODUCTS]]
    more = [tr("+ {products} more", products=len(products) - _MOST_PRODUCTS)] if len(products) > _MOST_PRODUCTS else []
    text = "\n+ ".join(terms)
    ink, fill = _dress(moment, [each.step for each in products], "C", options)
    return TableCell("\n".join([f"+= {text}" if text else "", *more]).strip(), ink, fill)


def _dress(moment: Moment, steps: list[int], name: str, options: ViewOptions) -> tuple[str, str]:
    """Return ink and fill: highlighted for the current phase, faint for later ones."""
    theme = options.theme
    if not steps or moment.step < min(steps) - 1:
        return theme.faint, ""
    if moment.step <= max(steps):
        fill = theme.accent(name)
        return theme.ink_on(fill), fill
    return theme.text, theme.tint(name, PALE)


# One phase of one block.

_LOADED, _DONE = 0.55, 0.9  # shares of the motion: all loads have arrived; all operations are done
_RESOURCES = {marked("shared memory"): marked("shared"), marked("threads"): marked("threads")}  # names and short names


class _Plan(NamedTuple):
    """Regions: the boxes of both memories, the tables of the tiles in them, and at the right the counts and the gauges."""

    memories: list[Box]
    sources: list[Box]
    tiles: list[Box]
    counts: Box
    gauges: list[Box]

    @classmethod
    def of(cls, case: BlockPhase, options: ViewOptions) -> "_Plan":
        left, right = options.room(124, 34).columns(Share(21), Share(29), gap=60)
        memories, count = left.grid(2, 1, down=40), len(case.tiles)
        inner = memories[0].trimmed(30, 54, 30, 18)
        cell = min(inner.height / max(rows for _, rows, _ in case.tiles),
                   (inner.width - 30 * (count - 1)) / sum(columns for _, _, columns in case.tiles))  # fmt: skip
        sizes = [size for _, _, columns in case.tiles for size in (REST, columns * cell)]
        tables = [
            [part._replace(height=rows * cell) for part, (_, rows, _) in zip(parts, case.tiles, strict=True)]
            for parts in (box.trimmed(top=46).columns(*sizes, REST)[1::2] for box in memories)
        ]
        counts, *gauges = right.rows(REST, *[52] * len(case.fitting), gap=72)
        return cls(memories, tables[0], tables[1], counts, gauges)


def phase_scene(case: BlockPhase, options: ViewOptions) -> Scene:
    """One phase of one block: its loads fly from global memory into the tiles, its operations are counted up, and the blocks
    that fit in an SM fill a gauge for each limit, with the loads that they can have pending.

    Draw both memories, the empty tiles, and the empty gauges. Loads and counts are drawn by ``phase_motion``.
    """
    plan, theme = _Plan.of(case, options), options.theme
    names = (tr("global memory"), tr("shared memory of the block: {shared_bytes}", shared_bytes=size_text(case.shared_bytes)))
    pieces = list[Primitive]()
    for place, (box, text) in enumerate(zip(plan.memories, names, strict=True)):
        pieces += named_memory(f"memory-{place}", box, text, theme)
    for (name, rows, columns), matrix, source, tile in zip(case.tiles, case.matrices, plan.sources, plan.tiles, strict=True):
        colours = {"source": mixed(theme.slate, theme.accent(matrix), HALF), "tile": theme.empty}
        for key, box in (("source", source), ("tile", tile)):
            fill = np.zeros((rows, columns), np.uint8)
            pieces.append(cells_in(f"{key}-{name}", box, fill, (colours[key],), theme.background))
    pieces += _empty_gauges(case, plan, options)
    note = tr("{device}; counted over the launch: every block and phase is alike", device=case.device.name)
    return titled(pieces, tr("One phase of one block: {what}", what=case.what), note, options)


def phase_motion(case: BlockPhase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the loads between both memories, and the counts reached so far."""
    plan, theme = _Plan.of(case, options), options.theme
    there, pieces = 0, list[Primitive]()
    for (name, rows, columns), matrix, source, tile in zip(case.tiles, case.matrices, plan.sources, plan.tiles, strict=True):
        number = np.arange(rows * columns)
        share = eased_in_turn(options.moment / _LOADED, number, len(number))[:, None]
        start, end = (cell_squares(box, columns, number, CELL_FILL) for box in (source, tile))
        begun, colour = share[:, 0] > 0, (theme.accent(matrix),)
        there += int((share >= 1).sum())
        now = (start + (end - start) * share)[begun]
        pieces.append(Squares(f"loads-{name}", now, np.zeros(len(now), np.uint8), colour, colour))
    done = float(np.clip((options.moment - _LOADED) / (_DONE - _LOADED), 0, 1))
    loads = case.loads * there // sum(rows * columns for _, rows, columns in case.tiles)
    return (*pieces, *_phase_counts(case, plan, loads, done, options), *_full_gauges(case, plan, options))


def _phase_counts(case: BlockPhase, plan: _Plan, loads: int, done: float, options: ViewOptions) -> list[Primitive]:
    """Draw the numbers reached so far: threads, loads with their bytes, operations."""
    theme, large = options.theme, options.theme.large.sized(1.25 * options.theme.type.sentence)
    size, each = case.shared_bytes * loads // max(1, case.loads), counted(f"{case.operations / case.loads:.4g}")
    lines = (
        (
            sized(case.threads, "thread"),
            tr(
                "a block of {width} × {height}, {loads} loads each",
                width=case.block[0],
                height=case.block[1],
                loads=counted(f"{case.loads / case.threads:.4g}"),
            ),
        ),
        (many(loads, "load"), tr("{size} bytes in shared memory", size=spaced(size))),
        (
            many(round(case.operations * done), "operation"),
            tr("multiplications and additions: {operations} for each load", operations=each),
        ),
    )
    said = [Line(f"count-{place}", text, *large, NEAR if place else 0) for place, (text, _) in enumerate(lines)]
    more = [Line(f"count-{place}-more", text, *theme.soft) for place, (_, text) in enumerate(lines)]
    return [*lines_down(plan.counts, [line for pair in zip(said, more, strict=True) for line in pair])]


def _empty_gauges(case: BlockPhase, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the empty gauges, with what an SM has of each resource and a block takes of it."""
    theme, device, pieces = options.theme, case.device, list[Primitive]()
    amounts = (
        (size_text(device.shared_per_sm), size_text(case.taken_bytes)),
        (grouped(device.max_threads_per_sm), grouped(case.threads)),
    )
    for place, (name, (held, taken), box) in enumerate(zip(_RESOURCES, amounts, plan.gauges, strict=True)):
        room = box.trimmed(right=theme.strong.width(_pending(case, case.fitting[name])) + 30)
        short = tr("{held}, {taken} a {block}", held=held, taken=taken, block=tr(device.words["block"]))
        texts = (f"{capital(tr(name))}: {short}", f"{capital(tr(_RESOURCES[name]))}: {short}", capital(tr(name)))
        text = next((each for each in texts if theme.plain.width(each) <= room.width), texts[-1])
        pieces += [
            beside(f"gauge-{place}-name", room, "top", text, theme.plain),
            round_boxes(f"gauge-{place}", box, theme.empty),
        ]
    return pieces


def _full_gauges(case: BlockPhase, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the blocks that have dropped into the gauges, and the loads that they can have pending."""
    theme, pieces = options.theme, list[Primitive]()
    shares = (case.taken_bytes / case.device.shared_per_sm, case.threads / case.device.max_threads_per_sm)
    for place, (name, share, box) in enumerate(zip(_RESOURCES, shares, plan.gauges, strict=True)):
        shown = round(case.fitting[name] * options.moment)
        if shown:
            parts = [each.inset(min(2, each.width / 4), 2) for each in box.columns(*[share * box.width] * shown)]
            pieces.append(round_boxes(f"gauge-{place}-blocks", parts, theme.load))
        pieces.append(beside(f"gauge-{place}-{name}", box, "top", _pending(case, shown), theme.strong, anchor="end"))
    return pieces


def _pending(case: BlockPhase, blocks: int) -> str:
    return tr("{blocks}: {loads} loads pending", blocks=many(blocks, "block"), loads=spaced(blocks * case.loads))


# Reads for each multiply-add.

_TOP, _LARGEST, _APART = 124, 84, 0.2  # of the picture; of a cell; from what is read to the products, in cells


def loads_scene(case: LoadsCase, options: ViewOptions) -> Scene:
    """What a thread reads from shared memory for one k, and the products that it makes of it, for more and more elements of C:
    one element of A for each row of them, one of B for each column.

    Draw the elements of A and B that each thread reads, and how many that is for each of its products.
    """
    theme, drawn = options.theme, list[Primitive]()
    words = theme.strong.sized(theme.type.words)
    for at, (row, (name, picture, figure, *said)) in enumerate(zip(case.rows, _launch_rooms(case, options), strict=True)):
        a, b, _ = _factor_boxes(row, picture, case)
        counts = many(sum(row.reads), "read"), many(row.products, "product")
        size = "{} × {}".format(*row.reads)
        drawn += [
            write(f"name-{at}", name, size, theme.soft.sized(theme.type.caption), "middle"),
            cells_in(f"A-{at}", a, np.zeros((row.reads[0], 1), np.uint8), (theme.accent("A"),), theme.background),
            cells_in(f"B-{at}", b, np.zeros((1, row.reads[1]), np.uint8), (theme.accent("B"),), theme.background),
            write(f"figure-{at}", figure, counted(number(row.per_product)), theme.large.sized(2 * theme.type.title), "middle"),
            write_all(f"said-{at}", said, counts, words, "middle"),
        ]
    note = tr("for one thread and one k; counted over the launch")
    return titled(drawn, tr("Reads of shared memory for each multiply-add"), note, options)


def loads_motion(case: LoadsCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the products, as many at a time in each thread, until all are made."""
    theme, drawn = options.theme, list[Primitive]()
    most = max(row.products for row in case.rows)
    for at, (row, (_, picture, *_)) in enumerate(zip(case.rows, _launch_rooms(case, options), strict=True)):
        made = (np.arange(row.products) < round(options.way * most)).astype(np.uint8).reshape(row.reads)
        table = _factor_boxes(row, picture, case)[2]
        drawn.append(cells_in(f"C-{at}", table, made, (theme.empty, theme.accent("C")), theme.background))
    return tuple(drawn)


def _launch_rooms(case: LoadsCase, options: ViewOptions) -> list[list[Box]]:
    """Return the rooms of each launch: its elements of C, its picture, the figure, and two lines of counts."""
    columns = options.room(_TOP).columns(*(Share(row.reads[1] + 3) for row in case.rows))
    sizes = options.theme.type
    low = LINE_PITCH * sizes.words
    return [each.rows(ROW_PITCH * sizes.caption, REST, 2 * LINE_PITCH * sizes.title, low, low, gap=NEAR) for each in columns]


def _factor_boxes(row: LoadsRow, picture: Box, case: LoadsCase) -> tuple[Box, Box, Box]:
    """Return the boxes of the elements of A and B and of the products, with cells that are equal in all launches."""
    rows = max(each.reads[0] for each in case.rows) + 1 + _APART
    side = min(_LARGEST, picture.width / (row.reads[1] + 3), picture.height / rows)
    wide, high = (side * (count + 1 + _APART) for count in (row.reads[1], row.reads[0]))
    head, body = square(picture.middle, wide, high).rows(side, REST, gap=_APART * side)
    (a, products), b = body.columns(side, REST, gap=_APART * side), head.trimmed(left=(1 + _APART) * side)
    return a, b, products


VIEWS = {
    "block_phase": View(marked("One phase of one block"), BlockPhase, phase_scene, phase_motion, order=405),
    "loads": View(marked("Reads for each multiply-add"), LoadsCase, loads_scene, loads_motion, is_count=True, order=313),
    "phases": View(marked("Phases by thread"), Moment, phases_scene, multiplies=True, order=104),
    "costs": structs.replace(
        chart_view(marked("Cost per step"), Moment, _chart, order=112, grows=False), is_ready=_is_ready, is_count=True
    ),
}
