"""What the first blocks need: the tiles of C of all blocks up to the watched one, and what they read of A and B together."""

import numpy as np

from gemmviz.analysis.replay.focus import block_label
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.reads import first_threads, matrices_read, read_by_first
from gemmviz.model.arrays import Longs
from gemmviz.model.sites import MemoryArray
from gemmviz.model.translation import many, marked, tr
from gemmviz.scenes.kit.layout import AIR, NEAR, REST, Box, cells_in, lines_down, wrapped, write
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.theme import DIM
from gemmviz.scenes.kit.view import MARGIN, View, ViewOptions, eased, kernel_words, message, titled

_GAP, _WORDS = 44, 420  # between the matrices; width of the words beside them


def first_blocks_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the names of the matrices, and how much the blocks read."""
    known, theme = matrices_read(moment.trace), options.theme
    if moment.replay.owners.array is None or not {"A", "B"} <= set(known):
        return _titled([message(tr("This kernel doesn't multiply matrices A and B."), options)], moment, options)
    places, words = _places(moment, options)
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
    places, size = _places(moment, options)[0], moment.trace.space.threads_per_block
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


def _places(moment: Moment, options: ViewOptions) -> tuple[dict[str, Box], Box]:
    """Return the boxes of the matrices, as a cross with B above C and A at its left; and the room of the words."""
    m, n, k = (moment.trace.setup.problem.sizes[name] for name in "MNK")
    left, words = options.room(foot=MARGIN).columns(REST, _WORDS if options.words else 0, gap=4 * NEAR)
    cell = min((left.width - _GAP) / (k + n), (left.height - 2 * _GAP) / (k + m))
    b = Box(left.x + k * cell + _GAP, left.y + _GAP, n * cell, k * cell)
    c = Box(b.x, b.bottom + _GAP, n * cell, m * cell)
    places = {"A": Box(left.x, c.y, k * cell, m * cell), "B": b, "C": c}
    spare = (left.right - c.right) / 2
    places = {name: box.shifted(spare) for name, box in places.items()}
    return places, Box(c.right + spare + 4 * NEAR, b.y, words.width, c.bottom - b.y)


VIEW = View(marked("What the first blocks need"), Moment, first_blocks_scene, first_blocks_motion, multiplies=True, order=412)
