"""The result in three orders of its threads, or of its blocks where threads share memory: row by row, from the last column, and
shuffled. Each ends with the same result, because none needs what another one computes.
"""

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.private import exchanged_elements
from gemmviz.model.arrays import Longs
from gemmviz.model.translation import many, marked, tr
from gemmviz.scenes.kit.layout import REST, Box, cells_in, write
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.view import View, ViewOptions, eased, framed, message
from gemmviz.scenes.stage.cells import final_values, label_size, longest_of, value_texts

_LARGEST, _HEAD = 110, 44
_TURNS = (marked("row by row"), marked("from the last column"), marked("shuffled"))
_MOST_ORDERED = 64  # rows and columns with cells of their own
_SEED = 7


def order_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the names of the orders, and what threads exchange."""
    if _shape_of_result(moment) is None:
        return framed([message(tr("This kernel stores no result, or one with too many elements"), options)], moment, options)
    if not options.words:
        return framed([], moment, options)
    theme, (foot, columns) = options.theme, _order_places(options)
    style = theme.strong.sized(theme.type.caption)
    primitives: list[Primitive] = [
        write(f"order-{number}-name", head, tr(name), style)
        for number, (name, (head, _)) in enumerate(zip(_TURNS, columns, strict=True))
    ]
    count = moment.replay.cached("exchanged", lambda: exchanged_elements(moment.trace))
    shared = tr("no element") if not count else many(count, "element")
    note = tr(
        "counted in the run: {shared} of global memory that one thread writes and another one reads or writes", shared=shared
    )
    return framed([*primitives, write("order-note", foot, note, theme.soft.sized(theme.type.note))], moment, options)


def order_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the elements that are computed at ``options.moment`` in each order."""
    shape, number = _shape_of_result(moment), moment.trace.result
    if shape is None or number is None:
        return ()
    theme, array = options.theme, moment.trace.arrays[number]
    orders = moment.replay.cached("orders", lambda: _turns_taken(moment, shape))
    count = round(eased(options.moment) * (orders[0].max(initial=0) + 1))
    drawn: list[Primitive] = []
    for place, (ranks, (_, room)) in enumerate(zip(orders, _order_places(options)[1], strict=True)):
        box = room.tiled(*shape, _LARGEST)
        cell = box.width / shape[1]
        fill = ((ranks >= 0) & (ranks < count)).astype(np.uint8)
        texts = _stored_texts(moment, number, cell, options.least)
        size = label_size(longest_of(texts.ravel().tolist()), cell, options.pixels, options.least)
        accent = theme.accent(array.name)
        labels = np.where(fill > 0, texts, "") if size else None
        palette, line = (theme.empty, accent), theme.background if cell > 7 else None
        inks = (theme.faint, theme.ink_on(accent))
        drawn.append(cells_in(f"order-{place}", box, fill, palette, line, inks, texts=labels, size=size))
    return tuple(drawn)


def _shape_of_result(moment: Moment) -> tuple[int, int] | None:
    """Return the rows and columns of the result; None if there are too many, or nothing is stored."""
    owners = moment.replay.owners
    array = owners.array
    if array is None or not len(owners.elements) or max(array.extents) > _MOST_ORDERED:
        return None
    return array.extents[0], array.extents[1]


def _order_places(options: ViewOptions) -> tuple[Box, list[list[Box]]]:
    """Return the place of the note, and for each order those of its name and its table."""
    head, low = (_HEAD, 40) if options.words else (0, 0)
    foot, room = options.room().strip("bottom", low, 8)
    return foot, [column.rows(head, REST) for column in room.columns(*[REST] * len(_TURNS), gap=60)]


def _turns_taken(moment: Moment, shape: tuple[int, int]) -> tuple[Longs, ...]:
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


def _stored_texts(moment: Moment, number: int, cell: float, least: float) -> np.ndarray:
    """Return what the run stored in each element, as text; "" where it is unknown or doesn't fit."""
    array = moment.trace.arrays[number]
    last = moment.replay.cached(("stored values", id(moment.replay.value)), lambda: final_values(moment, number))
    texts = None if last is None else value_texts(last, cell, least)
    table = np.full(array.extents, "", "<U12")
    if texts is not None:
        table[array.row_column(np.arange(array.size))] = texts
    return table


VIEW = View(marked("Elements in any order"), Moment, order_scene, order_motion, order=207)
