"""Blocks and tiles: C in the colours of its blocks, and the rows of A and columns of B that the watched block needs, those
of the current phase brighter.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.replay import Area
from gemmviz.model.arrays import Floats, Longs
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, framed
from gemmviz.scenes.kit.groups import group_colours
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.view import View

_GAP = 40.0
_MOST_LINES = 33
_SMALLEST, _LEAST_NAME = 9.0, 10.0
_MOST_BLOCKS, _MOST_CELLS = 1024, 256


def tiles_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the cross: B above C, A on its left."""
    return framed(_cross(moment, options), moment, options)


def _cross(moment: Moment, options: ViewOptions) -> list[Primitive]:
    m, n, k = moment.trace.setup.problem.sizes.values()
    room = Box(MARGIN, options.top - 10, options.width - 2 * MARGIN, options.bottom - options.top)
    unit = min((room.width - _GAP - 320) / (k + n), (room.height - _GAP - 30) / (k + m))
    x = room.x + (room.width - (k + n) * unit - _GAP) / 2
    y = room.y + 30
    a = Box(x, y + k * unit + _GAP, k * unit, m * unit)
    b = Box(x + k * unit + _GAP, y, n * unit, k * unit)
    c = Box(b.x, a.y, n * unit, m * unit)
    primitives: list[Primitive] = []
    for name, box in (("A", a), ("B", b), ("C", c)):
        primitives.append(Rects(f"{name}-ground", boxes((box.x, box.y, box.width, box.height)), options.theme.panel))
    primitives += _blocks(moment, c, unit, options)
    for name, box in (("A", a), ("B", b)):
        primitives += _strips(moment, name, box, unit, options)
    for name, box, rows, columns in (("A", a, m, k), ("B", b, k, n), ("C", c, m, n)):
        primitives += _lines(name, box, rows, columns, options)
    primitives += _block_names(moment, c, unit, options)
    primitives += _numbers(a, b, c, (m, n), unit, options)
    return [*primitives, *_names(moment, {"A": a, "B": b, "C": c}, room, options)]


def _part(area: Area, box: Box, unit: float) -> tuple[float, float, float, float]:
    r0, r1, c0, c1 = area
    return box.x + c0 * unit, box.y + r0 * unit, (c1 - c0) * unit, (r1 - r0) * unit


@dataclass(frozen=True)
class _Blocks:
    """The traced blocks that store into C: ``numbers`` (n,), half-open ``areas`` (n, 4) as r0, r1, c0 and c1, and
    ``colours`` (n,), indices of the theme's warp colours.
    """

    numbers: Longs
    areas: Longs
    colours: Longs

    def parts(self, box: Box, unit: float) -> Floats:
        """Return the areas as drawn: (n, 4), x, y, width and height."""
        r0, r1, c0, c1 = self.areas.T
        return np.column_stack([box.x + c0 * unit, box.y + r0 * unit, (c1 - c0) * unit, (r1 - r0) * unit])


def _blocks_of(moment: Moment) -> _Blocks:
    """Return the blocks of the trace, cached with it."""
    return moment.replay.cached("block areas", lambda: _stored_areas(moment))


def _stored_areas(moment: Moment) -> _Blocks:
    trace, owners = moment.trace, moment.replay.owners
    if owners.array is None or not len(owners.elements):
        return _Blocks(np.zeros(0, np.int64), np.zeros((0, 4), np.int64), np.zeros(0, np.int64))
    rows, columns = (np.asarray(each, np.int64) for each in owners.array.row_column(owners.elements))
    block = owners.threads // trace.space.threads_per_block
    count = int(block.max()) + 1
    low, high = np.full((2, count), np.iinfo(np.int64).max), np.full((2, count), -1, np.int64)
    for axis, places in enumerate((rows, columns)):
        np.minimum.at(low[axis], block, places)
        np.maximum.at(high[axis], block, places)
    numbers = np.flatnonzero(high[0] >= 0)
    areas = np.column_stack([low[0], high[0] + 1, low[1], high[1] + 1])[numbers]
    colours = group_colours(trace, numbers * trace.space.threads_per_block, "block")
    return _Blocks(numbers, areas, np.asarray(colours, np.int64))


def _blocks(moment: Moment, box: Box, unit: float, options: ViewOptions) -> list[Primitive]:
    """Draw the part of C of every traced block in its colour; the watched one is framed."""
    theme, blocks = options.theme, _blocks_of(moment)
    parts = blocks.parts(box, unit)
    primitives: list[Primitive] = []
    if len(parts) > _MOST_BLOCKS:
        primitives.append(_as_cells(moment, box, options))
    else:
        for colour in np.unique(blocks.colours).tolist():
            primitives.append(Rects(f"blocks-{colour}", parts[blocks.colours == colour], theme.warps[colour]))
    here = parts[blocks.numbers == moment.scope.block_number]
    if len(here) and not moment.focus.everyone:
        primitives.append(Rects("block-here", here, None, theme.text, 5.0))
    return primitives


def _as_cells(moment: Moment, box: Box, options: ViewOptions) -> Primitive:
    """Draw very many blocks as cells of C in their colours."""
    (rows, columns), replay = moment.trace.setup.problem.shapes["C"], moment.replay
    shape = min(rows, _MOST_CELLS), min(columns, _MOST_CELLS)

    def made() -> npt.NDArray[np.uint8]:
        owners, threads = replay.owners, moment.trace.space.threads_per_block
        assert owners.array is not None
        row, column = owners.array.row_column(owners.elements)
        starts = owners.threads // threads * threads
        fill = np.zeros(shape, np.uint8)
        fill[row * shape[0] // rows, column * shape[1] // columns] = group_colours(moment.trace, starts, "block") + 1
        return fill

    fill, palette = replay.cached("block cells", made), (options.theme.panel, *options.theme.warps)
    wide, high = box.width / shape[1], box.height / shape[0]
    return Cells("blocks", box.x, box.y, wide, fill, palette, palette, height=high)


def _block_names(moment: Moment, box: Box, unit: float, options: ViewOptions) -> list[Primitive]:
    """Draw x and y of every traced block in the middle of its part, if readable, over the lines."""
    trace, theme, blocks = moment.trace, options.theme, _blocks_of(moment)
    parts = blocks.parts(box, unit)
    if not len(parts) or 0.3 * parts[:, 3].min() < _LEAST_NAME:
        return []
    primitives: list[Primitive] = []
    starts = (blocks.numbers * trace.space.threads_per_block).tolist()
    texts = [f"{x}, {y}" for x, y in (trace.space.indices(start)[0][:2] for start in starts)]
    widest = max(text_width(text, 1.0) for text in texts)
    size = min(26.0, 0.3 * float(parts[:, 3].min()), (float(parts[:, 2].min()) - 8) / widest)
    if size < _LEAST_NAME:
        return []
    for text, (x, y, width, height), colour in zip(texts, parts.tolist(), blocks.colours.tolist(), strict=True):
        middle, wide = (x + width / 2, y + height / 2), text_width(text, size) + 0.4 * size
        ground = boxes((middle[0] - wide / 2, middle[1] - 0.6 * size, wide, 1.2 * size))
        ink = theme.ink_on(theme.warps[colour])
        primitives.append(Rects(f"block-ground-{text}", ground, theme.warps[colour]))
        at = points((middle[0], middle[1] + 0.35 * size))
        primitives.append(Labels(f"block-{text}", at, (text,), size, ink, "middle", "semibold"))
    return primitives


def _strips(moment: Moment, name: str, box: Box, unit: float, options: ViewOptions) -> list[Primitive]:
    """Draw what the watched block accesses in all phases, then what it accesses in the current one."""
    theme, areas = options.theme, moment.areas(name)
    parts = [_part(area, box, unit) for area in areas.values()]
    primitives: list[Primitive] = []
    if parts:
        primitives.append(Rects(f"{name}-strip", np.array(parts), theme.tint(name, 0.38)))
        primitives.append(Rects(f"{name}-tiles", np.array(parts), None, theme.background, 2.0))
    here = areas.get(moment.phase)
    if here is not None:
        primitives.append(Rects(f"{name}-phase", boxes(_part(here, box, unit)), theme.accent(name)))
    return primitives


def _lines(name: str, box: Box, rows: int, columns: int, options: ViewOptions) -> list[Primitive]:
    """Draw lines between single elements if there are few."""
    if max(rows, columns) >= _MOST_LINES:
        return []
    down = [(box.x, box.y + r * box.height / rows, box.x + box.width, box.y + r * box.height / rows) for r in range(1, rows)]
    across = [
        (box.x + c * box.width / columns, box.y, box.x + c * box.width / columns, box.y + box.height) for c in range(1, columns)
    ]
    if not down and not across:
        return []
    return [Lines(f"{name}-lines", boxes(*down, *across), options.theme.background, 1.0)]


def _numbers(a: Box, b: Box, c: Box, shape: tuple[int, int], unit: float, options: ViewOptions) -> list[Primitive]:
    """Draw row and column numbers below C and on its right, if readable."""
    size, first = min(options.theme.type.least, 0.6 * unit), options.labels.first
    if size < _SMALLEST:
        return []
    rows, columns = (range(count) for count in shape)
    below = points(*((c.x + (column + 0.5) * unit, c.y + c.height + 1.2 * size) for column in columns))
    beside = points(*((c.x + c.width + 6, c.y + (row + 0.5) * unit + 0.36 * size) for row in rows))
    return [
        Labels("columns", below, tuple(str(column + first) for column in columns), size, options.theme.faint, "middle"),
        Labels("rows", beside, tuple(str(row + first) for row in rows), size, options.theme.faint),
    ]


def _names(moment: Moment, places: dict[str, Box], room: Box, options: ViewOptions) -> list[Primitive]:
    theme, sizes = options.theme, options.theme.type
    a, b, c = (places[name] for name in "ABC")
    primitives: list[Primitive] = [
        Labels("A-name", points((a.x - 14, a.y + a.height / 2 + 10)), ("A",), sizes.name, theme.accent("A"), "end", "semibold"),
        Labels("B-name", points((b.x + b.width / 2, b.y - 10)), ("B",), sizes.name, theme.accent("B"), "middle", "semibold"),
        Labels(
            "C-name",
            points((c.x + c.width + 40, c.y + c.height / 2 + 10)),
            ("C",),
            sizes.name,
            theme.accent("C"),
            "start",
            "semibold",
        ),
    ]
    tall, phases = list(moment.areas("A").values()), moment.replay.phases
    lines = ["C: blocks x, y"]
    has_tiles = any(array.space == "shared" for array in moment.trace.arrays)
    if tall and has_tiles and moment.focus.warp is None and moment.focus.thread is None and not moment.focus.everyone:
        r0, r1, c0, c1 = tall[0]
        lines += [f"a block reads {phases} tiles", f"of A, {r1 - r0} × {c1 - c0}, in a row,", "and as many of B in a column"]
    size = sizes.words
    at = [(room.x, room.y + 24 + 1.35 * size * n) for n in range(len(lines))]
    wide = max(text_width(line, size) for line in lines)
    scale = min(1.0, (b.x - room.x - 20) / wide)
    return [*primitives, Labels("tiles-words", points(*at), tuple(lines), size * scale, theme.text)]


VIEW = View("Blocks and their tiles", Moment, tiles_scene, multiplies=True, order=33)
