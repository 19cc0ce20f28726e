"""The result in three orders of its threads, or of its blocks where threads share memory: row by row, from the last column, and
shuffled. Each ends with the same result, because none needs what another one computes.
"""

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.private import exchanged_elements
from gemmviz.model.arrays import Longs
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import many
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, eased, framed, message
from gemmviz.scenes.kit.layout import Box
from gemmviz.scenes.kit.primitives import Cells, Primitive, Scene
from gemmviz.scenes.kit.text import text_line
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.stage.cells import final_values, label_size, longest_of, value_texts

_GAP, _LARGEST, _HEAD, _FOOT = 60.0, 110.0, 44.0, 48.0
_ORDERS = (marked("row by row"), marked("from the last column"), marked("shuffled"))
_MOST = 64  # rows and columns with cells of their own
_SEED = 7


def order_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the names of the orders, and what threads exchange."""
    if _shape(moment) is None:
        return framed([message(tr("This kernel stores no result, or one with too many elements"), options)], moment, options)
    if not options.words:
        return framed([], moment, options)
    theme, size = options.theme, options.theme.type.caption
    primitives: list[Primitive] = []
    for number, (name, box) in enumerate(zip(_ORDERS, _boxes(options), strict=True)):
        at = box.x, box.y + size
        primitives.append(text_line(f"order-{number}-name", at, tr(name), size, box.width, theme.text, "semibold"))
    count = moment.replay.cached("exchanged", lambda: exchanged_elements(moment.trace))
    shared = tr("no element") if not count else many(count, "element")
    note = tr(
        "counted in the run: {shared} of global memory that one thread writes and another one reads or writes", shared=shared
    )
    at, room = (MARGIN, options.bottom - 8.0), options.width - 2 * MARGIN
    return framed([*primitives, text_line("order-note", at, note, theme.type.note, room, theme.faint)], moment, options)


def order_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the elements that are computed at ``options.moment`` in each order."""
    shape, number = _shape(moment), moment.trace.result
    if shape is None or number is None:
        return ()
    theme, array = options.theme, moment.trace.arrays[number]
    orders = moment.replay.cached("orders", lambda: _orders(moment, shape))
    count = round(eased(options.moment) * (orders[0].max(initial=0) + 1))
    drawn: list[Primitive] = []
    for place, (ranks, box) in enumerate(zip(orders, _boxes(options), strict=True)):
        head = _HEAD if options.words else 0.0
        cell = min(_LARGEST, box.width / shape[1], (box.height - head) / shape[0])
        fill = ((ranks >= 0) & (ranks < count)).astype(np.uint8)
        texts = _texts(moment, number, cell, options.least)
        size = label_size(longest_of(texts.ravel().tolist()), cell, options.pixels, options.least)
        accent = theme.accent(array.name)
        labels = np.where(fill > 0, texts, "") if size else None
        palette, line = (theme.empty, accent), theme.background if cell > 7 else None
        inks = (theme.faint, theme.ink_on(accent))
        drawn.append(Cells(f"order-{place}", box.x, box.y + head, cell, fill, palette, inks, labels, size, line))
    return tuple(drawn)


def _shape(moment: Moment) -> tuple[int, int] | None:
    """Return the rows and columns of the result; None if there are too many, or nothing is stored."""
    owners = moment.replay.owners
    array = owners.array
    if array is None or not len(owners.elements) or max(array.extents) > _MOST:
        return None
    return array.extents[0], array.extents[1]


def _boxes(options: ViewOptions) -> list[Box]:
    wide = (options.width - 2 * MARGIN - 2 * _GAP) / len(_ORDERS)
    high = options.bottom - options.top - (_FOOT if options.words else 0.0)
    return [Box(MARGIN + place * (wide + _GAP), options.top, wide, high) for place in range(len(_ORDERS))]


def _orders(moment: Moment, shape: tuple[int, int]) -> tuple[Longs, ...]:
    """Return the turn in which each element is computed, in each order: (rows, columns), -1 for one that is never stored."""
    row, column = np.indices(shape).reshape(2, -1)
    unit = _units(moment, shape)
    count = int(unit.max(initial=-1)) + 1
    first = np.full((2, count), max(shape))
    for axis, place in enumerate((row, column)):
        np.minimum.at(first[axis], unit[unit >= 0], place[unit >= 0])
    shuffled = np.random.default_rng(_SEED).permutation(count)
    turns = np.argsort(np.stack([np.lexsort((first[1], first[0])), np.lexsort((first[0], -first[1])), shuffled]), axis=1)
    return tuple(np.append(turn, -1)[unit].reshape(shape) for turn in turns)


def _units(moment: Moment, shape: tuple[int, int]) -> Longs:
    """Return the thread that stores each element, flat; its block if threads of a block share memory; -1 for none."""
    owners, trace = moment.replay.owners, moment.trace
    assert owners.array is not None
    is_shared = any(array.space == "shared" for array in trace.arrays)
    units = owners.threads // (trace.space.threads_per_block if is_shared else 1)
    found = np.full(shape, -1)
    found[owners.array.row_column(owners.elements)] = np.unique(units, return_inverse=True)[1]
    return found.ravel()


def _texts(moment: Moment, number: int, cell: float, least: float) -> np.ndarray:
    """Return what the run stored in each element, as text; "" where it is unknown or doesn't fit."""
    array = moment.trace.arrays[number]
    last = moment.replay.cached(("stored values", id(moment.replay.value)), lambda: final_values(moment, number))
    texts = None if last is None else value_texts(last, cell, least)
    table = np.full(array.extents, "", "<U12")
    if texts is not None:
        table[array.row_column(np.arange(array.size))] = texts
    return table


VIEW = View(marked("Elements in any order"), Moment, order_scene, order_motion, order=39)
