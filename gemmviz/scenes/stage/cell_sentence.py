"""A cell of the stage as one sentence: its place, value, address, content, and the threads that touch it at the step."""

from itertools import groupby

import numpy as np

from gemmviz.analysis.replay.focus import block_label, thread_text
from gemmviz.analysis.replay.history import ElementHistory, element_history
from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.labels import PLAIN, LabelStyle
from gemmviz.model.sites import MemoryArray
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import listed, many
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.scenes.kit.reading import own_text, place_text, table_name
from gemmviz.scenes.stage.hover import access_texts, address_text, content_texts, pointed_at, touched_value_texts, wrong_texts

_MOST_NAMED = 8
_LANES = ("request-lanes", "bank-lanes")
_VERBS = {"read": marked("read now by {who}"), "write": marked("written now by {who}")}


def table_title(moment: Moment | None, hit: Hit) -> str:
    """Return the name of the table of a cell: "A, global memory, 64 by 64"; that of its key if it shows no array."""
    target = None if moment is None else pointed_at(moment.trace, hit)
    if moment is None or target is None:
        return table_name(hit.cells)
    array = moment.trace.arrays[target[0]]
    shape = tr(" by ").join(map(str, array.shape))
    return (
        tr("{array}, shared memory, {shape}", array=array.name, shape=shape)
        if array.space == "shared"
        else tr("{array}, global memory, {shape}", array=array.name, shape=shape)
    )


def cell_sentence(moment: Moment | None, hit: Hit, labels: LabelStyle = PLAIN) -> str:
    """Return a cell as a sentence: "A, row 3, column 5: value 0.25, read at step 4; … ; read now by thread (5, 3) of warp 0".
    A cell that shows no element gives its own text.
    """
    target = None if moment is None or hit.cells.tips is not None else pointed_at(moment.trace, hit)
    if moment is None or target is None:
        lane = None if moment is None else _lane(moment, hit)
        text = lane or own_text(hit)
        return text if lane or (hit.cells.tips is not None and text) else f"{_cell_name(hit)}: {text or tr('empty')}"
    number, element = target
    array = moment.trace.arrays[number]
    if hit.cells.factor > 1:
        return f"{array.name}, {place_text(hit)}: {_touched_of(moment, number, hit)}"
    history = element_history(moment, number, element)
    facts = (
        *touched_value_texts(moment, history, array), *content_texts(moment, number, element, labels),
        *_now(moment, number, history), address_text(array, element, moment.trace.rules),
        *access_texts(moment, array, history), *_owner(moment, number, element), *wrong_texts(moment.trace, array, element),
    )  # fmt: skip
    return f"{array.name}, {_place(array, element, labels)}: {'; '.join(facts)}"


def _cell_name(hit: Hit) -> str:
    """Return what a cell without an element stands for, and its place."""
    if hit.cells.key == "banks":
        return tr("wavefront {wavefront}, bank {bank}", wavefront=hit.row + 1, bank=hit.column)
    return f"{table_name(hit.cells)}, {place_text(hit)}"


def _lane(moment: Moment, hit: Hit) -> str:
    """Return the lane of a cell, its thread and the element that it touches; "" for a cell that shows no lane."""
    request = moment.request
    if hit.cells.key not in _LANES or request is None:
        return ""
    lane = hit.row * hit.cells.fill.shape[1] + hit.column
    thread = request.warp * moment.trace.rules.warp_size + lane
    if lane >= len(request.lanes) or thread >= moment.trace.space.threads_per_block:
        return tr("lane {lane}: no thread", lane=lane)
    touched, element = moment.touched[0] if moment.touched else None, int(request.lanes[lane])
    what = tr("takes no part") if element < 0 else tr("takes part")
    if element >= 0 and touched is not None:
        what = f"{touched.array.name}, {_place(touched.array, element, PLAIN)}"
    name = thread_text(thread, moment.trace.launch)
    return tr("lane {lane} of warp {warp}, thread {thread}: {what}", lane=lane, warp=request.warp, thread=name, what=what)


def _place(array: MemoryArray, element: int, labels: LabelStyle) -> str:
    """Return the row and the column of an element, counted as the labels of the picture are."""
    first = labels.first if array.space == "global" else 0
    if len(array.shape) == 1:
        return tr("element {element}", element=element + first)
    row, column = array.place(element)
    return tr("row {row}, column {column}", row=row + first, column=column + first)


def _owner(moment: Moment, number: int, element: int) -> list[str]:
    """Return which thread computes an element of the result; nothing for other arrays."""
    thread = moment.replay.owners.thread_of(element) if number == moment.trace.result else None
    if thread is None:
        return []
    space, launch = moment.trace.space, moment.trace.launch
    within = thread % space.threads_per_block
    block, warp = block_label(space.indices(thread)[0], launch), within // moment.trace.rules.warp_size
    name = thread_text(within, launch)
    return [tr("computed by thread {thread} of warp {warp} of {block}", thread=name, warp=warp, block=block)]


def _now(moment: Moment, number: int, history: ElementHistory) -> list[str]:
    """Return who touches an element at the step, by block and warp; for nobody, that."""
    accesses = dict.fromkeys(each.operand.access for each in moment.of_array(number))
    if not history.now or not accesses:
        return [tr("not touched at this step")]
    space, launch, size = moment.trace.space, moment.trace.launch, moment.trace.rules.warp_size
    named = history.now[:_MOST_NAMED]
    parts = []
    for (block, warp), members in groupby(named, lambda each: (space.indices(each)[0], each % space.threads_per_block // size)):
        threads = [thread_text(each % space.threads_per_block, launch) for each in members]
        text = (
            tr("thread {threads} of warp {warp}", threads=threads[0], warp=warp)
            if len(threads) == 1
            else tr("threads {threads} of warp {warp}", threads=listed(threads), warp=warp)
        )
        is_own = block == moment.focus.block
        parts.append(text if is_own else tr("{threads} of {block}", threads=text, block=block_label(block, launch)))
    more = [tr("{count} more", count=len(history.now) - len(named))] if len(history.now) > len(named) else []
    return [tr(_VERBS[access], who=listed([*parts, *more])) for access in accesses]


def _touched_of(moment: Moment, number: int, hit: Hit) -> str:
    """Return how many of the elements behind a cell are touched at the step."""
    array, side = moment.trace.arrays[number], hit.cells.factor
    row, column = ((at + first) * side for at, first in zip((hit.row, hit.column), hit.cells.origin, strict=True))
    rows, columns = array.extents
    whole = min(side, max(0, rows - row)) * min(side, max(0, columns - column))
    touched = [each.cells for each in moment.of_array(number)]
    if not touched:
        return tr("{elements}, not touched at this step", elements=many(whole, "element"))
    places = np.unique(np.concatenate(touched))
    at_row, at_column = array.row_column(places)
    inside = (at_row >= row) & (at_row < row + side) & (at_column >= column) & (at_column < column + side)
    return tr("{count} of {elements} touched at this step", count=int(inside.sum()), elements=many(whole, "element"))
