"""Reads from global memory: a table of threads by k that fills during the run. Elements fly from the matrices to the threads
that read them, and brackets join the threads that read the same element for one k.
"""

from itertools import pairwise

import numpy as np
from msgspec import Struct, structs

from gemmviz.analysis.replay.focus import thread_place
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.reads import Reads, reads_at
from gemmviz.model.messages import counted, many, marked, spaced, tr
from gemmviz.scenes.kit.layout import LINE_PITCH, NEAR, Box, Point, baseline, paragraph, path, square, swatches, text_at
from gemmviz.scenes.kit.primitives import Cells, Lines, Part, Primitive, Scene, fitted
from gemmviz.scenes.kit.table import TableCell, table
from gemmviz.scenes.kit.view import MARGIN, View, ViewOptions, framed, message
from gemmviz.scenes.stage.tile_cells import Element, Tables, reading_motion, small_inputs, small_matrices
from gemmviz.scenes.stage.words import code_primitives

# Brackets in a table of reads that join the threads which read the same element for one k.

_NOSE, _APART, _INSET = 12, 10, 12  # length of a bracket's ends; between brackets; from the cell's edge
_BRACKET_WIDTH = 4


def brackets(key: str, column: Cells, groups: list[list[int]], colours: list[str]) -> list[Primitive]:
    """Draw a bracket for each group of rows of a column at its right edge, side by side where they would cross."""
    primitives: list[Primitive] = []
    lanes: list[list[tuple[int, int]]] = []
    for place, (rows, colour) in enumerate(zip(groups, colours, strict=True)):
        span = rows[0], rows[-1]
        lane = next((at for at, taken in enumerate(lanes) if all(_is_apart(span, each) for each in taken)), len(lanes))
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append(span)
        x = column.x + column.size - _INSET - lane * _APART
        middle = column.middles(np.array(rows), 0)[:, 1].tolist()
        noses = [(x - _NOSE, y, x, y) for y in middle]
        spine = [(x, a, x, b) for a, b in pairwise(middle)]
        primitives.append(Lines(f"{key}-{place}", np.array([*noses, *spine], np.float64), colour, _BRACKET_WIDTH))
    return primitives


def _is_apart(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[1] < other[0] or other[1] < one[0]


_MOST_THREADS, _MOST_KS, _MOST_APART = 8, 8, 4  # k that have a column for each array
_MOST_READERS = 64  # threads of a block whose reads are compared
_TABLE, _LARGEST, _STRETCH = 0.6, 28, 2.6  # of the height; text size, which leaves room for brackets; height of rows
_MATRICES, _CODE = 420, 520  # most width of the matrices, and of the source, below the table
_MATRICES_SHARE, _CODE_SHARE, _LEAST_WORDS, _GAP = 0.3, 0.36, 250, 24
_BESIDE, _MARK = 44, 26  # from the matrices to the words; from the edge of a mark to what it means


def shown_ks(moment: Moment) -> range:
    """Return the visible k: a stretch that contains the last read of the first watched thread."""
    depth = moment.trace.setup.problem.K
    latest = reads_at(moment).latest(moment.scope.first_thread, moment.step)
    first = 0 if latest < _MOST_KS else latest // _MOST_KS * _MOST_KS
    return range(first, min(depth, first + _MOST_KS))


class _ShownReads(Struct, frozen=True):
    """What the picture shows: all ``reads`` of the block up to and including ``until``, the ``threads`` and ``ks`` of the
    table, and the ``columns`` of numbers of arrays for each k; ``now``: (array, element) of the reads of this step, if they
    have arrived.
    """

    reads: Reads
    until: int
    threads: range
    ks: range
    columns: list[set[int]]
    now: set[Element]

    @classmethod
    def of(cls, moment: Moment, options: ViewOptions) -> "_ShownReads":
        count, ks = moment.trace.space.threads_per_block, shown_ks(moment)
        first = max(0, min(moment.scope.first_thread - _MOST_THREADS // 2, count - _MOST_THREADS))
        columns = [{number} for number in moment.trace.inputs] if len(ks) <= _MOST_APART else [set(moment.trace.inputs)]
        until = moment.step if options.arrived else moment.step - 1
        threads = range(first, min(count, first + _MOST_THREADS))
        now = {each for thread in threads for each in _read_now(moment, thread)} if options.arrived else set()
        return cls(reads_at(moment), until, threads, ks, columns, now)

    def column_of(self, k: int, number: int) -> int:
        """The column of the table that shows an array for a k; the first is that of the threads."""
        place = next(place for place, numbers in enumerate(self.columns) if number in numbers)
        return 1 + (k - self.ks.start) * len(self.columns) + place

    def first_rows(self, count: int) -> "_ShownReads":
        """The same with as many threads as a table has room for."""
        return structs.replace(self, threads=self.threads[:count])


def accesses_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the table. Its rows are the block's first threads, or those around the watched one."""
    if not len(reads_at(moment).step):
        return framed([message(tr("No thread of this block reads A or B from global memory."), options)], moment, options)
    shown = _ShownReads.of(moment, options)
    drawn = _reads_table(moment, shown, _table_room(options), options)
    shown = shown.first_rows(len(_table_column(drawn, 0).fill))
    below = _room_below(drawn, options)
    return framed([*drawn, *_sharing(moment, shown, drawn, options), *_below(moment, shown, below, options)], moment, options)


def accesses_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the elements of this step on their way from the small matrices to the cells of the threads that read them."""
    if options.arrived or moment.touched_in("global") is None or not len(reads_at(moment).step):
        return ()
    key = "ways", options.width, options.height, options.words, options.labels, options.theme.type
    placed, ends = moment.cached(key, lambda: _placed_reads(moment, options))
    return reading_motion(moment, placed, ends, options)


def _placed_reads(moment: Moment, options: ViewOptions) -> tuple[Tables, list[tuple[Element, Point]]]:
    """Return the small matrices, and the elements that are read at this step with the middles of their cells in the table."""
    shown, ends = _ShownReads.of(moment, options), []
    drawn = _reads_table(moment, shown, _table_room(options), options)
    placed = _matrices(moment, _room_below(drawn, options), options)
    for row, thread in enumerate(shown.first_rows(len(_table_column(drawn, 0).fill)).threads):
        for number, element in sorted(_read_now(moment, thread)):
            k = _k_of(moment, number, element)
            if number in placed and k in shown.ks:
                ends.append(((number, element), _middle(drawn, shown.column_of(k, number), row)))
    return placed, ends


def _room_below(drawn: list[Primitive], options: ViewOptions) -> Box:
    first = _table_column(drawn, 0)
    top = first.y + first.pitch * len(first.fill) + 16
    return options.room().trimmed(top=top - options.top)


def _middle(drawn: list[Primitive], column: int, row: int) -> tuple[float, float]:
    """Return the centre of a cell of the table."""
    cells = _table_column(drawn, column)
    x, y = cells.middles(row, 0).tolist()
    return x, y


def _table_column(drawn: list[Primitive], column: int) -> Cells:
    return next(each for each in drawn if isinstance(each, Cells) and each.meaning == Part("column", column))


def _k_of(moment: Moment, number: int, element: int) -> int:
    """Return the k of the product that an element of A or B is a factor of."""
    array = moment.trace.arrays[number]
    row, column = (int(each[0]) for each in array.row_column(np.array([element])))
    return column if array.name == "A" else row


def _table_room(options: ViewOptions) -> Box:
    high = (options.bottom - options.top) * _TABLE
    return Box(MARGIN, options.top - 10, options.width - 2 * MARGIN, high)


def _reads_table(moment: Moment, shown: _ShownReads, room: Box, options: ViewOptions) -> list[Primitive]:
    labels, reads, depth = options.labels, shown.reads, moment.trace.setup.problem.K
    rows = []
    for thread in shown.threads:
        x, y, _ = thread_place(thread, moment.trace.launch)
        cells = [_table_cell(moment, shown, (thread, k), numbers, options) for k in shown.ks for numbers in shown.columns]
        so_far = TableCell(str(reads.count(thread, depth, shown.until)), strong=True)
        rows.append([TableCell(labels.thread_of(x, y), strong=True), *cells, so_far])
    places = range(len(shown.columns))
    ks_heads = [f"k = {labels.first + k}" if place == 0 else "" for k in shown.ks for place in places]
    heads = [tr("thread ({thread})", thread=labels.thread), *ks_heads, tr("reads so far")]
    return table("accesses", heads, rows, room, options.theme, _LARGEST, _STRETCH)


def _below(moment: Moment, shown: _ShownReads, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the matrices that the elements come from, what the fills mean, the block's reads so far, and the source."""
    placed = _matrices(moment, room, options)
    words = room.trimmed(left=max(table.right for table in placed.values()) + _BESIDE - room.x)
    wide = min(_CODE, _CODE_SHARE * room.width)
    wide = 0 if words.width - wide - _GAP < _LEAST_WORDS else wide
    code, words = words.strip("right", wide, _GAP if wide else 0)
    return [
        *small_matrices(moment, placed, shown.now, options),
        *_meanings(moment, shown, words, options),
        *code_primitives(moment, code.trimmed(top=4), options),
    ]


def _matrices(moment: Moment, room: Box, options: ViewOptions) -> Tables:
    return small_inputs(moment, room._replace(width=min(_MATRICES, _MATRICES_SHARE * room.width)), options)


def _meanings(moment: Moment, shown: _ShownReads, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw what the marks mean, and what the whole block has read so far."""
    theme, size, main = options.theme, options.theme.type.least, moment.touched_in("global")
    now, leading = theme.accent(main.array.name if main else "A"), LINE_PITCH * size
    row, rest = room.strip("top", leading, NEAR / 2)
    drawn: list[Primitive] = [*swatches("legend-now", row, [([(now, None)], tr("read now"))], size, theme.faint)]
    row, rest = rest.strip("top", leading, NEAR / 2)
    if _has_tiles(moment):
        other = fitted(tr("by (x, y): that thread copies it"), size, row.width - _MARK)
        drawn += swatches("legend-tile", row, [([(theme.panel, theme.faint)], other)], size, theme.faint)
    else:
        words = fitted(tr("joined: one element, read by each"), size, row.width - _MARK)
        bracket = square((row.x + 9, row.middle_y), 18)
        (x, y), (right, low) = bracket[:2], bracket.at(1, 1)
        drawn.append(path("legend-shared", [(x, y), (right, y), (right, low), (x, low)], now, 4))
        drawn.append(text_at("legend-shared-text", (row.x + _MARK, baseline(row.middle_y, size)), words, size, theme.faint))
    return [*drawn, *paragraph("reads-so-far", rest, _reads_sentence(moment, shown), theme.plain.sized(size))]


def _sharing(moment: Moment, shown: _ShownReads, drawn: list[Primitive], options: ViewOptions) -> list[Primitive]:
    """Draw brackets between the threads that have read the same element for the current k."""
    k = shown.reads.latest(moment.scope.first_thread, shown.until)
    if k not in shown.ks:
        return []
    primitives: list[Primitive] = []
    for number in sorted({each for numbers in shown.columns for each in numbers}):
        groups = _groups(shown, k, number)
        if len(shown.columns) == 1 and number not in {each for each, _ in shown.now}:
            continue
        name = moment.trace.arrays[number].name
        column, lit = (
            _table_column(drawn, shown.column_of(k, number)),
            {element for each, element in shown.now if each == number},
        )
        inks = [_bracket_ink(options, name, bool(lit)) for _ in groups]
        primitives += brackets(f"sharing-{name}", column, list(groups.values()), inks)
    return primitives


def _bracket_ink(options: ViewOptions, name: str, is_now: bool) -> str:
    """Return the colour of a bracket: on the accent of a cell that is read now, or beside plain ones."""
    theme = options.theme
    return theme.ink_on(theme.accent(name)) if is_now else theme.accent(name)


def _groups(shown: _ShownReads, k: int, number: int) -> dict[int, list[int]]:
    """Return the rows of the table that have read each element of an array for a k, where several have."""
    readers: dict[int, list[int]] = {}
    for row, thread in enumerate(shown.threads):
        for each, element in shown.reads.of(thread, k, shown.until):
            if each == number:
                readers.setdefault(element, []).append(row)
    return {element: rows for element, rows in readers.items() if len(rows) > 1}


def _has_tiles(moment: Moment) -> bool:
    return any(each.space == "shared" for each in moment.trace.arrays)


def _table_cell(moment: Moment, shown: _ShownReads, at: tuple[int, int], numbers: set[int], options: ViewOptions) -> TableCell:
    """Return what a thread reads of some arrays for one k: faint before it is read. ``at``: the thread and the k."""
    theme, (thread, k), reads = options.theme, at, shown.reads
    read, later = (
        [each for each in reads.of(thread, k, until) if each[0] in numbers] for until in (shown.until, moment.trace.steps)
    )
    elements, is_read = read or later, bool(read) and (len(numbers) == 1 or len(read) == len(later))
    lit = next((each for each in elements if each in shown.now and thread in _readers_now(moment, each)), None)
    fill = theme.accent(moment.trace.arrays[lit[0]].name) if lit else ""
    if not elements and len(numbers) == 1 and (other := _instead(moment, shown, (thread, k), min(numbers))) is not None:
        x, y, _ = thread_place(other, moment.trace.launch)
        return TableCell(
            tr("by {thread_of}", thread_of=options.labels.thread_of(x, y)),
            theme.faint,
            tip=tr("Another thread reads this element for the block"),
        )
    text = "\n".join(
        _named_elements(moment, each, elements, options) for each in dict.fromkeys(number for number, _ in elements)
    )
    return TableCell(text, "" if is_read or lit else theme.faint, fill)


def _instead(moment: Moment, shown: _ShownReads, at: tuple[int, int], number: int) -> int | None:
    """Return the thread that has read what a thread needs of A or B for one k, into shared memory; None if none has yet.

    ``at``: the thread and the k. Its row of A or column of B is that of what it reads itself.
    """
    (thread, k), trace, array, reads = at, moment.trace, moment.trace.arrays[number], shown.reads
    count = trace.space.threads_per_block
    if count > _MOST_READERS or not _has_tiles(moment):
        return None
    own = [element for other in shown.ks for of, element in reads.of(thread, other, trace.steps) if of == number]
    rows, columns = array.row_column(np.array(own, np.int64))
    if len(np.unique(rows if array.name == "A" else columns)) != 1:
        return None
    row, column = int(rows[0]), int(columns[0])
    needed = number, array.element_at(row, k) if array.name == "A" else array.element_at(k, column)
    return next((other for other in range(count) if needed in reads.of(other, k, shown.until)), None)


def _named_elements(moment: Moment, number: int, shown: list[tuple[int, int]], options: ViewOptions) -> str:
    """Return the element of an array that is read for one k, or how many are."""
    elements, array = [element for each, element in shown if each == number], moment.trace.arrays[number]
    several = tr("{elements} of {array}", elements=len(elements), array=array.name)
    return options.labels.named(array, elements[0]) if len(elements) == 1 else several


def _readers_now(moment: Moment, each: Element) -> set[int]:
    """Return the threads of the block that read an element at this step."""
    return moment.cached(("readers now", each), lambda: {t for t in range(_block(moment)) if each in _read_now(moment, t)})


def _block(moment: Moment) -> int:
    return moment.trace.space.threads_per_block


def _read_now(moment: Moment, thread: int) -> set[Element]:
    """Return the array and the element of each read of a thread of the block at this step."""
    return moment.cached(("read now", thread), lambda: _find_read_now(moment, thread))


def _find_read_now(moment: Moment, thread: int) -> set[Element]:
    trace, column, found = moment.trace, moment.scope.of_block.start + thread, set[tuple[int, int]]()
    for touched in moment.touched:
        element = int(trace.element[touched.row, column])
        if element >= 0 and touched.operand.access == "read":
            offsets = touched.operand.layout.spread(np.array([element]), trace.lane[column : column + 1]).ravel()
            found |= {(touched.operand.array, each) for each in offsets.tolist()}
    return found


def _reads_sentence(moment: Moment, shown: _ShownReads) -> str:
    """Return a sentence about what the whole block has read so far."""
    total = int(np.searchsorted(shown.reads.step, shown.until, side="right"))
    different, rows = shown.reads.different(shown.until), len(shown.threads)
    count, each = moment.trace.space.threads_per_block, counted(f"{total / max(1, different):.3g}")
    often = counted(tr("once")) if total == different else tr("{total} times", total=each)
    times = tr(", each {often}", often=often) if different else ""
    whose = "" if rows == count else tr(" (the table shows {rows} of its {count} threads)", rows=rows, count=count)
    return tr(
        "The block so far: {total} reads from global memory of {elements}{times}{whose}",
        total=spaced(total),
        elements=many(different, "element"),
        times=times,
        whose=whose,
    )


VIEW = View(marked("Reads by thread and k"), Moment, accesses_scene, accesses_motion, multiplies=True, order=107)
