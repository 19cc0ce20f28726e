"""History of one element: the threads that access it, how often, and its value."""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.arrays import Longs
from gemmviz.model.errors import checkpoint


class ElementHistory(Struct, frozen=True):
    """Accesses to an element at a step. ``now``: the threads of the trace that access it at the step, ascending. ``loads`` and
    ``stores``: in the whole trace; ``loads_so_far`` up to the step, ``own_so_far`` of these by the chosen threads. ``value``:
    read or written by the latest access up to the step, ``value_step``; None if unknown.
    """

    now: tuple[int, ...]
    loads: int
    loads_so_far: int
    own_so_far: int
    stores: int
    value: float | None = None
    value_step: int | None = None


class _Touch(Struct, frozen=True):
    """A step that accesses the element: the threads, the row of the record, and whether the record contains the element
    itself.
    """

    step: int
    row: int
    loads: bool
    first: bool
    threads: Longs


def element_history(moment: Moment, array: int, element: int) -> ElementHistory:
    """History of an element of a matrix in all traced blocks, or of a shared array in the focus's block. Raises Cancelled."""
    trace, scope, step = moment.trace, moment.scope, moment.step
    is_shared = trace.arrays[array].space == "shared"
    touches = _element_touches(moment, array, element, scope.of_block if is_shared else slice(0, trace.space.thread_count))
    loads = [touch for touch in touches if touch.loads]
    own = scope.in_block if is_shared else scope.threads
    value = _latest_value(moment, array, touches)
    return ElementHistory(
        now=tuple(sorted({thread for touch in touches if touch.step == step for thread in touch.threads.tolist()})),
        loads=sum(len(touch.threads) for touch in loads),
        loads_so_far=sum(len(touch.threads) for touch in loads if touch.step <= step),
        own_so_far=sum(
            int(((touch.threads >= own.start) & (touch.threads < own.stop)).sum()) for touch in loads if touch.step <= step
        ),
        stores=sum(len(touch.threads) for touch in touches if not touch.loads),
        value=value[0] if value else None,
        value_step=value[1] if value else None,
    )


def _element_touches(moment: Moment, array: int, element: int, threads: slice) -> list[_Touch]:
    """All accesses to the element, in the order of the steps."""
    trace, history = moment.trace, []
    for touches in trace.touches_of(array):
        firsts = [element - offset for offset in trace.offsets(touches.operand, threads)]
        for place, row in enumerate(touches.rows.tolist()):
            checkpoint()
            touched = trace.element[row, threads]
            who = np.flatnonzero((touched >= 0) & np.logical_or.reduce([touched == first for first in firsts]))
            if len(who):
                is_first, loads = bool((touched == firsts[0])[who[-1]]), touches.operand.access == "read"
                history.append(_Touch(int(touches.steps[place]), row, loads, is_first, who + threads.start))
    return sorted(history, key=lambda touch: touch.row)


def _latest_value(moment: Moment, array: int, touches: list[_Touch]) -> tuple[float, int] | None:
    """Value and step of the latest access up to the step; for a matrix that is only read, also of a later one. The value of a
    wide access is known only for its first element.
    """
    value = moment.replay.value
    if value is None:
        return None
    before = [touch for touch in touches if touch.step <= moment.step]
    only_read = not moment.trace.touches_of(array, "write")
    chosen = before[-1] if before else touches[0] if touches and only_read else None
    if chosen is None or not chosen.first:
        return None
    return float(value[chosen.row, chosen.threads[-1]]), chosen.step
