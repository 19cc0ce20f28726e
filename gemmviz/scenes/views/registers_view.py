"""Registers: each thread of a block has its own copy of every variable, with its own value, while the block's tiles in shared
memory, or the matrices in global memory, are there once for all.
"""

from typing import NamedTuple

import numpy as np

from gemmviz.analysis.replay.focus import thread_place
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.private import PrivateValues, ReadFactor, private_values
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, framed, message
from gemmviz.scenes.kit.layout import REST, Box, along, baseline, text_in
from gemmviz.scenes.kit.primitives import Primitive, Rects, Scene, Squares, boxes
from gemmviz.scenes.kit.text import text_line
from gemmviz.scenes.kit.view import View
from gemmviz.scenes.stage.matrix import label_size
from gemmviz.scenes.stage.small_matrices import Element, SmallMatrices, SmallTiles, small_matrices, small_tiles

_MOST_THREADS, _LEAST_WIDE = 4, 330.0  # threads, and the least width of each
_UPPER, _GAP = 0.52, 28.0  # of the height: the registers; between boxes
_INSET, _SHARE = 18.0, 0.46  # _SHARE: of the width of a box: names
_CHIP = 44.0


class _Plan(NamedTuple):
    """The boxes of the threads' registers, and the room below for what is there once."""

    threads: list[Box]
    common: Box

    @classmethod
    def of(cls, count: int, options: ViewOptions) -> "_Plan":
        room = options.room(options.top - 4).trimmed(bottom=4)
        upper, _, common = room.rows(_UPPER * room.height, 2.6 * options.theme.type.words, REST)
        return cls(upper.shifted(y=6).grid(1, count, _GAP), common)

    def slot(self, number: int, place: int, options: ViewOptions) -> Box:
        """The place of a variable of a thread: that of A, of B, or the sum."""
        box = self.threads[number]
        values = box.trimmed(_SHARE * box.width, 2.2 * options.theme.type.words, _INSET, _INSET)
        return values.grid(3, 1)[place].trimmed(bottom=10)

    @property
    def arrays(self) -> Box:
        """The part of the room below in which tiles or matrices are drawn."""
        return self.common.inset(200, 0)


def registers_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the registers of some threads around the watched one, above what all of them share."""
    held = _held(moment, moment.step if options.arrived else moment.step - 1, options)
    if not held:
        return framed([message(tr("The threads of this block don't sum one element of C each."), options)], moment, options)
    plan, theme = _Plan.of(len(held), options), options.theme
    primitives: list[Primitive] = []
    for number, values in enumerate(held):
        primitives += _registers(moment, number, values, plan, options)
    size, where = theme.type.least, tr("shared memory") if _tiles(moment) else tr("global memory")
    text = tr(
        "In registers: a copy of every variable for each thread. In {where}, below: one copy for all of them", where=where
    )
    at = (MARGIN, plan.threads[0].y - 12)
    primitives.append(text_line("registers-words", at, text, size, options.width - 2 * MARGIN, theme.text))
    return framed([*primitives, *_common(moment, plan, options)], moment, options)


def registers_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the factors that are read at this step on their way to the registers of their threads."""
    held = [] if options.arrived else _held(moment, moment.step, options)
    if not held:
        return ()
    plan, share = _Plan.of(len(held), options), options.way
    sources = _sources(moment, plan, options)
    pieces: list[Primitive] = []
    for number, values in enumerate(held):
        for place, factor in enumerate((values.a, values.b)):
            if factor is None or factor.step != moment.step or (values.thread, factor.matrix) not in sources:
                continue
            slot, start = plan.slot(number, place, options), sources[values.thread, factor.matrix]
            at = along([start, slot.middle], share)
            pieces.append(_chip(f"reading-{number}-{place}", at, factor, values, options))
    return tuple(pieces)


def _chip(key: str, at: tuple[float, float], factor: ReadFactor, values: PrivateValues, options: ViewOptions) -> Squares:
    accent = options.theme.accent(factor.matrix)
    text = _name(factor, values, options).partition("[")[2].rstrip("]").replace(" ", "")
    size = label_size(text, _CHIP, options.pixels, options.least)
    box = np.array([[at[0] - _CHIP / 2, at[1] - _CHIP / 2, _CHIP]])
    labels = np.array([text]) if size else None
    fill, ink = np.zeros(1, np.uint8), options.theme.ink_on(accent)
    return Squares(key, box, fill, (accent,), (ink,), labels, size, options.theme.background)


def _held(moment: Moment, step: int, options: ViewOptions) -> list[PrivateValues]:
    """Return the values of the threads that are shown; nothing if any of them has no single sum."""
    count = moment.trace.space.threads_per_block
    most = max(1, min(_MOST_THREADS, int((options.width - 2 * MARGIN) / _LEAST_WIDE)))
    first = max(0, min(moment.scope.first_thread, count - most))
    found = [private_values(moment, thread, step) for thread in range(first, min(count, first + most))]
    return [] if None in found else [each for each in found if each is not None]


def _name(factor: ReadFactor, values: PrivateValues, options: ViewOptions) -> str:
    place = (values.row, factor.k) if factor.matrix == "A" else (factor.k, values.column)
    return options.labels.element(factor.matrix, *place)


def _registers(moment: Moment, number: int, values: PrivateValues, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw what one thread holds, in a box of its own."""
    theme, box, words = options.theme, plan.threads[number], options.theme.type.words
    x, y, _ = thread_place(values.thread, moment.trace.launch)
    title = tr("thread {thread_of}", thread_of=options.labels.thread_of(x, y))
    primitives: list[Primitive] = [
        Rects(f"thread-{number}", boxes(box), theme.slate, theme.level(0), 3.0, 10.0),
        text_line(
            f"thread-{number}-name", (box.x + _INSET, box.y + 1.4 * words), title, words, box.width, theme.text, "semibold"
        ),
    ]
    rows = [("A", values.a), ("B", values.b)]
    for place, (matrix, factor) in enumerate(rows):
        name = tr("of {matrix}", matrix=matrix) if factor is None else _name(factor, values, options)
        shown = "" if factor is None else "?" if factor.value is None else f"{factor.value:.3g}"
        is_new = factor is not None and factor.step == moment.step
        primitives += _slot(number, place, (name, shown), (matrix, is_new), plan, options)
    total = "?" if values.sum is None else f"{values.sum:.3g}"
    name = tr("sum of {terms}", terms=values.terms) if values.terms else tr("sum")
    return [*primitives, *_slot(number, 2, (name, total), ("C", False), plan, options)]


def _slot(
    number: int, place: int, texts: tuple[str, str], look: tuple[str, bool], plan: _Plan, options: ViewOptions
) -> list[Primitive]:
    """Draw a variable: its name, and its value in a box. ``look``: the matrix of its colour, and whether it is new."""
    theme, slot, (matrix, is_new) = options.theme, plan.slot(number, place, options), look
    size, left = theme.type.words, plan.threads[number].x + _INSET
    fill = theme.accent(matrix) if is_new else theme.tint(matrix, 0.34)
    at = left, baseline(slot.middle_y, size)
    return [
        text_line(f"name-{number}-{place}", at, texts[0], theme.type.least, slot.x - left - 6, theme.text),
        Rects(f"slot-{number}-{place}", boxes(slot), fill, radius=6.0),
        text_in(f"value-{number}-{place}", slot, texts[1], size, theme.ink_on(fill), face="semibold"),
    ]


def _tiles(moment: Moment) -> bool:
    return any(each.space == "shared" for each in moment.trace.arrays)


def _common(moment: Moment, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw what is there once: the tiles of the block, or the matrices."""
    theme, room = options.theme, plan.common
    ground, inner = room.trimmed(top=-12, bottom=-4), plan.arrays
    box = Rects("common", boxes(ground), theme.slate, theme.level(1), 3.0, 10.0)
    if _tiles(moment):
        return [box, *small_tiles(moment, SmallTiles.of(moment, inner, options), options)]
    now: set[Element] = set()
    for touched in moment.touched if options.arrived else ():
        if touched.array.space == "global":
            now |= {(touched.operand.array, int(each)) for each in touched.block_cells}
    return [box, *small_matrices(moment, SmallMatrices.of(moment, inner, options), now, options)]


def _sources(moment: Moment, plan: _Plan, options: ViewOptions) -> dict[tuple[int, str], tuple[float, float]]:
    """Return where each thread's reads of this step come from, by the thread and the matrix of the element."""
    tiles = SmallTiles.of(moment, plan.arrays, options)
    matrices = SmallMatrices.of(moment, plan.arrays, options)
    found = {}
    first = moment.scope.in_block.start - moment.scope.of_block.start
    for touched in moment.touched:
        content = moment.tiles.get(touched.operand.array)
        for place, element in enumerate(touched.in_block.tolist()):
            if element < 0 or touched.operand.access != "read":
                continue
            if content is None and touched.operand.array in matrices.boxes:
                found[first + place, touched.array.name] = matrices.middle(moment, (touched.operand.array, element))
            elif content is not None and content.array[element] >= 0:
                matrix = moment.trace.arrays[int(content.array[element])].name
                found[first + place, matrix] = tiles.middle(touched.operand.array, element)
    return found


VIEW = View(marked("Registers: a copy for each thread"), Moment, registers_scene, registers_motion, multiplies=True, order=39)
