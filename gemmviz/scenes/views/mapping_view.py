"""The mapping of threads to elements: the block's threads in the order of its warps, and the elements of the result
that they compute. The lanes of the watched warp are coloured in order.
"""

import numpy as np

from gemmviz.analysis.memory.counts import count_rows
from gemmviz.analysis.replay.focus import thread_place
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.reads import reads_at
from gemmviz.model.sites import Operand
from gemmviz.model.words import many
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, framed, message
from gemmviz.scenes.kit.groups import group_colours
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Scene, points
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.theme import mixed
from gemmviz.scenes.kit.view import View

_REST = 8  # colour of the threads of other warps


def mapping_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the threads on the left, and the block's part of the result on the right."""
    elements, threads = moment.replay.owners.of(moment.scope.of_block)
    if not len(elements):
        return framed(
            [message(f"This block stores no element of {', '.join(moment.problem.output_names) or 'an output'}.", options)],
            moment,
            options,
        )
    theme = options.theme
    room = Box(MARGIN, options.top + 30, options.width - 2 * MARGIN, options.bottom - options.top - 30)
    half = (room.width - 60) / 2
    palette = (*theme.lanes, mixed(theme.background, theme.text, 0.16), theme.empty)
    inks = tuple(theme.ink_on(each) for each in palette)
    warp = moment.focus.warp or 0
    left = _threads(moment, warp, Box(room.x, room.y, half, room.height), palette, inks, options)
    right = _elements(
        moment, warp, elements, threads, Box(room.x + half + 60, room.y, half, room.height), palette, inks, options
    )
    return framed([*left, *right], moment, options)


def _fill(moment: Moment, threads: np.ndarray, warp: int) -> np.ndarray:
    lanes = group_colours(moment.trace, threads, "lane")
    return np.where(threads // moment.trace.rules.warp_size == warp, lanes, _REST).astype(np.uint8)


def _threads(
    moment: Moment, warp: int, room: Box, palette: tuple[str, ...], inks: tuple[str, ...], options: ViewOptions
) -> list[Primitive]:
    """Draw all threads of the block, x to the right, y and z down, with their lanes if they fit."""
    dx, dy, dz = moment.trace.launch.block
    rows, size = dy * dz, moment.trace.rules.warp_size
    cell = min(room.width / dx, room.height / rows, 90.0)
    number = np.arange(dx * rows)
    texts = np.where(number // size == warp, (number % size).astype("<U3"), "").reshape(rows, dx)
    tips = np.array([_tip(moment, int(each)) for each in number]).reshape(rows, dx)
    high = cell if rows * cell >= 12 else 12.0
    font = min(22.0, 0.5 * cell, (cell - 3) / text_width("31", 1.0))
    heading = f"the block's {many(dx * rows, 'thread')}; numbered: the lanes of warp {warp}"
    warps = -(-dx * rows // size)
    note = (
        f"x to the right, y down; x + y · {dx}"
        + (f" + z · {dx * dy}" if dz > 1 else "")
        + f" in groups of {size}: {many(warps, 'warp')}"
    )
    base = options.theme.type.note
    return [
        text_line("threads-name", (room.x, room.y - 34), heading, base, room.width, options.theme.text, "semibold"),
        text_line("threads-note", (room.x, room.y - 10), note, base, room.width, options.theme.faint),
        Cells(
            "threads",
            room.x,
            room.y,
            cell,
            _fill(moment, number, warp).reshape(rows, dx),
            palette,
            inks,
            texts if font >= 8 else None,
            font,
            options.theme.background,
            height=high,
            tips=tips,
        ),
    ]


def _tip(moment: Moment, thread: int) -> str:
    x, y, z = thread_place(thread, moment.trace.launch)
    size = moment.trace.rules.warp_size
    return f"thread ({x}, {y}, {z}), number {thread}\nwarp {thread // size}, lane {thread % size}"


def _elements(
    moment: Moment,
    warp: int,
    elements: np.ndarray,
    threads: np.ndarray,
    room: Box,
    palette: tuple[str, ...],
    inks: tuple[str, ...],
    options: ViewOptions,
) -> list[Primitive]:
    """Draw the block's part of the result in the colours of the threads; on its left and above it what the warp reads of A
    and B for one k.
    """
    array, theme = moment.replay.owners.array, options.theme
    assert array is not None
    r, c = (np.asarray(each, np.int64) for each in array.row_column(elements))
    r0, c0 = int(r.min()), int(c.min())
    rows, columns = int(r.max()) - r0 + 1, int(c.max()) - c0 + 1
    cell = min((room.width - 90) / (columns + 1.5), (room.height - 40) / (rows + 1.5), 90.0)
    x, y = room.x + 1.5 * cell + 44, room.y + 1.5 * cell + 34
    fill = np.full((rows, columns), _REST + 1, np.uint8)
    fill[r - r0, c - c0] = _fill(moment, threads, warp)
    size = moment.trace.rules.warp_size
    texts, tips = _element_texts(moment, warp, elements, threads, options)
    font = min(22.0, 0.5 * cell, (cell - 3) / text_width("31", 1.0))
    own = threads // size == warp
    ids = np.full((rows, columns), -1, np.int64)
    ids[r[own] - r0, c[own] - c0] = threads[own] % size
    heading = f"their elements of {array.name}: warp {warp} stores {_shape(r[own], c[own])}"
    base = theme.type.note
    name = text_line("elements-name", (room.x, room.y - 34), heading, base, room.width, theme.text, "semibold")
    primitives: list[Primitive] = [
        name,
        Cells(
            "elements",
            x,
            y,
            cell,
            fill,
            palette,
            inks,
            texts if font >= 8 else None,
            font,
            theme.background,
            tips=tips,
            ids=ids,
        ),
    ]
    words = []
    for matrix, place in (("A", (r0, rows)), ("B", (c0, columns))) if moment.trace.is_multiply else ():
        reads = _read(moment, warp, matrix, place, (x, y, cell), palette, inks, options)
        if reads is not None:
            primitives += reads[0]
            words.append(reads[1])
    note = "; ".join(words) or f"{options.labels.named(array, array.element_at(r0, c0))} onwards"
    primitives.append(text_line("elements-note", (room.x, room.y - 10), note, base, room.width, theme.text))
    return primitives


def _element_texts(
    moment: Moment, warp: int, elements: np.ndarray, threads: np.ndarray, options: ViewOptions
) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels and the hover texts of the block's part of the result, (rows, columns) each."""
    array = moment.replay.owners.array
    assert array is not None
    r, c = array.row_column(elements)
    size, r0, c0 = moment.trace.rules.warp_size, int(r.min()), int(c.min())
    shape = int(r.max()) - r0 + 1, int(c.max()) - c0 + 1
    texts, tips = np.full(shape, "", "<U3"), np.full(shape, "not stored by this block", "<U80")
    for row, column, element, thread in zip(r.tolist(), c.tolist(), elements.tolist(), threads.tolist(), strict=True):
        texts[row - r0, column - c0] = str(thread % size) if thread // size == warp else ""
        tips[row - r0, column - c0] = f"{options.labels.named(array, element)}\n{_tip(moment, thread)}"
    return texts, tips


def _read(
    moment: Moment,
    warp: int,
    name: str,
    place: tuple[int, int],
    at: tuple[float, float, float],
    palette: tuple[str, ...],
    inks: tuple[str, ...],
    options: ViewOptions,
) -> tuple[list[Primitive], str] | None:
    """Draw what the lanes of the warp read of A or B for the current k, as a column or a row in their colours, with the
    cost of the request.

    Return None if they read nothing of it from global memory.
    """
    reads, trace, theme = reads_at(moment), moment.trace, options.theme
    number, size = trace.number_of(name), trace.rules.warp_size
    own = np.flatnonzero((reads.number == number) & (reads.thread // size == warp))
    if number is None or not len(own):
        return None
    past = own[reads.step[own] <= moment.step]
    k = int(reads.k[past[-1]]) if len(past) else int(reads.k[own[0]])
    now = own[reads.k[own] == k]
    now = now[reads.step[now] == reads.step[now].max()]
    array = trace.arrays[number]
    row, column = (np.asarray(each, np.int64) for each in array.row_column(reads.element[now]))
    (first, count), places = place, row if name == "A" else column
    inside = (places >= first) & (places < first + count)
    strip = np.full(count, _REST + 1, np.uint8)
    strip[places[inside] - first] = _fill(moment, reads.thread[now], warp)[inside]
    x, y, cell = at
    if name == "A":
        cells = Cells("read-A", x - 1.5 * cell, y, cell, strip[:, None], palette, inks, line=theme.background)
        spot, anchor = points((x - 1.5 * cell - 8, y + cell * count / 2 + 9)), "end"
    else:
        cells = Cells("read-B", x, y - 1.5 * cell, cell, strip[None, :], palette, inks, line=theme.background)
        spot, anchor = points((x + cell * count / 2, y - 1.5 * cell - 7)), "middle"
    request = np.full((1, size), -1, np.int64)
    request[0, reads.thread[now] % size] = reads.element[now]
    cost = count_rows(request.reshape(-1, trace.rules.request_lanes), Operand(number, "read"), array, trace.rules)
    word = f"{name}: {many(len(np.unique(reads.element[now])), 'element')}, {many(cost.sectors, 'sector')}"
    ink = theme.accent(name)
    title = Labels(f"read-{name}-name", spot, (name,), theme.type.heading, ink, anchor, "semibold")  # type: ignore[arg-type]
    return [cells, title], f"for k = {k + options.labels.first} it reads {word}" if name == "A" else word


def _shape(rows: np.ndarray, columns: np.ndarray) -> str:
    if not len(rows):
        return "nothing"
    high, wide = len(np.unique(rows)), len(np.unique(columns))
    return f"{many(high, 'row')} of {many(wide, 'column')}"


VIEW = View("Threads and their elements of the result", Moment, mapping_scene, order=34)
