"""Registers: each thread of a block has its own copy of every variable, with its own value, while the block's tiles in shared
memory, or the matrices in global memory, are there once for all.
"""

from typing import NamedTuple

import numpy as np

from gemmviz.analysis.replay.focus import thread_place
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.private import PrivateValues, ReadFactor, private_values
from gemmviz.model.records import replace
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.kit.hardware import memory, named_memory
from gemmviz.scenes.kit.layout import NEAR, Box, Point, Share, along, squares, tag, write
from gemmviz.scenes.kit.primitives import Primitive, Scene, Squares
from gemmviz.scenes.kit.theme import SOFT
from gemmviz.scenes.kit.view import MARGIN, View, ViewOptions, framed, message
from gemmviz.scenes.stage.cells import CellGrid, label_size
from gemmviz.scenes.stage.small_matrices import Element, middle_of, small_inputs, small_matrices, small_tile_places, small_tiles

_MOST_THREADS, _LEAST_WIDE = 4, 330  # threads, and the least width of each
_VALUE_SIDE = 44  # of a value on its way


class _Plan(NamedTuple):
    """The line that says what is below, the boxes of the threads' registers, and the room below for what is there once."""

    words: Box
    threads: list[Box]
    common: Box

    @classmethod
    def of(cls, count: int, options: ViewOptions) -> "_Plan":
        words, upper, _, common = options.room().trimmed(top=-30).rows(28, Share(17), 50, Share(13))
        return cls(words, upper.grid(1, count, 28), common)

    def slot(self, number: int, place: int) -> tuple[Box, Box]:
        """The places of a variable's name and value: that of A, of B, or the sum."""
        rows = self.threads[number].trimmed(18, 50, 18, 18).grid(3, 1, down=10)
        name, value = rows[place].columns(Share(4), Share(5), gap=6)
        return name, value

    @property
    def arrays(self) -> Box:
        """The part of the room below in which tiles or matrices are drawn."""
        return self.common.inset(200, NEAR)


def registers_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the registers of some threads around the watched one, above what all of them share."""
    held = _values_held(moment, moment.step if options.arrived else moment.step - 1, options)
    if not held:
        return framed([message(tr("The threads of this block don't sum one element of C each."), options)], moment, options)
    plan, theme = _Plan.of(len(held), options), options.theme
    where = tr("shared memory") if _uses_shared_memory(moment) else tr("global memory")
    text = tr(
        "In registers: a copy of every variable for each thread. In {where}, below: one copy for all of them", where=where
    )
    primitives: list[Primitive] = [write("registers-words", plan.words, text, theme.small)]
    for number, values in enumerate(held):
        primitives += _thread_registers(moment, number, values, plan, options)
    return framed([*primitives, *_shared_by_all(moment, plan, options)], moment, options)


def registers_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the factors that are read at this step on their way to the registers of their threads."""
    held = [] if options.arrived else _values_held(moment, moment.step, options)
    if not held:
        return ()
    plan, pieces = _Plan.of(len(held), options), list[Primitive]()
    sources = _read_places(moment, plan, options)
    for number, values in enumerate(held):
        for place, factor in enumerate((values.a, values.b)):
            if factor is None or factor.step != moment.step or (values.thread, factor.matrix) not in sources:
                continue
            at = along([sources[values.thread, factor.matrix], plan.slot(number, place)[1].middle], options.way)
            pieces.append(_value_chip(f"reading-{number}-{place}", at, factor, values, options))
    return tuple(pieces)


def _value_chip(key: str, at: Point, factor: ReadFactor, values: PrivateValues, options: ViewOptions) -> Squares:
    accent = options.theme.accent(factor.matrix)
    text = options.labels.pair(*_place_of(factor, values))
    size = label_size(text, _VALUE_SIDE, options.pixels, options.least)
    drawn = squares(key, [at], _VALUE_SIDE, accent, options.theme.ink_on(accent), options.theme.background)
    return replace(drawn, labels=np.array([text]) if size else None, label_size=size)


def _values_held(moment: Moment, step: int, options: ViewOptions) -> list[PrivateValues]:
    """Return the values of the threads that are shown; nothing if any of them has no single sum."""
    count = moment.trace.space.threads_per_block
    most = max(1, min(_MOST_THREADS, int((options.width - 2 * MARGIN) / _LEAST_WIDE)))
    first = max(0, min(moment.scope.first_thread, count - most))
    found = [private_values(moment, thread, step) for thread in range(first, min(count, first + most))]
    return [] if None in found else [each for each in found if each is not None]


def _place_of(factor: ReadFactor, values: PrivateValues) -> tuple[int, int]:
    """Return row and column of a factor."""
    return (values.row, factor.k) if factor.matrix == "A" else (factor.k, values.column)


def _thread_registers(
    moment: Moment, number: int, values: PrivateValues, plan: _Plan, options: ViewOptions
) -> list[Primitive]:  # fmt: skip
    """Draw what one thread holds, in a box of its own."""
    theme, (x, y, _) = options.theme, thread_place(values.thread, moment.trace.launch)
    title = tr("thread {thread_of}", thread_of=options.labels.thread_of(x, y))
    primitives = named_memory(f"thread-{number}", plan.threads[number], title, theme, level=0)
    rows = []
    for matrix, factor in (("A", values.a), ("B", values.b)):
        name = (
            tr("of {matrix}", matrix=matrix) if factor is None else options.labels.element(matrix, *_place_of(factor, values))
        )
        shown = "" if factor is None else "?" if factor.value is None else f"{factor.value:.3g}"
        is_new = factor is not None and factor.step == moment.step
        rows.append((name, shown, theme.accent(matrix) if is_new else theme.tint(matrix, SOFT)))
    total = "?" if values.sum is None else f"{values.sum:.3g}"
    rows.append((tr("sum of {terms}", terms=values.terms) if values.terms else tr("sum"), total, theme.tint("C", SOFT)))
    for place, (name, value, fill) in enumerate(rows):
        left, slot = plan.slot(number, place)
        primitives.append(write(f"name-{number}-{place}", left, name, theme.small))
        primitives += tag(f"slot-{number}-{place}", slot, value, fill, theme, theme.strong)
    return primitives


def _uses_shared_memory(moment: Moment) -> bool:
    return any(each.space == "shared" for each in moment.trace.arrays)


def _shared_by_all(moment: Moment, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw what is there once: the tiles of the block, or the matrices."""
    theme, inner = options.theme, plan.arrays
    box = memory("common", plan.common, theme, level=1)
    if _uses_shared_memory(moment):
        return [*box, *small_tiles(moment, small_tile_places(moment, inner, options), options)]
    now: set[Element] = set()
    for touched in moment.touched if options.arrived else ():
        if touched.array.space == "global":
            now |= {(touched.operand.array, int(each)) for each in touched.block_cells}
    return [*box, *small_matrices(moment, small_inputs(moment, inner, options), now, options)]


def _read_places(moment: Moment, plan: _Plan, options: ViewOptions) -> dict[tuple[int, str], tuple[float, float]]:
    """Return where each thread's reads of this step come from, by the thread and the matrix of the element."""
    tiles = small_tile_places(moment, plan.arrays, options)
    matrices = small_inputs(moment, plan.arrays, options)
    found = {}
    first = moment.scope.in_block.start - moment.scope.of_block.start
    for touched in moment.touched:
        content = moment.tiles.get(touched.operand.array)
        for place, element in enumerate(touched.in_block.tolist()):
            if element < 0 or touched.operand.access != "read":
                continue
            if content is None and touched.operand.array in matrices:
                found[first + place, touched.array.name] = middle_of(moment, matrices, (touched.operand.array, element))
            elif content is not None and content.array[element] >= 0:
                matrix = moment.trace.arrays[int(content.array[element])].name
                found[first + place, matrix] = _middle_of_tile(tiles[touched.operand.array], element)
    return found


def _middle_of_tile(table: CellGrid, element: int) -> Point:
    x, y = table.middle(*divmod(element, table.columns)).tolist()
    return x, y


VIEW = View(marked("Registers: a copy for each thread"), Moment, registers_scene, registers_motion, multiplies=True, order=108)
