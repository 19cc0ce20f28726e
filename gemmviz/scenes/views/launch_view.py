"""Views of a launch: its grid and block, and the threads that its guard leaves out."""

from typing import NamedTuple

import numpy as np

from gemmviz.analysis.replay.grid import Owners
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.private import threads_at_work
from gemmviz.model.cases import LaunchCase
from gemmviz.model.kernel import KernelSpec, Launch
from gemmviz.model.messages import grouped, many, marked, sized, spaced, tr
from gemmviz.model.threads import Strips, strips_of
from gemmviz.scenes.kit.layout import (
    AIR,
    BOLD,
    CELL_FILL,
    FINE,
    LINE_PITCH,
    REST,
    ROW_PITCH,
    Box,
    baseline,
    beside,
    cell_squares,
    cells_in,
    fits_cells,
    swatch,
    text_at,
    write,
    write_all,
)
from gemmviz.scenes.kit.primitives import (
    Labels,
    Lines,
    Primitive,
    Rects,
    Scene,
    Squares,
    boxes,
    fitted,
    points,
    text_line,
    text_width,
)
from gemmviz.scenes.kit.shapes import hatching
from gemmviz.scenes.kit.theme import HALF, PALE, Style, mixed
from gemmviz.scenes.kit.view import MARGIN, View, ViewOptions, eased_from, eased_in_turn, framed, message, titled

# Launch: grid and block.

_MOST_BLOCKS_DRAWN = 64  # blocks along an axis that are drawn
_LARGEST_BLOCK = 124
_BEFORE_VALUE = 30  # from a line of code to what its formulas come to
_GROWN = 0.6  # when the block of threads begins to grow


class _Plan(NamedTuple):
    """The places of a launch: a box for each of its lines of ``code``; the table of the grid and that of one block, and the
    ``rooms`` in which they are.
    """

    code: list[Box]
    grid: Box
    block: Box
    rooms: list[Box]

    @classmethod
    def of(cls, launch: Launch, options: ViewOptions) -> "_Plan":
        pitch = ROW_PITCH * options.theme.type.caption
        *code, _, below = options.room(120, 34).rows(pitch, pitch, pitch, 62, REST)
        rooms = below.columns(REST, REST, gap=100)
        tables = (
            room.tiled(down, across, _LARGEST_BLOCK)
            for room, (across, down, _) in zip(rooms, (_shown_blocks(launch.grid), launch.block), strict=True)
        )
        grid, block = tables
        return cls(code, grid, block, rooms)


def launch_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """A launch: the line with its two dim3, the grid of blocks that grows from one and the block of threads from the other. A
    grid that is longer than the device allows is cut into strips.

    Draw the lines of the launch, and the names of grid and block. Both are drawn by ``launch_motion``.
    """
    title, launch = tr("The launch of {what}", what=case.what), case.launch
    if launch is None:
        strips = None if case.requested is None else strips_of(case.requested, case.device)
        said: list[Primitive] = [message(case.refusal, options)]
        pieces = said if strips is None else strips_still(case, strips, options)
        return titled(pieces, title, case.refusal if strips is not None else case.device.name, options)
    plan, theme = _Plan.of(launch, options), options.theme
    cut = tr(" (the first ones are shown)") if _shown_blocks(launch.grid) != launch.grid else ""
    grid = tr(
        "grid: {extents} = {blocks}{cut}", extents=_product_text(launch.grid), blocks=many(launch.block_count, "block"), cut=cut
    )
    block = tr(
        "each block: {extents} = {threads}",
        extents=_product_text(launch.block),
        threads=sized(launch.threads_per_block, "thread"),
    )
    heads = [
        beside(f"{key}-name", room, "top", text, theme.strong, 16)
        for key, room, text in zip(("grid", "block"), plan.rooms, (grid, block), strict=True)
    ]
    note = tr("{block_count} threads in all", block_count=spaced(launch.block_count * launch.threads_per_block))
    return titled([*_code(case.setup.kernel, launch, plan, options), *heads], title, note, options)


def launch_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the blocks on their way out of the grid's line, and one block that grows out of its cell."""
    if case.launch is None:
        strips = None if case.requested is None else strips_of(case.requested, case.device)
        return () if strips is None else tuple(strips_motion(strips, options))
    plan = _Plan.of(case.launch, options)
    threads = _growing_block(case, case.launch, plan, options)
    return (*threads[:1], _flying_blocks(case.launch, plan, options), *threads[1:])  # the ways lie below the other blocks


def _shown_blocks(grid: tuple[int, int, int]) -> tuple[int, int, int]:
    return min(grid[0], _MOST_BLOCKS_DRAWN), min(grid[1], _MOST_BLOCKS_DRAWN), 1


def _product_text(extents: tuple[int, int, int]) -> str:
    x, y, z = extents
    return f"{grouped(x)} × {grouped(y)}" + (f" × {z}" if z > 1 else "")


def _launch_lines(kernel: KernelSpec, launch: Launch, style: Style, room: float) -> tuple[tuple[str, str], ...]:
    """Return the lines of the launch, each with what its formulas come to; formulas that are too long as numbers at once."""
    shared = f", {launch.shared_bytes}" if launch.shared_bytes else ""
    lines = []
    for name, formulas, extents in (("dimGrid", kernel.grid, launch.grid), ("dimBlock", kernel.block, launch.block)):
        numbers = ", ".join(map(str, extents[: len(formulas)]))
        line, value = f"dim3 {name}({', '.join(formulas)});", f"({numbers})"
        fits = style.width(f"{line} = {value}") + _BEFORE_VALUE <= room
        lines.append((line, value) if fits else (f"dim3 {name}{value};", ""))
    return (*lines, (f"{kernel.function}<<<dimGrid, dimBlock{shared}>>>({', '.join(kernel.args)});", ""))


def _code(kernel: KernelSpec, launch: Launch, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the lines of the launch: as large as captions if they fit, else as code."""
    theme, room, pieces = options.theme, plan.code[0].width, list[Primitive]()
    style = Style(theme.type.code, theme.text, "mono")
    lines = _launch_lines(kernel, launch, style, room)
    larger = style.sized(theme.type.caption)
    if max(larger.width(f"{line} = {value}") for line, value in lines) + _BEFORE_VALUE <= room:
        style = larger
    for place, ((line, value), box) in enumerate(zip(lines, plan.code, strict=True)):
        pieces.append(write(f"code-{place}", box, line, style))
        if value:
            after = box.trimmed(left=style.width(line) + _BEFORE_VALUE)
            pieces.append(write(f"code-{place}-value", after, f"= {value}", style.inked(theme.chosen)))
    return pieces


def _flying_blocks(launch: Launch, plan: _Plan, options: ViewOptions) -> Squares:
    """Draw the blocks of the grid, flying one after another from its line to their places, with (x, y) where that fits."""
    theme, (across, down, _), cell = options.theme, _shown_blocks(launch.grid), plan.grid.width / _shown_blocks(launch.grid)[0]
    number = np.arange(across * down)
    share = eased_in_turn(options.passed / _GROWN, number, len(number))[:, None]
    end = cell_squares(plan.grid, across, number, CELL_FILL)
    start = np.array([[plan.code[0].x + 180, plan.code[0].y, 12]])
    there = share[:, 0] > 0
    texts = np.array([f"({n % across}, {n // across})" for n in number[there].tolist()])
    fits = options.passed >= _GROWN and fits_cells(texts, theme.type.least, cell, cell)
    now, fill, ink = (start + (end - start) * share)[there], np.zeros(int(there.sum()), np.uint8), theme.ink_on(theme.load)
    labels, size = (texts, theme.type.least) if fits else (None, 0)
    return Squares("blocks", now, fill, (theme.load,), (ink,), labels, size, theme.background)


def _growing_block(case: LaunchCase, launch: Launch, plan: _Plan, options: ViewOptions) -> list[Primitive]:
    """Draw block (0, 0) as it grows from its cell of the grid into a block of threads, coloured by warp; first its ways."""
    share = eased_from(options.passed, _GROWN, 1 - _GROWN)
    if share <= 0:
        return []
    theme, (dx, dy, _), side = options.theme, launch.block, CELL_FILL * plan.grid.width / _shown_blocks(launch.grid)[0]
    start = Box(plan.grid.x, plan.grid.y, side, side)
    box = start.towards(plan.block, share)
    number = np.arange(dx * dy).reshape(dy, dx)
    fill = (number // case.device.warp_size % len(theme.warps)).astype(np.uint8)
    texts = np.array([[f"({n % dx}, {n // dx})" for n in row] for row in number.tolist()])
    inks = tuple(theme.ink_on(each) for each in theme.warps)
    ways = boxes((*start.at(1, 0), *box.at(0, 0)), (*start.at(1, 1), *box.at(0, 1)))
    size = theme.type.least if share >= 1 else 0
    return [
        Lines("ways", ways, theme.faint, FINE, dashed=True),
        cells_in("threads", box, fill, theme.warps, theme.background, inks, "threads", texts, size),
        Rects("block-edge", boxes(start), None, theme.text, BOLD),
    ]


# Threads with and without an element.

_BESIDE, _LARGEST, _LEAST = 520, 84, 0.5
_BETWEEN_BLOCKS = 0.45  # of a cell
_STARTED, _CHECKED = 0.25, 0.6  # shares of the time: until then all threads run; then the others have returned
_MOST_BLOCKS, _MOST_LISTED = 256, 6
_CELL_MEANS = marked("a cell: a thread, with the element that it stores")
_STATES = (marked("return before their first access"), marked("work"))


def guard_scene(moment: Moment, options: ViewOptions) -> Scene:
    """All threads of a grid in their blocks: those that work, and those that return because there is no element for them.

    Draw how many of the threads work, of all blocks and of each.
    """
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


# A grid that is longer than a device allows, cut into strips: a host's loop launches one after another.

_TOP, _BAR, _GAP = 168.0, 84.0, 70.0
_MOST_DRAWN = 5  # strips


def strips_still(case: LaunchCase, strips: Strips, options: ViewOptions) -> list[Primitive]:
    """Draw the whole grid as a bar with the device's limit, and the host's loop. The strips are drawn by ``strips_motion``."""
    theme, size, bar = options.theme, options.theme.type.words, _whole(options)
    limit = bar.x + bar.width * strips.most / strips.blocks
    rest = boxes((limit, bar.y, bar.right - limit, bar.height))
    name = tr("the grid: {blocks} blocks along {axis}", blocks=grouped(strips.blocks), axis=strips.axis)
    allowed = tr("{device} allows {most}", device=case.device.name, most=grouped(strips.most))
    left = limit - 12 - text_width(allowed, size) > bar.x + text_width(name, size, "semibold") + 24
    at = (limit if left else bar.right, bar.y - 14)
    return [
        text_line("grid-name", (bar.x, bar.y - 14), name, size, bar.width, theme.text, "semibold"),
        text_at("limit-name", at, allowed, size, theme.faint, "end"),
        Rects("grid", boxes((bar.x, bar.y, limit - bar.x, bar.height)), theme.slate),
        Rects("grid-beyond", rest, theme.warning),
        Lines("limit", boxes((limit, bar.y - 10, limit, bar.bottom + 10)), theme.text, 3.0),
        *_host_loop(case.setup.kernel, strips, options),
    ]


def strips_motion(strips: Strips, options: ViewOptions) -> list[Primitive]:
    """Draw the strips on their way out of the bar, each into the row of its launch."""
    theme, size, bar = options.theme, options.theme.type.words, _whole(options)
    pieces, count = list[Primitive](), min(strips.count, _MOST_DRAWN)
    for number in range(count):
        first, last = strips.strip(number)
        share = eased_in_turn(options.passed, number, count)
        x = bar.x + bar.width * first / strips.blocks * (1 - share)
        y, wide = bar.y + share * (_row(number, count, options) - bar.y), bar.width * (last - first) / strips.blocks
        pieces.append(Rects(f"strip-{number}", boxes((x, y, wide, bar.height)), theme.load, None, radius=4.0))
        if share >= 1.0:
            text = tr(
                "launch {number}: blocks {first} to {last}, {count} in all",
                number=number + 1,
                first=grouped(first),
                last=grouped(last - 1),
                count=grouped(last - first),
            )
            fits = text_width(text, size, "semibold") + 24 <= wide
            at = points((x + 14 if fits else x + wide + 14, baseline(y + bar.height / 2, size)))
            ink = theme.ink_on(theme.load) if fits else theme.text
            pieces.append(Labels(f"strip-{number}-name", at, (text,), size, ink, "start", "semibold"))
    if strips.count > count and options.moment >= 1.0:
        at = points((bar.x, _row(count, count, options) + size))
        pieces.append(
            Labels(
                "more",
                at,
                (tr("and {more_launches}", more_launches=many(strips.count - count, "more launch")),),
                size,
                theme.faint,
            )
        )
    return pieces


def _whole(options: ViewOptions) -> Box:
    return options.room(_TOP)._replace(height=_BAR)


def _row(number: int, count: int, options: ViewOptions) -> float:
    """Return the top of a launch's row, below the loop."""
    first = _whole(options).bottom + _GAP + 5 * options.theme.type.sentence
    room = options.height - 40 - first
    return first + number * min(_BAR + 14, room / max(1, count))


def _host_loop(kernel: KernelSpec, strips: Strips, options: ViewOptions) -> list[Primitive]:
    """Draw the host's loop around the launch."""
    theme, sizes = options.theme, options.theme.type
    args, index = ", ".join((*kernel.args, "first")), f"blockIdx.{strips.axis}"
    lines = (
        f"for (int first = 0; first < {strips.blocks}; first += {strips.most})",
        f"    {kernel.function}<<<min({strips.most}, {strips.blocks} - first), block>>>({args});",
    )
    y, room = _whole(options).bottom + _GAP, options.width - 2 * MARGIN
    fits = all(text_width(line, sizes.caption, "mono") <= room for line in lines)
    size = sizes.caption if fits else sizes.code
    said = tr("The kernel gets one parameter more, first, and uses first + {index} in the place of {index}", index=index)
    below = (MARGIN, y + 1.5 * len(lines) * size)
    return [
        *(
            text_at(
                f"loop-{place}",
                (MARGIN, y + 1.5 * place * size),
                fitted(line, size, room, "mono"),
                size,
                theme.text,
                "start",
                "mono",
            )
            for place, line in enumerate(lines)
        ),
        text_line("loop-said", below, said, sizes.words, room, theme.faint),
    ]


VIEWS = {
    "guard": View(marked("Threads with and without an element"), Moment, guard_scene, guard_motion, order=206),
    "launch": View(marked("Launch: grid and block"), LaunchCase, launch_scene, draw_motion=launch_motion, order=403),
}
