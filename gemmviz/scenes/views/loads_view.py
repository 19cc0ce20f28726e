"""What a thread reads from shared memory for one k, and the products that it makes of it, for more and more elements of C: one
element of A for each row of them, one of B for each column.
"""

import numpy as np

from gemmviz.model.cases import LoadsCase, LoadsRow
from gemmviz.model.translation import counted, many, marked, number, tr
from gemmviz.scenes.kit.layout import LINE_PITCH, NEAR, REST, ROW_PITCH, Box, Share, cells_in, square, write, write_all
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.view import View, ViewOptions, titled

_TOP, _LARGEST, _APART = 124, 84, 0.2  # of the picture; of a cell; from what is read to the products, in cells


def loads_scene(case: LoadsCase, options: ViewOptions) -> Scene:
    """Draw the elements of A and B that each thread reads, and how many that is for each of its products."""
    theme, drawn = options.theme, list[Primitive]()
    words = theme.strong.sized(theme.type.words)
    for at, (row, (name, picture, figure, *said)) in enumerate(zip(case.rows, _parts(case, options), strict=True)):
        a, b, _ = _tables(row, picture, case)
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
    for at, (row, (_, picture, *_)) in enumerate(zip(case.rows, _parts(case, options), strict=True)):
        made = (np.arange(row.products) < round(options.way * most)).astype(np.uint8).reshape(row.reads)
        table = _tables(row, picture, case)[2]
        drawn.append(cells_in(f"C-{at}", table, made, (theme.empty, theme.accent("C")), theme.background))
    return tuple(drawn)


def _parts(case: LoadsCase, options: ViewOptions) -> list[list[Box]]:
    """Return the rooms of each launch: its elements of C, its picture, the figure, and two lines of counts."""
    columns = options.room(_TOP).columns(*(Share(row.reads[1] + 3) for row in case.rows))
    sizes = options.theme.type
    low = LINE_PITCH * sizes.words
    return [each.rows(ROW_PITCH * sizes.caption, REST, 2 * LINE_PITCH * sizes.title, low, low, gap=NEAR) for each in columns]


def _tables(row: LoadsRow, picture: Box, case: LoadsCase) -> tuple[Box, Box, Box]:
    """Return the boxes of the elements of A and B and of the products, with cells that are equal in all launches."""
    rows = max(each.reads[0] for each in case.rows) + 1 + _APART
    side = min(_LARGEST, picture.width / (row.reads[1] + 3), picture.height / rows)
    wide, high = (side * (count + 1 + _APART) for count in (row.reads[1], row.reads[0]))
    head, body = square(picture.middle, wide, high).rows(side, REST, gap=_APART * side)
    (a, products), b = body.columns(side, REST, gap=_APART * side), head.trimmed(left=(1 + _APART) * side)
    return a, b, products


VIEW = View(marked("Reads for each multiply-add"), LoadsCase, loads_scene, loads_motion, is_count=True, order=313)
