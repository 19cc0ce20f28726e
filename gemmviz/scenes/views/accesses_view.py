"""Reads from global memory: a table of threads by k that fills during the run. Elements that several threads read are
marked.
"""

from collections import Counter

import numpy as np

from gemmviz.analysis.replay.focus import thread_place
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.reads import Reads, reads_at
from gemmviz.model.words import many, spaced
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, framed, message
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.table import TableCell, table
from gemmviz.scenes.kit.text import fitted, text_width
from gemmviz.scenes.kit.view import View

_MOST_THREADS, _MOST_KS, _MOST_APART = 8, 8, 4  # k that have a column for each array
_MOST_COMPARED = 64  # threads of a block whose reads are compared


def shown_ks(moment: Moment) -> range:
    """Return the visible k: a stretch that contains the last read of the first watched thread."""
    depth = moment.trace.setup.problem.K
    latest = reads_at(moment).latest(moment.scope.first_thread, moment.step)
    first = 0 if latest < _MOST_KS else latest // _MOST_KS * _MOST_KS
    return range(first, min(depth, first + _MOST_KS))


def accesses_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the table. Its rows are the block's first threads, or those around the watched one."""
    reads = reads_at(moment)
    if not len(reads.step):
        return framed([message("No thread of this block reads A or B from global memory.", options)], moment, options)
    trace, theme, labels, depth = moment.trace, options.theme, options.labels, moment.trace.setup.problem.K
    count = trace.space.threads_per_block
    first = max(0, min(moment.scope.first_thread - _MOST_THREADS // 2, count - _MOST_THREADS))
    threads, ks = range(first, min(count, first + _MOST_THREADS)), shown_ks(moment)
    readers = _readers(moment, reads, ks)
    apart = [{number} for number in trace.inputs] if len(ks) <= _MOST_APART else [set(trace.inputs)]
    rows = []
    for thread in threads:
        x, y, _ = thread_place(thread, trace.launch)
        now = _read_now(moment, thread)
        cells = [_cell(moment, reads, (thread, k), numbers, readers, now, options) for k in ks for numbers in apart]
        so_far = TableCell(str(reads.count(thread, depth, moment.step)), strong=True)
        rows.append([TableCell(labels.thread_of(x, y), strong=True), *cells, so_far])
    ks_heads = [f"k = {labels.first + k}" if place == 0 else "" for k in ks for place in range(len(apart))]
    heads = [f"thread ({labels.thread})", *ks_heads, "reads so far"]
    room = Box(MARGIN, options.top - 10, options.width - 2 * MARGIN, options.bottom - options.top - 70)
    return framed(
        [*table("accesses", heads, rows, room, theme), *_legend(moment, reads, len(threads), options)], moment, options
    )


def _legend(moment: Moment, reads: Reads, rows: int, options: ViewOptions) -> list[Primitive]:
    """Draw what the fills mean, and what the whole block has read so far."""
    theme, size, y = options.theme, options.theme.type.least, options.bottom - 38
    main = moment.touched_in("global")
    now = theme.accent(main.array.name if main else "A")
    x, primitives = MARGIN, list[Primitive]()
    entries = [("now", now, "read now"), ("shared", theme.slate, "also read by another thread")]
    if any(each.space == "shared" for each in moment.trace.arrays):
        entries = [entries[0], ("shared", theme.panel, "by (x, y): thread (x, y) reads it for the block")]
    for key, colour, text in entries:
        swatch = Rects(f"legend-{key}", boxes((x, y - 17, 22, 22)), colour, theme.faint if key == "shared" else None, 1.0, 3.0)
        primitives += [swatch, Labels(f"legend-{key}-text", points((x + 32, y)), (text,), size, theme.faint)]
        x += 32 + text_width(text, size) + 40
    sentence = fitted(_sentence(moment, reads, rows), size, options.width - 2 * MARGIN)
    return [*primitives, Labels("reads-so-far", points((MARGIN, options.bottom - 4)), (sentence,), size, theme.text)]


def _cell(
    moment: Moment, reads: Reads, at: tuple[int, int], numbers: set[int], readers: Counter[tuple[int, int]],
    now: set[tuple[int, int]], options: ViewOptions,
) -> TableCell:  # fmt: skip
    """Return what a thread reads of some arrays for one k: faint before it is read. ``at``: the thread and the k."""
    theme, (thread, k) = options.theme, at
    read, later = (reads.of(thread, k, until) for until in (moment.step, moment.trace.steps))
    shown = [each for each in read or later if each[0] in numbers]
    is_read = bool(read) and all(each in read for each in shown)
    is_shared = is_read and any(readers[each] > 1 for each in shown)
    lit = next((each for each in shown if each in now), None)
    arrays = moment.trace.arrays
    fill = theme.accent(arrays[lit[0]].name) if lit else theme.slate if is_shared else ""
    tip = "Elements that other threads of the block read as well" if is_shared else ""
    if not shown and len(numbers) == 1 and (other := _instead(moment, reads, (thread, k), min(numbers))) is not None:
        x, y, _ = thread_place(other, moment.trace.launch)
        return TableCell(
            f"by {options.labels.thread_of(x, y)}", theme.faint, tip="Another thread reads this element for the block"
        )
    text = "\n".join(_named(moment, each, shown, options) for each in dict.fromkeys(number for number, _ in shown))
    return TableCell(text, "" if is_read else theme.faint, fill, tip=tip)


def _instead(moment: Moment, reads: Reads, at: tuple[int, int], number: int) -> int | None:
    """Return the thread that has read what a thread needs of A or B for one k, into shared memory; None if none has yet.

    ``at``: the thread and the k. Its row of A or column of B is that of what it reads itself.
    """
    (thread, k), trace, array = at, moment.trace, moment.trace.arrays[number]
    ks, count = shown_ks(moment), trace.space.threads_per_block
    if count > _MOST_COMPARED or not any(each.space == "shared" for each in trace.arrays):
        return None
    own = [element for other in ks for of, element in reads.of(thread, other, trace.steps) if of == number]
    rows, columns = array.row_column(np.array(own, np.int64))
    if len(np.unique(rows if array.name == "A" else columns)) != 1:
        return None
    row, column = int(rows[0]), int(columns[0])
    needed = number, array.element_at(row, k) if array.name == "A" else array.element_at(k, column)
    return next((other for other in range(count) if needed in reads.of(other, k, moment.step)), None)


def _named(moment: Moment, number: int, shown: list[tuple[int, int]], options: ViewOptions) -> str:
    """Return the element of an array that is read for one k, or how many are."""
    elements, array = [element for each, element in shown if each == number], moment.trace.arrays[number]
    return options.labels.named(array, elements[0]) if len(elements) == 1 else f"{len(elements)} of {array.name}"


def _read_now(moment: Moment, thread: int) -> set[tuple[int, int]]:
    """Return the array and the element of each read of a thread of the block at this step."""
    trace, column, found = moment.trace, moment.scope.of_block.start + thread, set[tuple[int, int]]()
    for touched in moment.touched:
        element = int(trace.element[touched.row, column])
        if element >= 0 and touched.operand.access == "read":
            offsets = touched.operand.layout.spread(np.array([element]), trace.lane[column : column + 1]).ravel()
            found |= {(touched.operand.array, each) for each in offsets.tolist()}
    return found


def _readers(moment: Moment, reads: Reads, ks: range) -> Counter[tuple[int, int]]:
    """Return how many threads of the block have read each (array, element); nothing for large blocks."""
    count = moment.trace.space.threads_per_block
    threads = range(count if count <= _MOST_COMPARED else 0)
    return Counter(each for thread in threads for k in ks for each in set(reads.of(thread, k, moment.step)))


def _sentence(moment: Moment, reads: Reads, rows: int) -> str:
    """Return a sentence about what the whole block has read so far."""
    total = int(np.searchsorted(reads.step, moment.step, side="right"))
    different = reads.different(moment.step)
    count = moment.trace.space.threads_per_block
    often = "once" if total == different else f"{total / max(1, different):.3g} times"
    times = f", each {often}" if different else ""
    whose = "" if rows == count else f" (the table shows {rows} of its {count} threads)"
    return f"The block so far: {spaced(total)} reads from global memory of {many(different, 'element')}{times}{whose}"


VIEW = View("Reads by thread and k", Moment, accesses_scene, multiplies=True, order=30)
