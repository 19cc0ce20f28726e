"""C cut three times: the tile of a block, in it the part of a warp, and in that the elements of a thread, each enlarged."""

from typing import NamedTuple

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.arrays import Longs
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.kit.layout import NEAR, REST, Box, cells_in, path, round_boxes, write
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.theme import DIM, HALF, SOFT
from gemmviz.scenes.kit.view import View, ViewOptions, eased_in_turn, framed, message

_GAP, _HEAD, _LARGEST = 90, 44, 60  # between the tables; height of a name; side of a cell


class _Table(NamedTuple):
    """A table with its name and the colours of its cells. ``part``: the place of what the next one shows; ``is_whole``: whether
    that is all of it.
    """

    name: str
    head: Box
    box: Box
    part: Box
    is_whole: bool
    fill: np.ndarray


def nesting_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the names of the tables."""
    tables = _tables(moment, options)
    if not tables:
        return framed([message(tr("This block stores no element of C."), options)], moment, options)
    style = options.theme.strong
    return framed(
        [write(f"nesting-name-{number}", each.head, each.name, style) for number, each in enumerate(tables)], moment, options
    )


def nesting_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the tables: each grows out of its place in the one before, to which lines lead in the end."""
    theme, drawn, tables = options.theme, list[Primitive](), _tables(moment, options)
    accent = theme.accent("C")
    palettes = ((theme.tint("C", DIM), accent), theme.warps, (theme.tint("C", SOFT), theme.tint("C", HALF), accent), (accent,))
    for number, (each, palette) in enumerate(zip(tables, palettes, strict=False)):
        share = eased_in_turn(options.moment, number - 1, len(tables) - 1) if number else 1
        box = tables[number - 1].part.towards(each.box, share) if number else each.box
        line = theme.background if each.box.width / each.fill.shape[1] > 5 else None
        drawn.append(cells_in(f"nesting-{number}", box, each.fill, palette, line))
        if share < 1:
            break
        for edge in (0, 1) if number else ():
            way = [tables[number - 1].part.at(1, edge), each.box.at(0, edge)]
            drawn.append(path(f"nesting-line-{number}-{edge}", way, theme.faint, 2, dashed=True))
        drawn += [round_boxes(f"nesting-part-{number}", each.part, None, theme.text, 3)] if each.is_whole else []
    return tuple(drawn)


def _tables(moment: Moment, options: ViewOptions) -> list[_Table]:
    """Return C, the block's tile, the warp's part and the thread's elements; nothing if the block stores none."""
    owners, size = moment.replay.owners, moment.trace.rules.warp_size
    elements, threads = owners.of(moment.scope.of_block)
    if owners.array is None or not len(elements):
        return []
    own = moment.focus.thread if moment.focus.thread is not None else size * (moment.focus.warp or 0)
    own = own if own in threads else int(threads[0])  # the focused thread may store no element
    rows, columns = (np.asarray(each) for each in owners.array.row_column(elements))
    parts = [threads >= 0, threads >= 0, threads // size == own // size, threads == own]
    extents = [(np.unique(rows[part]), np.unique(columns[part])) for part in parts]
    extents[0] = np.arange(owners.array.extents[0]), np.arange(owners.array.extents[1])
    is_square = all(each[-1] - each[0] < len(each) for each in extents[3])  # what a thread computes; else it is spread
    squares = rows // len(extents[3][0]) + columns // len(extents[3][1]) if is_square else threads + threads // 4
    lanes = np.where(threads == own, 2, squares % 2)
    colours = (np.ones_like(threads), threads // size % len(options.theme.warps), lanes, np.zeros_like(threads))
    bx, by, _ = moment.focus.block
    names = "C", tr("block ({bx}, {by})", bx=bx, by=by), tr("warp {warp}", warp=own // size), tr("thread {thread}", thread=own)
    tables = []
    for number, room in enumerate(options.room().columns(*[REST] * len(parts), gap=_GAP)):
        (down, across), part = extents[number], parts[number]
        fill = np.zeros((len(down), len(across)), np.uint8)
        fill[np.searchsorted(down, rows[part]), np.searchsorted(across, columns[part])] = colours[number][part]
        above, head = room.rows(REST, _HEAD, gap=NEAR)
        box = above.tiled(*fill.shape, _LARGEST)
        box = box.shifted(y=(above.height - box.height) / 2)
        inside = _part_of(box, extents[number], extents[min(number + 1, len(parts) - 1)])
        is_whole = is_square or number < len(parts) - 2
        head = head.trimmed(right=NEAR - _GAP)  # a name may be wider than its table
        tables.append(_Table(f"{names[number]}: {len(down)} × {len(across)}", head, box, inside, is_whole, fill))
    return tables


def _part_of(box: Box, whole: tuple[Longs, Longs], part: tuple[Longs, Longs]) -> Box:
    """Return the place of some rows and columns in the table of others."""
    down, across = (
        (float(np.searchsorted(of, own[0]) / len(of)), float((np.searchsorted(of, own[-1]) + 1) / len(of)))
        for of, own in zip(whole, part, strict=True)
    )
    return box.part(across, down)


VIEW = View(marked("Nesting: block, warp and thread in C"), Moment, nesting_scene, nesting_motion, order=410)
