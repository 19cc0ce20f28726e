"""All threads of a grid in their blocks: those that work, and those that return because there is no element for them."""

import numpy as np

from gemmviz.analysis.replay.grid import Owners
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.private import threads_at_work
from gemmviz.model.translation import marked, sized, spaced, tr
from gemmviz.scenes.kit.layout import AIR, LINE_PITCH, REST, ROW_PITCH, Box, cells_in, fits_cells, swatch, write, write_all
from gemmviz.scenes.kit.primitives import Primitive, Rects, Scene
from gemmviz.scenes.kit.shapes import hatching
from gemmviz.scenes.kit.theme import HALF, PALE, mixed
from gemmviz.scenes.kit.view import View, ViewOptions, eased_from, framed

_BESIDE, _LARGEST, _LEAST = 520, 84, 0.5
_BETWEEN_BLOCKS = 0.45  # of a cell
_STARTED, _CHECKED = 0.25, 0.6  # shares of the time: until then all threads run; then the others have returned
_MOST_BLOCKS, _MOST_LISTED = 256, 6
_CELL_MEANS = marked("a cell: a thread, with the element that it stores")
_STATES = (marked("return before their first access"), marked("work"))


def guard_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw how many of the threads work, of all blocks and of each."""
    return framed(_AllThreads(moment, options).words() if options.words else [], moment, options)


def guard_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the threads: all of them start, those without an element return, the others compute theirs."""
    return tuple(_AllThreads(moment, options).threads(options.moment))


class _AllThreads:
    """The places of blocks and threads, and what each thread does."""

    def __init__(self, moment: Moment, options: ViewOptions) -> None:
        self.options, self.theme, trace = options, options.theme, moment.trace
        self.works = moment.replay.cached("threads at work", lambda: threads_at_work(trace))
        self.per_block, self.trace = trace.space.threads_per_block, trace
        across, down, deep = trace.blocks.extents
        self.shape = across, min(down * deep, _MOST_BLOCKS)
        self.inner = trace.launch.block[0], trace.launch.block[1] * trace.launch.block[2]
        room, beside = options.room().trimmed(bottom=8).columns(REST, _BESIDE if options.words else 0)
        wide, high = (n * (side + _BETWEEN_BLOCKS) - _BETWEEN_BLOCKS for n, side in zip(self.shape, self.inner, strict=True))
        self.cell = max(_LEAST, min(room.width / wide, room.height / high, _LARGEST))
        whole = Box(room.x, room.y, wide * self.cell, high * self.cell)
        self.beside = beside.trimmed(left=whole.right + 56 - beside.x)
        self.blocks = whole.grid(self.shape[1], self.shape[0], _BETWEEN_BLOCKS * self.cell)

    def threads(self, moment: float) -> list[Primitive]:
        """Draw the threads at a share of the time."""
        gone, done = eased_from(moment, _STARTED, _CHECKED - _STARTED), eased_from(moment, _CHECKED, 1 - _CHECKED)
        theme, accent = self.theme, self.theme.accent(self.result)
        runs = mixed(theme.slate, theme.text, PALE)
        palette = (mixed(runs, theme.background, gone), mixed(runs, accent, done))
        inks = (theme.faint, theme.ink_on(palette[1]))
        drawn, size = list[Primitive](), self.label_size
        labels = self.labels if size and done > 0 else None
        for number, block in enumerate(self.blocks):
            own = slice(number * self.per_block, (number + 1) * self.per_block)
            fill = self.works[own].astype(np.uint8).reshape(self.inner[1], self.inner[0])
            texts = None if labels is None else labels[own].reshape(fill.shape)
            line = theme.background if self.cell > 7 else None
            drawn.append(cells_in(f"guard-{number}", block, fill, palette, line, inks, texts=texts, size=size))
        return drawn if gone < 1 else [*drawn, *self._returned()]

    def _returned(self) -> list[Primitive]:
        """Draw the places of the threads that returned: an outline, hatched."""
        idle = np.flatnonzero(~self.works[: len(self.blocks) * self.per_block])
        if not len(idle):
            return []
        corner = np.array([self.blocks[number][:2] for number in (idle // self.per_block).tolist()])
        inside = np.stack([idle % self.per_block % self.inner[0], idle % self.per_block // self.inner[0]], axis=1)
        places = np.hstack([corner + inside * self.cell + 1, np.full((len(idle), 2), self.cell - 2)])
        outline = Rects("guard-returned", places, None, self.theme.faint)
        return [outline, hatching("guard-returned-lines", places, self.theme.faded(self.theme.faint, HALF))]

    @property
    def result(self) -> str:
        number = self.trace.result
        return self.trace.arrays[number].name if number is not None else ""

    @property
    def labels(self) -> np.ndarray:
        """Return the indices of the first element that each thread stores, "" for none."""
        owners = Owners(self.trace)
        texts = np.full(len(self.works), "", "<U24")
        if owners.array is not None and len(owners.elements):
            thread, first = np.unique(owners.threads, return_index=True)
            texts[thread] = [self.options.labels.indices(owners.array, int(owners.elements[at])) for at in first]
        return texts

    @property
    def label_size(self) -> float:
        number, least = self.trace.result, self.theme.type.least
        if number is None:
            return 0
        last = self.options.labels.indices(self.trace.arrays[number], self.trace.arrays[number].size - 1)
        return least if fits_cells(np.array([last]), least, self.cell, self.cell) else 0

    def words(self) -> list[Primitive]:
        """Draw the names of the blocks, the counts of all threads, and those of each block."""
        theme, works = self.theme, int(self.works.sum())
        high = LINE_PITCH * theme.type.words
        head, idle, busy, note, rest = self.beside.rows(LINE_PITCH * theme.type.title, high, high, high, REST, gap=AIR)
        counts = [
            f"{spaced(count)} {tr(state)}" for count, state in zip((len(self.works) - works, works), _STATES, strict=True)
        ]
        mark, returned = swatch("guard-swatch-0", idle, counts[0], None, theme.plain, theme.faint)
        return [
            write("guard-all", head, sized(len(self.works), "thread"), theme.strong.sized(theme.type.title)),
            mark,
            returned,
            hatching("guard-swatch-lines", mark.boxes, theme.faint),
            *swatch("guard-swatch-1", busy, counts[1], theme.accent(self.result), theme.plain),
            write("guard-note", note, tr(_CELL_MEANS), theme.soft.sized(theme.type.note)),
            *self._per_block(rest),
        ]

    def _per_block(self, room: Box) -> list[Primitive]:
        """Draw how many threads of each block work, if there is space for all blocks."""
        style, texts = self.theme.soft.sized(self.theme.type.note), list[str]()
        pitch, count = ROW_PITCH * style.size, len(self.blocks)
        if count > min(_MOST_LISTED, room.height / pitch):
            return []
        for block in range(count):
            (bx, by, _), _ = self.trace.space.indices(block * self.per_block)
            own = int(self.works[block * self.per_block : (block + 1) * self.per_block].sum())
            texts.append(tr("block ({bx}, {by}): {own} of {per_block} work", bx=bx, by=by, own=own, per_block=self.per_block))
        return [write_all("guard-blocks", room.rows(*[pitch] * count), texts, style)]


VIEW = View(marked("Threads with and without an element"), Moment, guard_scene, guard_motion, order=206)
