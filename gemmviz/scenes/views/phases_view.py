"""The phases as a table: what each thread copies to shared memory in a phase, and what it adds to its sum from there."""

import numpy as np

from gemmviz.analysis.replay.focus import thread_place
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.reads import CopiedElement, Product, copies_of, has_plain_products, products_of
from gemmviz.model.translation import many, marked, tr
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.scenes.kit.table import TableCell, table, text_size
from gemmviz.scenes.kit.theme import PALE
from gemmviz.scenes.kit.view import View, ViewOptions, framed, message

_TRIED_COUNTS = ((2, 8), (2, 4), (1, 8), (1, 4), (1, 2), (1, 1))  # phases and threads, tried until the text can be read
_MOST_PRODUCTS = 4
_STRETCH = 3  # how much higher than their text rows may be


def phases_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw two phases side by side, the current one highlighted; what has not happened yet is faint."""
    trace, theme = moment.trace, options.theme
    if not len(trace.origin_step) or not moment.replay.phases:
        return framed([message(tr("This kernel copies nothing to shared memory."), options)], moment, options)
    room = options.room()
    for most_phases, most_threads in _TRIED_COUNTS:
        heads, rows = _phase_table(moment, most_phases, most_threads, options)
        if text_size(heads, rows, room) >= theme.type.least:
            break
    return framed(table("phases", heads, rows, room, theme, stretch=_STRETCH), moment, options)


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


VIEW = View(marked("Phases by thread"), Moment, phases_scene, multiplies=True, order=104)
