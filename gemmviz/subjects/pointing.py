"""Finds the thread or step for a cell or a place in the source."""

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.errors import Place, UsageError
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.scenes.stage.hover import pointed_at


def focus_at(moment: Moment, hit: Hit) -> Focus | None:
    """The focus on the thread that computes an element of C, or that accesses another element at this moment; the whole block
    if that thread is already followed. None for other cells. Raises UsageError if there is no such thread.
    """
    trace, scope = moment.trace, moment.scope
    target = pointed_at(trace, hit)
    if target is None:
        return None
    number, element = target
    is_result = number == trace.result
    thread = moment.replay.owners.thread_of(element) if is_result else _toucher(moment, number, element)
    if thread is None:
        result = tr("the result") if trace.result is None else trace.arrays[trace.result].name
        why = tr("no traced thread computes this element") if is_result else tr("no thread touches this now")
        raise UsageError(why, remedy=tr("click an element of {result} to follow its thread", result=result))
    block, _ = trace.space.indices(thread)
    if moment.focus.thread is not None and thread == scope.threads.start:
        return Focus(moment.focus.block)
    return Focus(block, None, thread % trace.space.threads_per_block)


def _toucher(moment: Moment, array: int, element: int) -> int | None:
    """Number of the first thread of the block that accesses an element; None if there is none."""
    for touched in moment.of_array(array):
        first = moment.trace.element[touched.row, moment.scope.of_block].astype(int)
        for offset in moment.trace.offsets(touched.operand, moment.scope.of_block):
            touching = (first >= 0) & (first + offset == element)
            if touching.any():
                return int(moment.scope.of_block.start + touching.argmax())
    return None


def step_at_text(moment: Moment, line: int, column: int) -> int:
    """The next step of the access at a place of the source (counted from 1), otherwise of any access on the line.

    Raises UsageError if no watched thread performs one.
    """
    places = [site.place for site in moment.trace.sites]
    here = [number for number, place in enumerate(places) if _holds(place, line, column)]
    on_line = [number for number, place in enumerate(places) if place.line <= line <= place.end_line]
    return _next(moment, here or on_line, line)


def step_at_site(moment: Moment, place: Place) -> int:
    """The next step of the access at exactly this place. Raises UsageError as ``step_at_text``."""
    sites = [number for number, site in enumerate(moment.trace.sites) if site.place == place]
    return _next(moment, sites, place.line)


def _next(moment: Moment, sites: list[int], line: int) -> int:
    step = moment.replay.next_step(sites, moment.step, moment.scope)
    if step is None:
        raise UsageError(tr("no watched thread accesses memory on line {line}", line=line))
    return step


def _holds(place: Place, line: int, column: int) -> bool:
    return (place.line, place.column) <= (line, column) < (place.end_line, place.end_column)
