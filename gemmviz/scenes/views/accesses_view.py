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
from gemmviz.scenes.kit.primitives import Labels, Scene, points
from gemmviz.scenes.kit.table import TableCell, table
from gemmviz.scenes.kit.text import fitted
from gemmviz.scenes.kit.view import View

_MOST_THREADS, _MOST_KS = 8, 8
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
    trace, theme, labels = moment.trace, options.theme, options.labels
    count = trace.space.threads_per_block
    first = max(0, min(moment.scope.first_thread - _MOST_THREADS // 2, count - _MOST_THREADS))
    threads, ks = range(first, min(count, first + _MOST_THREADS)), shown_ks(moment)
    readers = _readers(moment, reads, ks)
    now = {(each.operand.array, element) for each in moment.touched for element in each.in_block.tolist()}
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
            lit = moment.site.kind == "load" and any(each in now for each in reads_now) and _reads_now(moment, thread)
            fill = theme.line if lit else theme.tint(trace.arrays[reads_now[0][0]].name, 0.22) if shared else ""
            tip = "Elements that other threads of the block read as well" if shared else ""
            row.append(TableCell("\n".join(texts), "" if reads_now else theme.faint, fill, tip=tip))
        row += [TableCell(str(reads.count(thread, stop, moment.step)), strong=True) for stop in stops]
        rows.append(row)
    heads = ["thread", *(f"k = {labels.first + k}" for k in ks), *(f"to k = {labels.first + stop - 1}" for stop in stops)]
    room = Box(MARGIN, options.top, options.width - 2 * MARGIN, options.bottom - options.top - 44)
    size = theme.type.note
    sentence = fitted(_sentence(moment, reads, len(threads)), size, room.width)
    at = points((MARGIN, options.bottom - 10))
    return framed(
        [*table("accesses", heads, rows, room, theme), Labels("reads-so-far", at, (sentence,), size, theme.text)],
        moment,
        options,
    )


def _reads_now(moment: Moment, thread: int) -> bool:
    main = moment.main
    row = moment.trace.row[moment.step]
    return main is not None and int(moment.trace.element[row, moment.scope.of_block.start + thread]) >= 0


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
