"""Reads from global memory: a table of threads by k that fills during the run. Elements that several threads read are
marked, and the latest reads are lit.
"""

from collections import Counter

import numpy as np

from gemmviz.analysis.replay.focus import thread_place
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.reads import Reads, reads_at
from gemmviz.model.words import many, spaced
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, framed, message
from gemmviz.scenes.kit.primitives import Labels, Scene, points
from gemmviz.scenes.kit.table import TableCell, table, text_size
from gemmviz.scenes.kit.text import fitted
from gemmviz.scenes.kit.view import View

_CHOICES = ((8, 8), (8, 4), (4, 8), (4, 4), (2, 4), (1, 4), (1, 1))  # k and threads, tried until the text can be read
_MOST_COMPARED = 64  # threads of a block whose reads are compared


def shown_ks(moment: Moment, most: int = 8) -> range:
    """Return the visible k, at most ``most``: a stretch that contains the last read of the first watched thread."""
    depth = moment.trace.setup.problem.K
    latest = reads_at(moment).latest(moment.scope.first_thread, moment.step)
    first = 0 if latest < most else latest // most * most
    return range(first, min(depth, first + most))


def accesses_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the table. Its rows are the block's first threads, or those around the watched one."""
    reads = reads_at(moment)
    if not len(reads.step):
        return framed([message("No thread of this block reads A or B from global memory.", options)], moment, options)
    theme, room = options.theme, Box(MARGIN, options.top, options.width - 2 * MARGIN, options.bottom - options.top - 44)
    for most_ks, most_threads in _CHOICES:
        heads, rows = _table(moment, reads, shown_ks(moment, most_ks), most_threads, options)
        if text_size(heads, rows, room) >= theme.type.least:
            break
    size = theme.type.words
    sentence = fitted(_sentence(moment, reads, len(rows)), size, room.width)
    so_far = Labels("reads-so-far", points((MARGIN, options.bottom - 10)), (sentence,), size, theme.text)
    return framed([*table("accesses", heads, rows, room, theme), so_far], moment, options)


def _table(
    moment: Moment, reads: Reads, ks: range, most_threads: int, options: ViewOptions
) -> tuple[list[str], list[list[TableCell]]]:
    """Return the heads and rows for some k and some threads around the watched one."""
    trace, theme, labels = moment.trace, options.theme, options.labels
    count = trace.space.threads_per_block
    first = max(0, min(moment.scope.first_thread - most_threads // 2, count - most_threads))
    threads = range(first, min(count, first + most_threads))
    readers = _readers(moment, reads, ks)
    latest = int(reads.step[max(0, int(np.searchsorted(reads.step, moment.step, side="right")) - 1)])
    stops = [ks.stop] if len(ks) < 2 else [ks.stop - 1, ks.stop]  # reads so far for products up to this k
    rows = []
    for thread in threads:
        x, y, _ = thread_place(thread, trace.launch)
        row = [TableCell(labels.thread_of(x, y), strong=True)]
        for k in ks:
            reads_now, later = reads.of(thread, k, moment.step), reads.of(thread, k, moment.trace.steps)
            texts = []
            for number, element in reads_now or later:
                array = trace.arrays[number]
                texts.append(labels.named(array, element))
            shared = any(readers[each] > 1 for each in reads_now)
            lit = [each for each in reads_now if each not in reads.of(thread, k, latest - 1)]
            strength = 0.7 if lit else 0.22 if shared else 0.0
            fill = theme.tint(trace.arrays[(lit or reads_now)[0][0]].name, strength) if strength else ""
            tip = "Elements that other threads of the block read as well" if shared else ""
            row.append(TableCell("\n".join(texts), "" if reads_now else theme.faint, fill, strong=bool(lit), tip=tip))
        row += [_total(moment, reads, thread, stop) for stop in stops]
        rows.append(row)
    heads = ["thread", *(f"k = {labels.first + k}" for k in ks), *(f"reads, k ≤ {labels.first + stop - 1}" for stop in stops)]
    return heads, rows


def _total(moment: Moment, reads: Reads, thread: int, stop: int) -> TableCell:
    """Return how many elements a thread has read for the products before a k, once it has read all of them."""
    count = reads.count(thread, stop, moment.step)
    is_reached = count == reads.count(thread, stop, moment.trace.steps)
    return TableCell(str(count) if is_reached else "", strong=True)


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
