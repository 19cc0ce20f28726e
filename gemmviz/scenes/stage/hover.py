"""The hover text of a cell: element, address, value, and its accesses."""

import numpy as np

from gemmviz.analysis.replay.focus import focus_text, thread_text
from gemmviz.analysis.replay.history import ElementHistory, element_history
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.tiles import EMPTY
from gemmviz.model.device import MemoryRules
from gemmviz.model.labels import PLAIN, LabelStyle
from gemmviz.model.sites import MemoryArray
from gemmviz.model.trace import CONSTANT, Trace
from gemmviz.model.translation import tr, trn
from gemmviz.model.words import spaced
from gemmviz.scenes.kit.beat import element_text
from gemmviz.scenes.kit.primitives import Hit

_MOST_NAMED = 4


def pointed_at(trace: Trace, hit: Hit) -> tuple[int, int] | None:
    """Return the array and the (first) element of a cell, None for cells of other kinds."""
    name = hit.cells.key.removeprefix("tile-")
    for number, array in enumerate(trace.arrays):
        if array.name == name and (array.space == "shared") == hit.cells.key.startswith("tile-"):
            row, column = (
                (at + first) * hit.cells.factor for at, first in zip((hit.row, hit.column), hit.cells.origin, strict=True)
            )
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
        side = hit.cells.factor
        return [
            tr(
                "{element_text} and its neighbours: {side} × {side} elements",
                element_text=element_text(array, element, labels),
                side=side,
            ),
            tr("Zoom in to see single elements"),
        ]
    history = history or element_history(moment, number, element)
    return [
        element_text(array, element, labels),
        address_text(array, element, moment.trace.rules),
        *content_texts(moment, number, element, labels),
        *touched_value_texts(moment, history, array),
        *(_now(moment, array, history) + access_texts(moment, array, history) or [tr("not accessed by the traced blocks")]),
        *_owner(moment, array, element),
        *wrong_texts(moment.trace, array, element),
    ]


def address_text(array: MemoryArray, element: int, rules: MemoryRules) -> str:
    """Return where an element lies in its memory."""
    byte = element * array.itemsize
    if array.space == "shared":
        return tr("byte {byte}: bank {bank}", byte=spaced(byte), bank=byte // rules.bank_bytes % rules.banks)
    place = tr("sector {sector}, line {line}", sector=spaced(byte // rules.sector_bytes), line=spaced(byte // rules.line_bytes))
    return tr("element {element}, byte {byte}: {place}", element=spaced(element), byte=spaced(byte), place=place)


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
        what = (
            tr("a constant")
            if np.isnan(content.value[element])
            else tr("the constant {content_value}", content_value=f"{content.value[element]:g}")
        )
    else:
        what = tr("a computed value")
    return [
        tr("holds {what}", what=what)
        + (tr(", stored in phase {phase}", phase=phase + 1) if 0 <= phase < moment.replay.phases else "")
    ]


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
    named = ", ".join(_thread(moment, thread, array.space == "global") for thread in history.now[:_MOST_NAMED])
    more = tr(" and {count} more", count=len(history.now) - _MOST_NAMED) if len(history.now) > _MOST_NAMED else ""
    return [
        tr("now: threads {named}{more}", named=named, more=more)
        if len(history.now) > 1
        else tr("now: thread {named}{more}", named=named, more=more)
    ]


def access_texts(moment: Moment, array: MemoryArray, history: ElementHistory) -> list[str]:
    """Return how often an element is loaded and stored; nothing if it never is."""
    lines = []
    if history.loads:
        whole = tr("this block") if array.space == "shared" else tr("all traced blocks")
        own = (
            ""
            if moment.focus.everyone
            else tr(
                "{loads} by {who}, ",
                loads=history.own_so_far,
                who=focus_text(moment.focus, moment.trace),
            )
        )
        lines.append(
            tr(
                "loads so far: {own}{loads_so_far} by {whole} ({loads} at the end)",
                own=own,
                loads_so_far=history.loads_so_far,
                whole=whole,
                loads=history.loads,
            )
        )
    if history.stores:
        lines.append(trn("stored {count} time in all", "stored {count} times in all", history.stores))
    return lines


def _thread(moment: Moment, number: int, with_block: bool) -> str:
    space = moment.trace.space
    thread = thread_text(number % space.threads_per_block, moment.trace.launch)
    block, _ = space.indices(number)
    return (
        tr("{thread} of block ({x}, {y})", thread=thread, x=block[0], y=block[1])
        if with_block and block != moment.focus.block
        else thread
    )


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
    followed = moment.focus.thread is not None and thread == moment.scope.threads.start
    return [
        (
            tr("computed by thread {thread}: click to stop following it", thread=_thread(moment, thread, True))
            if followed
            else tr("computed by thread {thread}: click to follow it", thread=_thread(moment, thread, True))
        )
    ]
