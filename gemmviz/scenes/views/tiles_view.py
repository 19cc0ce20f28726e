"""Views of parts of C: of block, warp and thread, of the first blocks, and of an instruction."""

import dataclasses
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.focus import block_label
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.reads import first_threads, matrices_read, read_by_first
from gemmviz.model.arrays import Longs
from gemmviz.model.cases import TF32_TILE, LaunchCase, Suggestion
from gemmviz.model.messages import many, marked, spaced, tr
from gemmviz.model.sites import MemoryArray
from gemmviz.scenes.kit.layout import (
    AIR,
    LINE_PITCH,
    NEAR,
    REST,
    Box,
    Edge,
    Line,
    Share,
    beside,
    button,
    cells_in,
    lines_down,
    path,
    round_boxes,
    wrapped,
    write,
)
from gemmviz.scenes.kit.primitives import Button, Primitive, Scene
from gemmviz.scenes.kit.theme import DIM, HALF, SOFT
from gemmviz.scenes.kit.view import (
    MARGIN,
    View,
    ViewOptions,
    apology,
    eased,
    eased_from,
    eased_in_turn,
    framed,
    kernel_words,
    message,
    titled,
)

# Nesting: block, warp and thread in C.

_NESTING_GAP, _HEAD, _LARGEST = 90, 44, 60  # between the tables; height of a name; side of a cell


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
    """C cut three times: the tile of a block, in it the part of a warp, and in that the elements of a thread, each enlarged.

    Draw the names of the tables.
    """
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
    for number, room in enumerate(options.room().columns(*[REST] * len(parts), gap=_NESTING_GAP)):
        (down, across), part = extents[number], parts[number]
        fill = np.zeros((len(down), len(across)), np.uint8)
        fill[np.searchsorted(down, rows[part]), np.searchsorted(across, columns[part])] = colours[number][part]
        above, head = room.rows(REST, _HEAD, gap=NEAR)
        box = above.tiled(*fill.shape, _LARGEST)
        box = box.shifted(y=(above.height - box.height) / 2)
        inside = _part_of(box, extents[number], extents[min(number + 1, len(parts) - 1)])
        is_whole = is_square or number < len(parts) - 2
        head = head.trimmed(right=NEAR - _NESTING_GAP)  # a name may be wider than its table
        tables.append(_Table(f"{names[number]}: {len(down)} × {len(across)}", head, box, inside, is_whole, fill))
    return tables


def _part_of(box: Box, whole: tuple[Longs, Longs], part: tuple[Longs, Longs]) -> Box:
    """Return the place of some rows and columns in the table of others."""
    down, across = (
        (float(np.searchsorted(of, own[0]) / len(of)), float((np.searchsorted(of, own[-1]) + 1) / len(of)))
        for of, own in zip(whole, part, strict=True)
    )
    return box.part(across, down)


# What the first blocks need.

_FIRST_BLOCKS_GAP, _WORDS = 44, 420  # between the matrices; width of the words beside them


def first_blocks_scene(moment: Moment, options: ViewOptions) -> Scene:
    """What the first blocks need: the tiles of C of all blocks up to the watched one, and what they read of A and B together.

    Draw the names of the matrices, and how much the blocks read.
    """
    known, theme = matrices_read(moment.trace), options.theme
    if moment.replay.owners.array is None or not {"A", "B"} <= set(known):
        return _titled([message(tr("This kernel doesn't multiply matrices A and B."), options)], moment, options)
    places, words = _matrix_boxes(moment, options)
    drawn: list[Primitive] = [
        write(f"first-name-{name}", box._replace(y=box.y - 34, height=30), name, theme.strong.inked(theme.accent(name)))
        for name, box in places.items()
    ]
    threads = first_threads(moment)
    lines = wrapped(
        "first-blocks", many(threads.stop // moment.trace.space.threads_per_block, "block"), theme.large, words.width
    )
    for name in ("A", "B"):
        count = len(read_by_first(moment.trace, known[name][0], threads))
        text = tr("read {elements} of {array}", elements=many(count, "element"), array=name)
        lines += wrapped(f"first-{name}", text, theme.strong.inked(theme.accent(name)), words.width, space=AIR)
    return _titled([*drawn, *(lines_down(words, lines) if options.words and options.arrived else [])], moment, options)


def _titled(drawn: list[Primitive], moment: Moment, options: ViewOptions) -> Scene:
    """Return a frame with the blocks that are meant: the picture is of no step of theirs."""
    last = block_label(moment.scope.focus.block, moment.trace.launch)
    return titled(drawn, kernel_words(moment), tr("up to {block}, in the order of their numbers", block=last), options)


def first_blocks_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the matrices: blocks come one after another, with what each of them reads in addition."""
    known, owners = matrices_read(moment.trace), moment.replay.owners
    if owners.array is None or not {"A", "B"} <= set(known):
        return ()
    places, size = _matrix_boxes(moment, options)[0], moment.trace.space.threads_per_block
    last = first_threads(moment).stop // size
    threads = slice(0, size * max(1, round(float(eased(options.moment)) * last)))
    shown: dict[str, tuple[MemoryArray, Longs]] = {
        name: (known[name][1], read_by_first(moment.trace, known[name][0], threads)) for name in ("A", "B")
    }
    shown[owners.array.name] = owners.array, owners.of(threads)[0]
    drawn = list[Primitive]()
    for (name, box), (array, elements) in zip(places.items(), shown.values(), strict=True):
        fill = np.zeros(array.extents[:2], np.uint8)
        fill[array.row_column(elements)] = 1
        accent = options.theme.accent(name)
        line = options.theme.background if box.width / fill.shape[1] > 5 else None
        drawn.append(cells_in(f"first-{name}", box, fill, (options.theme.tint(name, DIM), accent), line))
    return tuple(drawn)


def _matrix_boxes(moment: Moment, options: ViewOptions) -> tuple[dict[str, Box], Box]:
    """Return the boxes of the matrices, as a cross with B above C and A at its left; and the room of the words."""
    m, n, k = (moment.trace.setup.problem.sizes[name] for name in "MNK")
    left, words = options.room(foot=MARGIN).columns(REST, _WORDS if options.words else 0, gap=4 * NEAR)
    cell = min((left.width - _FIRST_BLOCKS_GAP) / (k + n), (left.height - 2 * _FIRST_BLOCKS_GAP) / (k + m))
    b = Box(left.x + k * cell + _FIRST_BLOCKS_GAP, left.y + _FIRST_BLOCKS_GAP, n * cell, k * cell)
    c = Box(b.x, b.bottom + _FIRST_BLOCKS_GAP, n * cell, m * cell)
    places = {"A": Box(left.x, c.y, k * cell, m * cell), "B": b, "C": c}
    spare = (left.right - c.right) / 2
    places = {name: box.shifted(spare) for name, box in places.items()}
    return places, Box(c.right + spare + 4 * NEAR, b.y, words.width, c.bottom - b.y)


# Tensor cores: tile of an instruction.

_TENSOR_TILE_GAP, _MOST = 2, 32  # cells between the matrices; rows and columns shown of each
_REST_OF_STEP = 0.5  # share of an instruction's time in which its tile stands still


class _Plan(Struct, frozen=True):
    """The table of each matrix with its rows and columns, the side of a cell, and the rooms of the count and of the words."""

    cell: float
    tables: dict[str, Box]
    sizes: dict[str, tuple[int, int]]
    count: Box
    words: Box

    @classmethod
    def of(cls, case: LaunchCase, options: ViewOptions) -> "_Plan":
        sizes, tile = case.problem.sizes, TF32_TILE
        m, n, k = (min(_MOST, sizes[name] // size * size) for name, size in (("M", tile.m), ("N", tile.n), ("K", tile.k)))
        left, words = options.room(130, 30).columns(Share(29), Share(21), gap=40)
        _, count, words = words.rows(REST, LINE_PITCH * options.theme.type.words, Share(6), gap=2 * AIR)
        cross = left.tiled(k + _TENSOR_TILE_GAP + m, k + _TENSOR_TILE_GAP + n)
        cell = cross.height / (k + _TENSOR_TILE_GAP + m)
        (_, _, b), _, (a, _, c) = (
            row.columns(k * cell, _TENSOR_TILE_GAP * cell, n * cell)
            for row in cross.rows(k * cell, _TENSOR_TILE_GAP * cell, m * cell)
        )
        return cls(cell, {"A": a, "B": b, "C": c}, {"A": (m, k), "B": (k, n), "C": (m, n)}, count, words)

    @property
    def steps(self) -> int:
        return self.sizes["A"][1] // TF32_TILE.k

    def tile(self, name: str, step: int) -> tuple[slice, slice]:
        """Return rows and columns of a matrix that the instruction of a step takes."""
        ks = slice(step * TF32_TILE.k, (step + 1) * TF32_TILE.k)
        rows, columns = slice(0, TF32_TILE.m), slice(0, TF32_TILE.n)
        return {"A": (rows, ks), "B": (ks, columns), "C": (rows, columns)}[name]


def tensor_tile_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """The part of A, B and C that one instruction of the tensor cores multiplies, and how it moves along k.

    Draw the names and the words. The matrices are drawn by ``tensor_tile_motion``.
    """
    tile, theme = TF32_TILE, options.theme
    if missing := _why_no_tile(case):
        scene = apology(tr("Tensor cores"), missing, options)
        if case.cure is None or not options.buttons:
            return scene
        return dataclasses.replace(scene, primitives=(*scene.primitives, *_cure(case.cure, options)))
    plan, warp, pieces = _Plan.of(case, options), case.device.warp_size, list[Primitive]()
    for name, box in plan.tables.items():
        style = theme.strong.sized(theme.type.name).inked(theme.accent(name))
        side: Edge = "right" if name == "C" else "top"
        pieces.append(beside(f"{name}-name", box, side, name, style))
    product = tr("{m} × {n} × {k} = {products} products", m=tile.m, n=tile.n, k=tile.k, products=spaced(tile.products))
    pieces += lines_down(
        plan.words,
        [
            Line("tile", product, *theme.large),
            Line("tile-words", tr("one instruction of a warp, on the tensor cores"), *theme.soft),
            Line("cores", tr("{warp} products", warp=warp), *theme.large, AIR),
            Line("cores-words", tr("one multiply-add of a warp, on the CUDA cores"), *theme.soft),
        ],
    )
    note = tr("{shape}, A and B rounded to {element}; {source}", shape=tile.shape, element=tile.element, source=tile.source)
    return titled(
        pieces, tr("What one instruction of the tensor cores multiplies: {device}", device=case.device.name), note, options
    )


def _cure(cure: Suggestion, options: ViewOptions) -> list[Primitive]:
    """Draw the button that runs another launch."""
    style = options.theme.strong.sized(options.theme.type.words)
    row = options.room().rows(Share(2), 2 * style.size, REST)[1]
    wide = style.width(cure.text) + 2 * AIR
    box = row._replace(x=row.middle_x - wide / 2, width=wide)
    return button("cure-0", box, cure.text, Button("cure"), "", style, options.theme)


def tensor_tile_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the matrices with the tile at ``options.moment``: it moves along k, and C's tile grows stronger."""
    if _why_no_tile(case):
        return ()
    plan, theme = _Plan.of(case, options), options.theme
    step, ahead = _step_at(options.passed * plan.steps, plan.steps)
    pieces: list[Primitive] = []
    for name, box in plan.tables.items():
        accent = theme.accent(name)
        shades = [theme.tint(name, DIM), theme.tint(name, HALF), accent]
        shades += [theme.tint(name, DIM + (1 - DIM) * (number + 1) / plan.steps) for number in range(plan.steps)]
        fill = np.zeros(plan.sizes[name], np.uint8)
        for earlier in range(step):
            fill[plan.tile(name, earlier)] = 1
        rows, columns = plan.tile(name, step)
        fill[rows, columns] = 3 + step if name == "C" else 2
        inks = tuple(theme.ink_on(shade) for shade in shades)
        pieces.append(cells_in(name, box, fill, tuple(shades), theme.background, inks))
        whole, moved = plan.sizes[name], ahead * plan.cell
        spans = [(side.start / count, side.stop / count) for side, count in zip((rows, columns), whole, strict=True)]
        edge = box.part(spans[1], spans[0]).shifted(moved * (name == "A"), moved * (name == "B"))
        pieces.append(round_boxes(f"{name}-tile", edge.inset(-2), None, accent, 3))
    text = tr("instruction {step} of {steps} for this tile of C", step=step + 1, steps=plan.steps)
    return (*pieces, write("count", plan.count, text, theme.plain))


def _step_at(passed: float, steps: int) -> tuple[int, float]:
    """Return the instruction at a time in instructions, and how many elements of k the frame of the tile is ahead of it."""
    step = min(steps - 1, int(passed))
    on_way = eased_from(passed - step, _REST_OF_STEP, 1 - _REST_OF_STEP)
    return step, 0 if step == steps - 1 else TF32_TILE.k * on_way


def _why_no_tile(case: LaunchCase) -> str:
    """Return why there is no tile to show; nothing if there is one."""
    tile, device = TF32_TILE, case.device
    if device.vendor != "NVIDIA" or device.capability < tile.since:
        since = ".".join(map(str, tile.since))
        return tr(
            "{device} has no instruction {shape} for {element}: it needs compute capability {since} or later.",
            device=device.name,
            shape=tile.shape,
            element=tile.element,
            since=since,
        )
    sizes = case.problem.sizes
    if not case.problem.is_multiply or any(sizes[name] < size for name, size in (("M", tile.m), ("N", tile.n), ("K", tile.k))):
        return tr("The problem is smaller than a tile of {m} × {n} × {k}.", m=tile.m, n=tile.n, k=tile.k)
    return ""


VIEWS = {
    "first_blocks": View(
        marked("What the first blocks need"), Moment, first_blocks_scene, first_blocks_motion, multiplies=True, order=412
    ),
    "nesting": View(marked("Nesting: block, warp and thread in C"), Moment, nesting_scene, nesting_motion, order=410),
    "tensor_tile": View(
        marked("Tensor cores: tile of an instruction"),
        LaunchCase,
        tensor_tile_scene,
        tensor_tile_motion,
        multiplies=True,
        order=205,
    ),
}
