"""The hover text of a cell: element, address, value, and its accesses."""

from itertools import groupby

import numpy as np

from gemmviz.analysis.replay.divergence import NOT_WAITING, waiting_in_block
from gemmviz.analysis.replay.focus import block_label, focus_text, thread_text
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.private import ElementHistory, element_history
from gemmviz.analysis.replay.tiles import EMPTY
from gemmviz.model.device import MemoryRules
from gemmviz.model.messages import counted, grouped, listed, marked, sized, tr, trn
from gemmviz.model.sites import PLAIN, LabelStyle, MemoryArray
from gemmviz.model.trace import CONSTANT, Trace
from gemmviz.scenes.kit.primitives import ArrayCells, Hit
from gemmviz.scenes.kit.sentence import element_text
from gemmviz.scenes.kit.table import own_text, place_text, table_name
from gemmviz.scenes.stage.cost import step_sectors

# A cell of the stage as one sentence: its place, value, address, content, and the threads that touch it at the step.

_MOST_THREADS_NAMED = 4


def pointed_at(trace: Trace, hit: Hit) -> tuple[int, int] | None:
    """Return the array and the (first) element of a cell, None for cells of other kinds."""
    for number, array in enumerate(trace.arrays):
        if hit.cells.meaning == ArrayCells(array.name, array.space):
            row, column = hit.place
            width = hit.cells.fill.shape[1]
            element = row * width + column if array.space == "shared" else array.element_at(row, column)
            return (number, element) if element < array.size else None
    return None


def hover_lines(
    moment: Moment, hit: Hit, history: ElementHistory | None = None, labels: LabelStyle = PLAIN
) -> list[str]:  # fmt: skip
    """Return the lines of text about a cell; none if the cell has its own text. ``history``: that of its element, if known."""
    target = pointed_at(moment.trace, hit)
    if target is None:
        return []
    number, element = target
    array = moment.trace.arrays[number]
    if hit.cells.factor > 1:
        side, first = hit.cells.factor, element_text(array, element, labels)
        many_cells = tr("{element_text} and its neighbours: {side} × {side} elements", element_text=first, side=side)
        return [many_cells, tr("Zoom in to see single elements")]
    history = history or element_history(moment, number, element)
    return [
        element_text(array, element, labels),
        address_text(array, element, moment.trace.rules),
        *content_texts(moment, number, element, labels),
        *touched_value_texts(moment, history, array),
        *_moved_unrequested(moment, number, element),
        *(_now(moment, array, history) + access_texts(moment, array, history) or [tr("not accessed by the traced blocks")]),
        *_owner(moment, array, element),
        *_waits(moment, number, element),
        *wrong_texts(moment.trace, array, element),
    ]


def address_text(array: MemoryArray, element: int, rules: MemoryRules) -> str:
    """Return where an element lies in its memory."""
    byte = element * array.itemsize
    if array.space == "shared":
        return tr("byte {byte}: bank {bank}", byte=grouped(byte), bank=byte // rules.bank_bytes % rules.banks)
    sector, line = grouped(byte // rules.sector_bytes), grouped(byte // rules.line_bytes)
    place = tr("sector {sector}, line {line}", sector=sector, line=line)
    return tr("element {element}, byte {byte}: {place}", element=grouped(element), byte=grouped(byte), place=place)


def content_texts(moment: Moment, number: int, element: int, labels: LabelStyle) -> list[str]:
    """Return what a cell of shared memory holds; nothing for other arrays."""
    content = moment.tiles.get(number)
    if content is None:
        return []
    matrix, phase = int(content.array[element]), int(content.phase[element])
    if matrix == EMPTY:
        return [tr("nothing stored yet")]
    if matrix >= 0:
        what = element_text(moment.trace.arrays[matrix], int(content.element[element]), labels)
    elif matrix == CONSTANT:
        value = content.value[element]
        what = tr("a constant") if np.isnan(value) else tr("the constant {content_value}", content_value=f"{value:g}")
    else:
        count = int(content.summands[element])
        what = tr("the sum of {count} elements", count=count) if count > 1 else tr("a computed value")
    stored = tr(", stored in phase {phase}", phase=phase + 1) if 0 <= phase < moment.replay.phases else ""
    return [tr("holds {what}", what=what) + stored]


def touched_value_texts(moment: Moment, history: ElementHistory, array: MemoryArray) -> list[str]:
    """Return the value of an element, and when it was read or written; nothing if the run has no values."""
    if moment.replay.value is None:
        return []
    if history.value is None or history.value_step is None:
        return [tr("value: not read or written")]
    is_read = moment.trace.site_of(history.value_step).kind == "load"
    text = tr("value {value}, read at step {step}") if is_read else tr("value {value}, written at step {step}")
    if history.value_step > moment.step:
        text = tr("value {value}, first read at step {step}") if is_read else tr("value {value}, first written at step {step}")
    return [text.format(value=array.element.text(history.value, 6), step=history.value_step + 1)]


def _now(moment: Moment, array: MemoryArray, history: ElementHistory) -> list[str]:
    if not history.now:
        return []
    named = ", ".join(_named_thread(moment, thread, array.space == "global") for thread in history.now[:_MOST_THREADS_NAMED])
    more = (
        tr(" and {count} more", count=counted(len(history.now) - _MOST_THREADS_NAMED))
        if len(history.now) > _MOST_THREADS_NAMED
        else ""
    )
    form = marked("now: threads {named}{more}") if len(history.now) > 1 else marked("now: thread {named}{more}")
    return [tr(form, named=named, more=more)]


def _moved_unrequested(moment: Moment, number: int, element: int) -> list[str]:
    """Return a line for an element that the step moves only as part of a sector, without a request for it; none otherwise."""
    is_global = moment.trace.arrays[number].space == "global"
    moved = (step_sectors(moment, each) for each in moment.of_array(number) if is_global)
    if not any(bool((each.elements[~each.is_asked] == element).any()) for each in moved):
        return []
    who = focus_text(moment.focus, moment.trace)
    return [tr("now: moved with its sector, not requested by {who}", who=who)]


def access_texts(moment: Moment, array: MemoryArray, history: ElementHistory) -> list[str]:
    """Return how often an element is loaded and stored; nothing if it never is."""
    lines = []
    if history.loads:
        whole = tr("this block") if array.space == "shared" else tr("all traced blocks")
        who, so_far, loads = focus_text(moment.focus, moment.trace), counted(history.loads_so_far), counted(history.loads)
        own = "" if moment.focus.everyone else tr("{loads} by {who}, ", loads=counted(history.own_so_far), who=who)
        text = marked("loads so far: {own}{loads_so_far} by {whole} ({loads} at the end)")
        lines.append(tr(text, own=own, loads_so_far=so_far, whole=whole, loads=loads))
    if history.stores:
        lines.append(trn("stored {count} time in all", "stored {count} times in all", history.stores))
    return lines


def _named_thread(moment: Moment, number: int, with_block: bool) -> str:
    space = moment.trace.space
    thread = thread_text(number % space.threads_per_block, moment.trace.launch)
    block, _ = space.indices(number)
    is_own = not with_block or block == moment.focus.block
    return thread if is_own else tr("{thread} of block ({x}, {y})", thread=thread, x=block[0], y=block[1])


def wrong_texts(trace: Trace, array: MemoryArray, element: int) -> list[str]:
    """Return that an element of the result is wrong; nothing if it isn't known to be."""
    is_wrong = array.name == trace.check.array and array.space == "global" and element in trace.check.wrong_elements
    return [tr("wrong: differs from the float64 result")] if is_wrong else []


def _owner(moment: Moment, array: MemoryArray, element: int) -> list[str]:
    if moment.trace.result is None or array is not moment.trace.arrays[moment.trace.result]:
        return []
    thread = moment.replay.owners.thread_of(element)
    if thread is None:
        return []
    is_followed = moment.focus.thread is not None and thread == moment.scope.threads.start
    stop, follow = (
        marked("computed by thread {thread}: click to stop following it"),
        marked("computed by thread {thread}: click to follow it"),
    )
    return [tr(stop if is_followed else follow, thread=_named_thread(moment, thread, True))]


def _waits(moment: Moment, number: int, element: int) -> list[str]:
    """Return for which branch the thread of an element of the result waits; nothing if it doesn't."""
    thread = moment.replay.owners.thread_of(element) if number == moment.trace.result else None
    block = moment.scope.of_block
    if thread is None or not block.start <= thread < block.stop:
        return []
    step = int(waiting_in_block(moment)[thread - block.start])
    if step == NOT_WAITING:
        return []
    site, way = moment.trace.site_of(step), int(moment.trace.element[moment.trace.row[step], thread])
    text = marked("waits: {condition} holds, line {line}") if way else marked("waits: {condition} doesn't hold, line {line}")
    return [tr(text, condition=" ".join(site.text.split()), line=site.place.line)]


_MOST_SPOKEN = 8
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
        *_spoken_now(moment, number, element, history),
        address_text(array, element, moment.trace.rules),
        *access_texts(moment, array, history), *_spoken_owner(moment, number, element), *_waits(moment, number, element),
        *wrong_texts(moment.trace, array, element),
    )  # fmt: skip
    return f"{array.name}, {_spoken_place(array, element, labels)}: {'; '.join(facts)}"


def _cell_name(hit: Hit) -> str:
    """Return what a cell without an element stands for, and its place."""
    if hit.cells.meaning == "banks":
        return tr("wavefront {wavefront}, bank {bank}", wavefront=hit.row + 1, bank=hit.column)
    return f"{table_name(hit.cells)}, {place_text(hit)}"


def _lane(moment: Moment, hit: Hit) -> str:
    """Return the lane of a cell, its thread and the element that it touches; "" for a cell that shows no lane."""
    request = moment.request
    if hit.cells.meaning != "lanes" or request is None:
        return ""
    lane = hit.row * hit.cells.fill.shape[1] + hit.column
    thread = request.warp * moment.trace.rules.warp_size + lane
    if lane >= len(request.lanes) or thread >= moment.trace.space.threads_per_block:
        return tr("lane {lane}: no thread", lane=lane)
    touched, element = moment.touched[0] if moment.touched else None, int(request.lanes[lane])
    what = tr("takes no part") if element < 0 else tr("takes part")
    if element >= 0 and touched is not None:
        what = f"{touched.array.name}, {_spoken_place(touched.array, element, PLAIN)}"
    name = thread_text(thread, moment.trace.launch)
    return tr("lane {lane} of warp {warp}, thread {thread}: {what}", lane=lane, warp=request.warp, thread=name, what=what)


def _spoken_place(array: MemoryArray, element: int, labels: LabelStyle) -> str:
    """Return the row and the column of an element, counted as the labels of the picture are."""
    first = labels.first if array.space == "global" else 0
    if len(array.shape) == 1:
        return tr("element {element}", element=element + first)
    row, column = array.place(element)
    return tr("row {row}, column {column}", row=row + first, column=column + first)


def _spoken_owner(moment: Moment, number: int, element: int) -> list[str]:
    """Return which thread computes an element of the result; nothing for other arrays."""
    thread = moment.replay.owners.thread_of(element) if number == moment.trace.result else None
    if thread is None:
        return []
    space, launch = moment.trace.space, moment.trace.launch
    within = thread % space.threads_per_block
    block, warp = block_label(space.indices(thread)[0], launch), within // moment.trace.rules.warp_size
    name = thread_text(within, launch)
    return [tr("computed by thread {thread} of warp {warp} of {block}", thread=name, warp=warp, block=block)]


def _spoken_now(moment: Moment, number: int, element: int, history: ElementHistory) -> list[str]:
    """Return who touches an element at the step, by block and warp; for nobody, that."""
    accesses = dict.fromkeys(each.operand.access for each in moment.of_array(number))
    if not history.now or not accesses:
        return _moved_unrequested(moment, number, element) or [tr("not touched at this step")]
    space, launch, size = moment.trace.space, moment.trace.launch, moment.trace.rules.warp_size
    named = history.now[:_MOST_SPOKEN]
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
    more = [tr("{count} more", count=counted(len(history.now) - len(named)))] if len(history.now) > len(named) else []
    return [tr(_VERBS[access], who=listed([*parts, *more])) for access in accesses]


def _touched_of(moment: Moment, number: int, hit: Hit) -> str:
    """Return how many of the elements behind a cell are touched at the step."""
    array, side = moment.trace.arrays[number], hit.cells.factor
    row, column = hit.place
    rows, columns = array.extents
    whole = min(side, max(0, rows - row)) * min(side, max(0, columns - column))
    touched = [each.cells for each in moment.of_array(number)]
    if not touched:
        return tr("{elements}, not touched at this step", elements=sized(whole, "element"))
    places = np.unique(np.concatenate(touched))
    at_row, at_column = array.row_column(places)
    inside = (at_row >= row) & (at_row < row + side) & (at_column >= column) & (at_column < column + side)
    return tr(
        "{count} of {elements} touched at this step",
        count=counted(int(inside.sum())),
        elements=sized(whole, "element"),
    )
