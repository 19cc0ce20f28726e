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

_MOST_THREADS, _MOST_KS, _MOST_IN_LINE = 8, 8, 4
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
    now = {(each.operand.array, element) for each in moment.touched for element in each.in_block.tolist()}
    between = "   " if len(ks) <= _MOST_IN_LINE else "\n"
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
            lit = next((each for each in reads_now if each in now and _reads_now(moment, thread)), None)
            fill = theme.accent(trace.arrays[lit[0]].name) if lit else theme.slate if shared else ""
            tip = "Elements that other threads of the block read as well" if shared else ""
            row.append(TableCell(between.join(texts), "" if reads_now else theme.faint, fill, tip=tip))
        row.append(TableCell(str(reads.count(thread, depth, moment.step)), strong=True))
        rows.append(row)
    heads = [f"thread ({labels.thread})", *(f"k = {labels.first + k}" for k in ks), "reads so far"]
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
    for key, colour, text in (("now", now, "read now"), ("shared", theme.slate, "also read by another thread")):
        swatch = Rects(f"legend-{key}", boxes((x, y - 17, 22, 22)), colour, theme.faint if key == "shared" else None, 1.0, 3.0)
        primitives += [swatch, Labels(f"legend-{key}-text", points((x + 32, y)), (text,), size, theme.faint)]
        x += 32 + text_width(text, size) + 40
    sentence = fitted(_sentence(moment, reads, rows), size, options.width - 2 * MARGIN)
    return [*primitives, Labels("reads-so-far", points((MARGIN, options.bottom - 4)), (sentence,), size, theme.text)]


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
