"""All threads of a grid in their blocks: those that work, and those that return because there is no element for them."""

import numpy as np

from gemmviz.analysis.replay.grid import Owners
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.private import threads_at_work
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import sized, spaced
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, eased_from, framed
from gemmviz.scenes.kit.layout import Box
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.shapes import hatching
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.theme import mixed
from gemmviz.scenes.kit.view import View

_BESIDE, _LARGEST, _LEAST = 520.0, 84.0, 0.5
_BLOCK_GAP = 0.45  # of a cell
_STARTED, _CHECKED = 0.25, 0.6  # shares of the time: until then all threads run; then the others have returned
_MOST_BLOCKS, _MOST_LISTED = 256, 6
_HATCHED = 0.55  # strength of the lines over threads that returned
_NOTE = marked("a cell: a thread, with the element that it stores")
_STATES = (marked("return before their first access"), marked("work"))


def guard_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw how many of the threads work, of all blocks and of each."""
    return framed(_Picture(moment, options).words() if options.words else [], moment, options)


def guard_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the threads: all of them start, those without an element return, the others compute theirs."""
    return tuple(_Picture(moment, options).threads(options.moment))


class _Picture:
    """The places of blocks and threads, and what each thread does."""

    def __init__(self, moment: Moment, options: ViewOptions) -> None:
        self.options, self.theme, trace = options, options.theme, moment.trace
        self.works = moment.replay.cached("threads at work", lambda: threads_at_work(trace))
        self.per_block, self.trace = trace.space.threads_per_block, trace
        across, down, deep = trace.blocks.extents
        self.blocks = across, min(down * deep, _MOST_BLOCKS)
        self.inner = trace.launch.block[0], trace.launch.block[1] * trace.launch.block[2]
        beside = _BESIDE if options.words else 0.0
        room = options.room().trimmed(right=beside, bottom=8.0)
        wide, high = (n * (side + _BLOCK_GAP) - _BLOCK_GAP for n, side in zip(self.blocks, self.inner, strict=True))
        self.cell = max(_LEAST, min(room.width / wide, room.height / high, _LARGEST))
        self.room = room
        self.right = room.x + wide * self.cell

    def corner(self, block: int) -> tuple[float, float]:
        """Return the upper left corner of a traced block."""
        y, x = divmod(block, self.blocks[0])
        pitch = [(side + _BLOCK_GAP) * self.cell for side in self.inner]
        return self.room.x + x * pitch[0], self.room.y + y * pitch[1]

    @property
    def count(self) -> int:
        return self.blocks[0] * self.blocks[1]

    def threads(self, moment: float) -> list[Primitive]:
        """Draw the threads at a share of the time."""
        gone = eased_from(moment, _STARTED, _CHECKED - _STARTED)
        done = eased_from(moment, _CHECKED, 1.0 - _CHECKED)
        theme, accent = self.theme, self.theme.accent(self.result)
        runs = mixed(theme.slate, theme.text, 0.25)
        palette = (mixed(runs, theme.background, gone), mixed(runs, accent, done))
        inks = (theme.faint, theme.ink_on(palette[1]))
        drawn, size = list[Primitive](), self.label_size
        labels = self.labels if size and done > 0.0 else None
        for block in range(self.count):
            x, y = self.corner(block)
            own = slice(block * self.per_block, (block + 1) * self.per_block)
            fill = self.works[own].astype(np.uint8).reshape(self.inner[1], self.inner[0])
            texts = None if labels is None else labels[own].reshape(fill.shape)
            line = theme.background if self.cell > 7 else None
            drawn.append(Cells(f"guard-{block}", x, y, self.cell, fill, palette, inks, texts, size, line))
        return drawn if gone < 1.0 else [*drawn, *self._returned()]

    def _returned(self) -> list[Primitive]:
        """Draw the places of the threads that returned: an outline, hatched."""
        idle = np.flatnonzero(~self.works[: self.count * self.per_block])
        if not len(idle):
            return []
        corner = np.array([self.corner(int(block)) for block in idle // self.per_block])
        inside = np.stack([idle % self.per_block % self.inner[0], idle % self.per_block // self.inner[0]], axis=1)
        side = np.full((len(idle), 2), self.cell - 2.0)
        places = np.hstack([corner + inside * self.cell + 1.0, side])
        outline = Rects("guard-returned", places, None, self.theme.faint, 1.0, 2.0)
        return [outline, hatching("guard-returned-lines", places, mixed(self.theme.background, self.theme.faint, _HATCHED))]

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
            return 0.0
        last = self.options.labels.indices(self.trace.arrays[number], self.trace.arrays[number].size - 1)
        return least if text_width(last, least) <= 0.9 * self.cell else 0.0

    def words(self) -> list[Primitive]:
        """Draw the names of the blocks, the counts of all threads, and those of each block."""
        theme, sizes, drawn = self.theme, self.theme.type, list[Primitive]()
        x, y = self.right + 56.0, self.room.y + 0.8 * sizes.title
        room = self.options.width - MARGIN - x
        works = int(self.works.sum())
        counts = (len(self.works) - works, works)
        drawn.append(
            text_line("guard-all", (x, y), sized(len(self.works), "thread"), sizes.title, room, theme.text, "semibold")
        )
        for number, (count, state) in enumerate(zip(counts, _STATES, strict=True)):
            y += 2.1 * sizes.words
            swatch, text = boxes(Box(x, y - 20.0, 24.0, 24.0)), f"{spaced(count)} {tr(state)}"
            fill = theme.accent(self.result) if number else None
            drawn.append(Rects(f"guard-swatch-{number}", swatch, fill, None if number else theme.faint, 1.5, 3.0))
            drawn += [] if number else [hatching("guard-swatch-lines", swatch, theme.faint)]
            drawn.append(text_line(f"guard-{state}", (x + 38, y), text, sizes.words, room - 38, theme.text))
        y += 2.6 * sizes.words
        note = text_line("guard-note", (x, y), tr(_NOTE), sizes.note, room, theme.faint)
        return [*drawn, note, *self._per_block(x, y + 2.2 * sizes.note)]

    def _per_block(self, x: float, y: float) -> list[Primitive]:
        """Draw how many threads of each block work, if there is space for all blocks."""
        size = self.theme.type.note
        if self.count > min(_MOST_LISTED, (self.options.bottom - y) / (1.5 * size) + 1):
            return []
        texts = []
        for block in range(self.count):
            (bx, by, _), _ = self.trace.space.indices(block * self.per_block)
            own = int(self.works[block * self.per_block : (block + 1) * self.per_block].sum())
            texts.append(tr("block ({bx}, {by}): {own} of {per_block} work", bx=bx, by=by, own=own, per_block=self.per_block))
        at = points(*((x, y + n * 1.5 * size) for n in range(self.count)))
        return [Labels("guard-blocks", at, tuple(texts), size, self.theme.faint)]


VIEW = View(marked("Threads with and without an element"), Moment, guard_scene, guard_motion, order=38)
